//! The arena of objects: accounted to the byte, capped, and collected at moments that depend on
//! nothing but what the program did.

pub(crate) mod dict;
pub(crate) mod interned;
pub(crate) mod object;
pub(crate) mod set_order;
mod slots;
pub(crate) mod types;
pub(crate) mod value;

use std::collections::{BTreeMap, BTreeSet};

use object::{Obj, Str};
use slots::{Slot, Slots};
use value::{Handle, Value};

use crate::run::fault::Fatal;

#[derive(Clone, Debug)]
pub(crate) struct Heap {
    slots: Slots,
    free: Vec<u32>,
    /// With those of the image.
    bytes: usize,
    image: usize,
    limit: usize,
    collect_at: usize,
    /// Objects below were there before the program ran and stay.
    immortal: usize,
    /// Objects of the image that the program may have changed.
    touched: BTreeSet<u32>,
    serial: u64,
    /// Numbers of objects that were asked for their identity.
    identities: BTreeMap<u32, u64>,
}

/// Above all numbers that objects are given.
const IMAGE: u64 = 1 << 47;
/// Between two collections at least this much is allocated.
const COLLECT_STEP_MIN: usize = 512 * 1024;

impl Heap {
    pub(crate) fn new() -> Self {
        Self {
            slots: Slots::default(),
            free: Vec::new(),
            bytes: 0,
            image: 0,
            limit: usize::MAX,
            collect_at: usize::MAX,
            immortal: 0,
            touched: BTreeSet::new(),
            serial: 0,
            identities: BTreeMap::new(),
        }
    }

    /// What is here now is the image of all machines that are copied from this one.
    pub(crate) fn share(&mut self) {
        self.slots.share();
    }

    /// What is here now stays, and is not counted; from now on at most `limit` bytes more.
    pub(crate) fn seal(&mut self, limit: usize) {
        self.immortal = self.slots.len();
        self.image = self.bytes;
        self.limit = limit.saturating_add(self.image);
        self.plan_collection();
    }

    /// What is here now stays, too, but counts: the constants of a program.
    pub(crate) fn pin(&mut self) {
        self.immortal = self.slots.len();
    }

    /// How many objects were there before the program ran: the same in every machine with that program.
    pub(crate) fn pinned(&self) -> usize {
        self.immortal
    }

    /// How many places there are.
    pub(crate) fn places(&self) -> usize {
        self.slots.len()
    }

    /// Objects of the image that the program may have changed, in order.
    pub(crate) fn touched(&self) -> impl Iterator<Item = Handle> {
        self.touched.iter().map(|place| Handle(*place))
    }

    pub(crate) fn is_live(&self, handle: Handle) -> bool {
        !matches!(self.get(handle), Obj::Free)
    }

    /// A number that is an object's own while it lives, and goes with it when it is written down.
    /// Nothing shows it; tables hash by it.
    pub(crate) fn identity(&mut self, handle: Handle) -> u64 {
        if let Some(known) = self.identities.get(&handle.0) {
            return *known;
        }
        if (handle.0 as usize) < self.immortal {
            return u64::from(handle.0);
        }
        let serial = self.next_serial();
        self.identities.insert(handle.0, serial);
        serial
    }

    /// The same, with objects of the image apart: their places are among the numbers of others.
    pub(crate) fn told_apart(&mut self, handle: Handle) -> u64 {
        let image = (handle.0 as usize) < self.immortal && !self.identities.contains_key(&handle.0);
        self.identity(handle) & (IMAGE - 1) | if image { IMAGE } else { 0 }
    }

    /// The number that an object has been given, if it has been asked for.
    pub(crate) fn known_identity(&self, handle: Handle) -> Option<u64> {
        self.identities.get(&handle.0).copied()
    }

    pub(crate) fn set_identity(&mut self, handle: Handle, identity: u64) {
        self.identities.insert(handle.0, identity);
    }

    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    pub(crate) fn set_serial(&mut self, serial: u64) {
        self.serial = serial;
    }

    /// Brings what lives into the form that it has after being written down and read again: tables
    /// with a fresh index, sizes by contents. Returns how many entries the tables have, and how many steps
    /// keys that collide took.
    pub(crate) fn normalise(&mut self) -> (usize, usize) {
        let (mut entries, mut steps) = (0, 0);
        // What was there before the program ran, as far as it was changed; then the rest.
        let known: Vec<usize> = self.touched.iter().map(|place| *place as usize).collect();
        for place in known.into_iter().chain(self.immortal..self.slots.len()) {
            let slot = self.slots.get_mut(place);
            if let Obj::Dict(table) | Obj::Set(table) | Obj::FrozenSet(table) = &mut slot.obj {
                steps += table.normalise();
                entries += table.places();
            }
            if matches!(slot.obj, Obj::Free) {
                continue;
            }
            let (old, new) = (slot.size as usize, slot.obj.size());
            slot.size = new as u32;
            self.bytes = (self.bytes + new).saturating_sub(old);
        }
        self.plan_collection();
        (entries, steps)
    }

    /// Puts an object in a place that was taken for it.
    pub(crate) fn replace(&mut self, handle: Handle, obj: Obj) -> Result<(), Fatal> {
        *self.get_mut(handle) = obj;
        self.resized(handle)
    }

    /// Bytes in use beyond the image.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.saturating_sub(self.image)
    }

    pub(crate) fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// Whether so many bytes more would still fit; to be asked before they are made.
    pub(crate) fn check(&self, more: usize) -> Result<(), Fatal> {
        if self.bytes.saturating_add(more) > self.limit { Err(Fatal::Memory) } else { Ok(()) }
    }

    pub(crate) fn alloc(&mut self, obj: Obj) -> Result<Handle, Fatal> {
        let size = obj.size();
        self.check(size)?;
        self.bytes += size;
        let slot = Slot { obj, size: size as u32, marked: false };
        if let Some(place) = self.free.pop() {
            *self.slots.get_mut(place as usize) = slot;
            return Ok(Handle(place));
        }
        self.slots.push(slot);
        Ok(Handle(self.slots.len() as u32 - 1))
    }

    #[inline]
    pub(crate) fn get(&self, handle: Handle) -> &Obj {
        &self.slots.get(handle.0 as usize).obj
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, handle: Handle) -> &mut Obj {
        if (handle.0 as usize) < self.immortal {
            self.touched.insert(handle.0);
        }
        &mut self.slots.get_mut(handle.0 as usize).obj
    }

    /// Accounts for what a change made of an object.
    pub(crate) fn resized(&mut self, handle: Handle) -> Result<(), Fatal> {
        let slot = self.slots.get_mut(handle.0 as usize);
        let (old, new) = (slot.size as usize, slot.obj.size());
        slot.size = new as u32;
        self.bytes = (self.bytes + new).saturating_sub(old);
        if self.bytes > self.limit { Err(Fatal::Memory) } else { Ok(()) }
    }

    /// Accounts for bytes added to an object.
    #[inline]
    pub(crate) fn grown(&mut self, handle: Handle, by: usize) -> Result<(), Fatal> {
        self.slots.get_mut(handle.0 as usize).size += by as u32;
        self.bytes += by;
        if self.bytes > self.limit { Err(Fatal::Memory) } else { Ok(()) }
    }

    pub(crate) fn str(&mut self, text: impl Into<Box<str>>) -> Result<Handle, Fatal> {
        let text = text.into();
        self.check(text.len())?;
        self.alloc(Obj::Str(Str::new(text)))
    }

    #[inline]
    pub(crate) fn wants_collection(&self) -> bool {
        self.bytes > self.collect_at
    }

    /// Frees what `roots` and the immortals do not reach. Returns how many objects were visited.
    pub(crate) fn collect(&mut self, roots: impl Iterator<Item = Value>) -> usize {
        // What the image has unchanged reaches nothing but the image.
        let shared = self.slots.shared();
        let mut pending: Vec<usize> = self.slots.changed().chain(shared..self.immortal).collect();
        pending.extend(roots.filter_map(Value::handle).map(|handle| handle.0 as usize));
        let mut visited = 0usize;
        while let Some(place) = pending.pop() {
            if !self.slots.is_own(place) {
                continue;
            }
            let slot = self.slots.get_mut(place);
            if std::mem::replace(&mut slot.marked, true) {
                continue;
            }
            visited += usize::from(place >= self.immortal);
            slot.obj.trace(|value| {
                if let Value::Ref(handle) = value {
                    pending.push(handle.0 as usize);
                }
            });
        }
        let changed: Vec<usize> = self.slots.changed().collect();
        for place in changed {
            self.slots.get_mut(place).marked = false;
        }
        // From the back, so that low places are taken first again.
        for place in (shared..self.slots.len()).rev() {
            let slot = self.slots.get_mut(place);
            if std::mem::replace(&mut slot.marked, false) || matches!(slot.obj, Obj::Free) {
                continue;
            }
            self.bytes = self.bytes.saturating_sub(slot.size as usize);
            slot.obj = Obj::Free;
            slot.size = 0;
            self.free.push(place as u32);
        }
        let slots = &self.slots;
        self.identities.retain(|place, _| !matches!(slots.get(*place as usize).obj, Obj::Free));
        self.plan_collection();
        visited
    }

    fn plan_collection(&mut self) {
        let room = self.limit.saturating_sub(self.bytes);
        self.collect_at = self.bytes + COLLECT_STEP_MIN.max(self.bytes() / 2).min(room / 2);
    }
}
