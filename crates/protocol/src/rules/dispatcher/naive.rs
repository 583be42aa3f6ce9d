//! Snapshot and draw straight from SPEC §4, without any index: the reference that the fast version is tested against.
//!
//! Local: a change here needs no agreement among validators. Only tests and audits use it.
//!
//! Everything here is linear or worse on purpose. Nothing but tests and audits should call it.

use crate::base::primitives::{Address, B256, U256, keccak256};
use thiserror::Error;

/// A runner that may be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its address; lists are ascending by it.
    pub address: Address,
    /// Its slot in presence bitmaps.
    pub slot: u32,
    /// Its weight in the draw.
    pub weight: u128,
}

/// Why a list has no root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SnapshotError {
    #[error("candidates are not strictly ascending by address")]
    NotAscending,
    /// A sum of weights is 2^128 or more.
    #[error("the weights add up to 2^128 or more")]
    Overflow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    pub i: u64,
    /// The point that was drawn below the sum of the weights.
    pub r: U256,
    pub address: Address,
}

/// `MRU_WEIGHT_MULTIPLIER`.
const MRU_FACTOR: u64 = 4;
/// Root and sum of the Merkle-sum trie of one ascending list.
pub fn naive_root(candidates: &[Candidate]) -> Result<(B256, u128), SnapshotError> {
    if !candidates.is_sorted_by(|a, b| a.address < b.address) {
        return Err(SnapshotError::NotAscending);
    }
    node(candidates)
}

fn node(candidates: &[Candidate]) -> Result<(B256, u128), SnapshotError> {
    match candidates {
        [] => Ok((B256::ZERO, 0)),
        [only] => Ok((leaf(only), only.weight)),
        [first, .., last] => {
            // The list ascends, so its ends differ at the first bit at which any two of it differ.
            let b = first_difference(&first.address, &last.address)
                .ok_or(SnapshotError::NotAscending)?;
            let middle = candidates.partition_point(|candidate| !bit(&candidate.address, b));
            let (left_hash, left_sum) = node(&candidates[..middle])?;
            let (right_hash, right_sum) = node(&candidates[middle..])?;
            let sum = left_sum.checked_add(right_sum).ok_or(SnapshotError::Overflow)?;
            let parts: [&[u8]; 6] = [
                &[0x01],
                &[b],
                left_hash.as_slice(),
                &left_sum.to_be_bytes(),
                right_hash.as_slice(),
                &right_sum.to_be_bytes(),
            ];
            Ok((keccak256(parts.concat()), sum))
        }
    }
}

fn leaf(candidate: &Candidate) -> B256 {
    let parts: [&[u8]; 4] = [
        &[0x00],
        candidate.address.as_slice(),
        &candidate.weight.to_be_bytes(),
        &candidate.slot.to_be_bytes(),
    ];
    keccak256(parts.concat())
}

/// Bit `b` of an address, bit 0 being the most significant.
fn bit(address: &Address, b: u8) -> bool {
    address[usize::from(b / 8)] >> (7 - b % 8) & 1 == 1
}

fn first_difference(x: &Address, y: &Address) -> Option<u8> {
    (0..160).find(|b| bit(x, *b) != bit(y, *b))
}

/// Draws `m` runners: from the first list until it is empty, then on from the next one, `i` running on.
///
/// Each list is ascending by address. The most recently used runner counts fourfold in iteration 0, whichever list
/// that draws from. Fewer than `m` come back if the lists hold fewer.
pub fn naive_draw(seed: B256, m: usize, mru: Option<Address>, lists: &[&[Candidate]]) -> Vec<Draw> {
    let mut draws: Vec<Draw> = Vec::new();
    let mut cur = seed;
    for list in lists {
        let mut list = list.to_vec();
        for start in 0..list.len() {
            if draws.len() == m {
                return draws;
            }
            let i = draws.len() as u64;
            let weight_now = |candidate: &Candidate| {
                let factor = if i == 0 && mru == Some(candidate.address) { MRU_FACTOR } else { 1 };
                U256::from(candidate.weight) * U256::from(factor)
            };
            let h = keccak256([cur.as_slice(), &i.to_le_bytes()].concat());
            let total = list[start..].iter().map(weight_now).fold(U256::ZERO, |sum, w| sum + w);
            // Only candidates without any weight are left: none of them can be hit.
            let Some(r) = U256::from_le_bytes(h.0).checked_rem(total) else {
                break;
            };
            let mut sum = U256::ZERO;
            let reached = |candidate: &Candidate| {
                sum += weight_now(candidate);
                sum > r
            };
            let Some(j) = list[start..].iter().position(reached) else {
                break;
            };
            list.swap(start, start + j);
            draws.push(Draw { i, r, address: list[start].address });
            cur = h;
        }
    }
    draws
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(weights: &[u128]) -> Vec<Candidate> {
        let candidate = |(n, weight): (u8, &u128)| Candidate {
            address: Address::repeat_byte(n),
            slot: u32::from(n),
            weight: *weight,
        };
        (1..).zip(weights).map(candidate).collect()
    }

    #[test]
    fn empty_list_has_the_zero_root() {
        assert_eq!(naive_root(&[]), Ok((B256::ZERO, 0)));
    }

    #[test]
    fn single_candidate_is_its_own_root() {
        let list = candidates(&[5]);
        assert_eq!(naive_root(&list), Ok((leaf(&list[0]), 5)));
    }

    #[test]
    fn two_candidates_meet_at_their_first_differing_bit() {
        let list = candidates(&[5, 6]);
        let mut bytes = vec![0x01, 6];
        bytes.extend(leaf(&list[0]));
        bytes.extend(5u128.to_be_bytes());
        bytes.extend(leaf(&list[1]));
        bytes.extend(6u128.to_be_bytes());
        assert_eq!(naive_root(&list), Ok((keccak256(bytes), 11)));
    }

    #[test]
    fn unsorted_double_and_overflowing_lists_have_no_root() {
        let mut list = candidates(&[1, 2]);
        list.swap(0, 1);
        assert_eq!(naive_root(&list), Err(SnapshotError::NotAscending));
        list[0] = list[1];
        assert_eq!(naive_root(&list), Err(SnapshotError::NotAscending));
        assert_eq!(naive_root(&candidates(&[u128::MAX, 1])), Err(SnapshotError::Overflow));
        assert!(naive_root(&candidates(&[u128::MAX - 1, 1])).is_ok());
    }

    #[test]
    fn nobody_is_drawn_twice() {
        let list = candidates(&[1, 1_000_000, 3, 4, u128::MAX >> 8]);
        let mut drawn: Vec<Address> =
            naive_draw(B256::ZERO, 9, None, &[&list]).iter().map(|d| d.address).collect();
        drawn.sort_unstable();
        assert_eq!(drawn, list.iter().map(|c| c.address).collect::<Vec<_>>());
    }

    #[test]
    fn second_list_begins_when_the_first_is_empty() {
        let all = candidates(&[1, 1, 1_000_000_000, 1_000_000_000]);
        let draws = naive_draw(B256::ZERO, 3, None, &[&all[..2], &all[2..]]);
        assert!(draws[0].address <= all[1].address && draws[1].address <= all[1].address);
        assert!(draws[2].address > all[1].address);
        assert_eq!(draws.iter().map(|d| d.i).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn mru_counts_fourfold_in_the_first_draw_only() {
        let list = candidates(&[u128::MAX / 4, u128::MAX / 4]);
        let seeds = |n: u8| B256::repeat_byte(n);
        let first = list[0].address;
        let hits = |mru| {
            let hit = |n: &u8| naive_draw(seeds(*n), 1, mru, &[&list])[0].address == first;
            (0..=255).filter(hit).count()
        };
        assert!(hits(None) < 160 && hits(Some(first)) > 180);
        let with = naive_draw(seeds(1), 2, Some(first), &[&list]);
        assert!(with[1].r < U256::from(u128::MAX / 4));
    }

    #[test]
    fn candidates_without_weight_are_never_drawn() {
        assert!(naive_draw(B256::ZERO, 2, None, &[&candidates(&[0, 0])]).is_empty());
        assert_eq!(naive_draw(B256::ZERO, 2, None, &[&candidates(&[0, 7])]).len(), 1);
    }
}
