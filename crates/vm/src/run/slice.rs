//! Slices: which places they mean, what is taken from there and what is put there.

use super::Vm;
use super::fault::{Fatal, Fault, Outcome, tail_after};
use super::frame::After;
use super::iter::range_len;
use crate::cost;
use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::{Handle, Value};

impl Vm {
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

    pub(super) fn slice(&mut self, handle: Handle, parts: [Value; 3]) -> Outcome {
        let length = self.length(handle.into())?;
        let (start, stop, step) = self.slice_bounds(parts, length)?;
        let count = range_len(start, stop, step) as usize;
        // Text and bytes are copied one by one where they do not lie side by side; all else is paid for as
        // the values that it is.
        let one_by_one = match self.heap.get(handle) {
            Obj::Str(text) if !text.is_ascii() => length + count,
            Obj::Str(_) | Obj::Bytes(_) | Obj::ByteArray(_) if step != 1 => count,
            _ => 0,
        };
        self.charge(cost::values(one_by_one))?;
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
                let text = if text.is_ascii() && step == 1 {
                    text.text[start as usize..start as usize + count].to_owned()
                } else if text.is_ascii() {
                    let bytes = text.text.as_bytes();
                    places.map(|place| bytes[place] as char).collect()
                } else {
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

    pub(super) fn set_slice(
        &mut self,
        handle: Handle,
        parts: [Value; 3],
        value: Value,
    ) -> Result<(), Fault> {
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
        self.charge(cost::values(length + items.len()))?;
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
}
