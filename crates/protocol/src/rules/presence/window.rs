//! What the state knows about presence: subset epochs, newest attestations, recent blocks.

use crate::base::codec::{Bytes, codec_struct};
use crate::base::primitives::{B256, Height, Slot};

/// A time for which subsets stay as they were drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubsetEpoch {
    pub number: u64,
    pub start: Height,
    /// The slot of the first runner to come after its start.
    pub first_slot: Slot,
    /// `subset_seed`: the parent beacon of the block in which it was due.
    pub seed: B256,
}
codec_struct!(SubsetEpoch { number, start, first_slot, seed });

/// A time for which places in the validators' lists do not move: an epoch's overlap, or the rest
/// of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    pub since: Height,
    /// Whether the subsets of the epoch before count, too.
    pub overlap: bool,
}
codec_struct!(Phase { since, overlap });

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresenceState {
    pub epoch: SubsetEpoch,
    pub previous: Option<SubsetEpoch>,
    pub phase: Phase,
    /// Height of the newest certificate that a block carried.
    pub newest_certificate: Option<Height>,
    /// The epoch that is due, while its subsets are drawn.
    pub next: Option<NextSubsets>,
    /// Slots from here on may have been attested differently than they count, until later blocks
    /// get to them.
    pub stale_from: Option<Slot>,
}
codec_struct!(PresenceState { epoch, previous, phase, newest_certificate, next, stale_from });

/// Subsets that are being drawn. With many runners and validators that takes more than a block's
/// time, so each block draws some, and the epoch begins with the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextSubsets {
    /// `subset_seed`: the parent beacon of the block in which the epoch was due.
    pub seed: B256,
    /// Slots below this one are drawn.
    pub drawn: Slot,
}
codec_struct!(NextSubsets { seed, drawn });

/// A validator's newest attestation on chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttestationRecord {
    pub height: Height,
    /// Bits of its list at that height. Bits beyond the end of the list are cut, so
    /// that no attestation counts for a later runner.
    pub bits: Bytes,
}
codec_struct!(AttestationRecord { height, bits });

/// A recent block, so that a certificate can be told to be an ancestor's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AncestorRecord {
    pub height: Height,
    pub hash: B256,
    /// The view of its round.
    pub view: u64,
    /// The view of its parent's round; genesis has none.
    pub parent_view: Option<u64>,
    /// The first slot that was free after it: lists ended before.
    pub next_slot: Slot,
}
codec_struct!(AncestorRecord { height, hash, view, parent_view, next_slot });
