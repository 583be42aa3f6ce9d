//! What the chain has promised to do at a height.
//!
//! Consensus: a change here forks the chain.
//!
//! Tasks are appended to the list of their height and taken off in order by a cursor. A block does
//! at most [`WORK_PER_BLOCK`] units; what is left is done by the next. Nothing depends on a task
//! being punctual: every deadline is compared with the height itself.

use crate::base::primitives::Height;
use crate::chain::execute::Exec;
use crate::rules::agenda::{Cursor, Task, WORK_PER_BLOCK};
use crate::rules::key::{AgendaKey, AgendaLengthKey, MruKey};

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
