//! Operations on whole sets. They go the way that CPython's go: which of two sets is walked over, and
//! whether room is made for all that comes or for one after the other, shows in the order of the result.
//!
//! What may need a program's own `__eq__` is found out before anything changes, unless doing it once more
//! changes nothing.

use super::Vm;
use super::fault::{Fatal, Fault, Outcome};
use crate::code::BinOp;
use crate::cost;
use crate::heap::object::{Obj, View};
use crate::heap::set::Set;
use crate::heap::value::{Handle, Value};

impl Vm {
    pub(crate) fn is_set(&self, value: Value) -> bool {
        value.handle().is_some_and(|handle| self.set(handle).is_some())
    }

    /// A set, or a dict that is nothing else: their hashes are known, and how many there are.
    pub(crate) fn hashed_source(&self, source: Value) -> Option<Handle> {
        let inner = self.inner(source);
        let plain = matches!(self.obj(source), Some(Obj::Dict(_)));
        if plain || self.is_set(inner) { inner.handle() } else { None }
    }

    /// The dict whose keys a view shows.
    fn viewed(&self, value: Value) -> Option<Handle> {
        match self.obj(value) {
            Some(Obj::DictView { dict, view: View::Keys }) => Some(*dict),
            _ => None,
        }
    }

    pub(crate) fn new_set(&mut self) -> Result<Handle, Fault> {
        self.alloc(Obj::Set(Set::default()))?.handle().ok_or(Fatal::Internal.into())
    }

    /// A new set of what is in another one, in a dict, or comes from an iterable.
    pub(crate) fn set_from(&mut self, source: Value) -> Result<Handle, Fault> {
        let made = self.new_set()?;
        self.set_update(made, source)?;
        Ok(made)
    }

    /// Freezes a set that has no other reference.
    pub(crate) fn freeze_set(&mut self, made: Handle) -> Outcome {
        let obj = self.heap.get_mut(made);
        let Obj::Set(set) = obj else { return Err(Fatal::Internal.into()) };
        *obj = Obj::FrozenSet(std::mem::take(set));
        Ok(made.into())
    }

    /// All keys of a set or dict, with their hashes.
    fn hashed(&mut self, source: Handle) -> Result<Vec<(u64, Value)>, Fault> {
        self.charge_walk(source)?;
        let (count, places) = self.extent(source);
        self.heap.check(count * 64)?;
        Ok((0..places).filter_map(|place| self.hashed_at(source, place)).collect())
    }

    /// Adds what is not there.
    pub(crate) fn set_update(&mut self, target: Handle, source: Value) -> Result<(), Fault> {
        if let Some(handle) = self.hashed_source(source) {
            return self.merge(target, handle);
        }
        let items = self.items(source)?;
        self.charge(cost::entries(items.len()))?;
        for item in &items {
            match self.set_add(target.into(), *item) {
                Err(Fault::Fallback) => {
                    self.put_back(source, items)?;
                    return Err(Fault::Fallback);
                }
                other => other?,
            };
        }
        Ok(())
    }

    /// The same from a set or dict: room for all of it is made at once.
    fn merge(&mut self, target: Handle, source: Handle) -> Result<(), Fault> {
        let (count, _) = self.extent(source);
        if target == source || count == 0 {
            return Ok(());
        }
        let none = self.extent(target).0 == 0;
        if none && let Some(other) = self.set(source) {
            let size = other.size();
            self.charge_walk(source)?;
            self.heap.check(size * 2)?;
            let Obj::Set(set) = self.heap.get_mut(target) else {
                return Err(Fatal::Internal.into());
            };
            let mut filled = std::mem::take(set);
            let steps = self.set(source).map_or(0, |other| filled.fill_from(other));
            return self.change_set(target, |set| {
                *set = filled;
                steps
            });
        }
        let mut new = Vec::with_capacity(count);
        for (hash, key) in self.hashed(source)? {
            if none || self.find(target, key, hash)?.is_none() {
                new.push((hash, key));
            }
        }
        self.change_set(target, |set| {
            let room = set.reserve(count);
            new.into_iter().fold(room, |steps, (hash, key)| steps + set.push(hash, key))
        })
    }

    /// The keys of one table that are in another one, or those that are not.
    fn sifted(&mut self, walked: Handle, asked: Handle, within: bool) -> Result<Handle, Fault> {
        let mut kept = Vec::new();
        for (hash, key) in self.hashed(walked)? {
            if self.find(asked, key, hash)?.is_some() == within {
                kept.push((hash, key));
            }
        }
        let made = self.new_set()?;
        self.change_set(made, |set| {
            kept.into_iter().fold(0, |steps, (hash, key)| steps + set.push(hash, key))
        })?;
        Ok(made)
    }

    /// A display that CPython's compiler made a constant of: one by one in the order in which they were
    /// after being brought in one by one; then copied, if it may be changed.
    pub(super) fn constant_set(&mut self, made: Handle, copied: bool) -> Result<Handle, Fault> {
        let items = self.hashed(made)?;
        let constant = self.new_set()?;
        self.change_set(constant, |set| {
            items.into_iter().fold(0, |steps, (hash, key)| steps + set.push(hash, key))
        })?;
        if copied { self.set_from(constant.into()) } else { Ok(constant) }
    }

    /// A new set of what is in a set and in another one, or in an iterable.
    pub(crate) fn intersection(&mut self, set: Handle, other: Value) -> Result<Handle, Fault> {
        let inner = self.inner(other);
        if let Value::Ref(handle) = inner
            && self.is_set(inner)
        {
            if handle == set {
                return self.set_from(inner);
            }
            let swapped = self.extent(handle).0 > self.extent(set).0;
            let (walked, asked) = if swapped { (set, handle) } else { (handle, set) };
            return self.sifted(walked, asked, true);
        }
        let items = self.items(other)?;
        self.charge(cost::entries(items.len()))?;
        let made = self.new_set()?;
        for item in &items {
            let added = match self.contains_plain(set.into(), *item) {
                Ok(true) => self.set_add(made.into(), *item),
                other => other,
            };
            match added {
                Err(Fault::Fallback) => {
                    self.put_back(other, items)?;
                    return Err(Fault::Fallback);
                }
                other => other?,
            };
        }
        Ok(made)
    }

    /// A new set of what is in a set and not in something else.
    pub(crate) fn difference(&mut self, set: Handle, other: Value) -> Result<Handle, Fault> {
        if let Some(handle) = self.hashed_source(other)
            && self.extent(set).0 / 4 <= self.extent(handle).0
        {
            return self.sifted(set, handle, false);
        }
        let made = self.set_from(set.into())?;
        self.difference_update(made, other)?;
        Ok(made)
    }

    /// Removes what is in something else.
    pub(crate) fn difference_update(&mut self, target: Handle, other: Value) -> Result<(), Fault> {
        let inner = self.inner(other);
        if inner.handle() == Some(target) {
            return self.clear_set(target);
        }
        match self.hashed_source(other).or(self.viewed(inner)) {
            Some(other) => {
                // Of two sets of very different sizes the smaller one is walked over.
                let few = self.extent(other).0 / 8 > self.extent(target).0;
                let (walked, asked) = if few { (target, other) } else { (other, target) };
                for (hash, key) in self.hashed(walked)? {
                    if few && self.find(asked, key, hash)?.is_none() {
                        continue;
                    }
                    if let Some(place) = self.find(target, key, hash)? {
                        self.change_set(target, |set| set.remove(place))?;
                    }
                }
            }
            None => {
                let items = self.items(other)?;
                self.charge(cost::entries(items.len()))?;
                for item in &items {
                    match self.set_discard(target, *item) {
                        Err(Fault::Fallback) => {
                            self.put_back(other, items)?;
                            return Err(Fault::Fallback);
                        }
                        other => other?,
                    };
                }
            }
        }
        self.change_set(target, Set::tidy)
    }

    /// Removes what is in something else, and adds what of that is not there.
    pub(crate) fn symmetric_update(&mut self, target: Handle, other: Value) -> Result<(), Fault> {
        let source = match self.hashed_source(other) {
            Some(handle) if handle == target => return self.clear_set(target),
            Some(handle) => handle,
            None => self.set_from(other)?,
        };
        let mut all = Vec::with_capacity(self.extent(source).0);
        for (hash, key) in self.hashed(source)? {
            let place = self.find(target, key, hash)?;
            all.push((hash, key, place.and_then(|place| self.set(target)?.key(place))));
        }
        self.change_set(target, |set| {
            all.into_iter().fold(0, |steps, (hash, key, own)| match own {
                Some(own) => steps + set.remove_same(hash, own),
                None => steps + set.push(hash, key),
            })
        })
    }

    pub(crate) fn clear_set(&mut self, set: Handle) -> Result<(), Fault> {
        self.change_set(set, |set| {
            set.clear();
            0
        })
    }

    /// Puts what another set holds in place of what is in this one.
    pub(crate) fn replace_set(&mut self, target: Handle, made: Handle) -> Result<(), Fault> {
        let mut body = Set::default();
        self.change_set(made, |set| {
            std::mem::swap(set, &mut body);
            0
        })?;
        self.change_set(target, |set| {
            set.replace(body);
            0
        })
    }

    /// `|`, `&`, `-` or `^` of sets and views of keys.
    pub(super) fn set_binary(&mut self, op: BinOp, left: Value, right: Value) -> Outcome {
        let (a, b) = (self.inner(left), self.inner(right));
        let plain = if self.is_set(a) && self.is_set(b) { a.handle() } else { None };
        let made = match (op, plain) {
            (BinOp::And, Some(set)) => self.intersection(set, b)?,
            (BinOp::And, None) => self.view_intersection(a, b)?,
            (BinOp::Sub, Some(set)) => self.difference(set, b)?,
            (BinOp::Xor, Some(_)) => {
                let made = self.set_from(b)?;
                self.symmetric_update(made, a)?;
                made
            }
            _ => {
                // A view is taken for its dict, on this side.
                let made = self.set_from(self.viewed(a).map_or(a, Value::Ref))?;
                match op {
                    BinOp::Sub => self.difference_update(made, b)?,
                    BinOp::Xor => self.symmetric_update(made, b)?,
                    _ if a.is(b) => {}
                    _ => self.set_update(made, b)?,
                }
                made
            }
        };
        match plain.map(|set| self.heap.get(set)) {
            Some(Obj::FrozenSet(_)) => self.freeze_set(made),
            _ => Ok(made.into()),
        }
    }

    fn view_intersection(&mut self, left: Value, right: Value) -> Result<Handle, Fault> {
        let (view, other) = match self.viewed(left) {
            Some(_) => (left, right),
            None => (right, left),
        };
        let handle = |vm: &Vm, value| vm.viewed(value).or(value.handle());
        let (Some(own), Some(theirs)) = (handle(self, view), handle(self, other)) else {
            return Err(Fatal::Internal.into());
        };
        let (count, others) = (self.extent(own).0, self.extent(theirs).0);
        let swapped = match self.heap.get(theirs) {
            Obj::Set(_) => count <= others,
            Obj::Dict(_) => others > count,
            _ => false,
        };
        let (walked, asked) = if swapped { (own, theirs) } else { (theirs, own) };
        self.sifted(walked, asked, true)
    }

    /// The same with `=`, of a set and another one.
    pub(super) fn set_in_place(
        &mut self,
        op: BinOp,
        target: Handle,
        other: Value,
    ) -> Result<(), Fault> {
        match op {
            BinOp::Or => self.set_update(target, other),
            BinOp::Sub => self.difference_update(target, other),
            BinOp::Xor => self.symmetric_update(target, other),
            _ => {
                let made = self.intersection(target, other)?;
                self.replace_set(target, made)
            }
        }
    }
}
