//! Drawable runners by their prices: whom does a quote not pay?

use crate::base::primitives::Amount;
use crate::rules::dispatcher::filter::Quote;
use crate::rules::registry::runner::RateCard;
use imbl::{OrdMap, OrdSet};
use std::sync::Arc;

/// Quotes whose answer is remembered.
const REMEMBERED: usize = 64;

#[derive(Clone, Debug, Default)]
pub(super) struct Prices {
    cards: OrdMap<RateCard, OrdSet<u32>>,
    /// How many cards have a price, for each of the four prices of a card: the dearest of each
    /// kind make a card that is at least as dear as any, so a quote that pays it pays everybody.
    levels: [OrdMap<Amount, u32>; 4],
    /// Answers since the last change.
    answers: OrdMap<Quote, Arc<Vec<u32>>>,
}

impl Prices {
    pub(super) fn insert(&mut self, rates: RateCard, slot: u32) {
        self.answers.clear();
        let slots = self.cards.entry(rates).or_default();
        if slots.is_empty() {
            for (level, price) in self.levels.iter_mut().zip(four(&rates)) {
                *level.entry(price).or_default() += 1;
            }
        }
        slots.insert(slot);
    }

    pub(super) fn remove(&mut self, rates: &RateCard, slot: u32) {
        self.answers.clear();
        let Some(slots) = self.cards.get_mut(rates) else { return };
        slots.remove(&slot);
        if !slots.is_empty() {
            return;
        }
        self.cards.remove(rates);
        for (level, price) in self.levels.iter_mut().zip(four(rates)) {
            let left = level.get(&price).map_or(0, |cards| cards - 1);
            if left == 0 {
                level.remove(&price)
            } else {
                level.insert(price, left)
            };
        }
    }

    /// Cards that have to be compared with a quote: none if it pays the dearest.
    pub(super) fn to_compare(&self, quote: &Quote) -> u64 {
        if quote.pays(&self.dearest()) { 0 } else { self.cards.len() as u64 }
    }

    /// Slots whose price is above what a quote pays, ascending.
    pub(super) fn too_dear(&mut self, quote: &Quote) -> Arc<Vec<u32>> {
        if quote.pays(&self.dearest()) {
            return Arc::default();
        }
        if let Some(answer) = self.answers.get(quote) {
            return answer.clone();
        }
        let unpaid = self.cards.iter().filter(|(rates, _)| !quote.pays(rates));
        let mut slots: Vec<u32> = unpaid.flat_map(|(_, slots)| slots.iter().copied()).collect();
        slots.sort_unstable();
        let answer = Arc::new(slots);
        if self.answers.len() >= REMEMBERED {
            self.answers.clear();
        }
        self.answers.insert(*quote, answer.clone());
        answer
    }

    fn dearest(&self) -> RateCard {
        let max = |i: usize| self.levels[i].get_max().map_or(Amount::ZERO, |(price, _)| *price);
        RateCard { base: max(0), per_second: max(1), per_1k_in: max(2), per_1k_out: max(3) }
    }
}

fn four(rates: &RateCard) -> [Amount; 4] {
    [rates.base, rates.per_second, rates.per_1k_in, rates.per_1k_out]
}
