//! Membership.

use super::Vm;
use super::fault::{Fault, tail_after};
use super::frame::After;
use crate::cost;
use crate::heap::object::{Obj, View};
use crate::heap::types::name;
use crate::heap::value::Value;

impl Vm {
    /// `item in container`.
    pub(crate) fn contains(
        &mut self,
        container: Value,
        item: Value,
        negate: bool,
    ) -> Result<bool, Fault> {
        if let Some(method) = self.user_method(container, name::CONTAINS) {
            let after = After::Contains { negate };
            return Err(tail_after(method, vec![container, item], after));
        }
        match self.contains_plain(container, item) {
            Err(Fault::Fallback) => {
                let function = self.prelude_function("_contains")?;
                let after = After::Contains { negate };
                Err(tail_after(function, vec![container, item], after))
            }
            other => other,
        }
    }

    pub(crate) fn contains_plain(&mut self, container: Value, item: Value) -> Result<bool, Fault> {
        let Value::Ref(handle) = self.inner(container) else {
            return Err(self.not_container(container));
        };
        match self.heap.get(handle) {
            Obj::Dict(_) | Obj::Set(_) | Obj::FrozenSet(_) => {
                let hash = self.hash(item, 0)?;
                Ok(self.find(handle, item, hash)?.is_some())
            }
            Obj::DictView { dict, view: View::Keys } => {
                let dict = *dict;
                let hash = self.hash(item, 0)?;
                Ok(self.find(dict, item, hash)?.is_some())
            }
            Obj::List(_) | Obj::Tuple(_) => {
                let count = self.length(container)?;
                for index in 0..count {
                    let Some(found) = self.item_at(handle, index) else { break };
                    self.charge(cost::comparison(found, item))?;
                    if found.is(item) || self.equal(found, item, 0)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Obj::Str(text) => {
                let length = text.text.len();
                self.charge(cost::bytes(length))?;
                let Some(needle) = self.text(item) else {
                    let kind = self.type_name(item);
                    return Err(self.type_error(format!(
                        "'in <string>' requires string as left operand, not {kind}"
                    )));
                };
                // A long part is looked through before it is looked for.
                let part = needle.len();
                self.charge(cost::long(part) * 6)?;
                let (Some(text), Some(needle)) = (self.text(container), self.text(item)) else {
                    return Ok(false);
                };
                Ok(text.contains(needle))
            }
            Obj::Range { start, stop, step } => {
                let (start, stop, step) = (*start, *stop, *step);
                let place = match self.inner(item) {
                    Value::Float(float) if float == (float as i64) as f64 => Some(float as i64),
                    _ => self.as_index(item),
                };
                Ok(match place {
                    Some(int) => {
                        let inside = if step > 0 {
                            start <= int && int < stop
                        } else {
                            stop < int && int <= start
                        };
                        inside && (i128::from(int) - i128::from(start)) % i128::from(step) == 0
                    }
                    None => false,
                })
            }
            Obj::Bytes(_) | Obj::ByteArray(_) => {
                let bytes = self.byte_vec(container).unwrap_or_default();
                self.charge(cost::bytes(bytes.len()))?;
                match self.as_index(item) {
                    Some(int) => Ok(bytes.iter().any(|byte| i64::from(*byte) == int)),
                    None => {
                        let Some(needle) = self.byte_vec(item) else {
                            return Err(self.type_error("a bytes-like object is required"));
                        };
                        let pairs = bytes.len() * needle.len().max(1) / 4;
                        self.charge(pairs as u64 + cost::long(needle.len()))?;
                        Ok(needle.is_empty() || bytes.windows(needle.len()).any(|w| w == needle))
                    }
                }
            }
            Obj::Class(_)
            | Obj::Generator(_)
            | Obj::Iter(_)
            | Obj::Instance(_)
            | Obj::DictView { .. } => Err(Fault::Fallback),
            _ => Err(self.not_container(container)),
        }
    }

    fn not_container(&mut self, container: Value) -> Fault {
        let kind = self.type_name(container);
        self.type_error(format!("argument of type '{kind}' is not iterable"))
    }
}
