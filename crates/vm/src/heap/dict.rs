//! The ordered hash table under dict, namespaces and attributes: entries in order of insertion,
//! an index of their places by hash. Nothing about it depends on addresses or seeds.

use super::value::{Handle, Value};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) hash: u64,
    /// Unbound if deleted.
    pub(crate) key: Value,
    pub(crate) value: Value,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Dict {
    /// Power of two long, or empty; EMPTY, or the place of an entry.
    index: Vec<u32>,
    entries: Vec<Entry>,
    live: usize,
    /// Places of the index that are not empty.
    used: usize,
}

const EMPTY: u32 = u32::MAX;
/// Tombstone in the index: probing continues past it.
const GONE: u32 = u32::MAX - 1;
/// Small tables are searched without an index.
const UNINDEXED_MAX: usize = 8;
/// Places of the index that may be taken before a key finds its own without being counted.
const SPREAD: usize = 16;

/// Places that are looked at for a name before it is looked for by its text: fewer than are paid for.
const PLAIN_STEPS: usize = 8;

/// The hash of a name, and the same spread over all bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameHash {
    pub(crate) hash: u64,
    mixed: u64,
}

impl NameHash {
    #[inline]
    pub(crate) fn new(hash: u64) -> Self {
        Self { hash, mixed: mix(hash) & (u64::MAX >> 1) }
    }
}

/// What a plain look shows of a name. By reference: a value that is handed on in memory is written in parts
/// and read as a whole, for which the processor waits.
pub(crate) enum Plain<'a> {
    Found(&'a Value),
    Absent,
    Unsure,
}

/// Spreads what Python calls the hash over all bits.
pub(crate) fn mix(hash: u64) -> u64 {
    let mut hash = hash.wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// The hash of bytes, for str and bytes.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = 0x243f_6a88_85a3_08d3u64 ^ bytes.len() as u64;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let word = chunk.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
        hash = mix(hash ^ word);
    }
    let rest =
        chunks.remainder().iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
    mix(hash ^ rest)
}

impl Dict {
    pub(crate) fn len(&self) -> usize {
        self.live
    }

    /// Places, deleted ones included.
    pub(crate) fn places(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn entry(&self, place: usize) -> Option<&Entry> {
        self.entries.get(place).filter(|entry| !entry.key.is_unbound())
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.iter().filter(|entry| !entry.key.is_unbound())
    }

    pub(crate) fn all_values(&self) -> impl Iterator<Item = Value> {
        self.entries.iter().flat_map(|entry| [entry.key, entry.value])
    }

    /// Bytes that it accounts for.
    pub(crate) fn size(&self) -> usize {
        self.entries.len() * 48
    }

    /// The place of the first entry with this hash that `same` accepts, and how many were looked at.
    pub(crate) fn find<E>(
        &self,
        hash: u64,
        mut same: impl FnMut(usize, &Entry) -> Result<bool, E>,
    ) -> Result<(Option<usize>, usize), E> {
        let mut probes = 0;
        if self.index.is_empty() {
            for (place, entry) in self.entries.iter().enumerate() {
                if entry.hash == hash && !entry.key.is_unbound() {
                    probes += 1;
                    if same(place, entry)? {
                        return Ok((Some(place), probes));
                    }
                }
            }
            return Ok((None, probes));
        }
        let mask = self.index.len() - 1;
        let mut at = mix(hash) as usize & mask;
        loop {
            let place = self.index[at];
            if place == EMPTY {
                return Ok((None, probes));
            }
            probes += 1;
            if place == GONE {
                at = (at + 1) & mask;
                continue;
            }
            let entry = &self.entries[place as usize];
            if entry.hash == hash && !entry.key.is_unbound() && same(place as usize, entry)? {
                return Ok((Some(place as usize), probes));
            }
            at = (at + 1) & mask;
        }
    }

    /// Looks a name up as far as that is plain: where it is itself a key, or no key near its place is its
    /// like. Everything else is for `find`, which counts as many entries and finds the same.
    #[inline]
    pub(crate) fn find_name(&self, name: Handle, known: NameHash) -> Plain<'_> {
        if self.index.is_empty() {
            let found = self.entries.iter().find(|entry| entry.key.is_ref(name));
            return found.map_or(Plain::Unsure, |entry| Plain::Found(&entry.value));
        }
        let mask = self.index.len() - 1;
        for step in 0..PLAIN_STEPS {
            let place = self.index[(known.mixed as usize + step) & mask];
            if place == EMPTY {
                return Plain::Absent;
            }
            if place == GONE {
                continue;
            }
            let entry = &self.entries[place as usize];
            if entry.key.is_ref(name) {
                return Plain::Found(&entry.value);
            }
            if entry.hash == known.hash {
                return Plain::Unsure;
            }
        }
        Plain::Unsure
    }

    pub(crate) fn value_at(&self, place: usize) -> Value {
        self.entries.get(place).map_or(Value::Unbound, |entry| entry.value)
    }

    pub(crate) fn value_ref(&self, place: usize) -> Option<&Value> {
        self.entries.get(place).map(|entry| &entry.value)
    }

    pub(crate) fn set_value_at(&mut self, place: usize, value: Value) {
        if let Some(entry) = self.entries.get_mut(place) {
            entry.value = value;
        }
    }

    /// Adds a key that is not there. Returns how many steps that took beyond those of keys that are spread
    /// well.
    pub(crate) fn push(&mut self, hash: u64, key: Value, value: Value) -> usize {
        let place = self.entries.len();
        self.entries.push(Entry { hash, key, value });
        self.live += 1;
        if self.index.is_empty() && self.entries.len() <= UNINDEXED_MAX {
            return 0;
        }
        self.used += 1;
        if self.used * 3 > self.index.len() * 2 {
            self.reindex()
        } else {
            self.insert_index(hash, place).saturating_sub(SPREAD)
        }
    }

    /// Returns how many places were taken already.
    fn insert_index(&mut self, hash: u64, place: usize) -> usize {
        let mask = self.index.len() - 1;
        let mut at = mix(hash) as usize & mask;
        let mut taken = 0;
        while self.index[at] != EMPTY {
            at = (at + 1) & mask;
            taken += 1;
        }
        self.index[at] = place as u32;
        taken
    }

    /// Returns what `reindex` does.
    fn compact(&mut self) -> usize {
        self.entries.retain(|entry| !entry.key.is_unbound());
        if self.index.is_empty() { 0 } else { self.reindex() }
    }

    /// Returns how many steps that took beyond those of keys that are spread well.
    fn reindex(&mut self) -> usize {
        self.entries.retain(|entry| !entry.key.is_unbound());
        let size = (self.entries.len() * 3).next_power_of_two().max(16);
        self.index.clear();
        self.index.resize(size, EMPTY);
        self.used = self.entries.len();
        let mut steps = 0;
        for place in 0..self.entries.len() {
            steps += self.insert_index(self.entries[place].hash, place).saturating_sub(SPREAD);
        }
        steps
    }

    /// Makes the index a function of the entries alone. No entry moves, as an iterator may be at one. Returns
    /// the steps beyond those of keys that are spread well.
    pub(crate) fn normalise(&mut self) -> usize {
        self.index.clear();
        self.used = 0;
        if self.entries.len() <= UNINDEXED_MAX {
            return 0;
        }
        let size = (self.entries.len() * 3).next_power_of_two().max(16);
        self.index.resize(size, EMPTY);
        self.used = self.live;
        let mut steps = 0;
        for place in 0..self.entries.len() {
            if !self.entries[place].key.is_unbound() {
                let taken = self.insert_index(self.entries[place].hash, place);
                steps += taken.saturating_sub(SPREAD);
            }
        }
        steps
    }

    /// A table with these entries, deleted ones among them.
    pub(crate) fn from_entries(entries: Vec<Entry>) -> Self {
        let live = entries.iter().filter(|entry| !entry.key.is_unbound()).count();
        let mut dict = Self { entries, live, ..Self::default() };
        dict.normalise();
        dict
    }

    /// All entries, deleted ones among them.
    pub(crate) fn all_entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Removes an entry; its place stays empty until the table is rebuilt. Returns its value, and the
    /// steps beyond those of keys that are spread well.
    pub(crate) fn remove_at(&mut self, place: usize) -> (Value, usize) {
        let Some(entry) = self.entries.get_mut(place) else { return (Value::Unbound, 0) };
        if entry.key.is_unbound() {
            return (Value::Unbound, 0);
        }
        let (hash, value) = (entry.hash, entry.value);
        entry.key = Value::Unbound;
        entry.value = Value::Unbound;
        self.live -= 1;
        if self.live == 0 {
            self.clear();
            return (value, 0);
        }
        let mut steps = 0usize;
        if !self.index.is_empty() {
            let mask = self.index.len() - 1;
            let mut at = mix(hash) as usize & mask;
            while self.index[at] != place as u32 && self.index[at] != EMPTY {
                at = (at + 1) & mask;
                steps += 1;
            }
            steps = steps.saturating_sub(SPREAD);
            if self.index[at] != EMPTY {
                self.index[at] = GONE;
            }
        }
        while self.entries.last().is_some_and(|entry| entry.key.is_unbound()) {
            self.entries.pop();
        }
        if self.entries.len() > 2 * self.live + 16 {
            steps += self.compact();
        } else if self.index.len() > 16 * (self.entries.len() + 4) {
            // Entries removed from the end left an index that is not accounted for.
            steps += self.normalise();
        }
        (value, steps)
    }

    pub(crate) fn last(&self) -> Option<usize> {
        self.entries.iter().rposition(|entry| !entry.key.is_unbound())
    }

    pub(crate) fn first(&self) -> Option<usize> {
        self.entries.iter().position(|entry| !entry.key.is_unbound())
    }

    pub(crate) fn clear(&mut self) {
        self.index.clear();
        self.entries.clear();
        self.used = 0;
        self.live = 0;
    }

    /// Shrinks capacity beyond the entries and `spare` more.
    pub(super) fn trim(&mut self, spare: usize) {
        super::room::trim(&mut self.entries, spare);
        super::room::trim(&mut self.index, spare);
    }

    /// Bytes that it really holds.
    pub(super) fn held(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.index.capacity() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::{Dict, Entry, Value, mix};

    fn table(hashes: impl Iterator<Item = u64>) -> Dict {
        let entries = hashes.map(|hash| Entry { hash, key: Value::Int(0), value: Value::None });
        Dict::from_entries(entries.collect())
    }

    #[test]
    fn rebuilding_a_table_counts_collision_steps() {
        let count = 500;
        // As many as begin at the same place of the index.
        let colliding = (0..u64::MAX).filter(|hash| mix(*hash) & 2_047 == 0).take(count);
        let steps = table(colliding).normalise();
        assert!(steps > count * count / 3, "{steps}");
        assert_eq!(table(0..count as u64).normalise(), 0);
    }
}
