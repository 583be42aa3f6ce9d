//! Frames: plain data, so that a call can be written down and go on elsewhere.

use crate::code::{BinOp, CmpOp};
use crate::heap::value::{Handle, Value};

/// What becomes of a frame's result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum After {
    /// It is the operation's result.
    Push,
    Discard,
    /// `__init__`: the new object is the result.
    Init(Value),
    /// An operator: NotImplemented lets the other operand try.
    Binary {
        op: BinOp,
        left: Value,
        right: Value,
        stage: u8,
    },
    Compare {
        op: CmpOp,
        left: Value,
        right: Value,
        stage: u8,
    },
    /// Truth of `__contains__`.
    Contains {
        negate: bool,
    },
    /// `and` or `or` with a `__bool__` in Python: its answer decides, the value below stays or goes.
    KeepJump {
        wanted: bool,
        target: u32,
    },
    /// A step of a `for` loop: the end of the iterator ends the loop.
    ForIter,
    /// `next(iterator, default)`; Unbound without default.
    Next(Value),
    /// A step of `yield from` or `await`.
    Send,
    /// `generator.close()`: the end of the generator is what was wanted.
    Close,
    /// `__getattr__` after AttributeError: object and name.
    GetAttr(Value, Value),
    /// What a special method must give: the answer is looked at.
    Checked(Wanted),
    /// Leaves the interpreter with the result.
    Entry,
}

/// Special methods whose answers have a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Len,
    Repr,
    Str,
    Hash,
    Iterator,
    Bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) code: u32,
    pub(crate) pc: u32,
    /// First local slot.
    pub(crate) base: u32,
    /// The stack is cut to here when the frame ends.
    pub(crate) bottom: u32,
    pub(crate) globals: Handle,
    pub(crate) namespace: Value,
    /// The generator whose frame this is.
    pub(crate) generator: Option<Handle>,
    /// The exception that is being handled, or Unbound.
    pub(crate) handling: Value,
    pub(crate) after: After,
}

impl Frame {
    pub(crate) fn trace(&self, mut see: impl FnMut(Value)) {
        see(self.globals.into());
        see(self.namespace);
        see(self.handling);
        if let Some(generator) = self.generator {
            see(generator.into());
        }
        match self.after {
            After::Init(value) | After::Next(value) => see(value),
            After::Binary { left, right, .. } | After::Compare { left, right, .. } => {
                see(left);
                see(right);
            }
            After::GetAttr(object, name) => {
                see(object);
                see(name);
            }
            _ => {}
        }
    }
}
