//! The door: everything that is wrong with a transaction is said here, cheapest checks first.

use super::advance::{DropReason, Dropped};
use super::evict::{Newcomer, Shortage, plan};
use super::pooled::{Pooled, Unsigned};
use super::queue::Queue;
use super::rank::Rank;
use super::refusal::Refusal;
use super::{Mempool, account, basefees};
use remuda_protocol::account::Account;
use remuda_protocol::codec::Bytes;
use remuda_protocol::error::Inadmissible;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount, TxHash};
use remuda_protocol::state::View;
use remuda_protocol::transaction::tx_hash;

/// What letting a transaction in did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Its name.
    pub hash: TxHash,
    /// The one whose place it took: same sender, same nonce.
    pub replaced: Option<TxHash>,
    /// Those that had to go because the pool was full.
    pub evicted: Vec<TxHash>,
}

impl Mempool {
    /// Lets a transaction in, or says why not. `state` is that of the newest final block.
    pub fn insert(
        &mut self,
        bytes: &[u8],
        state: &dyn View,
        params: &ChainParams,
    ) -> Result<Accepted, Refusal> {
        if bytes.len() as u64 > params.max_tx_bytes {
            return Err(Inadmissible::TooLarge.into());
        }
        let hash = tx_hash(bytes);
        if self.contains(&hash) {
            return Err(Refusal::AlreadyKnown);
        }
        let unsigned = Unsigned::check(bytes, params)?;
        let basefees = basefees(state, params);
        self.store.rerank(basefees, params);
        let rank = Rank::of(&unsigned.offer, &basefees, params);
        self.check_worth(bytes.len(), rank)?;

        let sender = unsigned.signer()?;
        let account = account(state, sender);
        self.settle(&sender, &account, |_| DropReason::Stale);
        let pooled = Pooled {
            hash,
            bytes: Bytes::from(bytes),
            sender,
            nonce: unsigned.signed.body.nonce,
            lane: unsigned.signed.body.instruction.lane(),
            cycles_limit: unsigned.signed.body.cycles_limit,
            cells_limit: unsigned.signed.body.cells_limit,
            cost: unsigned.cost,
            open_ended: unsigned.open_ended,
            offer: unsigned.offer,
            arrival: self.arrivals,
            since: self.blocks,
            rank,
            floor: rank,
        };
        self.check_nonce(pooled.nonce, account.nonce)?;
        let empty = Queue::at(account.nonce);
        self.check_queue(self.store.queue(&sender).unwrap_or(&empty), &pooled, account.balance)?;
        let evicted = self.make_room(&pooled, &empty)?;

        self.arrivals += 1;
        let replaced = self.store.put(pooled, account.nonce).map(|old| old.hash);
        Ok(Accepted { hash, replaced, evicted })
    }

    /// Spares a full pool the signatures of those whom it has no room for.
    fn check_worth(&self, bytes: usize, rank: Rank) -> Result<(), Refusal> {
        let full = self.len() >= self.limits.transactions
            || self.bytes().saturating_add(bytes) > self.limits.bytes;
        let least = self.store.tails().next();
        if full && least.is_none_or(|least| rank <= least.rank) {
            return Err(Refusal::PoolFull);
        }
        Ok(())
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
