//! How an operation can fail to give a value.

use crate::heap::types::Type;
use crate::heap::value::Value;
use crate::limits::NESTING_MAX;

use super::Vm;
use super::frame::After;
pub(crate) use crate::limits::Fatal;

/// A call that takes the place of an operation: what it returns is the operation's result.
#[derive(Debug)]
pub(crate) struct Tail {
    pub(crate) callee: Value,
    pub(crate) args: Vec<Value>,
    pub(crate) after: After,
    pub(crate) namespace: Value,
}

#[derive(Debug)]
pub(crate) enum Fault {
    Raise(Value),
    Tail(Box<Tail>),
    /// The data need Python code; the prelude has the same function in Python.
    Fallback,
    Fatal(Fatal),
    /// A native that stands for a generator's next step: `Vm::entering` says which.
    Enter,
    /// The host is asked: `Vm::asking` says what. The loop stops, and continues with the answer.
    Ask,
}

impl From<Fatal> for Fault {
    fn from(fatal: Fatal) -> Self {
        Fault::Fatal(fatal)
    }
}

pub(crate) type Outcome = Result<Value, Fault>;

/// A call in place of the operation.
pub(crate) fn tail(callee: Value, args: Vec<Value>) -> Fault {
    Fault::Tail(Box::new(Tail { callee, args, after: After::Push, namespace: Value::Unbound }))
}

pub(crate) fn tail_after(callee: Value, args: Vec<Value>, after: After) -> Fault {
    Fault::Tail(Box::new(Tail { callee, args, after, namespace: Value::Unbound }))
}

/// Bytes of a program's own text that a message shows.
const SHOWN_BYTES: usize = 200;

/// A name or a text of a program as a message shows it: cut if it is long.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().find(|(at, char)| at + char.len_utf8() > SHOWN_BYTES) {
        None => text.to_owned(),
        Some((cut, _)) => format!("{}...", &text[..cut]),
    }
}

impl Vm {
    /// A name as a message shows it.
    pub(crate) fn shown_name(&self, name: Value) -> String {
        shown(self.text(name).unwrap_or(""))
    }

    /// An exception of a builtin type, to be raised.
    pub(crate) fn raise(&mut self, kind: Type, message: impl AsRef<str>) -> Fault {
        let length = message.as_ref().len().saturating_sub(SHOWN_BYTES);
        if let Err(fault) = self.charge(crate::cost::long(length)) {
            return fault;
        }
        let made = self.heap.str(message.as_ref()).map_err(Fault::from).and_then(|text| {
            let args = self.tuple(vec![text.into()])?;
            self.new_exception(kind.handle(), args)
        });
        match made {
            Ok(exception) => Fault::Raise(exception),
            Err(fault) => fault,
        }
    }

    /// An exception with this value as its argument.
    pub(crate) fn raise_with(&mut self, kind: Type, arg: Value) -> Fault {
        let made = self.tuple(vec![arg]).and_then(|args| self.new_exception(kind.handle(), args));
        match made {
            Ok(exception) => Fault::Raise(exception),
            Err(fault) => fault,
        }
    }

    pub(crate) fn type_error(&mut self, message: impl AsRef<str>) -> Fault {
        self.raise(Type::TypeError, message)
    }

    pub(crate) fn value_error(&mut self, message: impl AsRef<str>) -> Fault {
        self.raise(Type::ValueError, message)
    }

    /// Containers are inside each other deeper than Rust's stack may follow.
    pub(crate) fn too_deep(&mut self, what: &str) -> Fault {
        let message = format!(
            "maximum recursion depth exceeded{what}: {NESTING_MAX} containers inside each other"
        );
        self.raise(Type::RecursionError, message)
    }

    pub(crate) fn charge(&mut self, cycles: u64) -> Result<(), Fault> {
        match self.cycles.get().checked_sub(cycles) {
            Some(left) => {
                self.cycles.set(left);
                Ok(())
            }
            None => {
                self.cycles.set(0);
                Err(Fault::Fatal(Fatal::Cycles))
            }
        }
    }

    /// Charges where nothing can be refused: who spent all is stopped at the next charge, which is the
    /// next instruction's at the latest.
    #[cold]
    pub(crate) fn spend(&self, cycles: u64) {
        self.cycles.set(self.cycles.get().saturating_sub(cycles));
    }

    /// Charges for bytes that are about to be made, and sees that they fit.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<(), Fault> {
        self.heap.check(bytes)?;
        self.charge(crate::cost::bytes(bytes))
    }
}
