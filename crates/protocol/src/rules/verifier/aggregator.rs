//! Who collects the reveals (SPEC §5): a member with at least the committee's median reputation, drawn by the seed.

use crate::base::primitives::{Address, B256, JobId, U256, keccak256};

const AGGREGATOR_DOMAIN: &[u8] = b"agg-select-v3";

/// Members whose reputation at assignment is at least the nearest-rank p50 of the committee, ascending by address.
pub fn eligible(committee: &[(Address, u64)]) -> Vec<Address> {
    let mut reputations: Vec<u64> = committee.iter().map(|(_, reputation)| *reputation).collect();
    reputations.sort_unstable();
    // Rank ceil(n / 2), counted from 1.
    let Some(p50) = reputations.get(reputations.len().div_ceil(2).saturating_sub(1)) else {
        return Vec::new();
    };
    let mut members: Vec<Address> = committee
        .iter()
        .filter(|(_, reputation)| reputation >= p50)
        .map(|(address, _)| *address)
        .collect();
    members.sort_unstable();
    members
}

/// The aggregator among `eligible`, which is in ascending order. `None` if it is empty.
pub fn choose(selection_seed: B256, job_id: JobId, eligible: &[Address]) -> Option<Address> {
    let digest =
        keccak256([AGGREGATOR_DOMAIN, selection_seed.as_slice(), job_id.as_slice()].concat());
    let index = U256::from_le_bytes(digest.0).checked_rem(U256::from(eligible.len()))?;
    eligible.get(usize::try_from(index).ok()?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(reputations: &[u64]) -> Vec<u8> {
        let committee: Vec<_> =
            (1..).map(Address::repeat_byte).zip(reputations.iter().copied()).collect();
        eligible(&committee).iter().map(|address| address[0]).collect()
    }

    #[test]
    fn the_upper_half_is_eligible() {
        assert_eq!(names(&[10, 20, 30]), [2, 3]);
        assert_eq!(names(&[40, 10, 30, 20]), [1, 3, 4]);
        assert_eq!(names(&[7]), [1]);
        assert_eq!(names(&[5, 5, 5]), [1, 2, 3]);
    }

    #[test]
    fn order_of_the_committee_does_not_matter() {
        let (a, b) = (Address::repeat_byte(1), Address::repeat_byte(2));
        assert_eq!(eligible(&[(a, 1), (b, 1)]), eligible(&[(b, 1), (a, 1)]));
    }

    #[test]
    fn nobody_is_chosen_from_nobody() {
        assert!(eligible(&[]).is_empty());
        assert_eq!(choose(B256::ZERO, B256::ZERO, &[]), None);
    }

    #[test]
    fn the_chosen_one_is_eligible_and_depends_on_the_seed() {
        let members: Vec<Address> = (0..64).map(Address::repeat_byte).collect();
        let draw =
            |n| choose(B256::repeat_byte(n), B256::ZERO, &members).expect("there are members");
        assert!((0..8).all(|n| members.contains(&draw(n))));
        assert!((0..8).any(|n| draw(n) != draw(0)));
    }
}
