//! Where rows live. Each store runs [`crate::lease::handle`] in a transaction of its own kind; none
//! has a rule of its own, and all are put under the same tests.

mod memory;
mod tables;

pub use memory::Memory;
pub use tables::Tables;

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

    /// Every row, at one moment.
    fn snapshot(&self) -> impl Future<Output = Result<Tables, StoreError>> + Send;
}
