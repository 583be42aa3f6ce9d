//! What the chain promises to do at a height, and how much of it one block does.
//!
//! Consensus: a change here forks the chain.

use crate::base::codec::{codec_enum, codec_struct};
use crate::base::primitives::{Address, B256, Height, JobId};

/// Units of work for one block. A unit is one task, or what else takes as long as
/// `CYCLES_PER_WORK` cycles do, so a block in which everything falls due at once stays in the tens
/// of milliseconds. The task that exceeds the budget is finished. `remuda-lab bench closing` measures
/// the worst of it.
pub const WORK_PER_BLOCK: u64 = 10_000;
/// A unit in cycles: about 5 µs.
const CYCLES_PER_WORK: u64 = 100;
/// Bytes of a stored record that are read as fast as a unit of work is done.
const BYTES_PER_WORK: usize = 8_192;

/// Cycles as units of work.
pub(crate) fn work_of(cycles: u64) -> u64 {
    cycles.div_ceil(CYCLES_PER_WORK)
}

/// The work of reading or writing a record of this many bytes.
pub(crate) fn work_of_bytes(bytes: usize) -> u64 {
    (bytes / BYTES_PER_WORK) as u64
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// The commit phase of an attempt is over; for a single runner, its result is due.
    CommitDeadline {
        job: JobId,
        attempt: u32,
    },
    /// The reveal phase is over.
    RevealDeadline {
        job: JobId,
        attempt: u32,
    },
    JailRelease {
        runner: Address,
    },
    /// Unbonded stake is paid out.
    StakeRelease {
        runner: Address,
        owner: Address,
        /// Shares of what is unbonding.
        shares: u128,
        /// The batch that it is in.
        began: Height,
    },
    /// The dispute window of a bonded result closes.
    BondRelease {
        job: JobId,
    },
    /// A call has waited for this height.
    Wake {
        actor: Address,
        token: u64,
    },
    /// A job that ended long ago leaves the state.
    ForgetJob {
        job: JobId,
    },
    /// The record of a submitter's last runner lapses.
    ForgetMru {
        submitter: Address,
        kind: u8,
    },
    /// The record of a selection query lapses.
    ForgetWarm {
        query: B256,
    },
}
codec_enum!(Task {
    1 => CommitDeadline { job, attempt },
    2 => RevealDeadline { job, attempt },
    3 => JailRelease { runner },
    4 => StakeRelease { runner, owner, shares, began },
    5 => BondRelease { job },
    6 => Wake { actor, token },
    7 => ForgetJob { job },
    8 => ForgetMru { submitter, kind },
    9 => ForgetWarm { query },
});

/// Up to where the agenda is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The height whose list is being worked off.
    pub height: Height,
    /// The next task in it.
    pub index: u32,
}
codec_struct!(Cursor { height, index });
