//! Whether the process stood still: suspended, or its machine was; or its clock leapt.
//!
//! Something looks at the clock twice a second. Where nothing did for longer, nobody could be heard meanwhile. Leases
//! have that time back before anything is decided by what time it is now. A server that several share does the same
//! by a clock of its own.

use super::config::Config;
use crate::lease::Event;
use crate::store::{AnyStore, Store, StoreError};
use crate::time::Millis;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Mutex;

/// So often the clock is looked at, whatever the store is waiting for.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Longer than this nobody looked only if nobody could.
const STILL_MILLIS: u64 = 2_000;

pub(super) struct Wake {
    /// When somebody looked last.
    last: AtomicU64,
    /// What leases are still to have back.
    missed: AtomicU64,
    /// Who gives it back does so once, and everybody else waits for it.
    giving: Mutex<()>,
}

impl Wake {
    pub(super) fn new(now: Millis) -> Self {
        let (last, missed) = (AtomicU64::new(now.0), AtomicU64::new(0));
        Self { last, missed, giving: Mutex::const_new(()) }
    }

    /// Looks at the clock, again and again.
    pub(super) async fn watch(&self, config: &Config) {
        let mut every = tokio::time::interval(LOOK_EVERY);
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            every.tick().await;
            self.look(config.clock.now());
        }
    }

    fn look(&self, now: Millis) {
        let still = now.0.saturating_sub(self.last.fetch_max(now.0, Ordering::AcqRel));
        if still > STILL_MILLIS {
            tracing::warn!(
                millis = still,
                "the orchestrator stood still; leases have the time back"
            );
            self.missed.fetch_add(still, Ordering::AcqRel);
        }
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
        self.look(now);
        if self.missed.load(Ordering::Acquire) == 0 {
            return Ok(());
        }
        let _alone = self.giving.lock().await;
        let millis = self.missed.load(Ordering::Acquire);
        if millis > 0 {
            // Its answer says nothing.
            let _ = store.handle(now, Event::Missed { millis }).await?;
            self.missed.fetch_sub(millis, Ordering::AcqRel);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_looked_at_was_missed_and_all_of_it() {
        let wake = Wake::new(Millis(1_000));
        let missed = |now| {
            wake.look(Millis(now));
            wake.missed.load(Ordering::Acquire)
        };
        assert_eq!([1_500, 3_500, 3_000].map(missed), [0, 0, 0]);
        assert_eq!([11_500, 11_600, 20_000].map(missed), [8_000, 8_000, 16_400]);
    }
}
