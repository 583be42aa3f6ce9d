//! The arena of objects: accounted to the byte, capped, and collected at moments that depend on
//! nothing but what the program did.
//!
//! Consensus: a change here forks the chain.

mod bits;
pub(crate) mod dict;
pub(crate) mod interned;
pub(crate) mod object;
mod room;
pub(crate) mod set;
mod slots;
pub(crate) mod types;
pub(crate) mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bits::Bits;
use object::{Obj, Str};
use slots::{Slot, Slots};
use value::{Handle, Value};

use crate::limits::Fatal;

#[derive(Clone, Debug)]
pub(crate) struct Heap {
    slots: Slots,
    free: Vec<u32>,
    /// Places of its own that are not free.
    taken: Bits,
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

/// A program's constants, shared by all heaps of machines that run it.
#[derive(Clone, Debug)]
pub(crate) struct Constants {
    slots: Arc<[Slot]>,
    bytes: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) objects: usize,
    /// Values that were seen in them, and roots.
    pub(crate) values: usize,
    /// Names whose objects are gone.
    pub(crate) names: Vec<Box<str>>,
}

/// What it took to bring the heap into its one form.
#[derive(Debug, Default)]
pub(crate) struct Normalised {
    pub(crate) objects: usize,
    pub(crate) entries: usize,
    /// Steps that keys took which collide.
    pub(crate) steps: usize,
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
            taken: Bits::default(),
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
        self.taken = Bits::default();
    }

    /// What is here now stays, and is not counted; from now on at most `limit` bytes more.
    pub(crate) fn seal(&mut self, limit: usize) {
        self.immortal = self.slots.len();
        self.image = self.bytes;
        self.limit = limit.saturating_add(self.image);
        self.plan_collection();
    }

    /// Takes out what is there beyond the image: the constants of a program, for `set_program`.
    pub(crate) fn take_constants(&mut self) -> Constants {
        let bytes = self.bytes();
        self.bytes -= bytes;
        self.taken = Bits::default();
        Constants { slots: self.slots.take_own(), bytes }
    }

    /// Takes over the constants of a program. They stay, and count.
    pub(crate) fn set_program(&mut self, constants: &Constants) -> Result<(), Fatal> {
        self.check(constants.bytes)?;
        self.bytes += constants.bytes;
        self.slots.set_program(&constants.slots);
        self.immortal = self.slots.len();
        Ok(())
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
        self.set_identity(handle, serial);
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
        self.slots.get_mut(handle.0 as usize).identified = true;
        self.identities.insert(handle.0, identity);
    }

    /// Says that a str is known by its text; `collect` tells when it is gone.
    pub(crate) fn set_named(&mut self, handle: Handle) {
        self.slots.get_mut(handle.0 as usize).named = true;
    }

    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    pub(crate) fn set_serial(&mut self, serial: u64) {
        self.serial = serial;
    }

    /// Brings what lives into the form that it has after being written down and read again: tables
    /// with a fresh index, sizes by contents.
    pub(crate) fn normalise(&mut self) -> Normalised {
        let mut done = Normalised::default();
        // What was there before the program ran, as far as it was changed; then the rest.
        let known: Vec<usize> = self.touched.iter().map(|place| *place as usize).collect();
        let shared = self.slots.shared();
        let own = self.taken.places().into_iter().map(|place| place + shared);
        for place in known.into_iter().chain(own) {
            let slot = self.slots.get_mut(place);
            match &mut slot.obj {
                Obj::Dict(table) => {
                    done.steps += table.normalise();
                    done.entries += table.places();
                }
                Obj::Set(set) | Obj::FrozenSet(set) => {
                    done.steps += set.normalise();
                    done.entries += set.len() + set.room() / 8;
                }
                _ => {}
            }
            if matches!(slot.obj, Obj::Free) {
                continue;
            }
            done.objects += 1;
            slot.obj.trim();
            let (old, new) = (slot.size as usize, slot.obj.size());
            slot.size = new as u32;
            self.bytes = (self.bytes + new).saturating_sub(old);
        }
        self.plan_collection();
        done
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

    /// Whether this many bytes more would still fit; to be asked before they are made.
    pub(crate) fn check(&self, more: usize) -> Result<(), Fatal> {
        if self.bytes.saturating_add(more) > self.limit { Err(Fatal::Memory) } else { Ok(()) }
    }

    pub(crate) fn alloc(&mut self, mut obj: Obj) -> Result<Handle, Fatal> {
        obj.trim();
        let size = obj.size();
        self.check(size)?;
        self.bytes += size;
        let slot = Slot { obj, size: size as u32, named: false, identified: false };
        let place = match self.free.pop() {
            Some(place) => {
                *self.slots.get_mut(place as usize) = slot;
                place
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        };
        self.taken.insert(place as usize - self.slots.shared());
        Ok(Handle(place))
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
        slot.obj.trim();
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

    /// Frees what `roots` and the immortals do not reach.
    pub(crate) fn collect(&mut self, roots: impl Iterator<Item = Value>) -> Collected {
        let mut done = Collected::default();
        let (slots, shared) = (&self.slots, self.slots.shared());
        let mut marks = Bits::with_room(slots.len() - shared);
        let mut pending: Vec<u32> = Vec::new();
        // What is shared and unchanged reaches nothing else.
        let mut changed: Vec<usize> = slots.changed().collect();
        let mut see = |value: Value, pending: &mut Vec<u32>| {
            done.values += 1;
            if let Value::Ref(handle) = value
                && let Some(own) = (handle.0 as usize).checked_sub(shared)
                && marks.insert(own)
            {
                pending.push(handle.0);
            }
        };
        roots.for_each(|root| see(root, &mut pending));
        while let Some(place) = changed.pop().or_else(|| pending.pop().map(|place| place as usize))
        {
            done.objects += 1;
            slots.get(place).obj.trace(|value| see(value, &mut pending));
        }
        // From the back, so that low places are taken first again.
        let (slots, names, free) = (&mut self.slots, &mut done.names, &mut self.free);
        let (identities, bytes) = (&mut self.identities, &mut self.bytes);
        self.taken.retain(&marks, |own| {
            let place = shared + own;
            let slot = slots.get_mut(place);
            *bytes = bytes.saturating_sub(slot.size as usize);
            if slot.identified {
                identities.remove(&(place as u32));
            }
            if let (true, Obj::Str(text)) = (slot.named, &mut slot.obj) {
                names.push(std::mem::take(&mut text.text));
            }
            slot.obj = Obj::Free;
            slot.size = 0;
            free.push(place as u32);
        });
        self.plan_collection();
        done
    }

    /// Bytes that the objects of the program really hold.
    pub(crate) fn held(&self) -> usize {
        let shared = self.slots.shared();
        let places = self.taken.places().into_iter();
        places.map(|place| self.slots.get(shared + place).obj.held()).sum()
    }

    fn plan_collection(&mut self) {
        let room = self.limit.saturating_sub(self.bytes);
        self.collect_at = self.bytes + COLLECT_STEP_MIN.max(self.bytes() / 2).min(room / 2);
    }
}
