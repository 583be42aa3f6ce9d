//! All items of an iterable at once, and what unpacking takes from them.

use super::Vm;
use super::fault::{Fatal, Fault};
use crate::heap::object::Obj;
use crate::heap::types::name;
use crate::heap::value::Value;

impl Vm {
    /// Whether a value can be iterated without Python code.
    pub(crate) fn iterates_natively(&mut self, value: Value) -> bool {
        match self.obj(value) {
            Some(Obj::Iter(_)) => true,
            Some(Obj::Instance(instance)) => {
                let payload = instance.payload;
                self.user_method(value, name::ITER).is_none() && !payload.is_unbound()
            }
            Some(
                Obj::List(_)
                | Obj::Tuple(_)
                | Obj::Str(_)
                | Obj::Bytes(_)
                | Obj::ByteArray(_)
                | Obj::Range { .. }
                | Obj::Dict(_)
                | Obj::Set(_)
                | Obj::FrozenSet(_)
                | Obj::DictView { .. },
            ) => true,
            _ => false,
        }
    }

    /// All items of an iterable that needs no Python code; None if it does.
    pub(crate) fn plain_items(&mut self, value: Value) -> Result<Option<Vec<Value>>, Fault> {
        if !self.iterates_natively(value) {
            return Ok(None);
        }
        match self.obj(self.inner(value)) {
            Some(Obj::List(items)) => {
                self.reserve(items.len() * 16)?;
                return Ok(Some(self.sequence_items(self.inner(value))));
            }
            Some(Obj::Tuple(items)) => {
                self.reserve(items.len() * 16)?;
                return Ok(Some(self.sequence_items(self.inner(value))));
            }
            _ => {}
        }
        let iterator = self.iter(self.inner(value))?;
        let mut items = Vec::new();
        loop {
            match self.native_next(iterator)? {
                Some(Value::Unbound) => return Ok(Some(items)),
                Some(item) => {
                    items.push(item);
                    self.charge(2)?;
                    if items.len() % 256 == 0 {
                        self.heap.check(items.len() * 16)?;
                    }
                }
                None => return Err(Fatal::Internal.into()),
            }
        }
    }

    /// The items of a list or tuple, which are paid for.
    fn sequence_items(&self, value: Value) -> Vec<Value> {
        match self.obj(value) {
            Some(Obj::List(items)) => items.clone(),
            Some(Obj::Tuple(items)) => items.to_vec(),
            _ => Vec::new(),
        }
    }

    /// Items, or the fault that has the prelude make a list of them first. Nothing else must have
    /// happened before.
    pub(crate) fn items(&mut self, value: Value) -> Result<Vec<Value>, Fault> {
        match self.plain_items(value)? {
            Some(items) => Ok(items),
            None => {
                let own = self.user_method(value, name::ITER).is_some();
                match self.obj(value) {
                    Some(Obj::Generator(_) | Obj::Instance(_) | Obj::Class(_)) => {
                        Err(Fault::Fallback)
                    }
                    Some(Obj::Exception(_)) if own => Err(Fault::Fallback),
                    _ => Err(self.not_iterable(value)),
                }
            }
        }
    }

    /// The values of an unpacking; with `after`, a list of the middle ones among them.
    pub(crate) fn unpacked(
        &mut self,
        value: Value,
        before: usize,
        after: Option<usize>,
    ) -> Result<Vec<Value>, Fault> {
        // No more is taken from an iterator than there are names for, and one to see that it ends.
        let iterator = after.is_none() && matches!(self.obj(value), Some(Obj::Iter(_)));
        let items = if iterator { None } else { self.plain_items(value)? };
        let Some(items) = items else {
            if !iterator
                && !matches!(
                    self.obj(value),
                    Some(Obj::Generator(_) | Obj::Instance(_) | Obj::Class(_) | Obj::Exception(_))
                )
            {
                let kind = self.type_name(value);
                return Err(self.type_error(format!("cannot unpack non-iterable {kind} object")));
            }
            // Again, with a list.
            if let Some(frame) = self.frames.last_mut() {
                frame.pc -= 1;
            }
            if after.is_some() {
                return Err(self.prelude_tail("_collect", vec![value]));
            }
            let count = Value::Int(before as i64 + 1);
            return Err(self.prelude_tail("_take", vec![value, count]));
        };
        match after {
            None if items.len() == before => Ok(items),
            None if items.len() < before => Err(self.value_error(format!(
                "not enough values to unpack (expected {before}, got {})",
                items.len()
            ))),
            None => Err(self.value_error(format!("too many values to unpack (expected {before})"))),
            Some(after) => {
                if items.len() < before + after {
                    return Err(self.value_error(format!(
                        "not enough values to unpack (expected at least {}, got {})",
                        before + after,
                        items.len()
                    )));
                }
                let last = items.len() - after;
                let middle = self.list(items[before..last].to_vec())?;
                let mut all = items[..before].to_vec();
                all.push(middle);
                all.extend(&items[last..]);
                Ok(all)
            }
        }
    }
}
