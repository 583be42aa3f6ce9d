//! The door: everything that is wrong with a transaction is said here, cheapest checks first.

use super::advance::{DropReason, Dropped};
use super::evict::{Newcomer, Shortage, plan};
use super::pooled::{Entrant, Pooled, Unsigned};
use super::queue::Queue;
use super::rank::Rank;
use super::refusal::Refusal;
use super::{Mempool, account, basefees};
use remuda_protocol::account::Account;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount, TxHash};
use remuda_protocol::state::{MemoryState, View};
use std::sync::{Mutex, PoisonError};

/// What letting a transaction in did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    pub hash: TxHash,
    /// The one whose place it took: same sender, same nonce.
    pub replaced: Option<TxHash>,
    /// Those that had to go because the pool was full.
    pub evicted: Vec<TxHash>,
}

/// Adds a transaction to a shared pool, or says why not. Signatures are verified without the lock, so
/// a flood of invalid signatures does not delay the proposer.
///
/// `state` is asked for under the lock, so that the pool never goes back to an older one.
pub fn offer(
    pool: &Mutex<Mempool>,
    bytes: &[u8],
    state: impl FnOnce() -> MemoryState,
    params: &ChainParams,
) -> Result<Accepted, Refusal> {
    let unsigned = Unsigned::check(bytes, params)?;
    // This only spares work, so a pool that is in use is not waited for.
    if let Ok(pool) = pool.try_lock() {
        pool.check_worth(&unsigned, params)?;
    }
    let entrant = unsigned.recover()?;
    let mut pool = pool.lock().unwrap_or_else(PoisonError::into_inner);
    pool.admit(&entrant, &state(), params)
}

impl Mempool {
    /// Lets a transaction in, or says why not. `state` is that of the newest final block. Where
    /// others wait for the pool meanwhile, see [`offer`].
    pub fn insert(
        &mut self,
        bytes: &[u8],
        state: &dyn View,
        params: &ChainParams,
    ) -> Result<Accepted, Refusal> {
        let unsigned = Unsigned::check(bytes, params)?;
        self.check_worth(&unsigned, params)?;
        self.admit(&unsigned.recover()?, state, params)
    }

    /// All that needs the pool and the state.
    fn admit(
        &mut self,
        entrant: &Entrant<'_>,
        state: &dyn View,
        params: &ChainParams,
    ) -> Result<Accepted, Refusal> {
        let (hash, sender) = (entrant.hash(), entrant.sender);
        if self.contains(&hash) {
            return Err(Refusal::AlreadyKnown);
        }
        let basefees = basefees(state, params);
        self.store.rerank(basefees, params);
        let account = account(state, sender);
        self.settle(&sender, &account, |_| DropReason::Stale);
        self.check_nonce(entrant.nonce(), account.nonce)?;
        let empty = Queue::at(account.nonce);
        let queue = self.store.queue(&sender).unwrap_or(&empty);
        // Of one kind a job waits for one only.
        let duty = entrant.duty(state).filter(|duty| !queue.has_duty(*duty, entrant.nonce()));
        let pooled = entrant.pooled(duty, (&basefees, params), (self.arrivals, self.blocks));
        self.check_queue(self.store.queue(&sender).unwrap_or(&empty), &pooled, account.balance)?;
        let evicted = self.make_room(&pooled, &empty)?;

        self.arrivals += 1;
        let replaced = self.store.put(pooled, account.nonce).map(|old| old.hash);
        Ok(Accepted { hash, replaced, evicted })
    }

    /// Spares the signatures of those that are here already or that a full pool has no room for.
    fn check_worth(&self, unsigned: &Unsigned<'_>, params: &ChainParams) -> Result<(), Refusal> {
        if self.contains(&unsigned.hash) {
            return Err(Refusal::AlreadyKnown);
        }
        let full = self.len() >= self.limits.transactions
            || self.bytes().saturating_add(unsigned.len()) > self.limits.bytes;
        // Who signed a report decides what it is worth.
        if unsigned.is_report() {
            return Ok(());
        }
        // By what everybody else here was ranked with.
        let Some(basefees) = self.store.basefees().filter(|_| full) else { return Ok(()) };
        let rank = Rank::of(&unsigned.offer, &basefees, params);
        match self.store.tails().next() {
            Some(least) if rank > least.rank => Ok(()),
            _ => Err(Refusal::PoolFull),
        }
    }

    fn check_nonce(&self, nonce: u64, next: u64) -> Result<(), Refusal> {
        let Some(ahead) = nonce.checked_sub(next) else {
            return Err(Refusal::NonceTooLow { nonce, next });
        };
        if ahead >= self.limits.nonces_ahead {
            let end = next.saturating_add(self.limits.nonces_ahead);
            return Err(Refusal::NonceTooFar { nonce, next, end });
        }
        Ok(())
    }

    /// Against what the sender has waiting already.
    fn check_queue(&self, queue: &Queue, pooled: &Pooled, balance: Amount) -> Result<(), Refusal> {
        let limits = &self.limits;
        let old = queue.get(pooled.nonce);
        if old.is_none() && queue.len() >= limits.sender_transactions {
            return Err(Refusal::SenderFull { count: queue.len() });
        }
        let held = queue.bytes() - old.map_or(0, |old| old.bytes.len());
        if held.saturating_add(pooled.bytes.len()) > limits.sender_bytes {
            return Err(Refusal::SenderBytesFull { limit: limits.sender_bytes });
        }
        // All of them, not only the earlier ones: in descending order each would be the first.
        let held = queue.cost().get() - old.map_or(0, |old| old.cost.get());
        let needed = Amount(held.saturating_add(pooled.cost.get()));
        if needed > balance {
            return Err(Refusal::CannotPay { needed, balance });
        }
        let percent = limits.replacement_percent;
        if old.is_some_and(|old| !pooled.offer.outbids(&old.offer, percent)) {
            return Err(Refusal::ReplacementUnderpriced { nonce: pooled.nonce, percent });
        }
        Ok(())
    }

    /// Evicts the least wanted, if it must be and they rank below the newcomer.
    fn make_room(&mut self, pooled: &Pooled, empty: &Queue) -> Result<Vec<TxHash>, Refusal> {
        let Pooled { sender, nonce, .. } = *pooled;
        let queue = self.store.queue(&sender).unwrap_or(empty);
        let old = queue.get(nonce);
        let places = self.len() + usize::from(old.is_none());
        let bytes = self.bytes() + pooled.bytes.len() - old.map_or(0, |old| old.bytes.len());
        let shortage = Shortage {
            places: places.saturating_sub(self.limits.transactions),
            bytes: bytes.saturating_sub(self.limits.bytes),
        };
        let newcomer = Newcomer { sender, nonce, rank: queue.floor(nonce, pooled.rank) };
        let cuts = plan(&self.store, newcomer, shortage).ok_or(Refusal::PoolFull)?;
        let gone = cuts.iter().flat_map(|(sender, nonce)| self.store.cut_from(sender, *nonce));
        Ok(gone.map(|pooled| pooled.hash).collect())
    }

    /// Drops what a sender's account has left behind or can no longer pay; the next
    /// [`Mempool::advance`] reports it.
    pub(super) fn settle(
        &mut self,
        sender: &Address,
        account: &Account,
        reason: impl Fn(&TxHash) -> DropReason,
    ) {
        let passed = self.store.start_at(sender, account.nonce);
        self.dropped.extend(passed.iter().map(|old| Dropped::new(old, reason(&old.hash))));
        let unpayable = self.store.queue(sender).and_then(|q| q.unpayable_from(account.balance));
        if let Some(nonce) = unpayable {
            let gone = self.store.cut_from(sender, nonce);
            self.dropped.extend(gone.iter().map(|old| Dropped::new(old, DropReason::CannotPay)));
        }
    }
}
