//! Fairness among actors (SPEC §8): who fired much in the last blocks counts for less.
//!
//! `W` lies between 1 and 2, in nano. An actor that did not fire has 2; one at or above the median has 1.

use crate::base::primitives::{Address, NANO};
use std::collections::BTreeMap;

/// The window ends with the parent block and has this many blocks.
pub const FAIRNESS_WINDOW_BLOCKS: u64 = 1_000;
/// `W` of an actor that fired as much as the median or more.
pub const WEIGHT_MIN_NANO: u64 = NANO;
/// `W` of an actor that did not fire.
pub const WEIGHT_MAX_NANO: u64 = 2 * NANO;

/// How often an actor fired in one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fires {
    pub height: u64,
    pub actor: Address,
    pub count: u32,
}

/// Whether block `h` is in the window of a block at `height`: height − 1,000 ≤ h ≤ height − 1.
pub const fn in_window(height: u64, h: u64) -> bool {
    h < height && height - h <= FAIRNESS_WINDOW_BLOCKS
}

/// Fires of each actor within the window. Actors without any are listed with 0 if they appear in `fires`.
pub fn recent(height: u64, fires: impl IntoIterator<Item = Fires>) -> BTreeMap<Address, u64> {
    let mut sums = BTreeMap::new();
    for fire in fires {
        let sum: &mut u64 = sums.entry(fire.actor).or_default();
        if in_window(height, fire.height) {
            // 2^32 entries of the highest count would be needed to get there.
            *sum = sum.saturating_add(u64::from(fire.count));
        }
    }
    sums
}

/// The lower median over actors with at least one fire; 0 if there is none.
pub fn lower_median(recent: &BTreeMap<Address, u64>) -> u64 {
    let mut counts: Vec<u64> = recent.values().copied().filter(|count| *count > 0).collect();
    counts.sort_unstable();
    counts.get(counts.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

/// `W` of an actor with `recent` fires, in nano.
pub fn weight(recent: u64, median: u64) -> u64 {
    let ratio = u128::from(recent) * u128::from(NANO) / u128::from(median.max(1));
    let ratio = u64::try_from(ratio).unwrap_or(WEIGHT_MAX_NANO).min(WEIGHT_MAX_NANO);
    (WEIGHT_MAX_NANO - ratio).max(WEIGHT_MIN_NANO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(list: &[u64]) -> BTreeMap<Address, u64> {
        (0..).map(Address::repeat_byte).zip(list.iter().copied()).collect()
    }

    #[test]
    fn window_is_the_thousand_blocks_before() {
        assert!(
            !in_window(5000, 3999)
                && in_window(5000, 4000)
                && in_window(5000, 4999)
                && !in_window(5000, 5000)
        );
        assert!(in_window(10, 0) && !in_window(0, 0) && !in_window(5, u64::MAX));
    }

    #[test]
    fn median_is_the_lower_one_of_those_who_fired() {
        assert_eq!(lower_median(&counts(&[])), 0);
        assert_eq!(lower_median(&counts(&[0, 0])), 0);
        assert_eq!(lower_median(&counts(&[9, 0, 3])), 3);
        assert_eq!(lower_median(&counts(&[4, 1, 3, 2])), 2);
        assert_eq!(lower_median(&counts(&[5, 1, 3])), 3);
    }

    #[test]
    fn weight_falls_from_two_to_one() {
        assert_eq!(weight(0, 0), 2 * NANO);
        assert_eq!(weight(0, 7), 2 * NANO);
        assert_eq!(weight(1, 3), 2 * NANO - 333_333_333);
        assert_eq!(weight(3, 3), NANO);
        assert_eq!(weight(u64::MAX, 1), NANO);
    }

    #[test]
    fn counts_of_many_blocks_add_up() {
        let actor = Address::repeat_byte(1);
        let fires =
            [(4, 2), (5, 3), (2000, 9)].map(|(height, count)| Fires { height, actor, count });
        assert_eq!(recent(1000, fires)[&actor], 5);
    }
}
