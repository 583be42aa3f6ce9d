//! Look-ups and changes of tables. What needs a program's own `__hash__` or `__eq__` is done by the
//! prelude: these functions say so and change nothing.

use std::convert::Infallible;

use super::Vm;
use super::fault::{Fatal, Fault};
use crate::cost;
use crate::heap::dict::Dict;
use crate::heap::object::Obj;
use crate::heap::set::Set;
use crate::heap::value::{Handle, Value};

impl Vm {
    pub(crate) fn table(&self, handle: Handle) -> Option<&Dict> {
        match self.heap.get(handle) {
            Obj::Dict(table) => Some(table),
            _ => None,
        }
    }

    pub(crate) fn table_mut(&mut self, handle: Handle) -> Option<&mut Dict> {
        match self.heap.get_mut(handle) {
            Obj::Dict(table) => Some(table),
            _ => None,
        }
    }

    pub(crate) fn set(&self, handle: Handle) -> Option<&Set> {
        match self.heap.get(handle) {
            Obj::Set(set) | Obj::FrozenSet(set) => Some(set),
            _ => None,
        }
    }

    /// Changes a set, accounts for what became of it, and pays for the steps that keys took which are in
    /// each other's way.
    pub(crate) fn change_set(
        &mut self,
        handle: Handle,
        change: impl FnOnce(&mut Set) -> usize,
    ) -> Result<(), Fault> {
        let (Obj::Set(set) | Obj::FrozenSet(set)) = self.heap.get_mut(handle) else {
            return Err(Fatal::Internal.into());
        };
        let steps = change(set);
        self.heap.resized(handle)?;
        self.charge(steps as u64)
    }

    /// How many keys a dict or set has, and over how many places one walks to see them all.
    pub(crate) fn extent(&self, handle: Handle) -> (usize, usize) {
        match self.heap.get(handle) {
            Obj::Dict(table) => (table.len(), table.places()),
            Obj::Set(set) | Obj::FrozenSet(set) => (set.len(), set.room()),
            _ => (0, 0),
        }
    }

    /// A walk over all keys of a dict or set, each of which is looked up or copied.
    pub(crate) fn charge_walk(&mut self, handle: Handle) -> Result<(), Fault> {
        let (count, places) = self.extent(handle);
        let empty = match self.heap.get(handle) {
            Obj::Dict(_) => cost::values(places - count),
            _ => cost::slots(places),
        };
        self.charge(cost::entries(count) + empty)
    }

    /// The key at a place that is walked over, and its hash.
    pub(crate) fn hashed_at(&self, handle: Handle, place: usize) -> Option<(u64, Value)> {
        match self.heap.get(handle) {
            Obj::Dict(table) => table.entry(place).map(|entry| (entry.hash, entry.key)),
            Obj::Set(set) | Obj::FrozenSet(set) => set.at(place).map(|item| (item.hash, item.key)),
            _ => None,
        }
    }

    /// The place of a key in a dict or set.
    pub(crate) fn find(
        &mut self,
        table: Handle,
        key: Value,
        hash: u64,
    ) -> Result<Option<usize>, Fault> {
        self.find_within(table, key, hash, 0)
    }

    /// The same in a table that is `depth` deep in what is compared: keys can be sets of sets.
    pub(super) fn find_within(
        &mut self,
        table: Handle,
        key: Value,
        hash: u64,
        depth: usize,
    ) -> Result<Option<usize>, Fault> {
        // Keys with the same hash that are not plainly equal or different are compared one by one.
        let mut unsure: Vec<(usize, Value)> = Vec::new();
        let mut same = |place: usize, candidate: Value| {
            let same = self.quick_same(candidate, key);
            if same.is_none() {
                unsure.push((place, candidate));
            }
            Ok::<bool, Infallible>(same == Some(true))
        };
        let (found, price) = match self.heap.get(table) {
            Obj::Dict(dict) => {
                let Ok((found, probes)) = dict.find(hash, |place, entry| same(place, entry.key));
                (found, if probes > 2 { probes as u64 * 2 } else { 0 })
            }
            Obj::Set(set) | Obj::FrozenSet(set) => {
                let Ok((found, probes)) = set.find(hash, |place, item| same(place, item.key));
                (found, cost::looks(probes))
            }
            _ => return Err(Fatal::Internal.into()),
        };
        if price > 0 {
            self.charge(price)?;
        }
        if unsure.is_empty() || found.is_some() {
            return Ok(found);
        }
        // No Python code runs in between, so places stay what they are.
        for (place, candidate) in unsure {
            if self.equal(candidate, key, depth + 1)? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Equality of the common keys; None for those that need a closer look.
    #[inline]
    fn quick_same(&self, a: Value, b: Value) -> Option<bool> {
        if a.is(b) {
            return Some(true);
        }
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => Some(a == b),
            (Value::Ref(a), Value::Ref(b)) => match (self.heap.get(a), self.heap.get(b)) {
                (Obj::Str(a), Obj::Str(b)) if a.text.len() != b.text.len() => Some(false),
                // Long ones are paid for where they are compared.
                (Obj::Str(a), Obj::Str(b)) if cost::long(a.text.len()) == 0 => {
                    Some(a.text == b.text)
                }
                _ => None,
            },
            (Value::Int(_), Value::Ref(b)) => match self.heap.get(b) {
                Obj::Str(_) => Some(false),
                _ => None,
            },
            (Value::Ref(a), Value::Int(_)) => match self.heap.get(a) {
                Obj::Str(_) => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn dict_get(&mut self, dict: Handle, key: Value) -> Result<Option<Value>, Fault> {
        let hash = self.hash(key, 0)?;
        let place = self.find(dict, key, hash)?;
        Ok(place.and_then(|place| self.table(dict).map(|table| table.value_at(place))))
    }

    pub(crate) fn dict_insert(
        &mut self,
        dict: Handle,
        key: Value,
        value: Value,
    ) -> Result<(), Fault> {
        let hash = self.hash(key, 0)?;
        let place = self.find(dict, key, hash)?;
        self.dict_put(dict, place, hash, key, value)
    }

    /// Writes an entry whose place is known, or adds one.
    pub(crate) fn dict_put(
        &mut self,
        dict: Handle,
        place: Option<usize>,
        hash: u64,
        key: Value,
        value: Value,
    ) -> Result<(), Fault> {
        let Some(table) = self.table_mut(dict) else { return Err(Fatal::Internal.into()) };
        match place {
            Some(place) => table.set_value_at(place, value),
            None => {
                let steps = table.push(hash, key, value);
                self.heap.resized(dict)?;
                self.charge(steps as u64)?;
            }
        }
        Ok(())
    }

    pub(crate) fn dict_remove(&mut self, dict: Handle, key: Value) -> Result<bool, Fault> {
        Ok(self.dict_take(dict, key)?.is_some())
    }

    pub(crate) fn dict_take(&mut self, dict: Handle, key: Value) -> Result<Option<Value>, Fault> {
        let hash = self.hash(key, 0)?;
        let place = self.find(dict, key, hash)?;
        let Some(place) = place else { return Ok(None) };
        let Some(table) = self.table_mut(dict) else { return Err(Fatal::Internal.into()) };
        let (value, steps) = table.remove_at(place);
        self.heap.resized(dict)?;
        self.charge(steps as u64)?;
        Ok(Some(value))
    }

    /// Removes from a set; says whether it was there.
    pub(crate) fn set_discard(&mut self, set: Handle, item: Value) -> Result<bool, Fault> {
        let hash = self.hash(item, 0)?;
        let Some(place) = self.find(set, item, hash)? else { return Ok(false) };
        self.change_set(set, |set| set.remove(place))?;
        Ok(true)
    }

    /// Adds to a set; says whether it was new.
    pub(crate) fn set_add(&mut self, set: Value, item: Value) -> Result<bool, Fault> {
        let Value::Ref(handle) = self.inner(set) else { return Err(Fatal::Internal.into()) };
        let hash = self.hash(item, 0)?;
        if self.find(handle, item, hash)?.is_some() {
            return Ok(false);
        }
        self.change_set(handle, |set| set.push(hash, item))?;
        Ok(true)
    }
}
