//! Deferred calls as the queue holds them, and the limits that they run within.
//!
//! Consensus: a change here forks the chain.

use crate::base::codec::{Bytes, codec_enum, codec_struct};
use crate::base::primitives::{Address, Amount, B256, JobId, keccak256};
use crate::rules::actors::record::Answer;
use crate::rules::fees::Lane;
use crate::rules::params::ChainParams;

/// Cycles of deferred calls in one block: half of the runner lane, so that they cannot keep runners from
/// committing.
pub fn calls_limit(params: &ChainParams) -> u64 {
    Lane::Runner.limit(params) / 2
}

/// Cycles of one deferred call at most. Calls start until their share is used, whatever their
/// limits, so that unused limits delay no call; this bounds what the last one adds.
pub fn call_limit(params: &ChainParams) -> u64 {
    calls_limit(params) / 2
}

/// Cells of deferred calls in one block: half of the block's.
pub(crate) fn cells_limit(params: &ChainParams) -> u64 {
    params.cells_target
}

/// Cells of one deferred call: always the same, so that no call fails for what others have used.
pub(crate) fn call_cells(params: &ChainParams) -> u64 {
    cells_limit(params) / 2
}

/// A call that waits for a later block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeferredCall {
    pub actor: Address,
    pub payer: Address,
    pub deposit: Amount,
    pub cycles_limit: u64,
    pub what: Deferred,
}
codec_struct!(DeferredCall { actor, payer, deposit, cycles_limit, what });

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deferred {
    Job {
        /// The job whose result it carries.
        job: JobId,
        handler: String,
    },
    /// What an actor sent to another, or asks it.
    Message {
        from: Address,
        origin: Address,
        method: String,
        payload: Bytes,
        /// Money that goes with it.
        value: Amount,
        /// The call that waits for what the method returns: whose, and its token.
        reply: Option<(Address, u64)>,
    },
    /// The answer that a call waits for.
    Resume { frame: u64, token: u64, answer: Answer },
}
codec_enum!(Deferred {
    1 => Job { job, handler },
    2 => Message { from, origin, method, payload, value, reply },
    3 => Resume { frame, token, answer },
});

impl DeferredCall {
    /// Money that goes with it, besides the deposit.
    pub fn value(&self) -> Amount {
        match self.what {
            Deferred::Message { value, .. } => value,
            _ => Amount::ZERO,
        }
    }
}

/// `keccak256("cowboy-call-v1:" ‖ chain_id_be8 ‖ index_be8)`: a call's place in the queue is its own for
/// all times.
pub fn call_id(chain_id: u64, index: u64) -> B256 {
    let mut bytes = b"cowboy-call-v1:".to_vec();
    bytes.extend_from_slice(&chain_id.to_be_bytes());
    bytes.extend_from_slice(&index.to_be_bytes());
    keccak256(bytes)
}
