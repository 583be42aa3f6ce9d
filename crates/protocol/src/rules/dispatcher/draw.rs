//! The weighted draw of a committee (SPEC §4), on tries.
//!
//! The rule is a Fisher–Yates shuffle of an array. Only M of its places are ever swapped, so the
//! array is the trie plus the few places that differ from it: a draw costs O(M · log N) for each
//! swapped place, and gives what the array would give, bit for bit.

use crate::base::primitives::{Address, B256, U256, keccak256};
use crate::rules::dispatcher::trie::{Leaf, Trie};
use std::collections::BTreeMap;
use thiserror::Error;

/// One iteration of the draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    pub i: u64,
    /// The number that was drawn.
    pub r: U256,
    pub leaf: Leaf,
}

/// There are fewer candidates than seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("there are fewer candidates than seats")]
pub struct TooFewCandidates;

/// The runner whose weight counts more in the first draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Favourite {
    pub address: Address,
    pub multiplier: u64,
}

/// Draws `seats` candidates from the lists in turn: from the next only when one is used up.
pub fn draw(
    seed: B256,
    seats: usize,
    favourite: Option<Favourite>,
    lists: &[Trie],
) -> Result<Vec<Draw>, TooFewCandidates> {
    let mut decks = lists.iter().map(Deck::new).filter(|deck| !deck.is_empty());
    let mut deck = decks.next();
    let mut current = seed;
    let mut draws = Vec::new();
    for i in 0..seats as u64 {
        if deck.as_ref().is_some_and(Deck::is_empty) {
            deck = decks.next();
        }
        let deck = deck.as_mut().ok_or(TooFewCandidates)?;
        current = next_hash(&current, i);
        let boost = if i == 0 { favourite.and_then(|f| deck.boost(&f)) } else { None };
        let (r, position) = deck.pick(U256::from_le_bytes(current.0), boost);
        draws.push(Draw { i, r, leaf: deck.take(position) });
    }
    Ok(draws)
}

fn next_hash(current: &B256, i: u64) -> B256 {
    let mut bytes = [0; 40];
    bytes[..32].copy_from_slice(current.as_slice());
    bytes[32..].copy_from_slice(&i.to_le_bytes());
    keccak256(bytes)
}

/// A place whose weight counts `multiplier` times.
#[derive(Clone, Copy)]
struct Boost {
    position: usize,
    weight: u128,
    multiplier: u64,
}

/// The array of the rule: places before `front` are drawn, the others hold the trie's candidates
/// but for those in `moved`.
struct Deck<'a> {
    trie: &'a Trie,
    front: usize,
    moved: BTreeMap<usize, Leaf>,
    remaining: u128,
}

impl<'a> Deck<'a> {
    fn new(trie: &'a Trie) -> Self {
        Self { trie, front: 0, moved: BTreeMap::new(), remaining: trie.sum() }
    }

    fn is_empty(&self) -> bool {
        self.front == self.trie.len()
    }

    fn at(&self, position: usize) -> Leaf {
        match self.moved.get(&position) {
            Some(leaf) => *leaf,
            None => self.trie.nth(position).expect("the position is inside the deck"),
        }
    }

    fn boost(&self, favourite: &Favourite) -> Option<Boost> {
        let position = self.trie.position(&favourite.address)?;
        let weight = self.at(position).weight;
        Some(Boost { position, weight, multiplier: favourite.multiplier })
    }

    /// `r = random mod Σ`, and the first place at which the running sum exceeds it.
    fn pick(&self, random: U256, boost: Option<Boost>) -> (U256, usize) {
        let extra = boost.map_or(U256::ZERO, |b| {
            U256::from(b.weight) * U256::from(b.multiplier.saturating_sub(1))
        });
        let r = random % (U256::from(self.remaining) + extra);
        (r, self.locate(r, boost))
    }

    fn locate(&self, mut r: U256, boost: Option<Boost>) -> usize {
        let mut cursor = self.front;
        let mut marks: Vec<usize> = self.moved.keys().copied().collect();
        if let Some(boost) = boost {
            marks.push(boost.position);
            marks.sort_unstable();
            marks.dedup();
        }
        for mark in marks {
            let before = self.trie.sum_before(cursor);
            let run = U256::from(self.trie.sum_before(mark) - before);
            if r < run {
                return self.search(before, r);
            }
            r -= run;
            let factor = match boost {
                Some(boost) if boost.position == mark => boost.multiplier,
                _ => 1,
            };
            let weight = U256::from(self.at(mark).weight) * U256::from(factor);
            if r < weight {
                return mark;
            }
            r -= weight;
            cursor = mark + 1;
        }
        self.search(self.trie.sum_before(cursor), r)
    }

    fn search(&self, before: u128, r: U256) -> usize {
        let target = before + r.to::<u128>();
        self.trie.find(target).expect("r is below the sum of the weights")
    }

    /// Takes the candidate at `position`; the one at the front moves into its place.
    fn take(&mut self, position: usize) -> Leaf {
        let taken = self.at(position);
        if position != self.front {
            let front = self.at(self.front);
            self.moved.insert(position, front);
        }
        self.moved.remove(&self.front);
        self.front += 1;
        self.remaining -= taken.weight;
        taken
    }
}

#[cfg(test)]
mod tests;
