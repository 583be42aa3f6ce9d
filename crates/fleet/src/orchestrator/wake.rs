//! Whether the process stood still: suspended, or its machine was; or its clock leapt.
//!
//! Sweeps come once a second, so something is decided at least as often. Where nothing was for longer, nobody could
//! be heard meanwhile. Leases have that time back before anything is decided by what time it is now. A server that
//! several share does the same by a clock of its own.

use super::config::Config;
use crate::lease::Event;
use crate::store::{AnyStore, Store, StoreError};
use crate::time::Millis;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Mutex;

/// Between two sweeps there may be as much as this besides their own pause.
const STILL: Duration = Duration::from_secs(2);

pub(super) struct Wake {
    /// When something was decided last.
    last: AtomicU64,
    /// Who gives time back does so once, and everybody else waits for it.
    giving: Mutex<()>,
}

impl Wake {
    pub(super) fn new(now: Millis) -> Self {
        Self { last: AtomicU64::new(now.0), giving: Mutex::const_new(()) }
    }

    /// Something is about to be decided.
    pub(super) async fn awake(
        &self,
        store: &AnyStore,
        config: &Config,
        now: Millis,
    ) -> Result<(), StoreError> {
        // A time that a test makes stands still and leaps as it likes.
        if config.clock.frozen.is_some() || matches!(store, AnyStore::Postgres(_)) {
            return Ok(());
        }
        let most = STILL + config.sweep_every;
        if self.still(now) > most {
            let _alone = self.giving.lock().await;
            let still = self.still(now);
            if still > most {
                let millis = u64::try_from(still.as_millis()).unwrap_or(u64::MAX);
                tracing::warn!(millis, "the orchestrator stood still; leases have the time back");
                // Its answer says nothing.
                let _ = store.handle(now, Event::Missed { millis }).await?;
            }
            self.last.fetch_max(now.0, Ordering::AcqRel);
            return Ok(());
        }
        self.last.fetch_max(now.0, Ordering::AcqRel);
        Ok(())
    }

    fn still(&self, now: Millis) -> Duration {
        Duration::from_millis(now.0.saturating_sub(self.last.load(Ordering::Acquire)))
    }
}
