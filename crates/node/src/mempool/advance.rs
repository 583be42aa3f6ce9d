//! What a final block changes.

use super::{Mempool, Pooled, account, basefees};
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, TxHash};
use remuda_protocol::state::View;
use std::collections::BTreeSet;

/// Senders that a block looks at although none of their transactions here is in it: a balance may
/// have fallen, or a transaction that never came by here used a nonce. A full pool of as many
/// senders as transactions is through in ten blocks.
const SWEEP_SENDERS: usize = 2_048;

/// A transaction that no longer waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    pub hash: TxHash,
    pub reason: DropReason,
}

impl Dropped {
    pub(super) fn new(pooled: &Pooled, reason: DropReason) -> Self {
        Self { hash: pooled.hash, reason }
    }
}

/// Why a transaction no longer waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    Included,
    /// Another one with its nonce is on chain.
    Stale,
    /// The balance no longer covers it and those before it.
    CannotPay,
    /// It has waited too long.
    Expired,
    /// One before it has waited too long.
    Stranded,
}

impl DropReason {
    /// The stable name that programs compare.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Included => "included",
            Self::Stale => "stale",
            Self::CannotPay => "cannot_pay",
            Self::Expired => "expired",
            Self::Stranded => "stranded",
        }
    }
}

impl Mempool {
    /// Takes note of one final block: the state after it, and what is in it. Returns everything
    /// that was dropped since the last time, but for replaced and evicted ones, which
    /// [`Mempool::insert`] named.
    pub fn advance(
        &mut self,
        state: &dyn View,
        params: &ChainParams,
        included: impl IntoIterator<Item = TxHash>,
    ) -> Vec<Dropped> {
        self.blocks += 1;
        let basefees = basefees(state, params);
        self.store.rerank(basefees, params);
        self.store.end_duties(state, &basefees, params);
        let included: BTreeSet<TxHash> =
            included.into_iter().filter(|hash| self.contains(hash)).collect();
        let senders = included.iter().filter_map(|hash| self.get(hash)).map(|p| p.sender);
        let mut due: BTreeSet<Address> = senders.collect();
        due.extend(self.next_sweep());
        for sender in &due {
            let on_chain = |hash: &TxHash| match included.contains(hash) {
                true => DropReason::Included,
                false => DropReason::Stale,
            };
            self.settle(sender, &account(state, *sender), on_chain);
        }
        self.expire();
        core::mem::take(&mut self.dropped)
    }

    /// The next senders in line, round and round.
    fn next_sweep(&mut self) -> Vec<Address> {
        let mut senders = self.store.senders_after(self.sweep_from, SWEEP_SENDERS);
        self.sweep_from = match senders.last() {
            Some(last) if senders.len() == SWEEP_SENDERS => *last,
            _ => {
                let rest = SWEEP_SENDERS - senders.len();
                senders.extend(self.store.senders_after(Address::ZERO, rest));
                senders.last().copied().unwrap_or(Address::ZERO)
            }
        };
        senders
    }

    /// Gives up what has waited too long, and what waits behind it.
    fn expire(&mut self) {
        while let Some(oldest) = self.store.oldest()
            && self.blocks - oldest.since > self.limits.age_blocks
        {
            let (sender, nonce) = (oldest.sender, oldest.nonce);
            for gone in self.store.cut_from(&sender, nonce) {
                let expired = self.blocks - gone.since > self.limits.age_blocks;
                let reason = if expired { DropReason::Expired } else { DropReason::Stranded };
                self.dropped.push(Dropped::new(&gone, reason));
            }
        }
    }
}
