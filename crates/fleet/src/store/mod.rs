//! Where rows live. Each store runs [`crate::lease::handle`] in a transaction of its own kind; none
//! has a rule of its own, and all are put under the same tests.

mod journal;
mod memory;
mod sqlite;
mod tables;

pub use memory::Memory;
pub use sqlite::Sqlite;
pub use tables::Tables;

use crate::id::{Fence, JobId};
use crate::lease::{Event, Handled};
use crate::time::Millis;
use std::future::Future;

/// Why a store could not say what became of an event. It may have happened or not; sending the
/// message again is safe, as every message is.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store is being closed.
    #[error("the store is closed; try another orchestrator, or later")]
    Closed,
    /// The database did not do what it was asked.
    #[error("the database failed: {0}; try again")]
    Database(String),
    /// The database has something that no version of this program wrote.
    #[error("a row of `{table}` cannot be read: {why}; restore the database from a copy")]
    Corrupt {
        /// Where.
        table: &'static str,
        /// What is wrong.
        why: String,
    },
}

/// Rows that outlive a call.
pub trait Store {
    /// Handles one event, whole or not at all. When it returns, what it decided is kept.
    fn handle(
        &self,
        now: Millis,
        event: Event,
    ) -> impl Future<Output = Result<Handled, StoreError>> + Send;

    /// A grant's log from an offset on: at least something if there is more, and not much over
    /// `bytes` of it.
    fn log(
        &self,
        job: &JobId,
        fence: Fence,
        offset: u64,
        bytes: usize,
    ) -> impl Future<Output = Result<Vec<u8>, StoreError>> + Send;

    /// Every row, at one moment; no logs.
    fn snapshot(&self) -> impl Future<Output = Result<Tables, StoreError>> + Send;
}
