//! Assignments that were pushed in each runner's present session and not refused: it has a stream for them.

use remuda_protocol::primitives::{Address, JobId};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Pairs of runner and job that are remembered. Beyond, all are pushed again now and then.
const PAIRS_MAX: usize = 262_144;

#[derive(Default)]
pub(super) struct PushLog(Mutex<BTreeSet<(Address, JobId)>>);

impl PushLog {
    fn pairs(&self) -> MutexGuard<'_, BTreeSet<(Address, JobId)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a runner knows a job by its present session. `None` if there are too many to tell.
    pub(super) fn has(&self, runner: Address, job: JobId) -> Option<bool> {
        let pairs = self.pairs();
        let known = pairs.contains(&(runner, job));
        (known || pairs.len() < PAIRS_MAX).then_some(known)
    }

    pub(super) fn add(&self, runner: Address, job: JobId) {
        let mut pairs = self.pairs();
        if pairs.len() < PAIRS_MAX {
            pairs.insert((runner, job));
        }
    }

    /// It is over, was refused, or the runner says that it does not know it.
    pub(super) fn remove(&self, runner: Address, job: JobId) {
        self.pairs().remove(&(runner, job));
    }

    /// Another session has other streams.
    pub(super) fn forget_runner(&self, runner: Address) {
        let mut pairs = self.pairs();
        let jobs = (runner, JobId::ZERO)..=(runner, JobId::repeat_byte(0xff));
        let old: Vec<_> = pairs.range(jobs).copied().collect();
        for pair in &old {
            pairs.remove(pair);
        }
    }

    /// Blocks were missed: what ended in between is not known.
    pub(super) fn clear(&self) {
        self.pairs().clear();
    }
}
