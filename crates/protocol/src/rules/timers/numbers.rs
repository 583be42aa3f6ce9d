//! Numbers under keys, of which versions share what did not change, and many change at a time.
//!
//! Local: a change here needs no agreement among validators. `tests/timer_index.rs` compares the
//! results with the plain rules in `order` and `fairness`.

use crate::base::primitives::{Address, Height};
use crate::base::sorted::{Item, Sorted};
use std::fmt::Debug;

pub(super) trait NumberKey: Copy + Ord + Debug {
    const WIDTH: usize;

    fn head(&self) -> u64;
}

impl NumberKey for Address {
    /// Wide: a block's actors are many of those that there are, so it touches most leaves.
    const WIDTH: usize = 64;

    fn head(&self) -> u64 {
        self.0.first_chunk().copied().map_or(0, u64::from_be_bytes)
    }
}

impl NumberKey for Height {
    /// Narrow: the heights at which a block's timers would have expired are strewn over a month.
    const WIDTH: usize = 16;

    fn head(&self) -> u64 {
        self.get()
    }
}

/// A number under a key. The default is what a key has that is not here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number<K, N> {
    key: K,
    number: N,
}

impl<K: NumberKey, N: Copy + Debug> Item for Number<K, N> {
    type Key = K;
    type Summary = ();
    const WIDTH: usize = K::WIDTH;

    fn key(&self) -> K {
        self.key
    }
    fn cmp_key(&self, key: &K) -> std::cmp::Ordering {
        self.key.cmp(key)
    }
    fn head(key: &K) -> u64 {
        key.head()
    }
    fn own_head(&self) -> u64 {
        self.key.head()
    }
    fn summary(&self) {}
    fn join((): &mut (), (): &()) {}
}

#[derive(Clone, Debug)]
pub(super) struct Numbers<K: NumberKey, N: Copy + Debug>(Sorted<Number<K, N>>);

impl<K: NumberKey, N: Copy + Debug> Default for Numbers<K, N> {
    fn default() -> Self {
        Self(Sorted::default())
    }
}

impl<K: NumberKey, N: Copy + Debug + Default + PartialEq> Numbers<K, N> {
    /// How many are not the default.
    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    /// The number under a key.
    pub(super) fn get(&self, key: K) -> N {
        self.0.get(&key).map(|found| found.number).unwrap_or_default()
    }

    /// The numbers under several keys.
    pub(super) fn get_many(&self, keys: &[K]) -> impl Iterator<Item = N> {
        let found = self.0.get_many(keys).into_iter();
        found.map(|found| found.map(|found| found.number).unwrap_or_default())
    }

    /// Sets numbers. Their keys ascend, each comes once.
    pub(super) fn set(&mut self, numbers: impl IntoIterator<Item = (K, N)>) {
        self.0.edit(numbers.into_iter().map(|(key, number)| {
            (key, (number != N::default()).then_some(Number { key, number }))
        }));
    }
}

impl<K: NumberKey, N: Copy + Debug + PartialEq> PartialEq for Numbers<K, N> {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().eq(other.0.iter())
    }
}
impl<K: NumberKey, N: Copy + Debug + PartialEq> Eq for Numbers<K, N> {}
