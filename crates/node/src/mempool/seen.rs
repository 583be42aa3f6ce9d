//! Which transactions came by lately, whether they were let in or not.

use remuda_protocol::primitives::TxHash;
use std::collections::{BTreeSet, VecDeque};

/// Hashes that a node remembers: three full pools.
pub const SEEN_MAX: usize = 65_536;

/// A set that forgets what it has known longest.
#[derive(Clone, Debug)]
pub struct Seen {
    capacity: usize,
    order: VecDeque<TxHash>,
    known: BTreeSet<TxHash>,
}

impl Default for Seen {
    fn default() -> Self {
        Self::new(SEEN_MAX)
    }
}

impl Seen {
    pub fn new(capacity: usize) -> Self {
        Self { capacity, order: VecDeque::new(), known: BTreeSet::new() }
    }

    /// Remembers a hash; whether it is new. Seeing it again does not make it younger, so a peer
    /// cannot keep one in for ever by repeating it.
    pub fn insert(&mut self, hash: TxHash) -> bool {
        if !self.known.insert(hash) {
            return false;
        }
        self.order.push_back(hash);
        if self.order.len() > self.capacity
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }

    pub fn contains(&self, hash: &TxHash) -> bool {
        self.known.contains(hash)
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_first_and_repeating_does_not_help_it() {
        let hash = TxHash::repeat_byte;
        let mut seen = Seen::new(2);
        assert!(seen.insert(hash(1)) && seen.insert(hash(2)));
        assert!(!seen.insert(hash(1)));
        assert!(seen.insert(hash(3)));
        assert!(!seen.contains(&hash(1)) && seen.contains(&hash(2)) && seen.contains(&hash(3)));
        assert_eq!(seen.len(), 2);
        assert!(seen.insert(hash(1)), "what was forgotten is new again");
    }

    #[test]
    fn a_set_without_room_remembers_nothing() {
        let mut seen = Seen::new(0);
        assert!(seen.insert(TxHash::ZERO) && seen.insert(TxHash::ZERO));
        assert!(seen.is_empty());
    }
}
