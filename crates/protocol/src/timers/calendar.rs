//! The calendar: which timers are due at which height (CIP-1 §2, SPEC §8).
//!
//! # Three tiers in one key space
//! The seed has a ring of blocks, a queue of epochs and a sorted overflow, because an array cannot
//! reach 30 days ahead block by block. A key space can: a bucket's key is its height, written big
//! endian. What is within [`RING_BUFFER_SIZE`] blocks *is* the ring (no two of those heights share
//! `height mod 4096`), what is within [`EPOCHS`] epochs of [`EPOCH_BLOCKS`] *is* the epoch queue, and the
//! rest is a set ordered by height. A timer passes from one tier to the next by the chain getting
//! higher: nothing is rewritten at a rollover, so no rollover can stall a block or be late, however
//! many timers an epoch holds. Scheduling writes the timer, one chunk of at most [`CHUNK`] ids and
//! the bucket's own record, at any distance; a block reads the bucket of its own height.
//!
//! A cancelled timer's id stays in its chunk until the height comes: that place was paid for.
//!
//! # What a single height may hold
//! All timers of a bucket become due in one block, and all that expire at a height leave the lane in
//! one block. Both cost some microseconds each, so both are bounded when scheduling
//! ([`BUCKET_TIMERS_MAX`], [`EXPIRING_MAX`]): whoever finds a height full takes the next one.

use super::order::lot;
use super::record::{Bucket, Timer};
use super::tree::Entry;
use crate::error::Refusal;
use crate::execute::Exec;
use crate::key::{BucketKey, ChunkKey, TimerActorKey, TimerKey, TimerPayloadKey};
use crate::primitives::{Address, B256, Height};
use std::collections::BTreeMap;

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
pub(crate) struct Ends {
    /// Which, and whether they carried something.
    timers: Vec<(B256, bool)>,
    /// How many of whom.
    actors: BTreeMap<Address, u32>,
    /// How many were due at a height, and how many would have expired at it.
    heights: BTreeMap<Height, (u32, u32)>,
}

impl Ends {
    /// Notes the end of a timer.
    pub(super) fn note(&mut self, id: B256, timer: &Timer) {
        let Timer { actor, due, expires_at, payload_bytes, .. } = *timer;
        self.add(id, actor, payload_bytes > 0, (due, expires_at));
    }

    /// The same for a timer that was due.
    pub(super) fn note_entry(&mut self, entry: &Entry) {
        let Entry { id, actor, payload_bytes, due, expires_at, .. } = *entry;
        self.add(id, actor, payload_bytes > 0, (Height(due), Height(expires_at)));
    }

    fn add(&mut self, id: B256, actor: Address, carried: bool, heights: (Height, Height)) {
        self.timers.push((id, carried));
        *self.actors.entry(actor).or_default() += 1;
        self.heights.entry(heights.0).or_default().0 += 1;
        self.heights.entry(heights.1).or_default().1 += 1;
    }
}

impl Exec<'_> {
    fn bucket(&self, height: Height) -> Bucket {
        self.state.get(&BucketKey { height }).unwrap_or_default()
    }

    fn put_bucket(&mut self, height: Height, bucket: &Bucket) {
        match bucket.is_over() {
            true => self.state.remove(&BucketKey { height }),
            false => self.state.put(&BucketKey { height }, bucket),
        }
    }

    /// Enters a timer under the height at which it is due.
    pub(super) fn file(&mut self, id: B256, due: Height) -> Result<(), Refusal> {
        let mut bucket = self.bucket(due);
        if bucket.filed >= BUCKET_TIMERS_MAX {
            return Err(Refusal::HeightCrowded);
        }
        let key = ChunkKey { height: due, chunk: bucket.filed / CHUNK };
        let mut chunk = self.state.get(&key).unwrap_or_default();
        chunk.push(id);
        self.state.put(&key, &chunk);
        bucket.filed += 1;
        bucket.live += 1;
        self.put_bucket(due, &bucket);
        Ok(())
    }

    /// Notes that a timer may fire at a height for the last time.
    pub(super) fn note_expiry(&mut self, expires_at: Height) -> Result<(), Refusal> {
        let mut bucket = self.bucket(expires_at);
        if bucket.expiring >= EXPIRING_MAX {
            return Err(Refusal::ExpiryCrowded);
        }
        bucket.expiring += 1;
        self.put_bucket(expires_at, &bucket);
        Ok(())
    }

    /// Notes that it no longer is so.
    pub(super) fn forget_expiry(&mut self, expires_at: Height) {
        let mut bucket = self.bucket(expires_at);
        bucket.expiring = bucket.expiring.saturating_sub(1);
        self.put_bucket(expires_at, &bucket);
    }

    /// What the index keeps of a timer, if it is due.
    pub(super) fn due_entry(&self, id: B256, timer: &Timer) -> Option<Entry> {
        let beacon = self.bucket(timer.due).beacon?;
        Some(timer.entry(id, lot(&beacon, &id)))
    }

    /// Removes what ended, and takes it off its actors' numbers.
    pub(super) fn remove_ended(&mut self, ends: &mut Ends) {
        let mut timers = core::mem::take(&mut ends.timers);
        timers.sort_unstable();
        for (timer, _) in &timers {
            self.state.remove(&TimerKey { timer: *timer });
        }
        for (timer, _) in timers.iter().filter(|(_, carried)| *carried) {
            self.state.remove(&TimerPayloadKey { timer: *timer });
        }
        let actors = core::mem::take(&mut ends.actors);
        let keys: Vec<TimerActorKey> =
            actors.keys().map(|actor| TimerActorKey { actor: *actor }).collect();
        let numbers = self.state.get_many(&keys);
        for ((key, ended), numbers) in keys.into_iter().zip(actors.into_values()).zip(numbers) {
            let mut numbers = numbers.unwrap_or_default();
            numbers.live = numbers.live.saturating_sub(ended);
            self.state.put(&key, &numbers);
        }
    }

    /// Brings the state up to date with what ended.
    pub(super) fn settle_ends(&mut self, mut ends: Ends) {
        self.remove_ended(&mut ends);
        let keys: Vec<BucketKey> =
            ends.heights.keys().map(|height| BucketKey { height: *height }).collect();
        let buckets = self.state.get_many(&keys);
        for ((height, (live, expiring)), bucket) in ends.heights.into_iter().zip(buckets) {
            let mut bucket = bucket.unwrap_or_default();
            bucket.live = bucket.live.saturating_sub(live);
            bucket.expiring = bucket.expiring.saturating_sub(expiring);
            self.put_bucket(height, &bucket);
        }
    }

    /// Reads the bucket of this height: its timers are due from now on.
    pub(super) fn take_in_due(&mut self) {
        let height = self.env.height;
        let Some(mut bucket) = self.state.get(&BucketKey { height }) else { return };
        let mut due = Vec::with_capacity(bucket.live as usize);
        for chunk in 0..bucket.filed.div_ceil(CHUNK) {
            let key = ChunkKey { height, chunk };
            let keys: Vec<TimerKey> = self
                .state
                .get(&key)
                .unwrap_or_default()
                .into_iter()
                .map(|timer| TimerKey { timer })
                .collect();
            for (TimerKey { timer: id }, timer) in keys.iter().zip(self.state.get_many(&keys)) {
                if let Some(timer) = timer {
                    due.push(timer.entry(*id, lot(&self.env.parent_beacon, id)));
                }
            }
            self.state.remove(&key);
        }
        self.timers.take_in(due, height);
        bucket.filed = 0;
        bucket.beacon = (bucket.live > 0).then_some(self.env.parent_beacon);
        self.put_bucket(height, &bucket);
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
