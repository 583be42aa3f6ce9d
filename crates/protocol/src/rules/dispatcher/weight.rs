//! A candidate's weight (SPEC §4).

use crate::base::primitives::U256;

/// `effective_stake · max(isqrt(reputation_nano · 10^7), floor)`; `None` if it does not fit. The factor
/// is 1 in nano at `REPUTATION_NORMALIZER`, 100 points.
pub fn weight(effective_stake: u128, reputation_nano: u64, floor_nano: u64) -> Option<u128> {
    let root = (u128::from(reputation_nano) * 10_000_000).isqrt();
    let factor = root.max(u128::from(floor_nano));
    crate::base::math::to_u128(U256::from(effective_stake) * U256::from(factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weight_grows_with_the_root_of_reputation() {
        assert_eq!(weight(3, 0, 100_000_000), Some(300_000_000));
        assert_eq!(weight(1, 100_000_000_000, 100_000_000), Some(1_000_000_000));
        assert_eq!(weight(1, 25_000_000_000, 100_000_000), Some(500_000_000));
        assert_eq!(weight(u128::MAX, 0, 100_000_000), None);
    }
}
