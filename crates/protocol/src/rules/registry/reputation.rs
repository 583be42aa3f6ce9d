//! Reputation: the decayed mean of a runner's scores (SPEC §6).
//!
//! Two sums per runner halve every 14 days; a prior of 20 events at 60 points keeps a newcomer's first result from
//! deciding everything and pulls an idle runner back to 60. Jail and its release are not decided here.

use crate::base::codec::codec_struct;
use crate::base::math::{mul_shr, to_u128};
use crate::base::primitives::{NANO, U256};
use thiserror::Error;

/// Blocks in which a score loses half its weight: 14 days of 1 s blocks.
pub const HALF_LIFE_BLOCKS: u64 = 1_209_600;
/// The highest score of one event and the highest reputation, in points. The lowest,
/// `REPUTATION_FLOOR`, is 0.
pub const REPUTATION_CEILING: u32 = 200;

/// The prior: 20 events at 60 points.
const PRIOR_WEIGHT: u128 = 20 * NANO as u128;
const PRIOR_POINTS: u128 = 60;
/// After this many half-lives nothing is left.
const HALF_LIVES_MAX: u64 = 64;

/// `C_b` = 2^64 · 2^(−1/2^b) for b = 1 … 32, each the floor square root of the one before.
const ROOTS: [u64; 32] = roots();

const fn roots() -> [u64; 32] {
    let mut table = [0; 32];
    let mut square = 1u128 << 127;
    let mut b = 0;
    while b < table.len() {
        // Below 2^64, as the square is below 2^128.
        table[b] = square.isqrt() as u64;
        square = (table[b] as u128) << 64;
        b += 1;
    }
    table
}

/// The part of a sum that is left after `dt` blocks, as a fraction of 2^64.
pub fn keep(dt: u64) -> u128 {
    let halvings = dt / HALF_LIFE_BLOCKS;
    if halvings >= HALF_LIVES_MAX {
        return 0;
    }
    // The rest is below 2^21, so this is below 2^32.
    let x = ((dt % HALF_LIFE_BLOCKS) << 32) / HALF_LIFE_BLOCKS;
    let mut k = 1u128 << 64;
    for (b, root) in (1..=32).zip(ROOTS) {
        if x >> (32 - b) & 1 == 1 {
            k = (k * u128::from(root)) >> 64;
        }
    }
    k >> halvings
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reputation {
    /// Decayed sum of scores, in nano points.
    pub score_sum: u128,
    /// Decayed number of events, in nano.
    pub weight_sum: u128,
    /// The height to which both sums are decayed.
    pub last_update: u64,
}

/// Why a record was left as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReputationError {
    /// Events come in the order of their blocks.
    #[error("an event at height {height} after one at {last_update}")]
    HeightFell {
        /// The height of the refused event.
        height: u64,
        /// The height of the last one.
        last_update: u64,
    },
    /// One event counts for 0 to 200 points.
    #[error("a score of {0} points; the most is {REPUTATION_CEILING}")]
    ScoreTooHigh(u32),
    /// A sum would be 2^128 or more.
    #[error("a reputation sum does not fit into 128 bits")]
    Overflow,
}

codec_struct!(Reputation { score_sum, weight_sum, last_update });

impl Reputation {
    /// A record without events, which stands at the prior.
    pub const fn new(height: u64) -> Self {
        Self { score_sum: 0, weight_sum: 0, last_update: height }
    }

    /// Brings both sums forward to `height`.
    pub fn decay(&mut self, height: u64) -> Result<(), ReputationError> {
        let last_update = self.last_update;
        let dt = height
            .checked_sub(last_update)
            .ok_or(ReputationError::HeightFell { height, last_update })?;
        let kept = keep(dt);
        let score_sum = mul_shr(self.score_sum, kept, 64).ok_or(ReputationError::Overflow)?;
        let weight_sum = mul_shr(self.weight_sum, kept, 64).ok_or(ReputationError::Overflow)?;
        *self = Self { score_sum, weight_sum, last_update: height };
        Ok(())
    }

    /// Adds one event of `score` points. On an error the record is unchanged.
    pub fn record(&mut self, height: u64, score: u32) -> Result<(), ReputationError> {
        if score > REPUTATION_CEILING {
            return Err(ReputationError::ScoreTooHigh(score));
        }
        let mut next = *self;
        next.decay(height)?;
        let points = u128::from(score) * u128::from(NANO);
        next.score_sum = next.score_sum.checked_add(points).ok_or(ReputationError::Overflow)?;
        next.weight_sum =
            next.weight_sum.checked_add(u128::from(NANO)).ok_or(ReputationError::Overflow)?;
        *self = next;
        Ok(())
    }

    /// What every transaction by the runner itself does: the sums decay, nothing is added.
    pub fn refresh(&mut self, height: u64) -> Result<(), ReputationError> {
        self.decay(height)
    }

    /// `reputation_nano`: points as of `last_update`.
    pub fn nano(&self) -> u64 {
        let top = u64::from(REPUTATION_CEILING) * NANO;
        let scores = U256::from(self.score_sum) + U256::from(PRIOR_POINTS * PRIOR_WEIGHT);
        let weights = U256::from(self.weight_sum) + U256::from(PRIOR_WEIGHT);
        let mean = to_u128(scores * U256::from(NANO) / weights);
        mean.and_then(|mean| u64::try_from(mean).ok()).map_or(top, |mean| mean.min(top))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINT: u64 = NANO;

    #[test]
    fn roots_are_the_floor_roots_of_the_spec() {
        let mut square = U256::from(1) << 127;
        for root in ROOTS {
            let c = U256::from(root);
            assert!(c * c <= square && (c + U256::from(1)) * (c + U256::from(1)) > square);
            square = c << 64;
        }
    }

    #[test]
    fn half_of_it_is_left_after_a_half_life() {
        assert_eq!(keep(0), 1 << 64);
        assert_eq!(keep(HALF_LIFE_BLOCKS), 1 << 63);
        assert_eq!(keep(63 * HALF_LIFE_BLOCKS), 2);
        assert_eq!(keep(64 * HALF_LIFE_BLOCKS), 0);
        assert_eq!(keep(u64::MAX), 0);
    }

    #[test]
    fn keep_never_grows() {
        let mut last = keep(0);
        for dt in (0..2 * HALF_LIFE_BLOCKS).step_by(997) {
            assert!(keep(dt) <= last);
            last = keep(dt);
        }
    }

    #[test]
    fn newcomer_stands_at_sixty() {
        assert_eq!(Reputation::new(7).nano(), 60 * POINT);
    }

    #[test]
    fn release_from_jail_stands_at_exactly_fifty() {
        let released =
            Reputation { score_sum: 0, weight_sum: 4 * u128::from(NANO), last_update: 9 };
        assert_eq!(released.nano(), 50 * POINT);
    }

    #[test]
    fn one_success_moves_a_twenty_first_of_the_way() {
        let mut r = Reputation::new(5);
        assert_eq!(r.record(5, 100), Ok(()));
        assert_eq!(r.nano(), 1300 * POINT / 21);
    }

    #[test]
    fn idle_runner_drifts_back_to_the_prior() {
        let mut r = Reputation::new(0);
        for _ in 0..50 {
            assert_eq!(r.record(0, 0), Ok(()));
        }
        let bad = r.nano();
        assert_eq!(r.refresh(HALF_LIFE_BLOCKS), Ok(()));
        assert!(bad < r.nano() && r.nano() < 60 * POINT);
        assert_eq!(r.refresh(u64::MAX), Ok(()));
        assert_eq!(r.nano(), 60 * POINT);
    }

    #[test]
    fn refused_events_change_nothing() {
        let before = Reputation { score_sum: u128::MAX, weight_sum: 1, last_update: 10 };
        let mut r = before;
        assert_eq!(r.record(9, 1), Err(ReputationError::HeightFell { height: 9, last_update: 10 }));
        assert_eq!(r.record(10, 201), Err(ReputationError::ScoreTooHigh(201)));
        assert_eq!(r.record(10, 1), Err(ReputationError::Overflow));
        assert_eq!(r, before);
        assert_eq!(r.record(10, 0), Ok(()));
    }

    #[test]
    fn reputation_is_capped_at_two_hundred() {
        let r = Reputation { score_sum: u128::MAX, weight_sum: 0, last_update: 0 };
        assert_eq!(r.nano(), 200 * POINT);
    }
}
