//! Exceptions: raising, matching, chaining, and what is shown of them.

use super::Vm;
use super::fault::{Fatal, Fault};
use crate::code::BinOp;
use crate::heap::object::{Exception, Obj};
use crate::heap::types::Type;
use crate::heap::value::Value;

/// Lines that a traceback keeps: those of the deepest stack.
const TRACEBACK_MAX: usize = crate::limits::SCRIPT_FRAME_DEPTH;

impl Vm {
    fn exception_mut(&mut self, value: Value) -> Option<&mut Exception> {
        match value.handle().map(|handle| self.heap.get_mut(handle)) {
            Some(Obj::Exception(exception)) => Some(exception),
            _ => None,
        }
    }

    pub(crate) fn is_exception_of(&self, exception: Value, kind: Type) -> bool {
        self.is_instance(exception, kind)
    }

    /// What `raise` makes of its operands.
    pub(crate) fn raise_step(&mut self, operands: u16) -> Result<Fault, Fault> {
        if operands == 0 {
            let handled = self.frames.iter().rev().map(|frame| frame.handling);
            let current = handled.into_iter().find(|value| !value.is_unbound());
            return match current {
                Some(exception) => Ok(Fault::Raise(exception)),
                None => Err(self.raise(Type::RuntimeError, "No active exception to reraise")),
            };
        }
        let cause = if operands == 2 { Some(self.pop()?) } else { None };
        let value = self.pop()?;
        if let Some(Obj::Class(_)) = self.obj(value) {
            // The class is called first; the prelude raises what it makes.
            let mut args = vec![value];
            args.extend(cause);
            let name = if cause.is_some() { "_raise_from" } else { "_raise" };
            if self.is_subclass(
                value.handle().unwrap_or(Type::Object.handle()),
                Type::BaseException.handle(),
            ) {
                return Err(self.prelude_tail(name, args));
            }
        }
        if !matches!(self.obj(value), Some(Obj::Exception(_))) {
            return Err(self.type_error("exceptions must derive from BaseException"));
        }
        if let Some(cause) = cause {
            match self.obj(cause) {
                Some(Obj::Class(_)) => {
                    return Err(self.prelude_tail("_raise_from", vec![value, cause]));
                }
                Some(Obj::Exception(_)) => self.set_cause(value, cause),
                _ if cause.is_none() => {
                    if let Some(exception) = self.exception_mut(value) {
                        exception.suppress = true;
                        exception.cause = Value::Unbound;
                    }
                }
                _ => return Err(self.type_error("exception causes must derive from BaseException")),
            }
        }
        Ok(Fault::Raise(value))
    }

    pub(crate) fn set_cause(&mut self, exception: Value, cause: Value) {
        if let Some(exception) = self.exception_mut(exception) {
            exception.cause = cause;
            exception.suppress = true;
        }
    }

    /// An exception raised while another is handled remembers it.
    pub(crate) fn note_context(&mut self, exception: Value) {
        let handled = self.frames.iter().rev().map(|frame| frame.handling);
        let Some(current) = handled.into_iter().find(|value| !value.is_unbound()) else { return };
        if current.is(exception) {
            return;
        }
        if let Some(exception) = self.exception_mut(exception)
            && exception.context.is_unbound()
        {
            exception.context = current;
        }
    }

    pub(crate) fn note_line(
        &mut self,
        exception: Value,
        code: u32,
        line: u32,
        again: bool,
    ) -> Result<(), Fault> {
        // What a frame raises once more has its line already.
        if again
            && let Some(Obj::Exception(exception)) = self.obj(exception)
            && exception.traceback.last().is_some_and(|(last, _)| *last == code)
        {
            return Ok(());
        }
        let Some(handle) = exception.handle() else { return Err(Fatal::Internal.into()) };
        if let Obj::Exception(exception) = self.heap.get_mut(handle)
            && exception.traceback.len() < TRACEBACK_MAX
        {
            exception.traceback.push((code, line));
            self.heap.grown(handle, 8)?;
        }
        Ok(())
    }

    pub(crate) fn stop_value(&self, exception: Value) -> Value {
        match self.obj(exception) {
            Some(Obj::Exception(exception)) => match self.obj(exception.args) {
                Some(Obj::Tuple(args)) => args.first().copied().unwrap_or(Value::None),
                _ => Value::None,
            },
            _ => Value::None,
        }
    }

    pub(crate) fn exception_matches(
        &mut self,
        exception: Value,
        kind: Value,
    ) -> Result<bool, Fault> {
        let count = match self.obj(kind) {
            Some(Obj::Tuple(kinds)) => kinds.len(),
            _ => 1,
        };
        self.charge(crate::cost::many(count) * 4)?;
        let class = self.class_of(exception);
        let mut found = false;
        for place in 0..count {
            let kind = match self.obj(kind) {
                Some(Obj::Tuple(kinds)) => kinds[place],
                _ => kind,
            };
            match kind {
                Value::Ref(handle) if self.is_subclass(handle, Type::BaseException.handle()) => {
                    found = found || self.is_subclass(class, handle);
                }
                _ => {
                    return Err(self.type_error(
                        "catching classes that do not inherit from BaseException is not allowed",
                    ));
                }
            }
        }
        Ok(found)
    }
}

impl Vm {
    /// What an operator said of operands that it does not take, with the operator that is written there.
    pub(super) fn said_in_place(&mut self, op: BinOp, error: Value) -> Fault {
        let symbol = op.symbol();
        let args = match self.obj(error) {
            Some(Obj::Exception(exception)) => exception.args,
            _ => return Fault::Raise(error),
        };
        let said = match self.obj(args) {
            Some(Obj::Tuple(args)) => args.first().and_then(|said| self.text(*said)),
            _ => None,
        };
        let before = format!("unsupported operand type(s) for {symbol}: ");
        match said.and_then(|said| said.strip_prefix(&before)) {
            Some(rest) => {
                let message = format!("unsupported operand type(s) for {symbol}=: {rest}");
                self.type_error(message)
            }
            None => Fault::Raise(error),
        }
    }
}
