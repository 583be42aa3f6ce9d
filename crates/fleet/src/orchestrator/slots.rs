//! Limits event streams: in total, and to a share of the total per token.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A token gets this fraction of all slots.
const SHARE: usize = 4;

/// Slots by token name.
#[derive(Clone, Debug)]
pub(super) struct StreamSlots {
    most: usize,
    taken: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl StreamSlots {
    pub(super) fn new(most: usize) -> Self {
        Self { most, taken: Arc::default() }
    }

    /// Takes a slot if one is free. Without tokens (`open`) all requests have one name and share all slots.
    pub(super) fn enter(&self, name: &str, open: bool) -> Option<StreamSlot> {
        let share = if open { self.most } else { self.most / SHARE };
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.get(name).copied().unwrap_or(0);
        if own >= share || taken.values().sum::<usize>() >= self.most {
            return None;
        }
        taken.insert(name.to_owned(), own + 1);
        Some(StreamSlot { of: self.clone(), name: name.to_owned() })
    }
}

/// A slot, freed on drop.
#[derive(Debug)]
pub(super) struct StreamSlot {
    of: StreamSlots,
    name: String,
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        let mut taken = self.of.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let left = taken.remove(&self.name).unwrap_or(0);
        if left > 1 {
            taken.insert(self.name.clone(), left - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_token_does_not_take_the_places_of_all() {
        let taken = StreamSlots::new(8);
        let mut kept: Vec<StreamSlot> =
            (0..2).map(|_| taken.enter("greedy", false).expect("a place")).collect();
        assert!(taken.enter("greedy", false).is_none());
        for name in ["a", "b", "c"] {
            kept.extend((0..2).map(|_| taken.enter(name, false).expect("a place")));
        }
        assert!(taken.enter("d", false).is_none(), "all are taken");
        kept.pop();
        assert!(taken.enter("d", false).is_some());
        drop(kept);
        assert!(taken.taken.lock().expect("taken").is_empty());
        let all: Vec<_> = (0..9).map_while(|_| taken.enter("anybody", true)).collect();
        assert_eq!(all.len(), 8);
    }
}
