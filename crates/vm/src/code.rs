//! Bytecode: what the compiler makes and the interpreter runs.
//!
//! Consensus: a change here forks the chain.

use num_bigint::BigInt;

/// One instruction: eight bytes, its base price inside, so that charging needs no look-up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instr {
    pub(crate) op: Op,
    pub(crate) cost: u8,
    pub(crate) a: u16,
    pub(crate) b: u32,
}

/// Operations. `a` and `b` are the operands; "→" shows the stack's top after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Op {
    Pop,
    /// Pushes the value `b` below the top again.
    Copy,
    Swap,
    /// The top goes below the two under it.
    Rot3,
    LoadConst,
    LoadNone,
    /// A small integer: `b` as i32.
    LoadInt,
    LoadLocal,
    StoreLocal,
    DeleteLocal,
    LoadLocal2,
    MakeCell,
    LoadCell,
    StoreCell,
    DeleteCell,
    /// The cell itself, for a closure.
    LoadClosure,
    /// A class body reads a name of an enclosing function: its own names first.
    LoadClassCell,
    LoadGlobal,
    StoreGlobal,
    DeleteGlobal,
    LoadName,
    StoreName,
    DeleteName,
    /// A function of the prelude, by name.
    LoadPrelude,
    LoadAttr,
    StoreAttr,
    DeleteAttr,
    /// object → callable, receiver or nothing
    LoadMethod,
    LoadIndex,
    StoreIndex,
    DeleteIndex,
    Binary,
    /// Local `b` with local or constant: left operand on the stack, right one local `b`.
    BinaryLocal,
    /// Right operand: the small integer `b`.
    BinaryInt,
    InPlace,
    Compare,
    /// Compare by `a`, then jump to `b` if false.
    CompareJump,
    Is,
    IsNot,
    In,
    NotIn,
    Negative,
    Positive,
    Invert,
    Not,
    Jump,
    JumpIfFalse,
    JumpIfTrue,
    JumpIfFalseKeep,
    JumpIfTrueKeep,
    JumpIfNone,
    BuildList,
    BuildTuple,
    BuildMap,
    BuildSet,
    BuildString,
    BuildSlice,
    ListAppend,
    SetAdd,
    MapAdd,
    ListExtend,
    SetUpdate,
    DictUpdate,
    /// Keyword arguments of a call: a name twice is an error.
    DictMerge,
    ListToTuple,
    FormatValue,
    Call,
    CallMethod,
    CallKw,
    CallEx,
    MakeFunction,
    Return,
    GetIter,
    DropIter,
    ForIter,
    UnpackSequence,
    UnpackEx,
    Raise,
    Reraise,
    EnterHandler,
    LeaveHandler,
    MatchException,
    EnterWith,
    WithFailed,
    Yield,
    YieldFromIter,
    Send,
    GetAwaitable,
    ImportName,
    ImportFrom,
    MatchSequence,
    MatchMapping,
    GetLen,
}

/// A constant of a code object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Const {
    Ellipsis,
    Int(i64),
    Big(BigInt),
    Float(u64),
    Str(String),
    Bytes(Vec<u8>),
    Names(Vec<String>),
    True,
    False,
}

/// Where an exception raised in `start..end` goes on, with the operand stack cut to `depth`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handler {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) target: u32,
    pub(crate) depth: u16,
}

/// What a call of this code makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Generator,
    Coroutine,
    AsyncGenerator,
}

/// One function, class body, comprehension or module.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(crate) name: String,
    pub(crate) qualname: String,
    pub(crate) doc: Option<String>,
    pub(crate) kind: Kind,
    pub(crate) positional: u16,
    pub(crate) positional_only: u16,
    pub(crate) keyword_only: u16,
    pub(crate) var_args: bool,
    pub(crate) var_keywords: bool,
    /// Local slots: parameters, locals and cells, then `free` cells of enclosing functions.
    pub(crate) slots: u16,
    pub(crate) free: u16,
    pub(crate) slot_names: Vec<String>,
    pub(crate) stack: u16,
    pub(crate) instrs: Vec<Instr>,
    pub(crate) consts: Vec<Const>,
    pub(crate) names: Vec<String>,
    pub(crate) handlers: Vec<Handler>,
    /// First instruction of each run of instructions of one line.
    pub(crate) lines: Vec<(u32, u32)>,
    /// Operands on the stack while the frame is put aside at a yield, by the instruction after it.
    pub(crate) yields: Vec<(u32, u16)>,
    /// Only simple positional parameters, no cells among them: calls need no binding.
    pub(crate) simple: bool,
}

impl Code {
    /// Constants and names that a machine has to know.
    pub(crate) fn mentioned(&self) -> usize {
        self.consts.len() + self.names.len() + self.slot_names.len() + 2
    }

    /// Bytes that it takes in memory, about.
    pub(crate) fn size(&self) -> usize {
        let text = |texts: &[String]| texts.iter().map(|text| text.len() + 24).sum::<usize>();
        let constant = |value: &Const| match value {
            Const::Str(text) => text.len(),
            Const::Bytes(bytes) => bytes.len(),
            Const::Big(big) => big.bits() as usize / 8,
            Const::Names(names) => text(names),
            _ => 0,
        };
        size_of::<Self>()
            + self.name.len()
            + self.qualname.len()
            + self.doc.as_ref().map_or(0, String::len)
            + text(&self.slot_names)
            + text(&self.names)
            + self.instrs.len() * size_of::<Instr>()
            + self.consts.iter().map(|value| constant(value) + size_of::<Const>()).sum::<usize>()
            + self.handlers.len() * size_of::<Handler>()
            + (self.lines.len() + self.yields.len()) * 8
    }

    /// The source line of an instruction.
    pub(crate) fn line(&self, pc: u32) -> u32 {
        let after = self.lines.partition_point(|(start, _)| *start <= pc);
        after.checked_sub(1).map_or(0, |index| self.lines[index].1)
    }
}

/// Binary operators, in the order of `Op::Binary`'s operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    LShift,
    RShift,
    And,
    Or,
    Xor,
    MatMul,
}

impl BinOp {
    const ALL: [BinOp; 13] = [
        BinOp::Add,
        BinOp::Sub,
        BinOp::Mul,
        BinOp::Div,
        BinOp::FloorDiv,
        BinOp::Mod,
        BinOp::Pow,
        BinOp::LShift,
        BinOp::RShift,
        BinOp::And,
        BinOp::Or,
        BinOp::Xor,
        BinOp::MatMul,
    ];

    pub(crate) fn from_operand(a: u16) -> BinOp {
        Self::ALL[a as usize % Self::ALL.len()]
    }

    pub(crate) fn symbol(self) -> &'static str {
        ["+", "-", "*", "/", "//", "%", "** or pow()", "<<", ">>", "&", "|", "^", "@"]
            [self as usize]
    }
}

/// Comparisons, in the order of `Op::Compare`'s operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum CmpOp {
    Lt,
    Le,
    Eq,
    Ne,
    Gt,
    Ge,
}

impl CmpOp {
    pub(crate) const ALL: [CmpOp; 6] =
        [CmpOp::Lt, CmpOp::Le, CmpOp::Eq, CmpOp::Ne, CmpOp::Gt, CmpOp::Ge];

    pub(crate) fn from_operand(a: u16) -> CmpOp {
        Self::ALL[a as usize % 6]
    }

    pub(crate) fn symbol(self) -> &'static str {
        ["<", "<=", "==", "!=", ">", ">="][self as usize]
    }

    /// The comparison with its operands swapped.
    pub(crate) fn swapped(self) -> CmpOp {
        [CmpOp::Gt, CmpOp::Ge, CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le][self as usize]
    }

    pub(crate) fn holds(self, ordering: std::cmp::Ordering) -> bool {
        match self {
            CmpOp::Lt => ordering.is_lt(),
            CmpOp::Le => ordering.is_le(),
            CmpOp::Eq => ordering.is_eq(),
            CmpOp::Ne => ordering.is_ne(),
            CmpOp::Gt => ordering.is_gt(),
            CmpOp::Ge => ordering.is_ge(),
        }
    }
}
