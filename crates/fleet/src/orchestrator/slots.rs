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
        let mut places = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let own = places.get(name).copied().unwrap_or(0);
        if own >= share || places.values().sum::<usize>() >= self.most {
            return None;
        }
        places.insert(name.to_owned(), own + 1);
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
        let mut places = self.of.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let left = places.remove(&self.name).unwrap_or(0);
        if left > 1 {
            places.insert(self.name.clone(), left - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_token_does_not_take_the_places_of_all() {
        let places = StreamSlots::new(8);
        let mut kept: Vec<StreamSlot> =
            (0..2).map(|_| places.enter("greedy", false).expect("a place")).collect();
        assert!(places.enter("greedy", false).is_none());
        for name in ["a", "b", "c"] {
            kept.extend((0..2).map(|_| places.enter(name, false).expect("a place")));
        }
        assert!(places.enter("d", false).is_none(), "all are taken");
        kept.pop();
        assert!(places.enter("d", false).is_some());
        drop(kept);
        assert!(places.taken.lock().expect("places").is_empty());
        let all: Vec<_> = (0..9).map_while(|_| places.enter("anybody", true)).collect();
        assert_eq!(all.len(), 8);
    }
}
