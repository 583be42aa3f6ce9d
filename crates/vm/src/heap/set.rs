//! The hash table of set and frozenset. Probing, deletion and resizing follow CPython, so that a set of
//! numbers, or of tuples of numbers, iterates in CPython's order: the order follows from the hashes, which
//! are the same here, and from the history of the set. CPython randomises string hashes and this VM fixes
//! them, so sets of strings iterate in one of the orders that CPython may have.

use std::convert::Infallible;

use super::value::Value;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) hash: u64,
    pub(crate) key: Value,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Set {
    /// Power of two long, or empty; EMPTY, GONE, or the place of an item.
    slots: Vec<u32>,
    /// In an order that programs never see.
    items: Vec<Item>,
    /// Slots that are not empty.
    fill: usize,
    /// The slot at which `pop` continues.
    finger: u32,
}

const EMPTY: u32 = u32::MAX;
/// Tombstone. Probing continues past it; an insert reuses the last one probed.
const GONE: u32 = u32::MAX - 1;
const LEAST_ROOM: usize = 8;
/// More room than a set in the heap can have grown to.
const ROOM_MAX: usize = 1 << 22;
/// Slots after the one that a hash stands for that are tried before the search jumps.
const NEIGHBOURS: usize = 9;
/// Bits of the hash that each jump takes in.
const JUMP_BITS: u32 = 5;
/// Sets that are larger grow by less.
const LARGE: usize = 50_000;
/// Slots that may be taken before a key finds its own without being counted.
const SPREAD: usize = 16;

/// The slots in the order in which a hash is looked for.
struct Path {
    begin: usize,
    offset: usize,
    rest: u64,
    mask: usize,
}

impl Path {
    #[inline]
    fn new(hash: u64, mask: usize) -> Self {
        Self { begin: hash as usize & mask, offset: 0, rest: hash, mask }
    }

    #[inline]
    fn next(&mut self) -> usize {
        let slot = self.begin + self.offset;
        if self.offset < NEIGHBOURS && self.begin + NEIGHBOURS <= self.mask {
            self.offset += 1;
        } else {
            self.offset = 0;
            self.rest >>= JUMP_BITS;
            let jump = self.begin.wrapping_mul(5).wrapping_add(1);
            self.begin = jump.wrapping_add(self.rest as usize) & self.mask;
        }
        slot
    }
}

/// The least room that is larger.
fn room_above(count: usize) -> usize {
    (count + 1).next_power_of_two().max(LEAST_ROOM)
}

fn is_item(slot: u32) -> bool {
    slot < GONE
}

impl Set {
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Slots that are walked over.
    pub(crate) fn room(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn at(&self, slot: usize) -> Option<&Item> {
        self.slots.get(slot).and_then(|place| self.items.get(*place as usize))
    }

    /// The items in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Item> {
        self.slots.iter().filter_map(|place| self.items.get(*place as usize))
    }

    pub(crate) fn key(&self, place: usize) -> Option<Value> {
        self.items.get(place).map(|item| item.key)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = Value> {
        self.items.iter().map(|item| item.key)
    }

    pub(crate) fn hashes(&self) -> impl ExactSizeIterator<Item = u64> {
        self.items.iter().map(|item| item.hash)
    }

    /// Bytes that it accounts for.
    pub(crate) fn size(&self) -> usize {
        self.items.len() * 48 + self.slots.len() * 4
    }

    /// Bytes that it really holds.
    pub(super) fn held(&self) -> usize {
        self.items.capacity() * size_of::<Item>() + self.slots.capacity() * 4
    }

    /// Shrinks capacity beyond the items and `spare` more.
    pub(super) fn trim(&mut self, spare: usize) {
        super::room::trim(&mut self.items, spare);
    }

    fn mask(&self) -> usize {
        self.slots.len().max(LEAST_ROOM) - 1
    }

    /// The place of the first item with this hash that `same` accepts, and how many slots were looked at.
    pub(crate) fn find<E>(
        &self,
        hash: u64,
        mut same: impl FnMut(usize, &Item) -> Result<bool, E>,
    ) -> Result<(Option<usize>, usize), E> {
        if self.slots.is_empty() {
            return Ok((None, 0));
        }
        let mut path = Path::new(hash, self.mask());
        let mut probes = 0;
        loop {
            let place = self.slots[path.next()];
            if place == EMPTY {
                return Ok((None, probes));
            }
            probes += 1;
            if place == GONE {
                continue;
            }
            let item = &self.items[place as usize];
            if item.hash == hash && same(place as usize, item)? {
                return Ok((Some(place as usize), probes));
            }
        }
    }

    /// Adds a key that is not there. Returns how many steps that took beyond those of keys that are spread
    /// well; so do the others that change it.
    pub(crate) fn push(&mut self, hash: u64, key: Value) -> usize {
        if self.slots.is_empty() {
            self.slots = vec![EMPTY; LEAST_ROOM];
        }
        let mut path = Path::new(hash, self.mask());
        let (mut left, mut looked) = (None, 0usize);
        let free = loop {
            let slot = path.next();
            match self.slots[slot] {
                EMPTY => break slot,
                GONE => left = Some(slot),
                _ => {}
            }
            looked += 1;
        };
        let steps = looked.saturating_sub(SPREAD);
        self.slots[left.unwrap_or(free)] = self.items.len() as u32;
        self.items.push(Item { hash, key });
        if left.is_some() {
            return steps;
        }
        self.fill += 1;
        if self.crowded(0) { steps + self.resize(self.wanted()) } else { steps }
    }

    /// Whether so many more would be too many for its room.
    fn crowded(&self, more: usize) -> bool {
        (self.fill + more) * 5 >= self.mask() * 3
    }

    fn wanted(&self) -> usize {
        self.items.len() * if self.items.len() > LARGE { 2 } else { 4 }
    }

    /// Rebuilds the table with room for more than `count`.
    fn resize(&mut self, count: usize) -> usize {
        let old = std::mem::replace(&mut self.slots, vec![EMPTY; room_above(count)]);
        self.fill = 0;
        let places = old.into_iter().filter(|slot| is_item(*slot));
        places.map(|place| self.place_again(place)).sum()
    }

    /// Gives an item a slot of a table that has none of its like, nor any that were left.
    fn place_again(&mut self, place: u32) -> usize {
        let mut path = Path::new(self.items[place as usize].hash, self.mask());
        let mut looked = 0usize;
        loop {
            let slot = path.next();
            if self.slots[slot] == EMPTY {
                self.slots[slot] = place;
                self.fill += 1;
                return looked.saturating_sub(SPREAD);
            }
            looked += 1;
        }
    }

    /// Makes room for as many as come at once, all of them new for what it knows.
    pub(crate) fn reserve(&mut self, more: usize) -> usize {
        if more > 0 && self.crowded(more) { self.resize((self.len() + more) * 2) } else { 0 }
    }

    /// Clears away what many removed items left behind.
    pub(crate) fn tidy(&mut self) -> usize {
        if self.fill - self.len() > self.mask() / 4 { self.resize(self.wanted()) } else { 0 }
    }

    /// Takes over the items of another set; it has none itself.
    pub(crate) fn fill_from(&mut self, other: &Set) -> usize {
        if other.len() == 0 {
            return 0;
        }
        let steps = self.reserve(other.len());
        if self.fill > 0 {
            let items = other.iter();
            return items.fold(steps, |steps, item| steps + self.push(item.hash, item.key));
        }
        if self.mask() == other.mask() && other.fill == other.len() {
            self.slots.clone_from(&other.slots);
            self.items.clone_from(&other.items);
            self.fill = other.fill;
            return 0;
        }
        if self.slots.is_empty() {
            self.slots = vec![EMPTY; LEAST_ROOM];
        }
        self.items = other.iter().copied().collect();
        (0..self.items.len() as u32).map(|place| self.place_again(place)).sum()
    }

    /// The slot of an item, and how far it is on the way to it.
    fn slot_of(&self, place: usize) -> Option<(usize, usize)> {
        let mut path = Path::new(self.items.get(place)?.hash, self.mask());
        let mut looked = 0usize;
        loop {
            let slot = path.next();
            if self.slots[slot] == place as u32 {
                return Some((slot, looked.saturating_sub(SPREAD)));
            }
            if self.slots[slot] == EMPTY {
                return None;
            }
            looked += 1;
        }
    }

    /// Removes the item at a place, which the last one takes.
    pub(crate) fn remove(&mut self, place: usize) -> usize {
        let Some((slot, mut steps)) = self.slot_of(place) else { return 0 };
        self.slots[slot] = GONE;
        let last = self.items.len() - 1;
        if place != last
            && let Some((slot, more)) = self.slot_of(last)
        {
            self.slots[slot] = place as u32;
            steps += more;
        }
        self.items.swap_remove(place);
        steps
    }

    /// Removes the item that is this very key.
    pub(crate) fn remove_same(&mut self, hash: u64, key: Value) -> usize {
        let found = self.find(hash, |_, item| Ok::<bool, Infallible>(item.key.is(key)));
        let Ok((place, probes)) = found;
        place.map_or(0, |place| self.remove(place)) + probes.saturating_sub(SPREAD)
    }

    /// The place and the slot of the item that `pop` takes, and how many slots it looks at.
    pub(crate) fn next_out(&self) -> Option<(usize, usize, usize)> {
        let begin = self.finger as usize & self.mask();
        let slots = (begin..self.slots.len()).chain(0..begin);
        let (walked, slot) = slots.enumerate().find(|(_, slot)| self.at(*slot).is_some())?;
        Some((self.slots[slot] as usize, slot, walked))
    }

    pub(crate) fn set_finger(&mut self, slot: usize) {
        self.finger = slot as u32;
    }

    pub(crate) fn clear(&mut self) {
        *self = Self { finger: self.finger, ..Self::default() };
    }

    /// Takes what another one holds in place of its own.
    pub(crate) fn replace(&mut self, other: Set) {
        *self = Self { finger: self.finger, ..other };
    }

    /// Brings the items into an order that does not tell how they came by their places. Returns the steps
    /// that it takes to see, of one that was written down, that each item is found.
    pub(crate) fn normalise(&mut self) -> usize {
        self.items = self.iter().copied().collect();
        let slots = self.slots.iter_mut().filter(|slot| is_item(**slot));
        slots.zip(0..).for_each(|(slot, place)| *slot = place);
        (0..self.items.len()).filter_map(|place| self.slot_of(place)).map(|(_, steps)| steps).sum()
    }

    /// Where `pop` continues; frozen with the set.
    pub(crate) fn finger(&self) -> u32 {
        self.finger
    }

    /// The slots that are not empty, and their items, or none where one was left.
    pub(crate) fn taken(&self) -> impl Iterator<Item = (usize, Option<&Item>)> {
        let slots = self.slots.iter().enumerate().filter(|(_, place)| **place != EMPTY);
        slots.map(|(slot, place)| (slot, self.items.get(*place as usize)))
    }

    /// A set from what was written down; None if no set could have come by it.
    pub(crate) fn from_parts(
        room: usize,
        finger: u32,
        taken: Vec<(usize, Option<Item>)>,
    ) -> Option<Self> {
        let sized = room.is_power_of_two() && room >= LEAST_ROOM;
        if !(sized || room == 0) || room > ROOM_MAX || finger as usize > ROOM_MAX {
            return None;
        }
        let mut set =
            Self { slots: vec![EMPTY; room], fill: taken.len(), finger, ..Self::default() };
        if taken.len() > room || set.crowded(0) {
            return None;
        }
        for (slot, item) in taken {
            let place = set.slots.get_mut(slot).filter(|place| **place == EMPTY)?;
            *place = if item.is_some() { set.items.len() as u32 } else { GONE };
            set.items.extend(item);
        }
        let reached = (0..set.items.len()).all(|place| set.slot_of(place).is_some());
        reached.then_some(set)
    }
}

#[cfg(test)]
mod tests;
