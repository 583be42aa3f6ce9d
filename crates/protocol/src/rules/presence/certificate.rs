//! What a block carries about presence, and whether it may.
//!
//! Everything but the signatures is judged here; the node that receives the block checks those,
//! against keys that this crate knows only by their bytes.

use crate::base::codec::{Bytes, codec_struct};
use crate::base::primitives::{B256, Height};
use crate::rules::beacon::Round;
use thiserror::Error;

/// Bytes of an attestation's bits. A vote has room for so many.
pub const ATTESTATION_BYTES_MAX: usize = 1_024;

/// What one validator of a quorum saw when it voted, with its own signature: a threshold signature
/// alone could not say who saw what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attestation {
    /// Index of the validator in the set.
    pub validator: u32,
    /// Bits of its own list (SPEC §9), least significant first, without zero bytes at the end.
    pub bits: Bytes,
    /// Its Ed25519 signature.
    pub signature: [u8; 64],
}
codec_struct!(Attestation { validator, bits, signature });

/// A finalization certificate as a block carries it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresenceCertificate {
    /// Height of the finalized block.
    pub height: Height,
    pub round: Round,
    /// View of its parent; part of what was voted on.
    pub parent_view: u64,
    pub block: B256,
    /// The network's signature on the finalization.
    pub vote_signature: [u8; 48],
    /// The network's signature on the round.
    pub seed_signature: [u8; 48],
    /// The quorum's attestations, ascending by validator.
    pub attestations: Vec<Attestation>,
}
codec_struct!(PresenceCertificate {
    height,
    round,
    parent_view,
    block,
    vote_signature,
    seed_signature,
    attestations,
});

/// Why a block may not carry a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PresenceRefusal {
    /// Heights of carried certificates strictly increase along the chain.
    #[error("a certificate of height {got} after one of height {newest}")]
    HeightsDoNotIncrease {
        /// The newest that was carried.
        newest: Height,
        got: Height,
    },
    /// A certificate is of an ancestor.
    #[error("a certificate of height {got} in a block of height {height}")]
    NotAnAncestor { height: Height, got: Height },
    /// Its attestations would not count any more.
    #[error("a certificate of height {got} is too old for a block of height {height}")]
    TooOld { height: Height, got: Height },
    /// It is of a block that is not on this chain.
    #[error("the certificate is of a block that is not a recent ancestor")]
    UnknownBlock,
    /// The block that it names has another height.
    #[error("the certificate says height {got}, its block has {expected}")]
    WrongHeight { expected: Height, got: Height },
    /// The block that it names is of another round.
    #[error("the certificate says round {got:?}, its block is of {expected:?}")]
    WrongRound { expected: Round, got: Round },
    /// The parent of the block that it names is of another view.
    #[error("the certificate says that its block's parent is of view {got}, it is of {expected}")]
    WrongParentView {
        /// That of the ancestor's parent.
        expected: u64,
        got: u64,
    },
    /// Too few attestations to finalize anything, or more than there are validators.
    #[error("{got} attestations, but {least} to {most} make a certificate")]
    WrongCount { least: usize, most: usize, got: usize },
    /// A validator twice, or out of order.
    #[error("attestations must be ascending by validator")]
    NotAscending,
    #[error("there is no validator {0}")]
    UnknownValidator(u32),
    /// More bits than a vote has room for.
    #[error("validator {0} attests more than {ATTESTATION_BYTES_MAX} bytes")]
    TooManyBits(u32),
    /// Zero bytes at the end of the bits.
    #[error("the bits of validator {0} end in a zero byte")]
    NotTrimmed(u32),
}

/// Votes that finalize a block: all but a third, less one.
pub const fn quorum(n: usize) -> usize {
    n - n.saturating_sub(1) / 3
}

pub(crate) fn check_attestations(
    attestations: &[Attestation],
    n: usize,
) -> Result<(), PresenceRefusal> {
    let (least, most, got) = (quorum(n), n, attestations.len());
    if !(least..=most).contains(&got) {
        return Err(PresenceRefusal::WrongCount { least, most, got });
    }
    if !attestations.windows(2).all(|pair| pair[0].validator < pair[1].validator) {
        return Err(PresenceRefusal::NotAscending);
    }
    for Attestation { validator, bits, .. } in attestations {
        if *validator as usize >= n {
            return Err(PresenceRefusal::UnknownValidator(*validator));
        }
        if bits.len() > ATTESTATION_BYTES_MAX {
            return Err(PresenceRefusal::TooManyBits(*validator));
        }
        if bits.last() == Some(&0) {
            return Err(PresenceRefusal::NotTrimmed(*validator));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::quorum;

    #[test]
    fn a_quorum_is_all_but_f() {
        assert_eq!([1, 2, 3, 4, 7, 10, 100].map(quorum), [1, 2, 3, 3, 5, 7, 67]);
    }
}
