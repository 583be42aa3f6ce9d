//! Bounds that hold for every program, whatever it pays.
//!
//! Consensus: a change here forks the chain.

/// Bytes of source text in one program.
pub(crate) const SOURCE_BYTES_MAX: usize = 256 * 1024;
/// Open brackets around one token, f-string fields included.
pub(crate) const BRACKET_DEPTH_MAX: usize = 96;
/// Indented blocks around one line.
pub(crate) const INDENT_DEPTH_MAX: usize = 48;
/// Operators, dots and keywords that can nest one expression, brackets around it included. The parser
/// and the compiler follow the tree by calling themselves; this bounds how far.
pub(crate) const EXPRESSION_DEPTH_MAX: usize = 400;
/// Functions, classes and comprehensions around one another.
pub(crate) const FUNCTION_DEPTH_MAX: usize = 32;
/// Managers in one `with`, and clauses in one comprehension: each nests a block in the one before.
pub(crate) const CLAUSES_MAX: usize = 32;
/// Bytes of a name in the source.
pub(crate) const NAME_BYTES_MAX: usize = 255;
/// Bytes of a qualified name; every function carries its own.
pub(crate) const QUALNAME_BYTES_MAX: usize = 256;
/// Values that one function may have on its stack at once.
pub(crate) const OPERANDS_MAX: usize = 4_096;
/// Instructions of one program, all functions together.
pub(crate) const INSTRUCTIONS_MAX: usize = 1 << 20;
/// Instructions and protected ranges for a source of this many bytes. `finally` blocks are copied to each
/// way out, so that code could grow as powers of two.
pub(crate) const fn instructions_max(source: usize) -> usize {
    let proportion = 1_024 + 16 * source;
    if proportion < INSTRUCTIONS_MAX { proportion } else { INSTRUCTIONS_MAX }
}
/// Variables of outer functions, counted in each function that has them or passes them on, for a source
/// of this many bytes.
pub(crate) const fn free_max(source: usize) -> usize {
    1_024 + source / 8
}
/// The stack on which a source is compiled, whatever thread asks for it.
pub(crate) const COMPILE_STACK_BYTES: usize = 16 * 1024 * 1024;
/// Constants or names in one function.
pub(crate) const CONSTANTS_MAX: usize = 1 << 16;
/// Digits of an integer literal: 4,096 bits in decimal, hexadecimal, octal or binary.
pub(crate) const LITERAL_DIGITS_MAX: usize = 4_110;
pub(crate) const INT_BITS_MAX: u64 = 4_096;
/// Python frames on the stack of an actor.
pub(crate) const FRAME_DEPTH_MAX: usize = 256;
/// The same for a plain script: CPython's default.
pub(crate) const SCRIPT_FRAME_DEPTH: usize = 1_000;
/// As many as it may ask for by `sys.setrecursionlimit`.
pub(crate) const SCRIPT_FRAME_DEPTH_MAX: usize = 20_000;
/// How deep containers may be nested for `repr`, `==`, `hash` and the like.
pub(crate) const NESTING_MAX: usize = 200;
/// Bytes of one argument of a call of the host, 32 for each value in it beside its contents.
pub(crate) const HOST_BYTES_MAX: usize = 1 << 20;
/// Arguments of a call of the host; none of them needs as many.
pub(crate) const HOST_ARGUMENTS_MAX: usize = 8;
/// Values on the stacks of all frames.
pub(crate) const STACK_VALUES_MAX: usize = 1 << 18;

/// What one run may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Cycles; the run stops exactly there.
    pub cycles: u64,
    pub heap_bytes: usize,
    /// Bytes that `print` may write.
    pub output_bytes: usize,
}

impl Limits {
    /// The default bounds with this many cycles.
    pub fn with_cycles(cycles: u64) -> Self {
        Self { cycles, ..Self::default() }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { cycles: 10_000_000, heap_bytes: 10 * 1024 * 1024, output_bytes: 1024 * 1024 }
    }
}

/// Ends the run; no program can catch it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fatal {
    /// The cycles are used up.
    Cycles,
    /// The heap, the stack or the output is at its cap.
    Memory,
    /// A rule of the interpreter itself was broken: a bug, stopped without harm.
    Internal,
}
