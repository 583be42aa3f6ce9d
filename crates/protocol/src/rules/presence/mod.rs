//! Presence (CIP-11): which validators attest a runner, and which runners count as present.
//!
//! Consensus: a change here forks the chain.
//!
//! ```text
//! Sub(R)          the first k validators by keccak256("cowboy-subset-v1:" ‖ subset_seed ‖ R ‖ validator)
//!                 k = min(n, clamp(ceil(log2 n) + 1, 3, 8))
//! subset epoch    is due subset_epoch_blocks after the last began; subset_seed = parent beacon of that block.
//!                 Each block draws subsets for subset_hashes_per_block hashes; the epoch begins with the last
//! vote            a finalize vote of v has a bit for each runner with v ∈ Sub(R), and an Ed25519 signature of v
//! certificate     a block may carry one of an ancestor: higher than any carried before, younger than
//!                 PRESENCE_TIMEOUT_BLOCKS, with n − floor((n − 1) / 3) to n attestations, ascending by validator
//! newest[v]       v's bits in the newest carried certificate that has them, while
//!                 certificate height > height − PRESENCE_TIMEOUT_BLOCKS
//! present(R)      at least floor(k / 2) + 1 members of Sub(R) have its bit set in newest; for
//!                 subset_overlap_blocks after an epoch began, also if that holds for the subsets before it
//! a block         changes the presence of presence_changes_per_block runners at most, by slot; its successors
//!                 change the rest
//! ```
//! The seed is unknown when a runner chooses its key. Signatures are checked where a certificate enters the chain,
//! not here.
//!
//! [`present_slots`] is the plain rule; audits use it. A chain gets the same result by looking only at what
//! has changed: `certificate` is what blocks carry, `window` what the state keeps of it, `subsets` who attests whom.

mod certificate;
mod window;

pub(crate) use certificate::check_attestations;
pub use certificate::{
    ATTESTATION_BYTES_MAX, Attestation, PresenceCertificate, PresenceRefusal, quorum,
};
pub use window::{
    AncestorRecord, AttestationRecord, NextSubsets, Phase, PresenceState, SubsetEpoch,
};

use crate::base::math::ceil_log2;
use crate::base::primitives::{B256, keccak256};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// An attestation counts while its block is younger than this.
pub const PRESENCE_TIMEOUT_BLOCKS: u64 = 15;

const SUBSET_DOMAIN: &[u8] = b"cowboy-subset-v1:";
const SUBSET_MIN: usize = 3;
const SUBSET_MAX: usize = 8;

/// An Ed25519 identity key.
pub type ValidatorKey = [u8; 32];
/// A compressed secp256k1 key.
pub type RunnerKey = [u8; 33];

/// What the network makes of presence: a governance parameter, in the seeds' phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresencePolicy {
    Shadow,
    /// Present runners first, absent ones to fill.
    Prefer,
    /// Only present runners.
    Require,
    /// As `Require`; the poll endpoint is gone.
    Sunset,
}

impl PresencePolicy {
    /// Every policy, in the order of the phases.
    pub const ALL: [Self; 4] = [Self::Shadow, Self::Prefer, Self::Require, Self::Sunset];

    /// The name in parameters and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shadow => "shadow",
            Self::Prefer => "prefer",
            Self::Require => "require",
            Self::Sunset => "sunset",
        }
    }

    /// The policy of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.name() == name)
    }
}

/// `k`: how many of `n` validators attest one runner.
pub fn subset_size(n: usize) -> usize {
    // At most 64.
    let log = ceil_log2(n as u64) as usize;
    (log + 1).clamp(SUBSET_MIN, SUBSET_MAX).min(n)
}

/// `t`: how many of a subset of `k` must attest.
pub const fn presence_threshold(k: usize) -> usize {
    k / 2 + 1
}

/// `Sub(R, t)`: the first k validators, ascending by their hash with the runner's key.
pub fn subset(
    seed: &B256,
    runner_pubkey: &RunnerKey,
    validators: &[ValidatorKey],
) -> Vec<ValidatorKey> {
    // One buffer for all: a rotation comes by here for every runner.
    let mut bytes = [SUBSET_DOMAIN, seed.as_slice(), runner_pubkey].concat();
    let common = bytes.len();
    let mut rank = |key: &ValidatorKey| {
        bytes.truncate(common);
        bytes.extend_from_slice(key);
        (keccak256(&bytes), *key)
    };
    let mut ranked: Vec<(B256, ValidatorKey)> = validators.iter().map(&mut rank).collect();
    ranked.sort_unstable();
    ranked.truncate(subset_size(validators.len()));
    ranked.into_iter().map(|(_, key)| key).collect()
}

/// Bits by slot, least significant first. Whatever lies outside the length or the bytes is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bitmap {
    /// How many bits are meant.
    pub bit_length: u32,
    /// The bytes, of which padding is not read.
    pub bytes: Vec<u8>,
}

impl Bitmap {
    /// Whether the bit of `slot` is set.
    pub fn get(&self, slot: u32) -> bool {
        let byte = usize::try_from(slot / 8).ok().and_then(|i| self.bytes.get(i));
        slot < self.bit_length && byte.is_some_and(|byte| byte >> (slot % 8) & 1 == 1)
    }
}

/// One validator's attestation in a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vote {
    pub validator: ValidatorKey,
    pub bitmap: Bitmap,
}

/// What a finalization certificate says about presence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// The height of the finalized block.
    pub height: u64,
    /// The attestations of its quorum.
    pub votes: Vec<Vote>,
}

/// A runner as presence sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresenceRunner {
    pub slot: u32,
    /// Its key, which decides its subset.
    pub pubkey: RunnerKey,
}

/// Why the certificates cannot be those of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PresenceError {
    /// Heights of carried certificates strictly increase along the chain.
    #[error("a certificate of height {height} follows one of height {previous}")]
    HeightsDoNotIncrease {
        /// The height of the earlier one.
        previous: u64,
        /// The height of the later one.
        height: u64,
    },
    /// A certificate is of an ancestor.
    #[error("a certificate of height {certificate} in a block of height {height}")]
    NotAnAncestor {
        /// The height of the certificate.
        certificate: u64,
        /// The height of the block.
        height: u64,
    },
    /// A validator votes at most once in each certificate.
    #[error("a validator votes twice in the certificate of height {0}")]
    TwoVotes(u64),
}

/// `P` at `height`: the present slots, ascending.
///
/// `seeds` are the subset seeds that count: that of this subset epoch and, during the overlap, the previous one. A
/// runner is present if the rule holds for one of them. `certificates` come in chain order.
pub fn present_slots(
    height: u64,
    seeds: &[B256],
    validators: &[ValidatorKey],
    runners: &[PresenceRunner],
    certificates: &[Certificate],
) -> Result<Vec<u32>, PresenceError> {
    let newest = newest_attestations(height, certificates)?;
    let holds = |runner: &PresenceRunner, seed: &B256| {
        let members = subset(seed, &runner.pubkey, validators);
        let attests =
            |key: &&ValidatorKey| newest.get(*key).is_some_and(|bits| bits.get(runner.slot));
        !members.is_empty()
            && members.iter().filter(attests).count() >= presence_threshold(members.len())
    };
    let present = runners.iter().filter(|runner| seeds.iter().any(|seed| holds(runner, seed)));
    Ok(present.map(|runner| runner.slot).collect::<BTreeSet<u32>>().into_iter().collect())
}

/// Each validator's newest bitmap among the certificates of the window.
fn newest_attestations(
    height: u64,
    certificates: &[Certificate],
) -> Result<BTreeMap<ValidatorKey, &Bitmap>, PresenceError> {
    let mut newest = BTreeMap::new();
    let mut previous = None;
    for certificate in certificates {
        if let Some(previous) = previous.filter(|previous| *previous >= certificate.height) {
            return Err(PresenceError::HeightsDoNotIncrease {
                previous,
                height: certificate.height,
            });
        }
        previous = Some(certificate.height);
        let age = height.checked_sub(certificate.height).filter(|age| *age > 0);
        let age =
            age.ok_or(PresenceError::NotAnAncestor { certificate: certificate.height, height })?;
        let mut voters = BTreeSet::new();
        for vote in &certificate.votes {
            if !voters.insert(vote.validator) {
                return Err(PresenceError::TwoVotes(certificate.height));
            }
            if age < PRESENCE_TIMEOUT_BLOCKS {
                newest.insert(vote.validator, &vote.bitmap);
            }
        }
    }
    Ok(newest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: B256 = B256::repeat_byte(7);
    const RUNNER: PresenceRunner = PresenceRunner { slot: 5, pubkey: [2; 33] };

    fn validators(n: u8) -> Vec<ValidatorKey> {
        (0..n).map(|i| [i; 32]).collect()
    }

    fn certificate(height: u64, voters: &[ValidatorKey], present: bool) -> Certificate {
        let bitmap = Bitmap { bit_length: 8, bytes: vec![if present { 1 << 5 } else { 0 }] };
        let votes =
            voters.iter().map(|key| Vote { validator: *key, bitmap: bitmap.clone() }).collect();
        Certificate { height, votes }
    }

    fn present(height: u64, certificates: &[Certificate]) -> Vec<u32> {
        present_slots(height, &[SEED], &validators(10), &[RUNNER], certificates)
            .expect("valid certificates")
    }

    #[test]
    fn subset_grows_slowly_and_never_beyond_the_set() {
        let sizes = [0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 64, 65, 128, 1 << 40].map(subset_size);
        assert_eq!(sizes, [0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 8, 8]);
    }

    #[test]
    fn subset_depends_on_the_set_alone() {
        let mut reversed = validators(20);
        reversed.reverse();
        assert_eq!(
            subset(&SEED, &RUNNER.pubkey, &reversed),
            subset(&SEED, &RUNNER.pubkey, &validators(20))
        );
        assert!(subset(&SEED, &RUNNER.pubkey, &[]).is_empty());
    }

    #[test]
    fn threshold_of_the_subset_decides() {
        let members = subset(&SEED, &RUNNER.pubkey, &validators(10));
        assert_eq!(present(100, &[certificate(99, &members[..3], true)]), [5]);
        assert!(present(100, &[certificate(99, &members[..2], true)]).is_empty());
    }

    #[test]
    fn outsiders_cannot_make_a_runner_present() {
        let members = subset(&SEED, &RUNNER.pubkey, &validators(10));
        let outsiders: Vec<_> =
            validators(200).into_iter().filter(|key| !members.contains(key)).collect();
        assert!(present(100, &[certificate(99, &outsiders, true)]).is_empty());
    }

    #[test]
    fn newer_attestation_replaces_an_older_one() {
        let all = validators(10);
        let (yes, no) = (certificate(98, &all, true), certificate(99, &all, false));
        assert!(present(100, &[yes.clone(), no]).is_empty());
        assert_eq!(present(100, &[certificate(97, &all, false), yes]), [5]);
    }

    #[test]
    fn attestation_counts_for_fourteen_blocks() {
        let all = validators(10);
        assert_eq!(present(100, &[certificate(86, &all, true)]), [5]);
        assert!(present(100, &[certificate(85, &all, true)]).is_empty());
        assert_eq!(present(3, &[certificate(0, &all, true)]), [5]);
    }

    #[test]
    fn either_seed_is_enough_during_the_overlap() {
        let other = B256::repeat_byte(9);
        let old = subset(&other, &RUNNER.pubkey, &validators(200));
        let certificates = [certificate(99, &old, true)];
        let run =
            |seeds: &[B256]| present_slots(100, seeds, &validators(200), &[RUNNER], &certificates);
        assert_eq!(run(&[SEED]), Ok(vec![]));
        assert_eq!(run(&[SEED, other]), Ok(vec![5]));
    }

    #[test]
    fn impossible_certificates_are_refused() {
        let all = validators(2);
        let run = |certificates: &[Certificate]| {
            present_slots(9, &[SEED], &all, &[RUNNER], certificates).err()
        };
        let twice = certificate(8, &[all[0], all[0]], true);
        assert_eq!(run(&[twice]), Some(PresenceError::TwoVotes(8)));
        let own = PresenceError::NotAnAncestor { certificate: 9, height: 9 };
        assert_eq!(run(&[certificate(9, &all, true)]), Some(own));
        let flat = PresenceError::HeightsDoNotIncrease { previous: 8, height: 8 };
        assert_eq!(run(&[certificate(8, &all, true), certificate(8, &all, true)]), Some(flat));
    }

    #[test]
    fn bits_outside_the_map_are_zero() {
        let map = Bitmap { bit_length: 12, bytes: vec![0xff, 0xff] };
        assert!(map.get(11) && !map.get(12) && !map.get(u32::MAX));
        assert!(!Bitmap { bit_length: 100, bytes: vec![0xff] }.get(8));
    }
}
