//! Whether the process stood still: suspended, or its machine was; or its clock leapt.
//!
//! Something looks at the clock twice a second. Where nothing did for longer, nobody could be heard meanwhile. Leases
//! have that time back before anything is decided by what time it is now. A server that several share does the same
//! by a clock of its own.

use super::config::Config;
use crate::lease::Event;
use crate::store::{AnyStore, Store, StoreError};
use crate::time::Millis;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// So often the clock is looked at, whatever the store is waiting for.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Longer than this nobody looked only if nobody could.
const STILL_MILLIS: u64 = 2_000;

pub(super) struct Wake {
    /// Both at once: whoever sees that somebody has looked sees what that one found.
    looked: Mutex<Looked>,
    /// Who gives time back does so once, and everybody else waits for it.
    giving: tokio::sync::Mutex<()>,
}

#[derive(Clone, Copy)]
struct Looked {
    /// When somebody looked last.
    last: Millis,
    /// What leases are still to have back.
    missed: u64,
}

impl Wake {
    pub(super) fn new(now: Millis) -> Self {
        let looked = Mutex::new(Looked { last: now, missed: 0 });
        Self { looked, giving: tokio::sync::Mutex::const_new(()) }
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

    /// What leases are to have back.
    fn look(&self, now: Millis) -> u64 {
        let (still, missed) = {
            let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
            let still = now.0.saturating_sub(looked.last.0);
            looked.last = looked.last.max(now);
            looked.missed += if still > STILL_MILLIS { still } else { 0 };
            (still, looked.missed)
        };
        // Whoever is told may be slow, and everybody else decides meanwhile.
        if still > STILL_MILLIS {
            tracing::warn!(
                millis = still,
                "the orchestrator stood still; leases have the time back"
            );
        }
        missed
    }

    fn gave(&self, millis: u64) {
        self.looked.lock().unwrap_or_else(PoisonError::into_inner).missed -= millis;
    }

    /// Something is about to be decided: whether leases are to have time back before.
    pub(super) fn owes(&self, store: &AnyStore, config: &Config, now: Millis) -> bool {
        // A time that a test makes stands still and leaps as it likes.
        let others = config.clock.frozen.is_some() || matches!(store, AnyStore::Postgres(_));
        !others && self.look(now) > 0
    }

    /// Gives it back. Whoever begins this must see it through, or it may be given twice.
    pub(super) async fn give(&self, store: &AnyStore, now: Millis) -> Result<(), StoreError> {
        let Ok(_alone) = self.giving.try_lock() else {
            // Somebody is at it. Where that fails, it fails for all who came meanwhile: one try for all.
            drop(self.giving.lock().await);
            let failed = || StoreError::Database("leases cannot have their time back".to_owned());
            return (self.look(now) == 0).then_some(()).ok_or_else(failed);
        };
        let millis = self.look(now);
        if millis > 0 {
            // Its answer says nothing.
            let _ = store.handle(now, Event::Missed { millis }).await?;
            self.gave(millis);
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
        let missed = |now| wake.look(Millis(now));
        assert_eq!([1_500, 3_500, 3_000].map(missed), [0, 0, 0]);
        assert_eq!([11_500, 11_600, 20_000].map(missed), [8_000, 8_000, 16_400]);
        wake.gave(8_000);
        assert_eq!([20_100, 23_000].map(missed), [8_400, 11_300]);
    }
}
