//! Rows that are gone when the process is: for tests, and for work that is lost with it anyway.

use super::{Counts, JobRows, RunCursor, RunRows, Store, StoreError, Tables};
use crate::id::{Fence, JobId, KeyId, RunId};
use crate::lease::{
    Event, Handled, LabelRecord, LeaseClock, Policy, Rows, RunRecord, WorkerRecord, handle,
};
use crate::message::Tag;
use crate::time::Millis;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// [`Tables`] behind a lock.
#[derive(Debug, Default)]
pub struct Memory {
    policy: Policy,
    tables: Mutex<Tables>,
}

impl Memory {
    pub fn new(policy: Policy) -> Self {
        Self { policy, tables: Mutex::default() }
    }

    pub(super) fn is_open(&self) -> bool {
        !self.tables.is_poisoned()
    }

    /// A panic while deciding leaves rows half written: nobody reads them.
    fn read<T>(&self, read: impl FnOnce(&Tables) -> T) -> Result<T, StoreError> {
        self.tables.lock().map(|tables| read(&tables)).map_err(|_| StoreError::Closed)
    }
}

impl Store for Memory {
    async fn handle(&self, now: Millis, event: Event) -> Result<Handled, StoreError> {
        let mut tables = self.tables.lock().map_err(|_| StoreError::Closed)?;
        Ok(handle(&mut *tables, &self.policy, now, event))
    }

    async fn time(&self, now: Millis) -> Result<LeaseClock, StoreError> {
        let mut clock = self.read(|tables| tables.clock())?;
        clock.observe(now, self.policy.outage_after());
        Ok(clock)
    }

    async fn log(
        &self,
        job: &JobId,
        fence: Fence,
        offset: u64,
        bytes: usize,
    ) -> Result<Vec<u8>, StoreError> {
        self.read(|tables| {
            let from = usize::try_from(offset).unwrap_or(usize::MAX);
            let rest = tables.log(job, fence).get(from..).unwrap_or_default();
            rest[..rest.len().min(bytes)].to_vec()
        })
    }

    async fn run(&self, id: &RunId) -> Result<Option<RunRows>, StoreError> {
        self.read(|tables| tables.run_rows(id))
    }

    async fn runs(
        &self,
        before: Option<RunCursor>,
        most: usize,
    ) -> Result<Vec<RunRecord>, StoreError> {
        self.read(|tables| tables.newest_runs(before.as_ref(), most))
    }

    async fn job(&self, id: &JobId) -> Result<Option<JobRows>, StoreError> {
        self.read(|tables| tables.job_rows(id))
    }

    async fn worker(&self, id: &KeyId) -> Result<Option<WorkerRecord>, StoreError> {
        self.read(|tables| tables.worker(id))
    }

    async fn machines(&self, most: usize) -> Result<Vec<WorkerRecord>, StoreError> {
        self.read(|tables| tables.workers().take(most).cloned().collect())
    }

    async fn labels(&self, most: usize) -> Result<Vec<LabelRecord>, StoreError> {
        self.read(|tables| tables.labels().take(most).cloned().collect())
    }

    async fn open_jobs(&self, most: usize) -> Result<Vec<JobRows>, StoreError> {
        self.read(|tables| tables.open_jobs(most))
    }

    async fn waiting(
        &self,
        now: Millis,
        most: usize,
    ) -> Result<Vec<(JobId, BTreeSet<Tag>)>, StoreError> {
        let now = self.time(now).await?;
        self.read(|tables| tables.waiting_jobs(now.lease, most))
    }

    async fn counts(&self) -> Result<Counts, StoreError> {
        self.read(Tables::counts)
    }

    async fn snapshot(&self) -> Result<Tables, StoreError> {
        self.read(Tables::clone)
    }
}
