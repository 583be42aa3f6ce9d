//! When this orchestrator was last at work, which tells how long nobody kept leases alive.

use crate::time::Millis;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Times of events here. What others saw is in the database.
#[derive(Debug, Default)]
pub(super) struct Life {
    seen: AtomicU64,
    written: AtomicU64,
    /// Nothing could be written, the last time that it was tried.
    failing: AtomicBool,
    /// When leases had their time back, by the clock of this machine: of when it was counted, and when it was kept.
    gave_back: Mutex<Option<(Instant, Instant)>>,
}

impl Life {
    /// The latest time of any event.
    pub(super) fn seen(&self) -> Millis {
        Millis(self.seen.load(Ordering::Relaxed))
    }

    /// Whether the database took nothing, the last time that it was tried.
    pub(super) fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Relaxed)
    }

    /// There is an event at this time. While the database takes nothing that is no sign of life:
    /// heartbeats are not kept, and their senders must have their grace afterwards.
    pub(super) fn saw(&self, now: Millis) {
        if !self.failing.load(Ordering::Relaxed) {
            self.seen.fetch_max(now.0, Ordering::Relaxed);
        }
    }

    /// The database has what was decided at this time.
    pub(super) fn wrote(&self, now: Millis) {
        self.failing.store(false, Ordering::Relaxed);
        self.written.fetch_max(now.0, Ordering::Relaxed);
        self.seen.fetch_max(now.0, Ordering::Relaxed);
    }

    /// It did not take it.
    pub(super) fn failed(&self) {
        self.failing.store(true, Ordering::Relaxed);
        self.seen.store(self.written.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Leases have the time back in which nobody was there, until the database's clock was looked at.
    pub(super) fn gave_back(&self, looked: Instant) {
        let times = Some((looked, Instant::now()));
        *self.gave_back.lock().unwrap_or_else(PoisonError::into_inner) = times;
    }

    /// Whether that was just now, and nothing has happened since that takes as long as this. Where the database takes
    /// long to keep it, what was given back seems to be long ago at once.
    pub(super) fn gave_back_all_of(&self, silence: Duration, patience: Duration) -> bool {
        let times = *self.gave_back.lock().unwrap_or_else(PoisonError::into_inner);
        times.is_some_and(|(looked, kept)| {
            kept.elapsed() < patience && silence <= looked.elapsed() + patience
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_was_given_back_just_now_for_a_while_and_no_more_than_has_passed_since() {
        let life = Life::default();
        let [minute, second] = [60, 1].map(Duration::from_secs);
        assert!(!life.gave_back_all_of(second, minute));
        life.gave_back(Instant::now());
        assert!(life.gave_back_all_of(second, minute));
        assert!(!life.gave_back_all_of(3 * minute, minute), "a machine was suspended since");
        std::thread::sleep(Duration::from_millis(2));
        assert!(!life.gave_back_all_of(second, Duration::from_millis(1)));
    }
}
