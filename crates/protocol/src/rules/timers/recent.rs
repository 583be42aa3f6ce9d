//! How often actors fired lately: the fairness window, kept sparsely.
//!
//! Local: a change here needs no agreement among validators. `tests/timer_index.rs` compares the
//! results with the plain rules in `order` and `fairness`.
//!
//! State holds one list of fires per block that had any, for as many blocks as the window has; what
//! is here follows from those lists. An actor without fires in the window is in neither map. The
//! median comes from a histogram: a window of 1,000 blocks with at most 2,000 fires each holds at
//! most 2,000 different counts, so the walk to the middle is short.

use super::fairness;
use super::numbers::Numbers;
use crate::base::primitives::Address;
use imbl::OrdMap;
use std::collections::BTreeMap;

/// Fires of each actor within the window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recent {
    counts: Numbers<Address, u64>,
    /// How many actors have a count.
    actors_with: OrdMap<u64, u64>,
}

impl Recent {
    pub fn of(&self, actor: &Address) -> u64 {
        self.counts.get(*actor)
    }

    pub(super) fn of_many(&self, actors: &[Address]) -> Vec<u64> {
        self.counts.get_many(actors).collect()
    }

    /// Sets an actor's count; 0 prunes it.
    pub fn set(&mut self, actor: Address, count: u64) {
        self.set_many(&[(actor, self.of(&actor), count)]);
    }

    /// Sets the counts of actors that ascend, each with the count that it had.
    pub(super) fn set_many(&mut self, changes: &[(Address, u64, u64)]) {
        self.counts.set(changes.iter().map(|(actor, _, after)| (*actor, *after)));
        // Those who leave a count, and those who come to it.
        let mut moves: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for (_, before, after) in changes {
            moves.entry(*before).or_default().0 += 1;
            moves.entry(*after).or_default().1 += 1;
        }
        for (count, (left, came)) in moves.into_iter().filter(|(count, _)| *count > 0) {
            let actors = self.actors_with.get(&count).copied().unwrap_or(0);
            match (actors + came).saturating_sub(left) {
                0 => self.actors_with.remove(&count),
                actors => self.actors_with.insert(count, actors),
            };
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
