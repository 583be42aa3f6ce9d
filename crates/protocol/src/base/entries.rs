//! The entries of a state in memory.
//!
//! Local: a change here needs no agreement among validators: results do not depend on how
//! entries are arranged in memory.
//!
//! Keys, and values up to the size of a timer's record, are kept in place: reading one follows no
//! pointer beyond the tree's own, and copying a leaf copies bytes instead of counting references in
//! memory that has gone cold.

use crate::base::small::Small;
use crate::base::sorted::{Item, Sorted};
use crate::base::state::{Diff, Key, SmallKey, Value, View};
use std::cmp::Ordering;
use std::ops::{Bound, RangeBounds};

/// A value: a timer's record has 118 bytes, with a payload of 32 and a payer who is not the actor.
type StoredValue = Small<118>;

#[derive(Clone, Debug)]
struct Pair {
    key: SmallKey,
    value: StoredValue,
}

impl Pair {
    fn new(key: &[u8], value: &[u8]) -> Self {
        Self { key: Small::new(key), value: Small::new(value) }
    }

    fn bytes(&self) -> (&[u8], &[u8]) {
        (&self.key, &self.value)
    }
}

impl Item for Pair {
    type Key = SmallKey;
    type Summary = ();
    const WIDTH: usize = 8;

    fn key(&self) -> SmallKey {
        self.key.clone()
    }
    fn cmp_key(&self, key: &SmallKey) -> Ordering {
        self.key.cmp(key)
    }
    fn head(key: &SmallKey) -> u64 {
        key.head()
    }
    fn own_head(&self) -> u64 {
        self.key.head()
    }
    fn summary(&self) {}
    fn join((): &mut (), (): &()) {}
}

/// Keys and their values, ascending by key. A copy shares what neither has changed.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    pairs: Sorted<Pair>,
}

impl Entries {
    /// The value under a key.
    pub fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.pairs.get(&Small::new(key)).map(|pair| &*pair.value)
    }

    /// The values under several keys: faster than one after the other.
    pub fn get_many(&self, keys: &[SmallKey]) -> impl Iterator<Item = Option<&[u8]>> {
        self.pairs.get_many(keys).into_iter().map(|pair| pair.map(|pair| &*pair.value))
    }

    pub fn insert(&mut self, key: Key, value: Value) {
        self.pairs.edit([(Small::new(&key), Some(Pair::new(&key, &value)))]);
    }

    pub fn remove(&mut self, key: &[u8]) {
        self.pairs.edit([(Small::new(key), None)]);
    }

    /// Applies all changes of a block.
    pub fn write(&mut self, diff: &Diff) {
        self.pairs.edit(diff.iter().map(|(key, value)| {
            let pair = |value: &[u8]| Pair { key: key.clone(), value: Small::new(value) };
            (key.clone(), value.as_deref().map(pair))
        }));
    }

    /// Puts many values in, whose keys ascend.
    pub fn put_sorted(&mut self, entries: impl IntoIterator<Item = (Key, Value)>) {
        let mut entries = entries.into_iter().peekable();
        // In portions, so that not all of them are in memory twice.
        while entries.peek().is_some() {
            let portion = entries.by_ref().take(1 << 16);
            let pairs = portion.map(|(key, value)| Pair::new(&key, &value));
            self.pairs.edit(pairs.map(|pair| (pair.key.clone(), Some(pair))));
        }
    }

    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.pairs.iter().map(Pair::bytes)
    }

    pub fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.pairs.iter().map(|pair| &*pair.key)
    }

    /// Those of one kind: whose keys begin with its tag.
    pub fn of_kind(&self, tag: u8) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.range(vec![tag]..vec![tag + 1])
    }

    /// Those whose keys are in a range.
    pub fn range(&self, range: impl RangeBounds<Key>) -> impl Iterator<Item = (&[u8], &[u8])> {
        let from: &[u8] = match range.start_bound() {
            Bound::Included(key) | Bound::Excluded(key) => key,
            Bound::Unbounded => &[],
        };
        let found = self.pairs.iter_from(&Small::new(from)).map(Pair::bytes);
        let is_before = |key: &[u8], bound: Bound<&Key>| match bound {
            Bound::Included(end) => key <= &end[..],
            Bound::Excluded(end) => key < &end[..],
            Bound::Unbounded => true,
        };
        let left_out = match range.start_bound() {
            Bound::Excluded(key) => Some(key.clone()),
            _ => None,
        };
        let end = range.end_bound().cloned();
        found
            .skip_while(move |(key, _)| left_out.as_ref().is_some_and(|left_out| key == left_out))
            .take_while(move |(key, _)| is_before(key, end.as_ref()))
    }
}

impl View for Entries {
    fn get(&self, key: &[u8]) -> Option<Value> {
        self.get(key).map(<[u8]>::to_vec)
    }

    fn read_many(&self, keys: &[SmallKey], found: &mut dyn FnMut(Option<&[u8]>)) {
        self.get_many(keys).for_each(found);
    }
}

impl FromIterator<(Key, Value)> for Entries {
    fn from_iter<I: IntoIterator<Item = (Key, Value)>>(entries: I) -> Self {
        let pairs = entries.into_iter().map(|(key, value)| Pair::new(&key, &value));
        Self { pairs: pairs.collect() }
    }
}

impl PartialEq for Entries {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}
impl Eq for Entries {}

impl IntoIterator for Entries {
    type Item = (Key, Value);
    type IntoIter = std::vec::IntoIter<(Key, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        let owned: Vec<_> =
            self.iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect();
        owned.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Bytes of all lengths around what is kept in place, zeros among them.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![vec(0..3u8, 0..6), vec(any::<u8>(), 30..130), vec(Just(0), 0..60)]
    }

    proptest! {
        /// Keys compare as byte strings do, however long, and ranges end where they should.
        #[test]
        fn entries_are_in_the_order_of_their_bytes(
            map in btree_map(bytes(), bytes(), 0..60),
            from in bytes(),
            to in bytes(),
        ) {
            let entries: Entries = map.clone().into_iter().collect();
            let owned = |(key, value): (&[u8], &[u8])| (key.to_vec(), value.to_vec());
            prop_assert!(entries.iter().map(owned).eq(map.clone()));
            for (key, value) in &map {
                prop_assert_eq!(entries.get(key), Some(&value[..]));
            }
            let (from, to) = (from.clone().min(to.clone()), from.max(to));
            let plain = |range: (Bound<Key>, Bound<Key>)| -> BTreeMap<Key, Value> {
                map.iter()
                    .filter(|(key, _)| range.contains(*key))
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect()
            };
            for range in [
                (Bound::Included(from.clone()), Bound::Excluded(to.clone())),
                (Bound::Excluded(from.clone()), Bound::Included(to.clone())),
                (Bound::Unbounded, Bound::Unbounded),
            ] {
                prop_assert!(entries.range(range.clone()).map(owned).eq(plain(range)));
            }
        }
    }
}
