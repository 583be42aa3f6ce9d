//! The price of the timer lane (SPEC §8): a basefee of its own that follows how full the lane was.

use crate::base::math::mul_div;
use crate::base::primitives::NANO;
use thiserror::Error;

/// Cycles that timers may use in one block.
pub const LANE_TIMER_CYCLES: u64 = 2_000_000;
/// The lane's basefee never falls below this.
pub const MIN_LANE_BASEFEE: u128 = 1_000;

/// The lane is priced to be half full.
const TARGET_NANO: i128 = NANO as i128 / 2;
/// The most that one block can change, up or down: an eighth.
const STEP_MAX_NANO: i128 = NANO as i128 / 8;

/// Why there is no next basefee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LaneError {
    /// `lane_adjustment_quotient` divides.
    #[error("the lane adjustment quotient is 0")]
    ZeroQuotient,
    /// The basefee would be 2^128 or more.
    #[error("the lane basefee does not fit into 128 bits")]
    Overflow,
}

/// The basefee after a block that used `used` cycles of the lane. Division is floor, below zero too.
pub fn next_basefee(basefee: u128, used: u64, quotient: u64) -> Result<u128, LaneError> {
    next_basefee_of(LANE_TIMER_CYCLES, basefee, used, quotient)
}

/// [`next_basefee`] for a lane of `cycles`, which is more than 0.
pub fn next_basefee_of(
    cycles: u64,
    basefee: u128,
    used: u64,
    quotient: u64,
) -> Result<u128, LaneError> {
    if quotient == 0 {
        return Err(LaneError::ZeroQuotient);
    }
    // Below 2^64 · 10^9: far from the limits of i128. The quotient is positive, so Euclid's division is the floor.
    let util = i128::from(used) * i128::from(NANO) / i128::from(cycles.max(1));
    let d = ((util - TARGET_NANO) * 2)
        .div_euclid(i128::from(quotient))
        .clamp(-STEP_MAX_NANO, STEP_MAX_NANO);
    let factor = (i128::from(NANO) + d).unsigned_abs();
    let next = mul_div(basefee, factor, u128::from(NANO))
        .ok_or(LaneError::Overflow)?
        .max(MIN_LANE_BASEFEE);
    if d > 0 && next == basefee {
        // At the floor a small rise would round away for ever.
        return next.checked_add(1).ok_or(LaneError::Overflow);
    }
    Ok(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_full_lane_keeps_its_price() {
        assert_eq!(next_basefee(10_000, LANE_TIMER_CYCLES / 2, 1), Ok(10_000));
    }

    #[test]
    fn one_block_moves_the_price_by_an_eighth_at_most() {
        assert_eq!(next_basefee(80_000, LANE_TIMER_CYCLES, 1), Ok(90_000));
        assert_eq!(next_basefee(80_000, u64::MAX, 1), Ok(90_000));
        assert_eq!(next_basefee(80_000, 0, 1), Ok(70_000));
        assert_eq!(next_basefee(80_000, 0, 8), Ok(70_000));
    }

    #[test]
    fn price_has_a_floor_and_can_leave_it() {
        assert_eq!(next_basefee(1_000, 0, 1), Ok(1_000));
        assert_eq!(next_basefee(0, 0, 1), Ok(1_000));
        assert_eq!(next_basefee(1_000, LANE_TIMER_CYCLES / 2 + 1, 1), Ok(1_001));
    }

    #[test]
    fn negative_quotients_are_floored() {
        // util − half = −500 nano, doubled −1000; over 3 that is −334, not −333.
        assert_eq!(next_basefee(1_000_000_000, LANE_TIMER_CYCLES / 2 - 1, 3), Ok(999_999_666));
        assert_eq!(
            next_basefee(1_000_000_000, LANE_TIMER_CYCLES / 2 - 1, u64::MAX),
            Ok(999_999_999)
        );
    }

    #[test]
    fn limits_are_errors() {
        assert_eq!(next_basefee(1, 1, 0), Err(LaneError::ZeroQuotient));
        assert_eq!(next_basefee(u128::MAX, LANE_TIMER_CYCLES, 1), Err(LaneError::Overflow));
        assert_eq!(next_basefee(u128::MAX, LANE_TIMER_CYCLES / 2 + 1, u64::MAX), Ok(u128::MAX));
    }
}
