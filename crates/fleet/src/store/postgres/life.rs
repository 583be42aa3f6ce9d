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
    /// When leases had their time back, by the clock of this machine.
    gave_back: Mutex<Option<Instant>>,
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

    /// Leases have the time back in which nobody was there.
    pub(super) fn gave_back(&self) {
        *self.gave_back.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether that was just now.
    pub(super) fn gave_back_within(&self, time: Duration) -> bool {
        let last = *self.gave_back.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_some_and(|last| last.elapsed() < time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_was_given_back_just_now_for_a_while() {
        let life = Life::default();
        let (long, short) = (Duration::from_secs(60), Duration::from_millis(1));
        assert!(!life.gave_back_within(long));
        life.gave_back();
        assert!(life.gave_back_within(long));
        std::thread::sleep(short);
        assert!(!life.gave_back_within(short));
    }
}
