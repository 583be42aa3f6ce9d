//! What blocks carry about presence, in the state: subset epochs, newest attestations, ancestors.

use crate::codec::{Bytes, codec_struct};
use crate::primitives::{B256, Height};

/// Where presence stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PresenceState {
    /// Number of the running subset epoch.
    pub epoch: u64,
    /// Its first block.
    pub epoch_start: Height,
    /// `subset_seed` of the running epoch.
    pub seed: B256,
    /// `subset_seed` of the epoch before.
    pub previous_seed: Option<B256>,
    /// Height of the newest certificate that a block carried.
    pub newest_certificate: Option<Height>,
}
codec_struct!(PresenceState { epoch, epoch_start, seed, previous_seed, newest_certificate });

/// A validator's newest attestation on chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttestationRecord {
    /// Height of the certificate.
    pub height: Height,
    /// Bits of its list at that height.
    pub bits: Bytes,
}
codec_struct!(AttestationRecord { height, bits });

/// A recent block, so that a certificate can be told to be an ancestor's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AncestorRecord {
    /// Its height.
    pub height: Height,
    /// Its hash.
    pub hash: B256,
    /// The view of its round.
    pub view: u64,
}
codec_struct!(AncestorRecord { height, hash, view });
