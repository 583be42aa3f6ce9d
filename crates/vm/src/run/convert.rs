//! Truth, length, bytes, and modules.

use super::Vm;
use super::fault::{Fault, Outcome, shown, tail_after};
use super::frame::{After, Wanted};
use super::iter::range_len;
use super::steps::Flow;
use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::Value;

impl Vm {
    /// Truth; a Tail fault if Python code decides.
    #[inline]
    pub(crate) fn truth(&mut self, value: Value) -> Result<bool, Fault> {
        Ok(match value {
            Value::Bool(truth) => truth,
            Value::None | Value::Unbound => false,
            Value::Int(int) => int != 0,
            Value::Float(float) => float != 0.0,
            Value::NotImplemented | Value::Ellipsis | Value::Native(_) => true,
            Value::Ref(handle) => match self.heap.get(handle) {
                Obj::Str(text) => !text.text.is_empty(),
                Obj::List(items) => !items.is_empty(),
                Obj::Tuple(items) => !items.is_empty(),
                Obj::Dict(table) => table.len() > 0,
                Obj::Set(set) | Obj::FrozenSet(set) => set.len() > 0,
                Obj::Bytes(bytes) => !bytes.is_empty(),
                Obj::ByteArray(bytes) => !bytes.is_empty(),
                Obj::Range { start, stop, step } => range_len(*start, *stop, *step) > 0,
                Obj::DictView { dict, .. } => {
                    self.table(*dict).is_some_and(|table| table.len() > 0)
                }
                Obj::Instance(instance) => {
                    let payload = instance.payload;
                    for (method, wanted) in [(name::BOOL, Wanted::Bool), (name::LEN, Wanted::Len)] {
                        if let Some(method) = self.user_method(value, method) {
                            return Err(tail_after(method, vec![value], After::Checked(wanted)));
                        }
                    }
                    return if payload.is_unbound() { Ok(true) } else { self.truth(payload) };
                }
                Obj::Class(_) | Obj::Exception(_) => {
                    if let Some(method) = self.user_method(value, name::BOOL) {
                        let after = After::Checked(Wanted::Bool);
                        return Err(tail_after(method, vec![value], after));
                    }
                    true
                }
                _ => true,
            },
        })
    }

    /// What the `__bool__` or `__len__` of a value said, if it may say that.
    pub(super) fn truth_said(&mut self, value: Value, answer: Value) -> Result<bool, Fault> {
        let own = self.user_method(value, name::BOOL).is_some();
        let answer = self.checked(if own { Wanted::Bool } else { Wanted::Len }, answer)?;
        self.truth(self.inner(answer))
    }

    /// Truth of an argument of a native, which cannot wait for Python code.
    pub(crate) fn plain_truth(&mut self, value: Value) -> Result<bool, Fault> {
        match self.truth(value) {
            Err(Fault::Tail(_)) => Err(Fault::Fallback),
            other => other,
        }
    }

    /// `len` of what needs no Python code.
    pub(crate) fn length(&mut self, value: Value) -> Result<usize, Fault> {
        match self.obj(self.inner(value)) {
            Some(Obj::Str(text)) => Ok(text.chars as usize),
            Some(Obj::List(items)) => Ok(items.len()),
            Some(Obj::Tuple(items)) => Ok(items.len()),
            Some(Obj::Dict(table)) => Ok(table.len()),
            Some(Obj::Set(set) | Obj::FrozenSet(set)) => Ok(set.len()),
            Some(Obj::Bytes(bytes)) => Ok(bytes.len()),
            Some(Obj::ByteArray(bytes)) => Ok(bytes.len()),
            Some(Obj::Range { start, stop, step }) => Ok(range_len(*start, *stop, *step) as usize),
            Some(Obj::DictView { dict, .. }) => {
                Ok(self.table(*dict).map_or(0, |table| table.len()))
            }
            _ => {
                let kind = self.type_name(value);
                Err(self.type_error(format!("object of type '{kind}' has no len()")))
            }
        }
    }

    /// The length as a value: a range can be longer than `len` can return.
    pub(crate) fn length_value(&mut self, value: Value) -> Outcome {
        match i64::try_from(self.length(value)?) {
            Ok(length) => Ok(Value::Int(length)),
            Err(_) => {
                let message = "Python int too large to convert to C ssize_t";
                Err(self.raise(Type::OverflowError, message))
            }
        }
    }

    /// The bytes of a bytes-like value.
    pub(crate) fn byte_vec(&self, value: Value) -> Option<Vec<u8>> {
        match self.obj(self.inner(value))? {
            Obj::Bytes(bytes) => Some(bytes.to_vec()),
            Obj::ByteArray(bytes) => Some(bytes.clone()),
            _ => None,
        }
    }

    pub(crate) fn byte_value(&mut self, value: Value) -> Result<u8, Fault> {
        match self.as_index(value) {
            Some(int) => match u8::try_from(int) {
                Ok(byte) => Ok(byte),
                Err(_) => Err(self.value_error("byte must be in range(0, 256)")),
            },
            None => {
                if self.user_method(value, name::INDEX).is_some() {
                    return Err(Fault::Fallback);
                }
                let kind = self.type_name(value);
                Err(self.type_error(format!("'{kind}' object cannot be interpreted as an integer")))
            }
        }
    }

    /// The text of an argument that must be a str.
    pub(crate) fn want_text(&mut self, value: Value, what: &str) -> Result<String, Fault> {
        match self.text(value) {
            Some(text) => {
                let text = text.to_owned();
                self.charge(crate::cost::bytes(text.len()))?;
                Ok(text)
            }
            None => {
                let kind = self.type_name(value);
                Err(self.type_error(format!("{what} must be str, not {kind}")))
            }
        }
    }

    pub(crate) fn want_int(&mut self, value: Value) -> Result<i64, Fault> {
        match self.as_index(value) {
            Some(int) => Ok(int),
            None => {
                if let Some(Obj::Big(_)) = self.obj(value) {
                    return Err(self.raise(
                        Type::OverflowError,
                        "Python int too large to convert to C ssize_t",
                    ));
                }
                if self.user_method(value, name::INDEX).is_some() {
                    return Err(Fault::Fallback);
                }
                let kind = self.type_name(value);
                Err(self.type_error(format!("'{kind}' object cannot be interpreted as an integer")))
            }
        }
    }

    /// An integer that is a place in something: one beyond i64 is beyond any end.
    pub(crate) fn want_place(&mut self, value: Value) -> Result<i64, Fault> {
        match self.obj(self.inner(value)) {
            Some(Obj::Big(big)) if big.sign() == num_bigint::Sign::Minus => Ok(i64::MIN / 2),
            Some(Obj::Big(_)) => Ok(i64::MAX / 2),
            _ => self.want_int(value),
        }
    }

    /// `import name`: the module, which the image has.
    pub(crate) fn import_step(&mut self, name: Value) -> Result<Flow, Fault> {
        let text = self.text(name).unwrap_or("");
        // Where a program says what to do without a module, the compiler lets any name pass.
        if let Some(module) = self.modules.get(text) {
            self.stack.push(*module);
            return Ok(Flow::Next);
        }
        let text = shown(text);
        Err(self.raise(Type::ModuleNotFoundError, format!("No module named '{text}'")))
    }

    pub(crate) fn import_from(&mut self, module: Value, name: Value) -> Outcome {
        match self.get_attr(module, name) {
            Err(Fault::Raise(exception))
                if self.is_exception_of(exception, Type::AttributeError) =>
            {
                let what = self.shown_name(name);
                let from = match self.obj(module) {
                    Some(Obj::Module { name, .. }) => self.shown_name(*name),
                    _ => String::new(),
                };
                let message = format!("cannot import name '{what}' from '{from}'");
                Err(self.raise(Type::ImportError, message))
            }
            other => other,
        }
    }
}
