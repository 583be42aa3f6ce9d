//! Where the chain stands: the records that every block rewrites.
//!
//! Consensus: a change here forks the chain.

use crate::base::codec::codec_struct;
use crate::base::primitives::{Address, Amount, B256, Height, Slot};
use crate::rules::agenda::Cursor;
use crate::rules::beacon::Round;

/// The tip, and the ends of the queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainState {
    pub genesis_hash: B256,
    /// Height of the newest block.
    pub height: Height,
    pub round: Round,
    pub timestamp_ms: u64,
    /// The newest view whose seed is on chain.
    pub newest_seed: u64,
    pub next_slot: Slot,
    /// First job that waits for its round.
    pub pending_head: u64,
    /// One past the last such job.
    pub pending_tail: u64,
    /// First job that is to draw again.
    pub retries_head: u64,
    /// One past the last such job.
    pub retries_tail: u64,
    pub calls_head: u64,
    /// One past the last deferred call.
    pub calls_tail: u64,
    /// Changes to what selection reads of runners, counted: what lists that were not asked for
    /// since have to catch up with.
    pub roster_changes: u64,
    /// Nodes of the lists that are kept for warm queries, counted when they were built.
    pub warm_nodes: u64,
    /// Up to where the agenda is done.
    pub agenda: Cursor,
}
codec_struct!(ChainState {
    genesis_hash,
    height,
    round,
    timestamp_ms,
    newest_seed,
    next_slot,
    pending_head,
    pending_tail,
    retries_head,
    retries_tail,
    calls_head,
    calls_tail,
    roster_changes,
    warm_nodes,
    agenda,
});

/// Validators at most: a vote from each is kept in every certificate.
pub const VALIDATORS_MAX: usize = 128;

/// One of those who make blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validator {
    /// Its Ed25519 identity key.
    pub key: [u8; 32],
    /// The account that gets its tips.
    pub fee_recipient: Address,
}
codec_struct!(Validator { key, fee_recipient });

/// Money: what exists, and what was destroyed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Supply {
    /// balances + stakes + escrows + bonds + deposits + treasury.
    pub total: Amount,
    pub burned: Amount,
}
codec_struct!(Supply { total, burned });

/// When a selection query was last asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Warm {
    pub asked_at: Height,
    /// After this many changes to the runners.
    pub changes: u64,
    /// Nodes of its lists that count.
    pub nodes: u64,
}
codec_struct!(Warm { asked_at, changes, nodes });

/// The committee size that an epoch's jobs get (SPEC §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochCommittee {
    /// Runners that were registered and healthy when it was computed.
    pub active: u64,
    /// The smoothed concentration index; none before there was a runner.
    pub hhi_nano: Option<u64>,
    pub m_adaptive: u64,
}
codec_struct!(EpochCommittee { active, hhi_nano, m_adaptive });
