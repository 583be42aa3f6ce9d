//! Subscripts: reading, writing, deleting; slices.

use super::Vm;
use super::fault::{Fatal, Fault, Outcome, tail, tail_after};
use super::frame::After;
use super::iter::range_len;
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
            Obj::Class(_) => {
                let hook = self.class_attr(handle, crate::heap::types::name::GETITEM);
                let _ = hook;
                Err(self.prelude_tail("_class_getitem", vec![object, key]))
            }
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
            Obj::Bytes(_) | Obj::ByteArray(_) => "index",
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

    /// Start, step and count of a slice over `length` items.
    pub(crate) fn slice_range(
        &mut self,
        [start, stop, step]: [Value; 3],
        length: usize,
    ) -> Result<(i64, i64, usize), Fault> {
        let (start, stop, step) = self.slice_bounds([start, stop, step], length)?;
        Ok((start, step, range_len(start, stop, step) as usize))
    }

    /// Start, stop and step of a slice of something so long.
    fn slice_bounds(
        &mut self,
        [start, stop, step]: [Value; 3],
        length: usize,
    ) -> Result<(i64, i64, i64), Fault> {
        let part = |vm: &mut Vm, value: Value| -> Result<Option<i64>, Fault> {
            match value {
                Value::None => Ok(None),
                other => match vm.number(other) {
                    Some(super::number::Number::Int(int)) => Ok(Some(int)),
                    Some(super::number::Number::Big(big)) => {
                        let negative = big.sign() == num_bigint::Sign::Minus;
                        Ok(Some(if negative { i64::MIN / 2 } else { i64::MAX / 2 }))
                    }
                    _ if vm.user_method(other, name::INDEX).is_some() => Err(Fault::Fallback),
                    _ => Err(vm.type_error(
                        "slice indices must be integers or None or have an __index__ method",
                    )),
                },
            }
        };
        let (start, stop) = (part(self, start)?, part(self, stop)?);
        let step = part(self, step)?.unwrap_or(1);
        if step == 0 {
            return Err(self.value_error("slice step cannot be zero"));
        }
        let step = step.clamp(-(i64::MAX / 2), i64::MAX / 2);
        let Ok(length) = i64::try_from(length) else {
            return Err(self.raise(Type::OverflowError, "the range is too long to be sliced"));
        };
        let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
        let place = |value: Option<i64>, default: i64| match value {
            None => default,
            Some(value) if value < 0 => value.saturating_add(length).max(low),
            Some(value) => value.min(high),
        };
        let start = place(start, if step > 0 { low } else { high });
        let stop = place(stop, if step > 0 { high } else { low });
        Ok((start, stop, step))
    }

    /// A part of a range: `count` of its items, the first of them at `from`, none at `to` or behind it.
    fn slice_of_range(
        &mut self,
        (first, by): (i64, i64),
        (from, to, step): (i64, i64, i64),
    ) -> Outcome {
        let count = range_len(from, to, step);
        let [first, by, from, to, step] = [first, by, from, to, step].map(i128::from);
        let (begin, stop, step) = (first + from * by, first + to * by, by * step);
        let fit = |value: i128| value.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        let (start, end, by) = (fit(begin), fit(stop), fit(step));
        // With one item or none the step means nothing; otherwise all has to fit.
        let exact = count < 2 || i128::from(by) == step;
        if !exact || range_len(start, end, by) != count {
            return Err(self.raise(Type::OverflowError, "the part of the range exceeds 64 bits"));
        }
        self.alloc(Obj::Range { start, stop: end, step: by })
    }

    fn slice(&mut self, handle: Handle, parts: [Value; 3]) -> Outcome {
        let length = self.length(handle.into())?;
        let (start, stop, step) = self.slice_bounds(parts, length)?;
        let count = range_len(start, stop, step) as usize;
        let places = (0..count).map(|index| (start + index as i64 * step) as usize);
        match self.heap.get(handle) {
            Obj::List(items) => {
                let items: Vec<Value> = places.map(|place| items[place]).collect();
                self.heap.check(items.len() * 16)?;
                self.list(items)
            }
            Obj::Tuple(items) => {
                let items: Vec<Value> = places.map(|place| items[place]).collect();
                self.heap.check(items.len() * 16)?;
                self.tuple(items)
            }
            Obj::Bytes(bytes) => {
                let bytes: Vec<u8> = places.map(|place| bytes[place]).collect();
                self.reserve(bytes.len())?;
                self.bytes(bytes)
            }
            Obj::ByteArray(bytes) => {
                let bytes: Vec<u8> = places.map(|place| bytes[place]).collect();
                self.reserve(bytes.len())?;
                self.alloc(Obj::ByteArray(bytes))
            }
            Obj::Str(text) => {
                let whole = text.text.len();
                let text = if text.is_ascii() && step == 1 {
                    text.text[start as usize..start as usize + count].to_owned()
                } else if text.is_ascii() {
                    let bytes = text.text.as_bytes();
                    places.map(|place| bytes[place] as char).collect()
                } else {
                    self.charge(crate::cost::bytes(whole))?;
                    let Obj::Str(text) = self.heap.get(handle) else {
                        return Err(Fatal::Internal.into());
                    };
                    let chars: Vec<char> = text.text.chars().collect();
                    places.map(|place| chars[place]).collect()
                };
                self.string(text)
            }
            Obj::Range { start: first, step: by, .. } => {
                let (first, by) = (*first, *by);
                self.slice_of_range((first, by), (start, stop, step))
            }
            _ => Err(Fatal::Internal.into()),
        }
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

    fn set_slice(&mut self, handle: Handle, parts: [Value; 3], value: Value) -> Result<(), Fault> {
        let items = match self.items(value) {
            Err(Fault::Fallback) => {
                let function = self.prelude_function("_set_slice")?;
                let slice = self.alloc(Obj::Slice(parts))?;
                return Err(tail_after(
                    function,
                    vec![handle.into(), slice, value],
                    After::Discard,
                ));
            }
            Err(Fault::Raise(_)) => return Err(self.type_error("can only assign an iterable")),
            other => other?,
        };
        let length = self.length(handle.into())?;
        let (start, step, count) = self.slice_range(parts, length)?;
        self.charge(crate::cost::values(length + items.len()))?;
        self.heap.check(items.len() * 16)?;
        if step != 1 && items.len() != count {
            return Err(self.value_error(format!(
                "attempt to assign sequence of size {} to extended slice of size {count}",
                items.len()
            )));
        }
        let mut bytes = Vec::new();
        if matches!(self.heap.get(handle), Obj::ByteArray(_)) {
            for item in &items {
                bytes.push(self.byte_value(*item)?);
            }
        }
        let start = start.max(0) as usize;
        match self.heap.get_mut(handle) {
            Obj::List(list) if step == 1 => {
                list.splice(start..start + count, items);
            }
            Obj::List(list) => {
                for (index, item) in items.into_iter().enumerate() {
                    list[(start as i64 + index as i64 * step) as usize] = item;
                }
            }
            Obj::ByteArray(array) if step == 1 => {
                array.splice(start..start + count, bytes);
            }
            Obj::ByteArray(array) => {
                for (index, byte) in bytes.into_iter().enumerate() {
                    array[(start as i64 + index as i64 * step) as usize] = byte;
                }
            }
            _ => return Err(Fatal::Internal.into()),
        }
        self.heap.resized(handle)?;
        Ok(())
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
