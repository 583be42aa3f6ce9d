//! Forgetting: what leaves the state by itself.
//!
//! Consensus: a change here forks the chain.
//!
//! ```text
//! a finished job, its specification and result   job_retention_blocks after its end, and not before
//!                                                its bond is released
//! a submitter's last runner (MRU)                mru_ttl_blocks after the last settled job
//! a warm selection query                         WARM_BLOCKS after it was asked last
//! ```
//! Each record has one task on the agenda, set when it is written first. A task that
//! finds its record refreshed moves to the new height, so refreshing costs nothing and a block's
//! forgetting is bounded like all other promises. Nothing asks whether a lapsed record is still there:
//! late forgetting changes no outcome.
//!
//! What does not lapse is held against a deposit; see docs/state.md for every kind of record.

use crate::base::primitives::{B256, Height, JobId};
use crate::chain::execute::Exec;
use crate::rules::agenda::Task;
use crate::rules::dispatcher::job::MruRecord;
use crate::rules::dispatcher::roster::{WARM_BLOCKS, WARM_NODES_MAX};
use crate::rules::key::{BondKey, JobKey, JobSpecKey, MruKey, ResultKey, WarmKey};
use crate::rules::tip::Warm;

/// Work of forgetting a job besides the task itself: two more records.
const JOB_WORK: u64 = 2;

impl Exec<'_> {
    pub(crate) fn forget_job_later(&mut self, job: JobId) {
        let at = self.env.height.plus(self.params.job_retention_blocks);
        self.schedule(at, &Task::ForgetJob { job });
    }

    /// Returns the work it took besides the task.
    pub(crate) fn forget_job(&mut self, job: JobId) -> u64 {
        if let Some(bond) = self.state.get(&BondKey { job }) {
            // A trial compares with the result. How long it takes is not known here.
            let later = bond.until.max(self.env.height).plus(self.params.dispute_blocks);
            self.schedule(later, &Task::ForgetJob { job });
            return 0;
        }
        self.state.remove(&JobKey { job });
        self.state.remove(&JobSpecKey { job });
        self.state.remove(&ResultKey { job });
        JOB_WORK
    }

    /// Writes a submitter's last runner.
    pub(crate) fn put_mru(&mut self, key: MruKey, record: &MruRecord) {
        if self.state.get(&key).is_none() {
            let MruKey { submitter, kind } = key;
            let task = Task::ForgetMru { submitter, kind };
            self.schedule(self.mru_lapses(record), &task);
        }
        self.state.put(&key, record);
    }

    pub(crate) fn forget_mru(&mut self, key: MruKey) -> u64 {
        let Some(record) = self.state.get(&key) else { return 0 };
        let lapses = self.mru_lapses(&record);
        if lapses > self.env.height {
            let MruKey { submitter, kind } = key;
            self.schedule(lapses, &Task::ForgetMru { submitter, kind });
        } else {
            self.state.remove(&key);
        }
        0
    }

    fn mru_lapses(&self, record: &MruRecord) -> Height {
        record.set_at_block.plus(self.params.mru_ttl_blocks).plus(1)
    }

    /// Notes that a query is asked, unless the lists that are kept are many enough.
    pub(crate) fn put_warm(&mut self, query: B256, warm: &Warm) {
        let key = WarmKey { query };
        let before = self.state.get(&key);
        let others = self.chain.warm_nodes - before.map_or(0, |before| before.nodes);
        let nodes = others.saturating_add(warm.nodes);
        if nodes > WARM_NODES_MAX {
            self.chain.warm_nodes = others;
            return self.state.remove(&key);
        }
        if before.is_none() {
            self.schedule(warm_lapses(warm), &Task::ForgetWarm { query });
        }
        self.chain.warm_nodes = nodes;
        self.state.put(&key, warm);
    }

    pub(crate) fn forget_warm(&mut self, query: B256) -> u64 {
        let key = WarmKey { query };
        let Some(warm) = self.state.get(&key) else { return 0 };
        let lapses = warm_lapses(&warm);
        if lapses > self.env.height {
            self.schedule(lapses, &Task::ForgetWarm { query });
        } else {
            self.chain.warm_nodes -= warm.nodes;
            self.state.remove(&key);
        }
        0
    }
}

fn warm_lapses(warm: &Warm) -> Height {
    warm.asked_at.plus(WARM_BLOCKS).plus(1)
}
