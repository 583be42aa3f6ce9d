//! The arena of objects: accounted to the byte, capped, and collected at moments that depend on
//! nothing but what the program did.

pub(crate) mod dict;
pub(crate) mod object;
pub(crate) mod types;
pub(crate) mod value;

use object::{Obj, Str};
use value::{Handle, Value};

use crate::run::fault::Fatal;

#[derive(Clone, Debug)]
struct Slot {
    obj: Obj,
    size: u32,
    marked: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Heap {
    slots: Vec<Slot>,
    free: Vec<u32>,
    bytes: usize,
    limit: usize,
    collect_at: usize,
    /// Objects below were there before the program and stay.
    immortal: usize,
    serial: u64,
}

/// Between two collections at least this much is allocated.
const COLLECT_STEP_MIN: usize = 512 * 1024;

impl Heap {
    pub(crate) fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            bytes: 0,
            limit: usize::MAX,
            collect_at: usize::MAX,
            immortal: 0,
            serial: 0,
        }
    }

    /// What is here now stays, and is not counted; from now on at most `limit` bytes more.
    pub(crate) fn seal(&mut self, limit: usize) {
        self.immortal = self.slots.len();
        self.bytes = 0;
        self.limit = limit;
        self.collect_at = COLLECT_STEP_MIN.min(limit / 2);
    }

    /// Bytes in use beyond the image.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
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
            self.slots[place as usize] = slot;
            return Ok(Handle(place));
        }
        self.slots.push(slot);
        Ok(Handle(self.slots.len() as u32 - 1))
    }

    #[inline]
    pub(crate) fn get(&self, handle: Handle) -> &Obj {
        &self.slots[handle.0 as usize].obj
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, handle: Handle) -> &mut Obj {
        &mut self.slots[handle.0 as usize].obj
    }

    /// Accounts for what a change made of an object.
    pub(crate) fn resized(&mut self, handle: Handle) -> Result<(), Fatal> {
        let slot = &mut self.slots[handle.0 as usize];
        let (old, new) = (slot.size as usize, slot.obj.size());
        slot.size = new as u32;
        self.bytes = (self.bytes + new).saturating_sub(old);
        if self.bytes > self.limit { Err(Fatal::Memory) } else { Ok(()) }
    }

    /// Accounts for bytes added to an object.
    #[inline]
    pub(crate) fn grown(&mut self, handle: Handle, by: usize) -> Result<(), Fatal> {
        self.slots[handle.0 as usize].size += by as u32;
        self.bytes += by;
        if self.bytes > self.limit { Err(Fatal::Memory) } else { Ok(()) }
    }

    pub(crate) fn str(&mut self, text: impl Into<Box<str>>) -> Result<Handle, Fatal> {
        let text = text.into();
        self.check(text.len())?;
        let chars = if text.is_ascii() { text.len() } else { text.chars().count() };
        let hash = dict::hash_bytes(text.as_bytes()) >> 3;
        self.alloc(Obj::Str(Str { text, chars: chars as u32, hash }))
    }

    #[inline]
    pub(crate) fn wants_collection(&self) -> bool {
        self.bytes > self.collect_at
    }

    /// Frees what `roots` and the immortals do not reach. Returns how many objects were visited.
    pub(crate) fn collect(&mut self, roots: impl Iterator<Item = Value>) -> usize {
        let mut pending: Vec<u32> = (0..self.immortal as u32).collect();
        pending.extend(roots.filter_map(Value::handle).map(|handle| handle.0));
        let mut visited = 0usize;
        while let Some(place) = pending.pop() {
            let slot = &mut self.slots[place as usize];
            if std::mem::replace(&mut slot.marked, true) {
                continue;
            }
            visited += 1;
            slot.obj.trace(|value| {
                if let Value::Ref(handle) = value {
                    pending.push(handle.0);
                }
            });
        }
        // From the back, so that low places are taken first again.
        for place in (0..self.slots.len()).rev() {
            let slot = &mut self.slots[place];
            if std::mem::replace(&mut slot.marked, false) || matches!(slot.obj, Obj::Free) {
                continue;
            }
            self.bytes = self.bytes.saturating_sub(slot.size as usize);
            slot.obj = Obj::Free;
            slot.size = 0;
            self.free.push(place as u32);
        }
        let room = self.limit.saturating_sub(self.bytes);
        self.collect_at = self.bytes + COLLECT_STEP_MIN.max(self.bytes / 2).min(room / 2);
        visited.saturating_sub(self.immortal)
    }
}
