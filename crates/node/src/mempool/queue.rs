//! One sender's transactions, by nonce.
//!
//! They leave at the front, because they are on chain, or at the end, all from a nonce on. There is
//! no way to take one out of the middle.

use super::pooled::{Duty, Pooled};
use super::rank::Rank;
use remuda_protocol::fees::Basefees;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::Amount;
use remuda_protocol::state::View;
use std::collections::BTreeMap;

/// A sender's sequence; it may have gaps where the sender has not sent yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    by_nonce: BTreeMap<u64, Pooled>,
    /// The account's nonce when last looked at.
    nonce: u64,
    bytes: usize,
    cost: Amount,
}

impl Queue {
    /// Empty, of an account that has come this far.
    pub(super) fn at(nonce: u64) -> Self {
        Self { nonce, ..Self::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.by_nonce.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// What all of them take together. Never more than a balance, so it fits.
    pub(super) fn cost(&self) -> Amount {
        self.cost
    }

    pub(super) fn get(&self, nonce: u64) -> Option<&Pooled> {
        self.by_nonce.get(&nonce)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Pooled> {
        self.by_nonce.values()
    }

    pub(super) fn last(&self) -> Option<&Pooled> {
        self.by_nonce.values().next_back()
    }

    /// The last report that a job waits for in this state. It cannot run before those in front of it have.
    pub(super) fn last_on_duty(&self, state: &dyn View) -> Option<u64> {
        let mut latest_first = self.by_nonce.values().rev();
        latest_first.find(|pooled| pooled.is_on_duty(state)).map(|pooled| pooled.nonce)
    }

    /// Whether one with another nonce is the same report.
    pub(super) fn has_duty(&self, duty: Duty, nonce: u64) -> bool {
        self.iter().any(|pooled| pooled.nonce != nonce && pooled.duty == Some(duty))
    }

    /// The last one before a nonce.
    pub(super) fn last_before(&self, nonce: u64) -> Option<&Pooled> {
        self.by_nonce.range(..nonce).next_back().map(|(_, pooled)| pooled)
    }

    /// The first nonce from `nonce` on that is not here.
    pub(super) fn first_free(&self, nonce: u64) -> u64 {
        let held = self.by_nonce.range(nonce..).map(|(held, _)| *held);
        held.zip(nonce..).take_while(|(held, wanted)| held == wanted).count() as u64 + nonce
    }

    /// The nonce from which on `balance` does not cover them.
    pub(super) fn unpayable_from(&self, balance: Amount) -> Option<u64> {
        if self.cost <= balance {
            return None;
        }
        let mut left = balance;
        self.iter()
            .find(|pooled| match left.minus(pooled.cost) {
                Some(rest) => {
                    left = rest;
                    false
                }
                None => true,
            })
            .map(|pooled| pooled.nonce)
    }

    /// The least rank up to and with a transaction that would have this nonce and rank.
    pub(super) fn floor(&self, nonce: u64, rank: Rank) -> Rank {
        if nonce <= self.nonce {
            return rank;
        }
        self.get(nonce - 1).map_or(Rank::UNREACHABLE, |before| before.floor.min(rank))
    }

    /// Puts one in, perhaps in the place of another, which is returned.
    pub(super) fn put(&mut self, pooled: Pooled) -> Option<Pooled> {
        let nonce = pooled.nonce;
        let replaced = self.by_nonce.remove(&nonce);
        if let Some(old) = &replaced {
            self.discount(old);
        }
        self.bytes += pooled.bytes.len();
        self.cost = Amount(self.cost.get() + pooled.cost.get());
        self.by_nonce.insert(nonce, pooled);
        self.set_floors(nonce);
        replaced
    }

    /// The account has come this far: takes off what is on chain.
    pub(super) fn start_at(&mut self, nonce: u64) -> Vec<Pooled> {
        if self.nonce == nonce && self.by_nonce.keys().next().is_none_or(|first| *first >= nonce) {
            return Vec::new();
        }
        let rest = self.by_nonce.split_off(&nonce);
        let gone = core::mem::replace(&mut self.by_nonce, rest);
        self.nonce = nonce;
        self.take_off(gone, nonce)
    }

    /// Takes off everything from a nonce on.
    pub(super) fn cut_from(&mut self, nonce: u64) -> Vec<Pooled> {
        let gone = self.by_nonce.split_off(&nonce);
        self.take_off(gone, nonce)
    }

    /// No job waits for a report any more: it is worth what it pays.
    pub(super) fn end_duty(&mut self, nonce: u64, basefees: &Basefees, params: &ChainParams) {
        let Some(pooled) = self.by_nonce.get_mut(&nonce) else { return };
        (pooled.duty, pooled.offer.on_duty) = (None, false);
        pooled.rank = Rank::of(&pooled.offer, basefees, params);
        self.set_floors(nonce);
    }

    /// Recomputes every rank.
    pub(super) fn rerank(&mut self, basefees: &Basefees, params: &ChainParams) {
        for pooled in self.by_nonce.values_mut() {
            pooled.rank = Rank::of(&pooled.offer, basefees, params);
        }
        self.set_floors(0);
    }

    fn take_off(&mut self, gone: BTreeMap<u64, Pooled>, changed_from: u64) -> Vec<Pooled> {
        for pooled in gone.values() {
            self.discount(pooled);
        }
        self.set_floors(changed_from);
        gone.into_values().collect()
    }

    fn discount(&mut self, gone: &Pooled) {
        self.bytes -= gone.bytes.len();
        self.cost = Amount(self.cost.get() - gone.cost.get());
    }

    fn set_floors(&mut self, from: u64) {
        let mut before = self.last_before(from).map(|pooled| (pooled.nonce, pooled.floor));
        for (nonce, pooled) in self.by_nonce.range_mut(from..) {
            pooled.floor = match before {
                _ if *nonce <= self.nonce => pooled.rank,
                Some((last, floor)) if last + 1 == *nonce => floor.min(pooled.rank),
                _ => Rank::UNREACHABLE,
            };
            before = Some((*nonce, pooled.floor));
        }
    }
}

#[cfg(test)]
impl Queue {
    pub(super) fn refresh_floors(&mut self) {
        self.set_floors(0);
    }
}
