//! All queues, and the indices over them. Every change goes through here, so they agree.

use super::pooled::Pooled;
use super::queue::Queue;
use super::rank::Rank;
use remuda_protocol::fees::Basefees;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, TxHash};
use remuda_protocol::state::View;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// The last transaction of a queue, least wanted first; of equal ones the one that came last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tail {
    pub(super) rank: Rank,
    pub(super) arrival: Reverse<u64>,
    pub(super) sender: Address,
    pub(super) nonce: u64,
}

impl Tail {
    pub(super) fn of(pooled: &Pooled) -> Self {
        let Pooled { sender, nonce, .. } = *pooled;
        Self { rank: pooled.floor, arrival: Reverse(pooled.arrival), sender, nonce }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    queues: BTreeMap<Address, Queue>,
    places: BTreeMap<TxHash, (Address, u64)>,
    arrivals: BTreeMap<u64, (Address, u64)>,
    tails: BTreeSet<Tail>,
    bytes: usize,
    /// What the ranks were computed with.
    basefees: Option<Basefees>,
}

impl Store {
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// What the ranks were computed with; none while nobody has been let in.
    pub(super) fn basefees(&self) -> Option<Basefees> {
        self.basefees
    }

    pub(super) fn queue(&self, sender: &Address) -> Option<&Queue> {
        self.queues.get(sender)
    }

    pub(super) fn queues(&self) -> impl Iterator<Item = &Queue> {
        self.queues.values()
    }

    pub(super) fn get(&self, hash: &TxHash) -> Option<&Pooled> {
        self.places.get(hash).and_then(|place| self.at(place))
    }

    pub(super) fn by_arrival(&self) -> impl Iterator<Item = &Pooled> {
        self.arrivals.values().filter_map(|place| self.at(place))
    }

    /// The one that has waited longest.
    pub(super) fn oldest(&self) -> Option<&Pooled> {
        self.arrivals.values().next().and_then(|place| self.at(place))
    }

    /// The ends of all queues, least wanted first.
    pub(super) fn tails(&self) -> impl Iterator<Item = &Tail> {
        self.tails.iter()
    }

    /// Up to `count` senders after `sender`, in the order of their addresses.
    pub(super) fn senders_after(&self, sender: Address, count: usize) -> Vec<Address> {
        let after = (Bound::Excluded(sender), Bound::Unbounded);
        self.queues.range(after).take(count).map(|(address, _)| *address).collect()
    }

    fn at(&self, (sender, nonce): &(Address, u64)) -> Option<&Pooled> {
        self.queues.get(sender)?.get(*nonce)
    }

    /// Puts one in, perhaps in the place of another of the same sender and nonce.
    pub(super) fn put(&mut self, pooled: Pooled, account_nonce: u64) -> Option<Pooled> {
        let (sender, place) = (pooled.sender, (pooled.sender, pooled.nonce));
        self.places.insert(pooled.hash, place);
        self.arrivals.insert(pooled.arrival, place);
        self.bytes += pooled.bytes.len();
        self.queues.entry(sender).or_insert_with(|| Queue::at(account_nonce));
        let replaced: Option<Pooled> = self.change(&sender, |queue| queue.put(pooled));
        if let Some(old) = &replaced {
            self.forget(old);
        }
        replaced
    }

    /// Takes off what is on chain.
    pub(super) fn start_at(&mut self, sender: &Address, nonce: u64) -> Vec<Pooled> {
        let gone = self.change(sender, |queue| queue.start_at(nonce));
        gone.iter().for_each(|pooled| self.forget(pooled));
        gone
    }

    /// Takes off everything of a sender from a nonce on.
    pub(super) fn cut_from(&mut self, sender: &Address, nonce: u64) -> Vec<Pooled> {
        let gone = self.change(sender, |queue| queue.cut_from(nonce));
        gone.iter().for_each(|pooled| self.forget(pooled));
        gone
    }

    /// Recomputes every rank if the basefees changed, at most once per block.
    pub(super) fn rerank(&mut self, basefees: Basefees, params: &ChainParams) {
        if self.basefees == Some(basefees) {
            return;
        }
        self.basefees = Some(basefees);
        for queue in self.queues.values_mut() {
            queue.rerank(&basefees, params);
        }
        self.tails = self.queues.values().filter_map(Queue::last).map(Tail::of).collect();
    }

    /// Takes the privilege from reports that no job waits for any more.
    pub(super) fn end_duties(
        &mut self,
        state: &dyn View,
        basefees: &Basefees,
        params: &ChainParams,
    ) {
        let all = self.queues.values().flat_map(Queue::iter);
        let over = all.filter(|pooled| pooled.duty.is_some() && !pooled.is_on_duty(state));
        let over: Vec<(Address, u64)> = over.map(|pooled| (pooled.sender, pooled.nonce)).collect();
        for (sender, nonce) in over {
            self.change(&sender, |queue| queue.end_duty(nonce, basefees, params));
        }
    }

    /// Changes a queue and the index of ends with it.
    fn change<T: Default>(&mut self, sender: &Address, change: impl FnOnce(&mut Queue) -> T) -> T {
        let Some(queue) = self.queues.get_mut(sender) else { return T::default() };
        if let Some(last) = queue.last() {
            self.tails.remove(&Tail::of(last));
        }
        let result = change(queue);
        match queue.last() {
            Some(last) => {
                self.tails.insert(Tail::of(last));
            }
            None => {
                self.queues.remove(sender);
            }
        }
        result
    }

    fn forget(&mut self, gone: &Pooled) {
        self.places.remove(&gone.hash);
        self.arrivals.remove(&gone.arrival);
        self.bytes -= gone.bytes.len();
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
impl Store {
    /// That the indices say what the queues hold.
    pub(super) fn assert_consistent(&self) {
        let all: Vec<&Pooled> = self.queues.values().flat_map(Queue::iter).collect();
        assert_eq!(all.len(), self.places.len());
        assert_eq!(all.len(), self.arrivals.len());
        assert_eq!(all.len(), self.by_arrival().count());
        assert!(all.iter().all(|pooled| self.get(&pooled.hash).is_some()));
        assert_eq!(all.iter().map(|pooled| pooled.bytes.len()).sum::<usize>(), self.bytes);
        let tails: BTreeSet<Tail> =
            self.queues.values().map(|queue| Tail::of(queue.last().unwrap())).collect();
        assert_eq!(tails, self.tails);
        for queue in self.queues.values() {
            let mut again = queue.clone();
            assert_eq!(queue.iter().map(|p| p.bytes.len()).sum::<usize>(), queue.bytes());
            assert_eq!(
                queue.iter().map(|p| p.cost).sum::<remuda_protocol::primitives::Amount>(),
                queue.cost()
            );
            again.refresh_floors();
            assert!(queue.iter().zip(again.iter()).all(|(a, b)| a.floor == b.floor));
        }
    }
}
