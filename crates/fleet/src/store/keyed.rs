//! Rows in a hash map by key: with random ids, a lookup in a tree compares a dozen keys.
//!
//! Iteration sorts by key, so that no result depends on the hash order. It is for tests and small tables; ordered
//! scans use an index that is a tree.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Keyed<K: Eq + Hash, V>(HashMap<K, V>);

impl<K: Eq + Hash, V> Default for Keyed<K, V> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Ord + Hash, V: Hash> Hash for Keyed<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut rows: Vec<(&K, &V)> = self.0.iter().collect();
        rows.sort_unstable_by_key(|(key, _)| *key);
        rows.hash(state);
    }
}

impl<K: Ord + Hash, V> Keyed<K, V> {
    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.0.get(key)
    }

    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.0.get_mut(key)
    }

    pub(super) fn insert(&mut self, key: K, row: V) {
        self.0.insert(key, row);
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        self.0.remove(key)
    }

    /// In the order of their keys.
    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        let mut rows: Vec<(&K, &V)> = self.0.iter().collect();
        rows.sort_unstable_by_key(|(key, _)| *key);
        rows.into_iter().map(|(_, row)| row)
    }
}

impl<K: Ord + Hash, V: Default> Keyed<K, V> {
    /// What is under a key; if there is nothing, an empty one is put there.
    pub(super) fn at(&mut self, key: K) -> &mut V {
        self.0.entry(key).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::DefaultHasher;

    fn hash(rows: &Keyed<u32, char>) -> u64 {
        let mut hasher = DefaultHasher::new();
        rows.hash(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn rows_are_the_same_however_they_came_to_be() {
        let (mut up, mut down) = (Keyed::default(), Keyed::default());
        for n in 0..100 {
            up.insert(n, 'a');
            down.insert(99 - n, 'a');
        }
        *up.at(7) = 'b';
        assert_ne!((&up, hash(&up)), (&down, hash(&down)));
        down.remove(&7);
        down.insert(7, 'b');
        assert_eq!((&up, hash(&up)), (&down, hash(&down)));
        assert!(up.values().eq(down.values()));
        assert_eq!(up.values().position(|row| *row == 'b'), Some(7));
    }
}
