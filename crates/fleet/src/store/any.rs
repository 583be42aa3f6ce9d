//! The store that an operator chose.

use super::{
    Counts, JobRows, Memory, Postgres, RunCursor, RunRows, Sqlite, Store, StoreError, Tables,
};
use crate::id::{Fence, JobId, KeyId, RunId};
use crate::lease::{Event, Handled, LabelRecord, LeaseClock, RunRecord, WorkerRecord};
use crate::message::Tag;
use crate::time::Millis;
use std::collections::BTreeSet;

#[derive(Debug)]
pub enum AnyStore {
    Memory(Box<Memory>),
    Sqlite(Sqlite),
    /// A server, which other orchestrators may share.
    Postgres(Postgres),
}

macro_rules! each {
    ($self:ident, $store:ident => $call:expr) => {
        match $self {
            AnyStore::Memory($store) => $call.await,
            AnyStore::Sqlite($store) => $call.await,
            AnyStore::Postgres($store) => $call.await,
        }
    };
}

impl AnyStore {
    /// Whether anybody is there to decide. A mistake in this program may have ended that; nothing is decided
    /// or lost afterwards.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Memory(store) => store.is_open(),
            Self::Sqlite(store) => store.is_open(),
            Self::Postgres(store) => store.is_open(),
        }
    }

    /// Finishes what waits and lets go of the database.
    pub async fn close(self) -> Result<(), StoreError> {
        match self {
            Self::Memory(_) => Ok(()),
            Self::Sqlite(store) => store.close().await,
            Self::Postgres(store) => {
                store.close().await;
                Ok(())
            }
        }
    }
}

impl Store for AnyStore {
    async fn handle(&self, now: Millis, event: Event) -> Result<Handled, StoreError> {
        each!(self, store => store.handle(now, event))
    }

    async fn time(&self, now: Millis) -> Result<LeaseClock, StoreError> {
        each!(self, store => store.time(now))
    }

    async fn log(
        &self,
        job: &JobId,
        fence: Fence,
        offset: u64,
        bytes: usize,
    ) -> Result<Vec<u8>, StoreError> {
        each!(self, store => store.log(job, fence, offset, bytes))
    }

    async fn run(&self, id: &RunId) -> Result<Option<RunRows>, StoreError> {
        each!(self, store => store.run(id))
    }

    async fn runs(
        &self,
        before: Option<RunCursor>,
        most: usize,
    ) -> Result<Vec<RunRecord>, StoreError> {
        each!(self, store => store.runs(before, most))
    }

    async fn job(&self, id: &JobId) -> Result<Option<JobRows>, StoreError> {
        each!(self, store => store.job(id))
    }

    async fn worker(&self, id: &KeyId) -> Result<Option<WorkerRecord>, StoreError> {
        each!(self, store => store.worker(id))
    }

    async fn machines(&self, most: usize) -> Result<Vec<WorkerRecord>, StoreError> {
        each!(self, store => store.machines(most))
    }

    async fn labels(&self, most: usize) -> Result<Vec<LabelRecord>, StoreError> {
        each!(self, store => store.labels(most))
    }

    async fn open_jobs(&self, most: usize) -> Result<Vec<JobRows>, StoreError> {
        each!(self, store => store.open_jobs(most))
    }

    async fn waiting(
        &self,
        now: Millis,
        most: usize,
    ) -> Result<Vec<(JobId, BTreeSet<Tag>)>, StoreError> {
        each!(self, store => store.waiting(now, most))
    }

    async fn counts(&self) -> Result<Counts, StoreError> {
        each!(self, store => store.counts())
    }

    async fn snapshot(&self) -> Result<Tables, StoreError> {
        each!(self, store => store.snapshot())
    }
}
