//! Iteration without Python code.

use super::Vm;
use super::fault::{Fatal, Fault, Outcome, tail_after};
use super::frame::{After, Wanted};
use crate::cost;
use crate::heap::object::{Iter, Obj, View};
use crate::heap::types::{Type, ascii, name};
use crate::heap::value::{Handle, Value};

impl Vm {
    /// `iter(value)`.
    pub(crate) fn iter(&mut self, value: Value) -> Outcome {
        let Value::Ref(handle) = value else { return Err(self.not_iterable(value)) };
        let iter = match self.heap.get(handle) {
            Obj::Iter(_) | Obj::Generator(_) => {
                return match self.heap.get(handle) {
                    Obj::Generator(generator) if generator.kind != crate::code::Kind::Generator => {
                        Err(self.not_iterable(value))
                    }
                    _ => Ok(value),
                };
            }
            Obj::List(_) | Obj::Tuple(_) | Obj::Str(_) | Obj::Bytes(_) | Obj::ByteArray(_) => {
                Iter::Sequence { source: value, next: 0 }
            }
            Obj::Range { start, stop, step } => {
                Iter::Range { next: *start, left: range_len(*start, *stop, *step), step: *step }
            }
            Obj::Dict(_) | Obj::Set(_) | Obj::FrozenSet(_) => {
                let (length, _) = self.extent(handle);
                Iter::Dict { source: handle, view: View::Keys, next: 0, length, reversed: false }
            }
            Obj::DictView { dict, view } => {
                let (dict, view) = (*dict, *view);
                let length = self.table(dict).map_or(0, |table| table.len());
                Iter::Dict { source: dict, view, next: 0, length, reversed: false }
            }
            _ => {
                let class = self.class_of(value);
                return match self.class_attr(class, name::ITER) {
                    Some(Value::Native(_)) | None => {
                        let inner = self.inner(value);
                        if !inner.is(value) {
                            return self.iter(inner);
                        }
                        if self.class_attr(class, name::GETITEM).is_some() {
                            return Err(self.prelude_tail("_iter_by_index", vec![value]));
                        }
                        Err(self.not_iterable(value))
                    }
                    Some(Value::Ref(method)) => {
                        let after = After::Checked(Wanted::Iterator);
                        Err(tail_after(method.into(), vec![value], after))
                    }
                    Some(_) => Err(self.not_iterable(value)),
                };
            }
        };
        self.alloc(Obj::Iter(Box::new(iter)))
    }

    pub(super) fn not_iterable(&mut self, value: Value) -> Fault {
        let kind = self.type_name(value);
        self.type_error(format!("'{kind}' object is not iterable"))
    }

    /// The next value of an iterator of ours: Unbound at its end; None if it needs Python code.
    pub(crate) fn native_next(&mut self, iterator: Value) -> Result<Option<Value>, Fault> {
        let Value::Ref(handle) = iterator else { return Ok(None) };
        let Obj::Iter(iter) = self.heap.get(handle) else { return Ok(None) };
        match &**iter {
            Iter::Done => Ok(Some(Value::Unbound)),
            Iter::Range { next, left, step } => {
                let (next, left, step) = (*next, *left, *step);
                if left == 0 {
                    return Ok(Some(Value::Unbound));
                }
                self.set_iter(
                    handle,
                    Iter::Range { next: next.wrapping_add(step), left: left - 1, step },
                );
                Ok(Some(Value::Int(next)))
            }
            Iter::Sequence { source, next } => {
                let (source, next) = (*source, *next);
                self.sequence_next(handle, source, next).map(Some)
            }
            Iter::Reversed { source, left } => {
                let (source, left) = (*source, *left);
                let Some(index) = left.checked_sub(1) else { return Ok(Some(Value::Unbound)) };
                self.set_iter(handle, Iter::Reversed { source, left: index });
                let Value::Ref(inner) = source else { return Err(Fatal::Internal.into()) };
                Ok(Some(match self.item_at(inner, index) {
                    Some(item) => item,
                    None => self.char_at(inner, index)?,
                }))
            }
            Iter::Dict { source, view, next, length, reversed } => {
                let state = (*source, *view, *next, *length, *reversed);
                self.dict_next(handle, state).map(Some)
            }
            Iter::Enumerate { inner, count } => {
                let (inner, count) = (*inner, *count);
                let Some(value) = self.native_next(inner)? else {
                    return Err(Fatal::Internal.into());
                };
                if value.is_unbound() {
                    return Ok(Some(value));
                }
                // Counts near the end of i64 are a generator's of the prelude.
                let next = count.saturating_add(1);
                self.set_iter(handle, Iter::Enumerate { inner, count: next });
                self.tuple(vec![Value::Int(count), value]).map(Some)
            }
            Iter::Zip { inner, strict } => {
                let (count, strict) = (inner.len(), *strict);
                self.charge(cost::many(count) * 2)?;
                // Taken out for the step, which no Python code can see.
                let inner = self.zip_inner(handle, Vec::new());
                let next = self.zip_next(handle, &inner, strict);
                self.zip_inner(handle, inner);
                next.map(Some)
            }
        }
    }

    fn set_iter(&mut self, handle: Handle, iter: Iter) {
        if let Obj::Iter(state) = self.heap.get_mut(handle) {
            **state = iter;
        }
    }

    fn sequence_next(&mut self, handle: Handle, source: Value, next: usize) -> Outcome {
        let Value::Ref(inner) = source else { return Err(Fatal::Internal.into()) };
        if let Obj::Str(text) = self.heap.get(inner) {
            // For strings `next` counts bytes.
            let Some(char) = text.text.get(next..).and_then(|rest| rest.chars().next()) else {
                return Ok(Value::Unbound);
            };
            self.set_iter(handle, Iter::Sequence { source, next: next + char.len_utf8() });
            return self.char(char);
        }
        match self.item_at(inner, next) {
            Some(item) => {
                self.set_iter(handle, Iter::Sequence { source, next: next + 1 });
                Ok(item)
            }
            None => {
                self.set_iter(handle, Iter::Done);
                Ok(Value::Unbound)
            }
        }
    }

    /// A string of one character; ASCII ones are shared.
    pub(crate) fn char(&mut self, char: char) -> Outcome {
        if char.is_ascii() {
            return Ok(ascii(char as u8).into());
        }
        let mut buffer = [0; 4];
        let text: &str = char.encode_utf8(&mut buffer);
        self.string(text)
    }

    pub(crate) fn char_at(&mut self, handle: Handle, index: usize) -> Outcome {
        let Obj::Str(text) = self.heap.get(handle) else { return Err(Fatal::Internal.into()) };
        let (char, walked) = if text.is_ascii() {
            (text.text.as_bytes().get(index).map(|byte| *byte as char), 0)
        } else {
            (text.text.chars().nth(index), index)
        };
        self.charge(cost::bytes(walked))?;
        match char {
            Some(char) => self.char(char),
            None => Ok(Value::Unbound),
        }
    }

    fn dict_next(
        &mut self,
        handle: Handle,
        (source, view, next, length, reversed): (Handle, View, usize, usize, bool),
    ) -> Outcome {
        let (count, places) = self.extent(source);
        if count != length {
            let word =
                if matches!(self.heap.get(source), Obj::Dict(_)) { "dictionary" } else { "Set" };
            return Err(
                self.raise(Type::RuntimeError, format!("{word} changed size during iteration"))
            );
        }
        let table = match self.heap.get(source) {
            Obj::Dict(table) => table,
            Obj::Set(set) | Obj::FrozenSet(set) => {
                let found = (next..places).find_map(|slot| Some((slot, set.at(slot)?.key)));
                let (at, key) =
                    found.map_or((places, Value::Unbound), |(slot, key)| (slot + 1, key));
                self.charge(cost::slots(at - next.min(at)))?;
                let walked = Iter::Dict { source, view, next: at, length, reversed };
                self.set_iter(handle, if key.is_unbound() { Iter::Done } else { walked });
                return Ok(key);
            }
            _ => return Err(Fatal::Internal.into()),
        };
        let mut at = next;
        while at < places {
            let place = if reversed { places - 1 - at } else { at };
            at += 1;
            let Some(entry) = table.entry(place) else { continue };
            let (key, value) = (entry.key, entry.value);
            self.charge(cost::values(at - next))?;
            self.set_iter(handle, Iter::Dict { source, view, next: at, length, reversed });
            return match view {
                View::Keys => Ok(key),
                View::Values => Ok(value),
                View::Items => self.tuple(vec![key, value]),
            };
        }
        self.set_iter(handle, Iter::Done);
        Ok(Value::Unbound)
    }

    /// Exchanges the iterators of a zip, if it has not ended.
    fn zip_inner(&mut self, handle: Handle, new: Vec<Value>) -> Vec<Value> {
        match self.heap.get_mut(handle) {
            Obj::Iter(state) => match &mut **state {
                Iter::Zip { inner, .. } => std::mem::replace(inner, new),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn zip_next(&mut self, handle: Handle, inner: &[Value], strict: bool) -> Outcome {
        let mut items = Vec::with_capacity(inner.len());
        for (index, iterator) in inner.iter().enumerate() {
            let Some(value) = self.native_next(*iterator)? else {
                return Err(Fatal::Internal.into());
            };
            if value.is_unbound() {
                if strict && index > 0 {
                    let message =
                        format!("zip() argument {} is shorter than argument 1", index + 1);
                    return Err(self.value_error(message));
                }
                if strict {
                    for (index, iterator) in inner.iter().enumerate().skip(1) {
                        if self.native_next(*iterator)?.is_some_and(|value| !value.is_unbound()) {
                            let message =
                                format!("zip() argument {} is longer than argument 1", index + 1);
                            return Err(self.value_error(message));
                        }
                    }
                }
                self.set_iter(handle, Iter::Done);
                return Ok(Value::Unbound);
            }
            items.push(value);
        }
        if items.is_empty() {
            return Ok(Value::Unbound);
        }
        self.tuple(items)
    }

    /// An item of a list, tuple, bytes or range by its place.
    #[inline]
    pub(crate) fn item_at(&self, handle: Handle, index: usize) -> Option<Value> {
        match self.heap.get(handle) {
            Obj::List(items) => items.get(index).copied(),
            Obj::Tuple(items) => items.get(index).copied(),
            Obj::Bytes(bytes) => bytes.get(index).map(|byte| Value::Int(i64::from(*byte))),
            Obj::ByteArray(bytes) => bytes.get(index).map(|byte| Value::Int(i64::from(*byte))),
            Obj::Range { start, stop, step } => {
                let length = range_len(*start, *stop, *step);
                // Every item is within 64 bits; what is in between need not be.
                let item = start.wrapping_add((index as i64).wrapping_mul(*step));
                ((index as u64) < length).then_some(Value::Int(item))
            }
            _ => None,
        }
    }

    pub(crate) fn range_items(&self, handle: Handle) -> (u64, i64, i64) {
        match self.heap.get(handle) {
            Obj::Range { start, stop, step } => match range_len(*start, *stop, *step) {
                0 => (0, 0, 0),
                1 => (1, *start, 0),
                length => (length, *start, *step),
            },
            _ => (0, 0, 0),
        }
    }
}

/// How many numbers a range has.
pub(crate) fn range_len(start: i64, stop: i64, step: i64) -> u64 {
    let (start, stop, step) = (i128::from(start), i128::from(stop), i128::from(step));
    let distance = if step > 0 { stop - start } else { start - stop };
    if distance <= 0 || step == 0 {
        return 0;
    }
    ((distance + step.abs() - 1) / step.abs()) as u64
}
