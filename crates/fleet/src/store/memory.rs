//! Rows that are gone when the process is: for tests, and for work that is lost with it anyway.

use super::{Store, StoreError, Tables};
use crate::id::{Fence, JobId};
use crate::lease::{Event, Handled, Policy, handle};
use crate::time::Millis;
use std::sync::{Mutex, PoisonError};

/// [`Tables`] behind a lock.
#[derive(Debug, Default)]
pub struct Memory {
    policy: Policy,
    tables: Mutex<Tables>,
}

impl Memory {
    /// Nothing in it.
    pub fn new(policy: Policy) -> Self {
        Self { policy, tables: Mutex::default() }
    }
}

impl Store for Memory {
    async fn handle(&self, now: Millis, event: Event) -> Result<Handled, StoreError> {
        // A panic while deciding leaves rows half written.
        let mut tables = self.tables.lock().map_err(|_| StoreError::Closed)?;
        Ok(handle(&mut *tables, &self.policy, now, event))
    }

    async fn log(
        &self,
        job: &JobId,
        fence: Fence,
        offset: u64,
        bytes: usize,
    ) -> Result<Vec<u8>, StoreError> {
        let tables = self.tables.lock().map_err(|_| StoreError::Closed)?;
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = tables.log(job, fence).get(from..).unwrap_or_default();
        Ok(rest[..rest.len().min(bytes)].to_vec())
    }

    async fn snapshot(&self) -> Result<Tables, StoreError> {
        Ok(self.tables.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
}
