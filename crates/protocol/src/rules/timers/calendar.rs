//! The tiers of the calendar, and what a single height may hold (CIP-1 §2, SPEC §8). How buckets are
//! stored is said in `chain/timers/calendar`.

use crate::base::primitives::Height;

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
    Ring,
    /// Within the epochs ahead.
    Epoch,
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
