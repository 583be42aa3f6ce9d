//! Transactions that wait for a block.
//!
//! Local: a change here needs no agreement among validators. This holds for the whole folder,
//! but not for the messages in [`gossip`].
//!
//! ```text
//! insert    size → decode → chain, bids, limits, floor → known? full? → signer →
//!           nonce → sender's limits → balance → bump → room; refused at the door, with the reason
//! pick      heads of all senders by tip; a sender's nonces in order; until the budget is used up
//! advance   after a final block: what is on chain, what cannot be paid any more, what is too old
//! ```
//! Nothing here does I/O, sees a clock or draws a random number; age is counted in blocks.
//!
//! A sender's transactions are only ever taken off at the front (they are on chain) or at the end
//! (everything from a nonce on), so the pool itself never makes a hole in a sequence.
//!
//! What the pool deliberately does not do: run instructions. It asks for the money that an
//! instruction takes at most, which is stricter than a block, where an instruction that the balance
//! does not cover pays its fee and fails.
//!
//! # Layout
//! - [`limits`], [`refusal`]: what is let in, and what is said to the rest
//! - `pooled`, `outlay`, `rank`: one transaction, what it takes, what it is worth
//! - `queue`, `store`: one sender's sequence; all of them, with their indices
//! - `insert`, `evict`, [`mod@pick`], [`mod@advance`]: what happens
//! - [`gossip`], [`seen`]: what passes between nodes

pub mod advance;
mod evict;
pub mod gossip;
mod insert;
pub mod limits;
mod outlay;
pub mod pick;
mod pooled;
mod queue;
mod rank;
pub mod refusal;
pub mod seen;
mod store;
#[cfg(test)]
mod testing;

pub use advance::{DropReason, Dropped};
pub use gossip::{GossipError, GossipMessage};
pub use insert::{Accepted, offer};
pub use limits::Limits;
pub use pick::Budget;
pub use pooled::Pooled;
pub use refusal::Refusal;

use remuda_protocol::account::Account;
use remuda_protocol::fees::Basefees;
use remuda_protocol::key::{AccountKey, BasefeesKey};
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, TxHash};
use remuda_protocol::state::{View, read};
use store::Store;

#[derive(Clone, Debug)]
pub struct Mempool {
    limits: Limits,
    store: Store,
    /// Blocks that became final while the pool watched. Ages are counted in these.
    blocks: u64,
    /// Number of the next transaction to arrive.
    arrivals: u64,
    /// Where the next pass over senders that no block named goes on.
    sweep_from: Address,
    /// What was dropped since the last [`Mempool::advance`], which reports it.
    dropped: Vec<Dropped>,
}

impl Mempool {
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            store: Store::default(),
            blocks: 0,
            arrivals: 0,
            sweep_from: Address::ZERO,
            dropped: Vec::new(),
        }
    }

    /// The limits it was made with.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    pub fn get(&self, hash: &TxHash) -> Option<&Pooled> {
        self.store.get(hash)
    }

    /// Whether a transaction waits here.
    pub fn contains(&self, hash: &TxHash) -> bool {
        self.get(hash).is_some()
    }

    pub fn len(&self) -> usize {
        self.store.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Size of all of them.
    pub fn bytes(&self) -> usize {
        self.store.bytes()
    }

    /// A sender's transactions, by nonce.
    pub fn pending_of(&self, sender: &Address) -> impl Iterator<Item = &Pooled> {
        self.store.queue(sender).into_iter().flat_map(|queue| queue.iter())
    }

    /// The nonce that a sender's next transaction should have: after those that are on chain and
    /// those that follow them here without a gap.
    pub fn next_nonce(&self, sender: &Address, state: &dyn View) -> u64 {
        let nonce = account(state, *sender).nonce;
        self.store.queue(sender).map_or(nonce, |queue| queue.first_free(nonce))
    }

    /// All of them in the order of their arrival, for gossip.
    pub fn iter(&self) -> impl Iterator<Item = &Pooled> {
        self.store.by_arrival()
    }
}

fn account(state: &dyn View, address: Address) -> Account {
    read(state, &AccountKey { address }).unwrap_or_default()
}

/// What the next block asks. A state without it is older than genesis: then what genesis will ask.
fn basefees(state: &dyn View, params: &ChainParams) -> Basefees {
    let fee = params.initial_basefee.max(params.min_basefee);
    read(state, &BasefeesKey {}).unwrap_or(Basefees { cycle: fee, cell: fee })
}
