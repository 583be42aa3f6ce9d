//! Randomness that nobody chooses: rounds, beacons and the seeds of selections (SPEC §2, §4).
//!
//! Consensus: a change here forks the chain.
//!
//! A round's threshold signature is hashed into its beacon; a job's seed mixes the beacon of its bound round with the
//! job. Whether a signature is genuine is checked where it enters the chain, not here.

use crate::base::codec::codec_struct;
use crate::base::primitives::{B256, JobId, keccak256};

const BEACON_DOMAIN: &[u8] = b"cowboy-beacon-v1:";
const GENESIS_BEACON_DOMAIN: &[u8] = b"cowboy-genesis-beacon-v1:";
const SELECT_DOMAIN: &[u8] = b"cowboy-runner-select-v3:";

/// A consensus round. Rounds are ordered by epoch, then view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Round {
    /// The epoch: one validator set.
    pub epoch: u64,
    /// The view within the epoch.
    pub view: u64,
}

codec_struct!(Round { epoch, view });

impl Round {
    /// `advance_round`: `k` views later in the same epoch. `None` past the last view.
    pub fn advance(self, k: u64) -> Option<Self> {
        Some(Self { view: self.view.checked_add(k)?, ..self })
    }
}

/// Which beacon a selection uses; the byte goes into the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SelectionMode {
    /// The parent beacon, at once. Only for a single runner without verification.
    Immediate = 0,
    /// The beacon of a round that was not known at submission.
    Delayed = 1,
}

impl SelectionMode {
    /// The mode of that byte.
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Immediate),
            1 => Some(Self::Delayed),
            _ => None,
        }
    }
}

/// `canonical_seed_bytes` of CIP-2 §5.2: the hash of a round and the network's signature on it.
pub fn beacon(round: Round, signature: &[u8]) -> B256 {
    let parts: [&[u8]; 4] =
        [BEACON_DOMAIN, &round.epoch.to_be_bytes(), &round.view.to_be_bytes(), signature];
    keccak256(parts.concat())
}

/// The beacon of view 0, which has no signature.
pub fn genesis_beacon(genesis_hash: B256) -> B256 {
    keccak256([GENESIS_BEACON_DOMAIN, genesis_hash.as_slice()].concat())
}

/// The seed of a job's first selection.
pub fn selection_seed(mode: SelectionMode, beacon: B256, job_id: JobId, submitted_at: u64) -> B256 {
    let parts: [&[u8]; 5] = [
        SELECT_DOMAIN,
        &[mode as u8],
        beacon.as_slice(),
        job_id.as_slice(),
        &submitted_at.to_le_bytes(),
    ];
    keccak256(parts.concat())
}

/// The seed of retry `c`, from the seed that the fresh round gives.
pub fn retry_seed(seed: B256, c: u32) -> B256 {
    keccak256([seed.as_slice(), b"retry:", &c.to_le_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_order_by_epoch_first() {
        let late = Round { epoch: 1, view: 900 };
        assert!(late < Round { epoch: 2, view: 0 });
        assert_eq!(late.advance(4), Some(Round { epoch: 1, view: 904 }));
        assert_eq!(Round { epoch: 0, view: u64::MAX }.advance(1), None);
    }

    #[test]
    fn beacon_is_the_hash_of_the_written_bytes() {
        let mut bytes = b"cowboy-beacon-v1:".to_vec();
        bytes.extend([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0xaa]);
        assert_eq!(beacon(Round { epoch: 1, view: 2 }, &[0xaa]), keccak256(bytes));
    }

    #[test]
    fn every_part_of_a_seed_counts() {
        let (b, j) = (B256::repeat_byte(1), B256::repeat_byte(2));
        let base = selection_seed(SelectionMode::Delayed, b, j, 5);
        assert_ne!(base, selection_seed(SelectionMode::Immediate, b, j, 5));
        assert_ne!(base, selection_seed(SelectionMode::Delayed, j, b, 5));
        assert_ne!(base, selection_seed(SelectionMode::Delayed, b, j, 5 << 56));
        assert_ne!(retry_seed(base, 1), retry_seed(base, 2));
    }

    #[test]
    fn genesis_has_a_domain_of_its_own() {
        let hash = B256::repeat_byte(3);
        assert_ne!(genesis_beacon(hash), beacon(Round::default(), hash.as_slice()));
    }
}
