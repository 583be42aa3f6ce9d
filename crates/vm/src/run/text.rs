//! What `str` and a field of an f-string make of a value.

use super::Vm;
use super::fault::{Fault, Outcome, tail_after};
use super::frame::{After, Wanted};
use super::steps::Flow;
use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::Value;
use crate::limits::NESTING_MAX;

impl Vm {
    /// `str(value)`; a Tail or Fallback fault if Python code is needed.
    pub(crate) fn text_of(&mut self, value: Value) -> Outcome {
        self.text_within(value, 0)
    }

    /// Exceptions show their arguments, which may be exceptions again.
    fn text_within(&mut self, value: Value, depth: usize) -> Outcome {
        if depth > NESTING_MAX {
            return Err(self.too_deep(" while getting the str of an object"));
        }
        match self.obj(value) {
            Some(Obj::Str(_)) => return Ok(value),
            Some(Obj::Instance(_) | Obj::Exception(_) | Obj::Class(_)) => {
                if let Some(method) = self.user_method(value, name::STR) {
                    return Err(tail_after(method, vec![value], After::Checked(Wanted::Str)));
                }
                // An exception's text is that of its arguments, however it is shown itself.
                if !matches!(self.obj(value), Some(Obj::Exception(_)))
                    && let Some(method) = self.user_method(value, name::REPR)
                {
                    return Err(tail_after(method, vec![value], After::Checked(Wanted::Repr)));
                }
                // Sets are shown with the name of their class.
                if let Some(Obj::Instance(instance)) = self.obj(value)
                    && !instance.payload.is_unbound()
                    && !matches!(self.obj(instance.payload), Some(Obj::Set(_) | Obj::FrozenSet(_)))
                {
                    let payload = instance.payload;
                    return self.text_within(payload, depth + 1);
                }
                if let Some(Obj::Exception(exception)) = self.obj(value) {
                    let args = exception.args;
                    let items = self.plain_items(args)?.unwrap_or_default();
                    return match items.as_slice() {
                        [] => self.string(""),
                        [one] if !self.is_exception_of(value, Type::KeyError) => {
                            self.text_within(*one, depth + 1)
                        }
                        [number, text] | [number, text, _]
                            if self.is_exception_of(value, Type::OSError) =>
                        {
                            let file = items.get(2).copied();
                            self.os_error_text([*number, *text], file, depth)
                        }
                        [one] => {
                            let text = self.repr(*one)?;
                            self.string(text)
                        }
                        _ => {
                            let text = self.repr(args)?;
                            self.string(text)
                        }
                    };
                }
            }
            _ => {}
        }
        let text = self.repr(value)?;
        self.string(text)
    }

    /// The text of a part of a text, which cannot wait for Python code.
    fn plain_text(&mut self, value: Value, depth: usize) -> Outcome {
        match self.text_within(value, depth) {
            Err(Fault::Tail(_)) => Err(Fault::Fallback),
            other => other,
        }
    }

    /// `[Errno 2] No such file or directory: 'name'`
    fn os_error_text(
        &mut self,
        [number, text]: [Value; 2],
        file: Option<Value>,
        depth: usize,
    ) -> Outcome {
        // The second part is not looked at if the first one fails: both can be the same long chain.
        let number = self.plain_text(number, depth + 1)?;
        let text = self.plain_text(text, depth + 1)?;
        let part = |vm: &Vm, value| vm.text(value).unwrap_or("").to_owned();
        let mut shown = format!("[Errno {}] {}", part(self, number), part(self, text));
        if let Some(file) = file {
            shown.push_str(": ");
            shown.push_str(&self.repr(file)?);
        }
        self.reserve(shown.len())?;
        self.string(shown)
    }

    /// A field of an f-string.
    pub(crate) fn format_step(&mut self, operand: u16) -> Result<Flow, Fault> {
        let spec = if operand & 1 == 1 { self.pop()? } else { Value::Unbound };
        let value = self.pop()?;
        let result = match operand & 6 {
            0 if spec.is_unbound() => {
                if self.user_method(value, name::FORMAT).is_some() {
                    Err(Fault::Fallback)
                } else {
                    self.text_of(value)
                }
            }
            2 if spec.is_unbound() => self.text_of(value),
            4 if spec.is_unbound() => match self.repr(value) {
                Ok(text) => self.string(text),
                Err(fault) => Err(fault),
            },
            0 => self.format_value(value, spec),
            _ => Err(Fault::Fallback),
        };
        match result {
            Ok(text) => {
                self.stack.push(text);
                Ok(Flow::Next)
            }
            Err(Fault::Fallback) => {
                let spec = if spec.is_unbound() { self.string("")? } else { spec };
                let convert = Value::Int(i64::from(operand & 6));
                Err(self.prelude_tail("_format_field", vec![value, spec, convert]))
            }
            Err(fault) => Err(fault),
        }
    }
}
