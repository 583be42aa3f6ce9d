//! What the chain has promised to do at a height.
//!
//! Tasks are appended to the list of their height and taken off in order by a cursor. A block does
//! at most [`WORK_PER_BLOCK`] units; what is left is done by the next. Nothing depends on a task
//! being punctual: every deadline is compared with the height itself.

use crate::codec::codec_enum;
use crate::codec::codec_struct;
use crate::execute::Exec;
use crate::key::{AgendaKey, AgendaLengthKey, MruKey};
use crate::primitives::{Address, B256, Height, JobId};

/// Units of work for one block. A unit is one task, or what else takes as long as
/// `CYCLES_PER_WORK` cycles do, so a block in which everything falls due at once stays in the tens
/// of milliseconds. The task that exceeds the budget is finished. `remuda bench closing` measures
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

/// The work of reading or writing a record of so many bytes.
pub(crate) fn work_of_bytes(bytes: usize) -> u64 {
    (bytes / BYTES_PER_WORK) as u64
}

/// Something to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// The commit phase of an attempt is over; for a single runner, its result is due.
    CommitDeadline {
        /// Of this job.
        job: JobId,
        /// Of this attempt.
        attempt: u32,
    },
    /// The reveal phase is over.
    RevealDeadline {
        /// Of this job.
        job: JobId,
        /// Of this attempt.
        attempt: u32,
    },
    /// A jail term ends.
    JailRelease {
        /// Who leaves.
        runner: Address,
    },
    /// Unbonded stake is paid out.
    StakeRelease {
        /// From this runner's stake.
        runner: Address,
        /// To whom.
        owner: Address,
        /// Shares of what is unbonding.
        shares: u128,
        /// The batch that it is in.
        began: Height,
    },
    /// The dispute window of a bonded result closes.
    BondRelease {
        /// Of this job.
        job: JobId,
    },
    /// A call has waited for this height.
    Wake {
        /// Whose.
        actor: Address,
        /// What it waits for.
        token: u64,
    },
    /// A job that ended long ago leaves the state.
    ForgetJob {
        /// Which.
        job: JobId,
    },
    /// The record of a submitter's last runner lapses.
    ForgetMru {
        /// Whose jobs.
        submitter: Address,
        /// Of this kind.
        kind: u8,
    },
    /// The record of a selection query lapses.
    ForgetWarm {
        /// By its hash.
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

impl Exec<'_> {
    /// Promises a task for `height`, or for the next block if that has passed.
    pub(crate) fn schedule(&mut self, height: Height, task: &Task) {
        let height = height.max(self.env.height.plus(1));
        let index = self.state.get(&AgendaLengthKey { height }).unwrap_or(0);
        self.state.put(&AgendaKey { height, index }, task);
        self.state.put(&AgendaLengthKey { height }, &(index + 1));
    }

    /// Does what is due, within the budget.
    pub(crate) fn run_agenda(&mut self) {
        let mut work = 0;
        let mut cursor = self.chain.agenda;
        while cursor.height <= self.env.height && work < WORK_PER_BLOCK {
            let length = self.state.get(&AgendaLengthKey { height: cursor.height }).unwrap_or(0);
            if cursor.index >= length {
                if length > 0 {
                    self.state.remove(&AgendaLengthKey { height: cursor.height });
                }
                cursor = Cursor { height: cursor.height.plus(1), index: 0 };
                continue;
            }
            let key = AgendaKey { height: cursor.height, index: cursor.index };
            cursor.index += 1;
            if let Some(task) = self.state.get(&key) {
                self.state.remove(&key);
                work += 1 + self.perform(&task);
                self.keep_new_lists();
            }
        }
        self.chain.agenda = cursor;
    }

    /// Returns the work it took beyond the task itself.
    fn perform(&mut self, task: &Task) -> u64 {
        match task {
            Task::CommitDeadline { job, attempt } => self.commit_deadline(job, *attempt),
            Task::RevealDeadline { job, attempt } => self.reveal_deadline(job, *attempt),
            Task::JailRelease { runner } => self.release_from_jail(*runner),
            Task::StakeRelease { runner, owner, shares, began } => {
                self.release_stake(*runner, *owner, *shares, *began)
            }
            Task::BondRelease { job } => self.release_bond(job),
            Task::Wake { actor, token } => self.wake(*actor, *token),
            Task::ForgetJob { job } => self.forget_job(*job),
            Task::ForgetMru { submitter, kind } => {
                self.forget_mru(MruKey { submitter: *submitter, kind: *kind })
            }
            Task::ForgetWarm { query } => self.forget_warm(*query),
        }
    }
}
