//! How many runners a job gets, and how many of them must agree (SPEC §4, "Size of the committee").
//!
//! The more concentrated the stake, the fewer independent runners there are behind the same number of addresses, but
//! also the less a larger committee adds: the target grows with log2 of the network and falls with the
//! Herfindahl–Hirschman index (HHI), which is smoothed per epoch so that one rich arrival does not move it at once.

use crate::base::math::{log2_nano, mul_div};
use crate::base::primitives::{NANO, U256};
use thiserror::Error;

/// A committee is never asked to be smaller than this (SPEC §4: `max(verification.runners, 3)`).
const M_MIN: u64 = 3;

/// How a job's results are judged. The numbers are those of the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum VerificationMode {
    /// One runner, taken at its word.
    None = 0,
    /// One runner, whose stake stays locked for a challenge.
    EconomicBond = 1,
    /// The largest group by one field.
    MajorityVote = 2,
    StructuredMatch = 3,
    /// All results are there and byte-identical.
    Deterministic = 4,
    /// The largest cluster of similar texts.
    SemanticSimilarity = 5,
}

impl VerificationMode {
    /// Every mode, in the order of their numbers.
    pub const ALL: [Self; 6] = [
        Self::None,
        Self::EconomicBond,
        Self::MajorityVote,
        Self::StructuredMatch,
        Self::Deterministic,
        Self::SemanticSimilarity,
    ];

    /// The fewest candidates with which the mode means anything.
    pub const fn minimum(self) -> usize {
        match self {
            Self::None | Self::EconomicBond => 1,
            Self::StructuredMatch | Self::Deterministic => 2,
            Self::MajorityVote | Self::SemanticSimilarity => 3,
        }
    }

    /// Whether a single runner does the job.
    pub const fn is_single(self) -> bool {
        matches!(self, Self::None | Self::EconomicBond)
    }

    /// The name in JSON (SPEC §16).
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::EconomicBond => "economic_bond",
            Self::MajorityVote => "majority_vote",
            Self::StructuredMatch => "structured_match",
            Self::Deterministic => "deterministic",
            Self::SemanticSimilarity => "semantic_similarity",
        }
    }

    /// The mode of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// A job cannot be assigned: fewer candidates than its mode needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{candidates} candidates, but {mode} needs at least {needed}", mode = .mode.name())]
pub struct InsufficientRunners {
    pub mode: VerificationMode,
    pub needed: usize,
    pub candidates: usize,
}

/// `HHI_instant` in nano: the sum of squared shares, divided once. `None` without any stake.
pub fn hhi_instant(stakes: impl Iterator<Item = u128> + Clone) -> Option<u64> {
    let mut total = U256::ZERO;
    for stake in stakes.clone() {
        total = total.checked_add(U256::from(stake))?;
    }
    let mut squares = 0u128;
    for stake in stakes {
        // At most 10^9, and all of them together too: the squares cannot pass 10^18.
        let share = (U256::from(stake) * U256::from(NANO)).checked_div(total)?;
        let share = u128::try_from(share).ok()?;
        squares = squares.checked_add(share * share)?;
    }
    if total.is_zero() {
        return None;
    }
    u64::try_from(squares / u128::from(NANO)).ok()
}

/// The index of this epoch: an eighth of the new measurement, seven eighths of the prior one. The first epoch has no prior.
pub fn smooth_hhi(instant: u64, prior: Option<u64>, alpha_nano: u64) -> u64 {
    let Some(prior) = prior else { return instant };
    let sum = u128::from(instant) * u128::from(alpha_nano)
        + u128::from(prior) * u128::from(NANO.saturating_sub(alpha_nano));
    // A weighted mean of two u64.
    (sum / u128::from(NANO)) as u64
}

/// `M_target`: the size that the state of the network asks for, before any bounds.
pub fn m_target(n_active: u64, hhi_nano: u64, hhi_min_nano: u64) -> u64 {
    if n_active <= 1 {
        return M_MIN;
    }
    (2 * log2_nano(n_active)).div_ceil(hhi_nano.max(hhi_min_nano).max(1))
}

/// `M_adaptive`: the target within its bounds.
pub fn m_adaptive(m_target: u64, m_min: u64, m_max: u64) -> u64 {
    m_target.min(m_max).max(m_min)
}

/// `M`: the size of this job's committee. `runners` is what the submitter asked for.
pub fn committee_size(
    mode: VerificationMode,
    m_adaptive: u64,
    runners: u32,
    candidates: usize,
) -> Result<usize, InsufficientRunners> {
    let needed = mode.minimum();
    if candidates < needed {
        return Err(InsufficientRunners { mode, needed, candidates });
    }
    if mode.is_single() {
        return Ok(1);
    }
    let wanted = m_adaptive.min(u64::from(runners).max(M_MIN));
    Ok(usize::try_from(wanted).unwrap_or(usize::MAX).min(candidates))
}

/// `N_threshold`: how many of `m` members must agree, at least two thirds and at least the submitter's ratio.
/// `None` if `runners` is 0 or a product does not fit.
pub fn n_threshold(m: u64, runners: u32, threshold: u32) -> Option<u64> {
    let two_thirds = m.checked_mul(2)?.div_ceil(3);
    let rounding = u128::from(runners).checked_sub(1)?;
    let asked = u128::from(threshold) * u128::from(m) + rounding;
    let asked = u64::try_from(mul_div(asked, 1, u128::from(runners))?).ok()?;
    Some(two_thirds.max(asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hhi(stakes: &[u128]) -> Option<u64> {
        hhi_instant(stakes.iter().copied())
    }

    #[test]
    fn monopoly_has_the_whole_index() {
        assert_eq!(hhi(&[5]), Some(NANO));
        assert_eq!(hhi(&[0, 5, 0]), Some(NANO));
    }

    #[test]
    fn equal_runners_share_the_index() {
        assert_eq!(hhi(&[7; 4]), Some(250_000_000));
        assert_eq!(hhi(&[7; 100]), Some(10_000_000));
    }

    #[test]
    fn stakes_whose_total_passes_u128_are_counted() {
        assert_eq!(hhi(&[u128::MAX; 4]), Some(250_000_000));
    }

    #[test]
    fn without_stake_there_is_no_index() {
        assert_eq!(hhi(&[]), None);
        assert_eq!(hhi(&[0, 0]), None);
    }

    #[test]
    fn first_epoch_takes_the_measurement_itself() {
        assert_eq!(smooth_hhi(123, None, 125_000_000), 123);
        assert_eq!(smooth_hhi(1_000_000_000, Some(0), 125_000_000), 125_000_000);
        assert_eq!(smooth_hhi(u64::MAX, Some(u64::MAX), 125_000_000), u64::MAX);
    }

    #[test]
    fn target_grows_with_the_network_and_stays_within_bounds() {
        assert_eq!(m_target(0, 0, 10_000_000), 3);
        assert_eq!(m_target(1, NANO, 10_000_000), 3);
        assert_eq!(m_target(4, 250_000_000, 10_000_000), 16);
        assert_eq!(m_target(2, NANO, 10_000_000), 2);
        assert_eq!(m_adaptive(2, 3, 9), 3);
        assert_eq!(m_adaptive(16, 3, 9), 9);
    }

    #[test]
    fn each_mode_refuses_one_below_its_minimum() {
        for mode in VerificationMode::ALL {
            let needed = mode.minimum();
            assert!(committee_size(mode, 9, 9, needed).is_ok());
            let refusal = InsufficientRunners { mode, needed, candidates: needed - 1 };
            assert_eq!(committee_size(mode, 9, 9, needed - 1), Err(refusal));
        }
    }

    #[test]
    fn a_request_for_few_still_gets_three() {
        assert_eq!(committee_size(VerificationMode::MajorityVote, 9, 1, 50), Ok(3));
        assert_eq!(committee_size(VerificationMode::Deterministic, 9, 1, 2), Ok(2));
        assert_eq!(committee_size(VerificationMode::None, 9, 64, 50), Ok(1));
    }

    #[test]
    fn threshold_is_two_thirds_or_what_was_asked() {
        assert_eq!(n_threshold(3, 3, 1), Some(2));
        assert_eq!(n_threshold(9, 64, 64), Some(9));
        assert_eq!(n_threshold(1, 1, 1), Some(1));
        assert_eq!(n_threshold(5, 0, 0), None);
        assert_eq!(n_threshold(u64::MAX, 1, 1), None);
    }

    #[test]
    fn names_lead_back_to_the_mode() {
        for mode in VerificationMode::ALL {
            assert_eq!(VerificationMode::from_name(mode.name()), Some(mode));
        }
        assert_eq!(VerificationMode::from_name("coin_toss"), None);
    }
}
