//! Where rows live. Each store runs [`crate::lease::handle`] in a transaction of its own kind; none
//! has a rule of its own, and all are put under the same tests.

mod any;
mod journal;
mod keyed;
mod memory;
mod postgres;
mod row;
mod sets;
mod size;
mod sqlite;
mod tables;

pub use any::AnyStore;
pub use memory::Memory;
pub use postgres::{Hearing, Postgres, Time};
pub use sqlite::Sqlite;
pub use tables::Tables;

use crate::id::{Fence, JobId, KeyId, RunId};
use crate::lease::{
    AttemptState, Event, Handled, JobRecord, LabelRecord, LeaseClock, LeaseRecord, Reached,
    RunRecord, WorkerRecord,
};
use crate::message::{Data, Tag};
use crate::time::Millis;
use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;

/// Why a store could not say what became of an event. It may have happened or not; sending the
/// message again is safe, as every message is.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The store is being closed.
    #[error("the store is closed; try another orchestrator, or later")]
    Closed,
    /// More is asked than may wait.
    #[error("too many requests with unknown keys at the moment; try again")]
    Busy,
    /// The database did not do what it was asked.
    #[error("the database failed: {0}; try again")]
    Database(String),
    /// The database has something that no version of this program wrote.
    #[error("a row of `{table}` cannot be read: {why}; restore the database from a copy")]
    Corrupt { table: &'static str, why: String },
}

/// A run and its jobs, in the order of their submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRows {
    pub run: RunRecord,
    pub jobs: Vec<JobRows>,
}

/// A job and the newest of its leases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRows {
    pub job: JobRecord,
    /// Who has it, or had it last.
    pub lease: Option<Arc<LeaseRecord>>,
    /// The limit that holds it back, if it could be granted otherwise.
    pub reached: Option<Reached>,
}

impl JobRows {
    /// What its call gave, if it ended well.
    pub fn output(&self) -> Option<&Data> {
        let well = self.job.outcome().is_some_and(|it| it.status == AttemptState::Succeeded);
        self.lease.as_ref().filter(|_| well)?.answer.as_ref()?.output.as_ref()
    }
}

/// A place in the list of runs.
pub type RunCursor = (Millis, RunId);

/// How much there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Jobs that a runner could have, now or after their pause, limits aside.
    pub waiting: u64,
    /// Jobs that a runner has.
    pub held: u64,
    /// Of those that wait, as many as limits have room for.
    pub ready: u64,
}

impl Counts {
    /// Runners that would be busy.
    pub fn desired(self) -> u64 {
        self.held + self.ready
    }
}

/// Rows that outlive a call.
pub trait Store {
    /// Handles one event, whole or not at all. When it returns, what it decided is kept. `now` is the
    /// caller's clock; a store whose database has one of its own goes by that instead.
    fn handle(
        &self,
        now: Millis,
        event: Event,
    ) -> impl Future<Output = Result<Handled, StoreError>> + Send;

    /// What time it is to this store, if the caller's clock says `now`.
    fn time(&self, now: Millis) -> impl Future<Output = Result<LeaseClock, StoreError>> + Send;

    /// A grant's log from an offset on: at least something if there is more, and not much over
    /// `bytes` of it.
    fn log(
        &self,
        job: &JobId,
        fence: Fence,
        offset: u64,
        bytes: usize,
    ) -> impl Future<Output = Result<Vec<u8>, StoreError>> + Send;

    /// A run and its jobs; what these left behind may be missing.
    fn run(&self, id: &RunId) -> impl Future<Output = Result<Option<RunRows>, StoreError>> + Send;

    /// The newest runs that are older than `before`, the newest first.
    fn runs(
        &self,
        before: Option<RunCursor>,
        most: usize,
    ) -> impl Future<Output = Result<Vec<RunRecord>, StoreError>> + Send;

    fn job(&self, id: &JobId) -> impl Future<Output = Result<Option<JobRows>, StoreError>> + Send;

    /// A machine that was let in.
    fn worker(
        &self,
        id: &KeyId,
    ) -> impl Future<Output = Result<Option<WorkerRecord>, StoreError>> + Send;

    /// Machines that were let in, expelled ones included, by their keys; at most so many.
    fn machines(
        &self,
        most: usize,
    ) -> impl Future<Output = Result<Vec<WorkerRecord>, StoreError>> + Send;

    /// Labels that have a limit, or a job that somebody has, by their names; at most so many.
    fn labels(
        &self,
        most: usize,
    ) -> impl Future<Output = Result<Vec<LabelRecord>, StoreError>> + Send;

    /// Jobs that somebody has, then those that wait, who is next first; at most so many of each.
    fn open_jobs(
        &self,
        most: usize,
    ) -> impl Future<Output = Result<Vec<JobRows>, StoreError>> + Send;

    /// Jobs that a runner could have if the caller's clock says `now`, limits included, and what it must have; at
    /// most so many, in no order.
    fn waiting(
        &self,
        now: Millis,
        most: usize,
    ) -> impl Future<Output = Result<Vec<(JobId, BTreeSet<Tag>)>, StoreError>> + Send;

    /// How much there is to do.
    fn counts(&self) -> impl Future<Output = Result<Counts, StoreError>> + Send;

    /// Every row, at one moment; no logs.
    fn snapshot(&self) -> impl Future<Output = Result<Tables, StoreError>> + Send;
}
