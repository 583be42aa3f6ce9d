//! The calendar: which timers are due at which height (CIP-1 §2, SPEC §8).
//!
//! # Three tiers in one key space
//! The seed has a ring of blocks, a queue of epochs and a sorted overflow, because an array cannot
//! reach 30 days ahead block by block. A key space can: a bucket's key is its height, written big
//! endian. What is within [`RING_BUFFER_SIZE`] blocks *is* the ring (no two of those heights share
//! `height mod 4096`), what is within [`EPOCHS`] epochs of [`EPOCH_BLOCKS`] *is* the epoch queue, and the
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
//! ([`BUCKET_TIMERS_MAX`], [`EXPIRING_MAX`]): whoever finds a height full takes the next one.

use super::counts::Counted;
use super::order::lot;
use super::record::{Timer, is_apart};
use super::tree::Entry;
use crate::error::Refusal;
use crate::execute::Exec;
use crate::key::{ChunkKey, DueBeaconKey, TimerKey, TimerPayloadKey};
use crate::primitives::{B256, Height};

/// Heights of the first tier.
pub const RING_BUFFER_SIZE: u64 = 4_096;
/// Blocks of an epoch in the second tier.
pub const EPOCH_BLOCKS: u64 = 3_600;
/// Epochs of the second tier.
pub const EPOCHS: u64 = 720;
/// Ids in one chunk of a bucket: what scheduling rewrites stays around two kilobytes.
pub const CHUNK: u32 = 64;
/// Timers that can be scheduled for one height, cancelled ones included.
pub const BUCKET_TIMERS_MAX: u32 = 65_536;
/// Timers that can expire at one height.
pub const EXPIRING_MAX: u32 = 16_384;

/// Where a timer waits for its height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Imminent.
    Ring,
    /// Within the epochs ahead.
    Epoch,
    /// Later.
    Overflow,
}

/// The tier of a timer due at `due`, seen from `height`.
pub const fn tier(due: Height, height: Height) -> Tier {
    let ahead = due.get().saturating_sub(height.get());
    if ahead < RING_BUFFER_SIZE {
        Tier::Ring
    } else if (due.get() / EPOCH_BLOCKS).saturating_sub(height.get() / EPOCH_BLOCKS) < EPOCHS {
        Tier::Epoch
    } else {
        Tier::Overflow
    }
}

/// Timers that ended and are still in the state: what they touch is written once for all of them,
/// and in the order of its keys.
#[derive(Debug, Default)]
pub(crate) struct Ends(Vec<Counted>);

impl Ends {
    /// Notes the end of a timer.
    pub(super) fn note(&mut self, id: B256, timer: &Timer) {
        self.0.push(Counted::new(id, timer));
    }

    /// The same for a timer that was due.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_follow_the_distance() {
        let now = Height(10_000);
        assert_eq!(tier(Height(10_001), now), Tier::Ring);
        assert_eq!(tier(now.plus(RING_BUFFER_SIZE - 1), now), Tier::Ring);
        assert_eq!(tier(now.plus(RING_BUFFER_SIZE), now), Tier::Epoch);
        let last = (now.get() / EPOCH_BLOCKS + EPOCHS) * EPOCH_BLOCKS - 1;
        assert_eq!(tier(Height(last), now), Tier::Epoch);
        assert_eq!(tier(Height(last + 1), now), Tier::Overflow);
        assert_eq!(tier(Height(last + 1), now.plus(EPOCH_BLOCKS)), Tier::Epoch);
    }

    #[test]
    fn no_two_heights_of_the_ring_share_a_place() {
        let places: std::collections::BTreeSet<u64> =
            (7_777..7_777 + RING_BUFFER_SIZE).map(|height| height % RING_BUFFER_SIZE).collect();
        assert_eq!(places.len() as u64, RING_BUFFER_SIZE);
    }
}
