//! Serialisation of suspended calls: a handler is bytes while the host works on its answer, and any machine
//! can resume it from them, in another process, after any number of restarts.
//!
//! Consensus: a change here forks the chain.
//!
//! # What is written
//! A suspended call is a coroutine in the heap; the coroutines that it waits for hang on it. Written is
//! everything that it reaches: frames with their locals, operands and handled exceptions, generators,
//! closures' cells, instances, classes, and **the module's globals**, as they are at that moment. An
//! object that is reached twice is written once and is one object again after reading, cycles included.
//!
//! Globals are part of it because the alternative, to run the module's body again, is not sound: the
//! body may ask the host, what it made may have been changed since, and a frame may hold objects that
//! the globals hold as well; after a new run these would be two. So a call owns its globals from its
//! beginning to its end, across all of its awaits; two calls share nothing but the host's storage.
//!
//! # What is referred to
//! Objects that exist before the program runs have the same places in every machine with that program:
//! those of the image (types, natives, the prelude and its modules) and the program's constants and
//! names. They are written as that place, unless the program may have changed them: then their new
//! contents are written, too. A function is its code's number, in the program whose hash stands at the
//! front, with its defaults, closure and globals; a class is an object like any other.
//!
//! # The form
//! Objects are numbered in the order in which they are first mentioned, from the coroutine on, so the
//! same state has the same bytes. Reading refuses what writing would not have written. The hash of the
//! image and of the program stand at the front: frames never go on in other code. To upgrade code, let
//! the calls that wait end first, or end them.
//!
//! # The same cycles
//! A call takes the same cycles whether it resumes in its first machine or in one that read its bytes: when a call is put aside, the machine collects garbage and brings its tables into the
//! form that reading gives them. That holds for machines with one call, which is how a chain runs them;
//! a second call that waits in the same machine is seen by the collector. What was printed, and the
//! room left for printing, stay behind.

mod bytes;
mod check;
mod read;
mod read_parts;
mod write;

use std::fmt;

/// Bytes of one suspended call.
pub const FROZEN_BYTES_MAX: usize = 64 * 1024;

/// First bytes; the last one is the version of the form.
const MAGIC: [u8; 4] = *b"RVF\x03";

/// Why a call cannot be written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FreezeError {
    /// No call waits for this token.
    NotWaiting,
    /// It does not fit into `FROZEN_BYTES_MAX`.
    TooLarge,
    /// The machine has loaded other programs, or did something before it loaded this one.
    NotAlone,
}

impl fmt::Display for FreezeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FreezeError::NotWaiting => f.write_str("no call waits for this token"),
            FreezeError::TooLarge => write!(
                f,
                "the suspended call needs more than {FROZEN_BYTES_MAX} bytes; keep large data in storage and out of variables at an await"
            ),
            FreezeError::NotAlone => f.write_str("the machine ran more than this one program"),
        }
    }
}

impl std::error::Error for FreezeError {}

/// Why bytes are no call that could go on here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThawError {
    /// Longer than any suspended call.
    TooLarge,
    Truncated,
    /// Not the form that this version reads.
    Version,
    /// Written with another version of the interpreter or its modules.
    OtherImage,
    /// Written by other code: an upgrade happened in between.
    OtherCode,
    /// Not what writing gives.
    Malformed(&'static str),
    /// It does not fit into the heap.
    Memory,
}

impl fmt::Display for ThawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThawError::TooLarge => f.write_str("the frames are too large"),
            ThawError::Truncated => f.write_str("the frames end too early"),
            ThawError::Version => f.write_str("the frames have another version"),
            ThawError::OtherImage => f.write_str("the frames belong to another interpreter"),
            ThawError::OtherCode => f.write_str(
                "the frames belong to other code: it was upgraded while the call waited",
            ),
            ThawError::Malformed(what) => write!(f, "the frames are malformed: {what}"),
            ThawError::Memory => f.write_str("the frames do not fit into the heap"),
        }
    }
}

impl std::error::Error for ThawError {}

/// Tags of values.
mod tag {
    pub(super) const UNBOUND: u8 = 0;
    pub(super) const NONE: u8 = 1;
    pub(super) const NOT_IMPLEMENTED: u8 = 2;
    pub(super) const ELLIPSIS: u8 = 3;
    pub(super) const FALSE: u8 = 4;
    pub(super) const TRUE: u8 = 5;
    pub(super) const INT: u8 = 6;
    pub(super) const FLOAT: u8 = 7;
    pub(super) const NATIVE: u8 = 8;
    /// An object that is there before the program runs.
    pub(super) const KNOWN: u8 = 9;
    /// An object of these bytes.
    pub(super) const OBJECT: u8 = 10;
}

/// Tags of objects.
mod kind {
    pub(super) const STR: u8 = 0;
    pub(super) const INTERNED: u8 = 1;
    pub(super) const BIG: u8 = 2;
    pub(super) const BYTES: u8 = 3;
    pub(super) const BYTE_ARRAY: u8 = 4;
    pub(super) const LIST: u8 = 5;
    pub(super) const TUPLE: u8 = 6;
    pub(super) const DICT: u8 = 7;
    pub(super) const SET: u8 = 8;
    pub(super) const FROZEN_SET: u8 = 9;
    pub(super) const RANGE: u8 = 10;
    pub(super) const SLICE: u8 = 11;
    pub(super) const FUNCTION: u8 = 12;
    pub(super) const METHOD: u8 = 13;
    pub(super) const CLASS: u8 = 14;
    pub(super) const INSTANCE: u8 = 15;
    pub(super) const EXCEPTION: u8 = 16;
    pub(super) const CELL: u8 = 17;
    pub(super) const GENERATOR: u8 = 18;
    pub(super) const ITER_SEQUENCE: u8 = 19;
    pub(super) const ITER_REVERSED: u8 = 20;
    pub(super) const ITER_DICT: u8 = 21;
    pub(super) const ITER_RANGE: u8 = 22;
    pub(super) const ITER_ENUMERATE: u8 = 23;
    pub(super) const ITER_ZIP: u8 = 24;
    pub(super) const ITER_DONE: u8 = 25;
    pub(super) const DICT_VIEW: u8 = 26;
    pub(super) const MODULE: u8 = 27;
    pub(super) const PROPERTY: u8 = 28;
    pub(super) const STATIC_METHOD: u8 = 29;
    pub(super) const CLASS_METHOD: u8 = 30;
    pub(super) const SUPER: u8 = 31;
    pub(super) const PENDING: u8 = 32;
    pub(super) const PENDING_ANY: u8 = 33;
    /// Added to the kind of an object that has been asked for its identity; the number follows.
    pub(super) const IDENTIFIED: u8 = 0x80;
}
