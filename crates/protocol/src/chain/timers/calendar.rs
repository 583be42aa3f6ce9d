//! The calendar: which timers are due at which height (CIP-1 §2, SPEC §8).
//!
//! # Three tiers in one key space
//! The seed has a ring of blocks, a queue of epochs and a sorted overflow, because an array cannot
//! reach 30 days ahead block by block. A key space can: a bucket's key is its height, written big
//! endian. What is within `RING_BUFFER_SIZE` (4,096) blocks *is* the ring (no two of those heights share
//! `height mod 4096`), what is within 720 epochs of 3,600 blocks *is* the epoch queue, and the
//! rest is a set ordered by height. A timer passes from one tier to the next by the chain getting
//! higher: nothing is rewritten at a rollover, so no rollover can stall a block or be late, however
//! many timers an epoch holds. Scheduling writes the timer, its actor's counter and one chunk of at
//! most [`CHUNK`] ids, at any distance; a block reads the chunks of its own height.
//!
//! A cancelled timer's id stays in its chunk until the height comes: that place was paid for.
//!
//! # What a single height may hold
//! All timers of a bucket become due in one block, and all that expire at a height leave the lane in
//! one block. Both cost some microseconds each, so both are bounded when scheduling
//! ([`BUCKET_TIMERS_MAX`], [`EXPIRING_MAX`]): a caller that finds a height full takes the next one.

use crate::base::error::Refusal;
use crate::base::primitives::{B256, Height};
use crate::chain::execute::Exec;
use crate::rules::key::{ChunkKey, DueBeaconKey, TimerKey, TimerPayloadKey};
use crate::rules::timers::calendar::{BUCKET_TIMERS_MAX, CHUNK, EXPIRING_MAX};
use crate::rules::timers::counts::Counted;
use crate::rules::timers::order::lot;
use crate::rules::timers::record::{Timer, is_apart};
use crate::rules::timers::tree::Entry;

/// Timers that ended and are still in the state: what they touch is written once for all of them,
/// and in the order of its keys.
#[derive(Debug, Default)]
pub(crate) struct Ends(Vec<Counted>);

impl Ends {
    /// Notes the end of a timer.
    pub(super) fn note(&mut self, id: B256, timer: &Timer) {
        self.0.push(Counted::new(id, timer));
    }

    /// [`Self::note`] for a timer that was due.
    pub(super) fn note_entry(&mut self, entry: &Entry) {
        self.0.push(Counted::of_entry(entry));
    }
}

impl Exec<'_> {
    /// Whether a height has room for one more timer.
    pub(super) fn check_height(&self, due: Height) -> Result<(), Refusal> {
        let full = self.timers.at(due).filed >= BUCKET_TIMERS_MAX;
        if full { Err(Refusal::HeightCrowded) } else { Ok(()) }
    }

    /// Whether one more timer may expire at a height.
    pub(super) fn check_expiry(&self, expires_at: Height) -> Result<(), Refusal> {
        let full = self.timers.at(expires_at).expiring >= EXPIRING_MAX;
        if full { Err(Refusal::ExpiryCrowded) } else { Ok(()) }
    }

    /// Enters a timer under the height at which it is due.
    pub(super) fn file(&mut self, id: B256, timer: &Timer) {
        let chunk = self.timers.at(timer.due).filed / CHUNK;
        let key = ChunkKey { height: timer.due, chunk };
        let mut chunk = self.state.get(&key).unwrap_or_default();
        chunk.push(id);
        self.state.put(&key, &chunk);
        self.timers.schedule(id, timer);
    }

    /// What the index keeps of a timer, if it is due.
    pub(super) fn due_entry(&self, id: B256, timer: &Timer) -> Option<Entry> {
        let beacon = self.state.get(&DueBeaconKey { height: timer.due })?;
        Some(timer.entry(id, lot(&beacon, &id)))
    }

    /// Brings the state up to date with what ended.
    pub(super) fn settle_ends(&mut self, ends: &mut Ends) {
        let mut ended = core::mem::take(&mut ends.0);
        if ended.is_empty() {
            return;
        }
        ended.sort_unstable_by_key(|timer| timer.id);
        self.state.remove_sorted(ended.iter().map(|timer| TimerKey { timer: timer.id }));
        let apart = ended.iter().filter(|timer| is_apart(timer.payload_bytes));
        self.state.remove_sorted(apart.map(|timer| TimerPayloadKey { timer: timer.id }));
        for (height, at) in self.timers.end(&ended) {
            if at.live == 0 && height <= self.env.height {
                self.state.remove(&DueBeaconKey { height });
            }
        }
    }

    /// Reads the chunks of this height: the timers that are due from now on.
    pub(super) fn take_due(&mut self) -> Vec<Entry> {
        let height = self.env.height;
        let filed = self.timers.at(height).filed;
        let mut keys = Vec::with_capacity(filed as usize);
        for chunk in 0..filed.div_ceil(CHUNK) {
            let key = ChunkKey { height, chunk };
            let ids = self.state.get(&key).unwrap_or_default();
            keys.extend(ids.into_iter().map(|timer| TimerKey { timer }));
            self.state.remove(&key);
        }
        // Neighbours in the state are read one after the other.
        keys.sort_unstable_by_key(|key| key.timer);
        let beacon = self.env.parent_beacon;
        let mut due = Vec::with_capacity(keys.len());
        self.state.read_many(&keys, |TimerKey { timer: id }, timer| {
            // A cancelled timer's place is empty.
            if let Some(timer) = timer {
                due.push(timer.entry(*id, lot(&beacon, id)));
            }
        });
        self.timers.unfile(height);
        if !due.is_empty() {
            self.state.put(&DueBeaconKey { height }, &beacon);
        }
        due
    }
}
