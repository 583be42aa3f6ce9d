//! Where the result of a call goes: to the instruction, the operator or the loop that waits for it.

use super::Vm;
use super::fault::{Fatal, Fault, Outcome};
use super::frame::{After, Wanted};
use super::steps::Flow;
use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::Value;

impl Vm {
    /// Passes a result to the instruction or frame that waits for it.
    pub(crate) fn complete(&mut self, after: After, value: Value) -> Result<Flow, Fault> {
        match after {
            After::Push | After::ForIter | After::Next(_) | After::Send | After::GetAttr(..) => {
                self.stack.push(value);
            }
            After::Discard => {}
            After::Close => self.stack.push(Value::None),
            After::Init(instance) => {
                if !value.is_none() {
                    let kind = self.type_name(value);
                    return Err(
                        self.type_error(format!("__init__() should return None, not '{kind}'"))
                    );
                }
                self.stack.push(instance);
            }
            After::Binary { op, left, right, stage } => {
                if matches!(value, Value::NotImplemented) {
                    // An in-place operator falls back to the plain one: `__iadd__`, then `__add__`.
                    let value = self.binary_stage(op, left, right, stage.wrapping_add(1))?;
                    self.stack.push(value);
                } else {
                    self.stack.push(value);
                }
            }
            After::Compare { op, left, right, stage } => {
                if matches!(value, Value::NotImplemented) {
                    let value = self.compare_stage(op, left, right, stage + 1)?;
                    self.stack.push(value);
                } else if stage >= super::compare::NEGATED {
                    self.push_truth(value, true)?;
                } else {
                    self.stack.push(value);
                }
            }
            After::Contains { negate } => self.push_truth(value, negate)?,
            After::KeepJump { wanted, target } => {
                let Some(operand) = self.stack.last().copied() else {
                    return Err(Fatal::Internal.into());
                };
                if self.truth_said(operand, value)? == wanted {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.pc = target;
                    }
                } else {
                    self.stack.pop();
                }
                return Ok(Flow::Frame);
            }
            After::Checked(wanted) => {
                let value = self.checked(wanted, value)?;
                self.stack.push(value);
            }
            After::Entry => {
                self.stack.push(value);
                return Err(Fatal::Internal.into());
            }
        }
        Ok(Flow::Next)
    }

    /// The truth of an answer, or the contrary; what only Python code can say is asked for there.
    fn push_truth(&mut self, answer: Value, negate: bool) -> Result<(), Fault> {
        match self.plain_truth(answer) {
            Ok(truth) => self.stack.push(Value::Bool(truth != negate)),
            Err(Fault::Fallback) => {
                let function = if negate { "_not" } else { "_bool" };
                return Err(self.prelude_tail(function, vec![answer]));
            }
            Err(fault) => return Err(fault),
        }
        Ok(())
    }

    /// The answer of a special method, if it is one.
    pub(super) fn checked(&mut self, wanted: Wanted, value: Value) -> Outcome {
        let inner = self.inner(value);
        let text = self.text(inner).is_some();
        let number = matches!(inner, Value::Int(_) | Value::Bool(_));
        let whole = number || matches!(self.obj(inner), Some(Obj::Big(_)));
        let message = match wanted {
            Wanted::Repr | Wanted::Str if !text => {
                let kind = self.type_name(value);
                let method = if wanted == Wanted::Repr { "__repr__" } else { "__str__" };
                format!("{method} returned non-string (type {kind})")
            }
            Wanted::Iterator => {
                if matches!(self.obj(value), Some(Obj::Iter(_) | Obj::Generator(_))) {
                    return Ok(value);
                }
                let class = self.class_of(value);
                if self.class_attr(class, name::NEXT).is_some() {
                    return Ok(value);
                }
                let kind = self.class_name(class);
                format!("iter() returned non-iterator of type '{kind}'")
            }
            Wanted::Bool if !matches!(value, Value::Bool(_)) => {
                let kind = self.type_name(value);
                format!("__bool__ should return bool, returned {kind}")
            }
            Wanted::Hash if !whole => "__hash__ method should return an integer".to_owned(),
            Wanted::Len if !whole => {
                let kind = self.type_name(value);
                format!("'{kind}' object cannot be interpreted as an integer")
            }
            Wanted::Len if self.as_index(inner).is_some_and(|length| length < 0) => {
                return Err(self.value_error("__len__() should return >= 0"));
            }
            // A number of any size becomes one that fits.
            Wanted::Hash if !number => {
                return self.hash(inner, 0).map(|hash| Value::Int(hash as i64));
            }
            Wanted::Hash if inner.is(Value::Int(-1)) => return Ok(Value::Int(-2)),
            Wanted::Hash | Wanted::Len if matches!(inner, Value::Bool(_)) => {
                return Ok(Value::Int(i64::from(matches!(inner, Value::Bool(true)))));
            }
            _ => return Ok(value),
        };
        Err(self.type_error(message))
    }

    /// The end of an iterator, passed to the instruction that waits for its next value.
    pub(crate) fn complete_end(&mut self, after: After, value: Value) -> Result<Flow, Fault> {
        match after {
            After::ForIter | After::Send => {
                let Some(frame) = self.frames.last_mut() else {
                    return Err(Fatal::Internal.into());
                };
                let instr = self.codes[frame.code as usize].code.instrs[frame.pc as usize - 1];
                frame.pc = instr.b;
                self.stack.pop();
                if matches!(after, After::Send) {
                    self.stack.push(value);
                }
                Ok(Flow::Frame)
            }
            After::Next(default) if !default.is_unbound() => {
                self.stack.push(default);
                Ok(Flow::Next)
            }
            After::Close => {
                self.stack.push(Value::None);
                Ok(Flow::Next)
            }
            _ => {
                if value.is_none() {
                    let args = self.tuple(Vec::new())?;
                    let stop = self.new_exception(Type::StopIteration.handle(), args)?;
                    return Err(Fault::Raise(stop));
                }
                Err(self.raise_with(Type::StopIteration, value))
            }
        }
    }

    /// Ends the top frame. A value if it was the entry.
    pub(crate) fn return_value(&mut self, value: Value) -> Result<Option<Value>, Fault> {
        let Some(frame) = self.frames.pop() else { return Err(Fatal::Internal.into()) };
        self.stack.truncate(frame.bottom as usize);
        if let Some(generator) = frame.generator {
            if let Obj::Generator(generator) = self.heap.get_mut(generator) {
                generator.running = false;
            }
            self.heap.resized(generator)?;
            if matches!(frame.after, After::Entry) {
                return Ok(Some(value));
            }
            return self.complete_end(frame.after, value).map(|_| None);
        }
        if matches!(frame.after, After::Entry) {
            return Ok(Some(value));
        }
        self.complete(frame.after, value).map(|_| None)
    }
}
