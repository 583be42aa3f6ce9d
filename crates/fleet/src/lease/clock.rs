//! The lease clock: the only place that decides how much time passes for leases.
//!
//! Deadlines of leases and pauses before retries are times on this clock. It stands still while no worker can be
//! heard, so an outage extends all of them and rewrites none. A store has one, and reports to it:
//!
//! ```text
//! state: wall, lease, resumed          # at `wall` on the store's clock it was `lease`; last start at `resumed`
//!
//! observe(now):                        # events are decided at `now`; the first starts the clock
//!     gap = now - wall                 # none, if the event was sent before the last one: time stands still
//!     lease += gap                     if gap <= patience
//!     lease += token(gap)              otherwise: the process stood still and received no heartbeats
//!     wall = now
//!
//! lost(until):                         # a write failed or was slow: no heartbeat counted before `until`
//!     lease += token(until - wall)
//!     wall = until
//!
//! follow(now):                         # a database's clock, read together with the state
//!     wall = now                       if now < wall - patience: the clock was set back
//!     observe(now)
//!
//! start(now):                          # an orchestrator starts, after any time and on any clock
//!     wall = now
//!     lease += 1 ms                    unless nothing has passed since the last start
//!     resumed = lease                  # deadlines that are set from now on are not before it
//!
//! token(gap) = min(gap / 8, 500 ms)    # so that a dead worker's lease ends even if every other write fails
//!
//! end of a deadline:
//!     max(until, resumed + TTL)        if it was set before `resumed`: the grace of a start
//!     until                            otherwise
//! ```
//!
//! A store writes the state in one transaction with the rows that it decided. If the write fails, the events did not
//! happen: the store returns to the last written state and reports the time as lost ([`WrittenClock`]). Every
//! millisecond of `wall` is passed once, so no gap is credited twice.
//!
//! Times that people chose or see (submission, end, "not begun after") are times on the store's clock.

use crate::time::{LeaseTime, Millis};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A part of lost time counts: an eighth of it, at most so much of each gap. An orchestrator sweeps more often than
/// this tells apart, so some of the gap may have been heard.
const TOKEN_MS_MAX: u64 = 500;
const TOKEN_DIVISOR: u64 = 8;

/// A reading of the lease clock, which is all of its state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LeaseClock {
    /// On the store's clock.
    pub wall: Millis,
    /// The same moment on the lease clock.
    pub lease: LeaseTime,
    /// When an orchestrator started last.
    pub resumed: LeaseTime,
}

impl LeaseClock {
    pub fn observe(&mut self, now: Millis, patience: Duration) {
        let gap = now.0.saturating_sub(self.wall.0);
        match u128::from(gap) <= patience.as_millis() {
            _ if self.wall == Millis(0) => self.wall = now,
            true => self.pass(gap, gap),
            false => self.pass(gap, token(gap)),
        }
    }

    pub fn lost(&mut self, until: Millis) {
        let gap = until.0.saturating_sub(self.wall.0);
        self.pass(gap, token(gap));
    }

    pub fn follow(&mut self, now: Millis, patience: Duration) {
        if u128::from(self.wall.0.saturating_sub(now.0)) > patience.as_millis() {
            self.wall = now;
        }
        self.observe(now, patience);
    }

    pub fn start(&mut self, now: Millis) {
        self.wall = now;
        if self.resumed < self.lease {
            self.lease.0 = self.lease.0.saturating_add(1);
            self.resumed = self.lease;
        }
    }

    /// What the store's clock says, or will say, at a time on the lease clock; right unless an outage lies between.
    pub fn wall_at(&self, at: LeaseTime) -> Millis {
        let ahead = at.0.saturating_sub(self.lease.0);
        let behind = self.lease.0.saturating_sub(at.0);
        Millis(self.wall.0.saturating_add(ahead).saturating_sub(behind))
    }

    fn pass(&mut self, wall: u64, lease: u64) {
        self.wall.0 = self.wall.0.saturating_add(wall);
        self.lease.0 = self.lease.0.saturating_add(lease);
    }
}

fn token(gap: u64) -> u64 {
    (gap / TOKEN_DIVISOR).min(TOKEN_MS_MAX)
}

/// The lease clock of a store that decides ahead of its disk: what the disk has of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WrittenClock {
    written: LeaseClock,
    /// The last write failed. Until one succeeds, it is not known whether anything can be kept.
    failing: bool,
}

impl WrittenClock {
    pub(crate) fn new(written: LeaseClock) -> Self {
        Self { written, failing: false }
    }

    /// The disk has this reading: a write that seemed to fail may have succeeded, and not every success is written.
    /// Returns the reading to go on from.
    pub(crate) fn found(&mut self, disk: LeaseClock) -> LeaseClock {
        if self.written.wall < disk.wall {
            self.written = disk;
        }
        self.written
    }

    /// Whether a batch that changed nothing must write the clock: only a write shows that the disk is well again.
    pub(crate) fn must_write(&self) -> bool {
        self.failing
    }

    /// What was decided by this reading is kept, or there was nothing to keep.
    pub(crate) fn wrote(&mut self, decided: LeaseClock) {
        *self = Self::new(decided);
    }

    /// Discards all decisions since the last successful write, heartbeats included. Returns the reading to continue
    /// from.
    pub(crate) fn failed(&mut self, until: Millis) -> LeaseClock {
        self.written.lost(until);
        self.failing = true;
        self.written
    }
}

/// When something happens to a lease by itself, on the lease clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Deadline {
    /// When it was set.
    pub since: LeaseTime,
    /// Not counting the grace of a start.
    pub until: LeaseTime,
}

impl Deadline {
    pub fn after(since: LeaseTime, seconds: u32) -> Self {
        Self { since, until: since.plus_seconds(seconds) }
    }

    /// A deadline that an outage may have made irrelevant gives its worker one TTL to come back (SPEC §14).
    pub fn end(self, clock: &LeaseClock, ttl_seconds: u32) -> LeaseTime {
        match self.since < clock.resumed {
            true => self.until.max(clock.resumed.plus_seconds(ttl_seconds)),
            false => self.until,
        }
    }
}

#[cfg(test)]
mod tests;
