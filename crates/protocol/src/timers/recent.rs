//! How often actors fired lately: the fairness window, kept sparsely.
//!
//! State holds one list of fires per block that had any, for as many blocks as the window has; what
//! is here follows from those lists. An actor without fires in the window is in neither map. The
//! median comes from a histogram: a window of 1,000 blocks with at most 2,000 fires each holds at
//! most 2,000 different counts, so the walk to the middle is short.

use super::fairness;
use crate::primitives::Address;
use imbl::OrdMap;

/// Fires of each actor within the window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recent {
    counts: OrdMap<Address, u64>,
    /// How many actors have a count.
    actors_with: OrdMap<u64, u64>,
}

impl Recent {
    /// Fires of an actor.
    pub fn of(&self, actor: &Address) -> u64 {
        self.counts.get(actor).copied().unwrap_or(0)
    }

    /// Sets an actor's count; 0 prunes it.
    pub fn set(&mut self, actor: Address, count: u64) {
        let before = match count {
            0 => self.counts.remove(&actor),
            _ => self.counts.insert(actor, count),
        };
        if let Some(before) = before {
            let left = self.actors_with.get(&before).copied().unwrap_or(0).saturating_sub(1);
            match left {
                0 => self.actors_with.remove(&before),
                _ => self.actors_with.insert(before, left),
            };
        }
        if count > 0 {
            *self.actors_with.entry(count).or_default() += 1;
        }
    }

    /// The lower median over actors with at least one fire; 0 if there is none.
    pub fn median(&self) -> u64 {
        let middle = (self.counts.len() as u64).saturating_sub(1) / 2;
        let mut below = 0;
        for (count, actors) in &self.actors_with {
            below += actors;
            if below > middle {
                return *count;
            }
        }
        0
    }

    /// `W` of an actor, in nano.
    pub fn weight(&self, actor: &Address) -> u64 {
        fairness::weight(self.of(actor), self.median())
    }

    /// Actors with fires in the window.
    pub fn actors(&self) -> usize {
        self.counts.len()
    }
}
