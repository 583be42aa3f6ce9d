//! Subscripts: reading, writing, deleting.

use super::Vm;
use super::fault::{Fault, Outcome, tail, tail_after};
use super::frame::After;
use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::{Handle, Value};

impl Vm {
    /// Lists and tuples by a small int.
    #[inline]
    pub(crate) fn quick_index(&self, object: Value, key: Value) -> Option<Value> {
        let (Value::Ref(handle), Value::Int(index)) = (object, key) else { return None };
        let items: &[Value] = match self.heap.get(handle) {
            Obj::List(items) => items,
            Obj::Tuple(items) => items,
            _ => return None,
        };
        let index = if index < 0 { index + items.len() as i64 } else { index };
        items.get(usize::try_from(index).ok()?).copied()
    }

    pub(crate) fn get_item(&mut self, object: Value, key: Value) -> Outcome {
        if let Some(method) = self.user_method(object, name::GETITEM) {
            return Err(tail(method, vec![object, key]));
        }
        let Value::Ref(handle) = self.inner(object) else { return Err(self.no_subscript(object)) };
        match self.heap.get(handle) {
            Obj::Dict(_) => match self.dict_get(handle, key) {
                Ok(Some(value)) => Ok(value),
                Ok(None) => {
                    if let Some(missing) = self.user_method(object, name::MISSING) {
                        return Err(tail(missing, vec![object, key]));
                    }
                    Err(self.raise_with(Type::KeyError, key))
                }
                Err(Fault::Fallback) => Err(self.prelude_tail("_dict_getitem", vec![object, key])),
                Err(fault) => Err(fault),
            },
            Obj::List(_)
            | Obj::Tuple(_)
            | Obj::Str(_)
            | Obj::Bytes(_)
            | Obj::ByteArray(_)
            | Obj::Range { .. } => self.sequence_item(handle, key),
            Obj::Class(_) => Err(self.prelude_tail("_class_getitem", vec![object, key])),
            _ => Err(self.no_subscript(object)),
        }
    }

    fn no_subscript(&mut self, object: Value) -> Fault {
        let kind = self.type_name(object);
        self.type_error(format!("'{kind}' object is not subscriptable"))
    }

    fn sequence_word(&self, handle: Handle) -> &'static str {
        match self.heap.get(handle) {
            Obj::List(_) => "list",
            Obj::Tuple(_) => "tuple",
            Obj::Str(_) => "string",
            Obj::Bytes(_) => "index",
            Obj::ByteArray(_) => "bytearray",
            _ => "range object",
        }
    }

    fn sequence_item(&mut self, handle: Handle, key: Value) -> Outcome {
        if let Some(Obj::Slice(parts)) = self.obj(key) {
            let parts = *parts;
            return match self.slice(handle, parts) {
                Err(Fault::Fallback) => {
                    Err(self.prelude_tail("_getitem_index", vec![handle.into(), key]))
                }
                other => other,
            };
        }
        let Some(index) = self.index_of(key)? else {
            if self.user_method(key, name::INDEX).is_some() {
                return Err(self.prelude_tail("_getitem_index", vec![handle.into(), key]));
            }
            let (kind, word) = (self.type_name(key), self.type_name(handle.into()));
            let word = if word == "str" { "string".to_owned() } else { word };
            let noun = if word == "string" { ", not" } else { " or slices, not" };
            return Err(self.type_error(format!(
                "{word} indices must be integers{noun} {}",
                quoted(&word, &kind)
            )));
        };
        // Ranges can be longer than i64 counts.
        let (index, length) = (i128::from(index), self.length(handle.into())? as i128);
        let index = if index < 0 { index + length } else { index };
        if index < 0 || index >= length {
            let word = self.sequence_word(handle);
            let message = if word == "index" {
                "index out of range".to_owned()
            } else {
                format!("{word} index out of range")
            };
            return Err(self.raise(Type::IndexError, message));
        }
        match self.item_at(handle, index as usize) {
            Some(item) => Ok(item),
            None => self.char_at(handle, index as usize),
        }
    }

    /// An int, or what `__index__` of a native number gives.
    pub(crate) fn index_of(&mut self, key: Value) -> Result<Option<i64>, Fault> {
        if matches!(key, Value::Float(_)) {
            return Ok(None);
        }
        if let Some(Obj::Big(_)) = self.obj(key) {
            return Err(
                self.raise(Type::IndexError, "cannot fit 'int' into an index-sized integer")
            );
        }
        Ok(self.as_index(key).filter(|_| !matches!(self.inner(key), Value::Float(_))))
    }

    pub(crate) fn set_item(
        &mut self,
        object: Value,
        key: Value,
        value: Value,
    ) -> Result<(), Fault> {
        if let Some(method) = self.user_method(object, name::SETITEM) {
            return Err(tail_after(method, vec![object, key, value], After::Discard));
        }
        let Value::Ref(handle) = self.inner(object) else { return Err(self.no_assignment(object)) };
        match self.heap.get(handle) {
            Obj::Dict(_) => match self.dict_insert(handle, key, value) {
                Err(Fault::Fallback) => {
                    let function = self.prelude_function("_dict_setitem")?;
                    Err(tail_after(function, vec![object, key, value], After::Discard))
                }
                other => other,
            },
            Obj::List(_) | Obj::ByteArray(_) => {
                if let Some(Obj::Slice(parts)) = self.obj(key) {
                    let parts = *parts;
                    return self.set_slice(handle, parts, value);
                }
                let place = self.place_in(handle, key, "assignment index out of range")?;
                match self.heap.get_mut(handle) {
                    Obj::List(items) => items[place] = value,
                    _ => {
                        let byte = self.byte_value(value)?;
                        if let Obj::ByteArray(bytes) = self.heap.get_mut(handle) {
                            bytes[place] = byte;
                        }
                    }
                }
                Ok(())
            }
            _ => Err(self.no_assignment(object)),
        }
    }

    fn no_assignment(&mut self, object: Value) -> Fault {
        let kind = self.type_name(object);
        self.type_error(format!("'{kind}' object does not support item assignment"))
    }

    fn place_in(&mut self, handle: Handle, key: Value, message: &str) -> Result<usize, Fault> {
        let length = self.length(handle.into())? as i64;
        let Some(index) = self.index_of(key)? else {
            if self.user_method(key, name::INDEX).is_some() {
                return Err(self.prelude_tail("_getitem_index", vec![handle.into(), key]));
            }
            let (kind, word) = (self.type_name(key), self.type_name(handle.into()));
            return Err(
                self.type_error(format!("{word} indices must be integers or slices, not {kind}"))
            );
        };
        let index = if index < 0 { index + length } else { index };
        if index < 0 || index >= length {
            let word = self.type_name(handle.into());
            return Err(self.raise(Type::IndexError, format!("{word} {message}")));
        }
        Ok(index as usize)
    }

    pub(crate) fn delete_item(&mut self, object: Value, key: Value) -> Result<(), Fault> {
        if let Some(method) = self.user_method(object, name::DELITEM) {
            return Err(tail_after(method, vec![object, key], After::Discard));
        }
        let Value::Ref(handle) = self.inner(object) else { return Err(self.no_deletion(object)) };
        match self.heap.get(handle) {
            Obj::Dict(_) => match self.dict_remove(handle, key) {
                Ok(true) => Ok(()),
                Ok(false) => Err(self.raise_with(Type::KeyError, key)),
                Err(Fault::Fallback) => {
                    let function = self.prelude_function("_dict_delitem")?;
                    Err(tail_after(function, vec![object, key], After::Discard))
                }
                Err(fault) => Err(fault),
            },
            Obj::List(_) | Obj::ByteArray(_) => {
                let length = self.length(handle.into())?;
                let mut places: Vec<usize> = match self.obj(key) {
                    Some(Obj::Slice(parts)) => {
                        let parts = *parts;
                        let (start, step, count) = self.slice_range(parts, length)?;
                        (0..count).map(|index| (start + index as i64 * step) as usize).collect()
                    }
                    _ => vec![self.place_in(handle, key, "assignment index out of range")?],
                };
                places.sort_unstable();
                self.charge(crate::cost::values(length))?;
                let mut gone = places.into_iter().peekable();
                let mut at = 0;
                let mut keep = || {
                    let drop = gone.next_if_eq(&at).is_some();
                    at += 1;
                    !drop
                };
                match self.heap.get_mut(handle) {
                    Obj::List(items) => items.retain(|_| keep()),
                    Obj::ByteArray(bytes) => bytes.retain(|_| keep()),
                    _ => {}
                }
                self.heap.resized(handle)?;
                Ok(())
            }
            _ => Err(self.no_deletion(object)),
        }
    }

    fn no_deletion(&mut self, object: Value) -> Fault {
        let kind = self.type_name(object);
        self.type_error(format!("'{kind}' object doesn't support item deletion"))
    }
}

fn quoted(word: &str, kind: &str) -> String {
    if word == "string" { format!("'{kind}'") } else { kind.to_owned() }
}
