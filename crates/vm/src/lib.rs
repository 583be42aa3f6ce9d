//! Deterministic, exactly metered Python.
//!
//! A program runs the same everywhere: the same output, the same exceptions, the same number of cycles
//! to the last one. It can neither see the machine that it runs on nor harm it.
//!
//! # Layout
//! - `front`: source to bytecode. Tokens are looked at first, so that nothing that follows the tree by
//!   recursion can be driven deep; then ruff's parser, scopes, instructions.
//! - `heap`: values, objects, ordered hash tables; an arena with exact accounting, a cap, and a
//!   mark-and-sweep collector whose moments depend on nothing but the program.
//! - `run`: the machine. Frames are plain data on a stack of our own; a generator or coroutine is a
//!   frame put aside.
//! - `frozen`: calls that wait, as bytes.
//! - `script`: runs a plain script, with traceback and profile.
//! - `regex`: patterns in linear time.
//! - `types`: natives, one table per file.
//! - `prelude`: what is written in Python; `script/prelude`: modules of scripts alone.
//! - `cbor`: values as bytes, in one form.
//! - `chain`: the machine of a chain, for `remuda-protocol`.
//! - `rehearsal`: tests of actors, on a chain of their own.
//! - `contain`: where panics of ours and the stacks of threads end.
//! - `cost`: the prices; `limits`: the bounds.
//!
//! # How an actor runs
//! `HOST.md` beside this crate's manifest has the whole of it, `SDK.md` what actors written for PyPI's
//! `cowboy-sdk` find here.
//!
//! ```
//! use remuda_vm::{HostValue, Limits, Vm, cbor, compile};
//!
//! let program = compile("def double(n):\n    return n * 2\n", "actor.py").unwrap();
//! let mut vm = Vm::new(Limits::with_cycles(100_000));
//! // `vm.set_host(…)` says who answers `cowboy.storage_get` and the like.
//! vm.run_module(&program).unwrap();
//! let payload = cbor::encode(&HostValue::Int(21)).unwrap();
//! let answer = vm.call_method("double", &payload).unwrap();
//! assert_eq!(cbor::decode(&answer), Ok(HostValue::Int(42)));
//! ```
//!
//! A method that waits ends with `Ending::Suspended`; `Vm::freeze` makes bytes of it, `Vm::thaw` a machine
//! of the bytes, and `Vm::resume_method` goes on with the answer.
//!
//! # How natives call Python
//! They do not. A native that meets a program's own `__eq__`, `__hash__`, `__iter__` and the like has
//! changed nothing yet and gives up with `Fault::Fallback`; the machine then calls the function of the
//! prelude that does the same in Python. A native whose result is the result of one call returns that
//! call (`Fault::Tail`). So there is no Rust recursion that a program can drive, every step is metered
//! and counted as a frame, and no state is hidden in Rust's stack. What the machine itself does with a
//! result is a word on the frame (`After`). Recursion inside Rust over nested containers is bounded by
//! `limits::NESTING_MAX`.
//!
//! # Where it differs from CPython, on purpose
//! - Sets iterate as CPython's do (`heap::set`) wherever that does not change from run to run there: hashes
//!   of numbers and of what is made of them are the same. Hashes of strings are fixed. There is no `id`, and
//!   objects without a `__repr__` are shown without an address.
//! - Integers have at most 4,096 bits, ranges lie within 64 bits; the stack is 256 frames deep, that
//!   of a script 1,000, and up to 20,000 if it asks for them.
//! - A source may nest 32 functions, 48 blocks and 96 brackets, a `with` has at most 32 managers and a
//!   comprehension 32 clauses, names have 255 bytes; code that would be far longer than its source, as
//!   nested `finally` with a way out in each would be, is refused. See `limits`.
//! - Texts of a program are cut to 200 bytes where a message shows them as names.
//! - Nothing is finalised: a generator that is dropped runs its `finally` only if it is closed, or if it was
//!   made for a `for` loop that is left by `break` or `return`.
//! - `except*` and type parameters are refused, as are modules that would see the machine. `asyncio` is for
//!   plain scripts, and has no clock.
//! - `re` has no backtracking (see `regex`); a group in a repetition that can match nothing keeps what it
//!   matched last, where CPython sets it to nothing once more (`(a*)*`). Powers, exponentials, logarithms, lengths and the functions of
//!   angles are rounded right (`types::precise`), which a C library does nearly always; what is rarer in
//!   `math` may differ from one in its last digit. Nothing differs between machines.
//! - A NaN that `float('nan')` made is the same as itself only, as in CPython; those that arithmetic makes
//!   are all the same one.
//! - Classes that come with the machine do not know what programs derive from them (`__subclasses__`); a
//!   function's `__code__` has no code, and the frames of a traceback no variables.
//!
//! # Limits are not exceptions
//! Running out of cycles or memory ends the run; no `except` sees it.
pub mod cbor;
pub mod chain;
mod code;
mod contain;
mod cost;
mod front;
mod frozen;
mod heap;
mod host;
mod limits;
mod prelude;
mod regex;
pub mod rehearsal;
mod run;
pub mod script;
mod types;
mod unicode;

pub use front::{CompileError, Program, compile};
pub use frozen::{FROZEN_BYTES_MAX, FreezeError, ThawError};
pub use host::{Host, HostError, HostErrorKind, HostReply, HostValue};
pub use limits::{Fatal, Limits};
pub use run::Vm;
pub use run::attend::{Ask, Unanswered, World};
pub use run::embed::{Ending, Output, Raised, run_script};
