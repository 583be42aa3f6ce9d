//! Presence in JSON: a matrix of runners and validators.

use super::scalar::{HexAddress, HexHash, Uint};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Who attests whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PresenceView {
    /// The height that all of this is from.
    pub height: Uint,
    /// What the network makes of presence: shadow, prefer, require or sunset.
    pub policy: String,
    /// Number of the running subset epoch.
    pub epoch: Uint,
    /// Its first block.
    pub epoch_start: Uint,
    /// `subset_seed` of the running epoch.
    pub seed: HexHash,
    /// `subset_seed` of the epoch before, while both count.
    pub previous_seed: Option<HexHash>,
    /// Height of the newest certificate that a block carried.
    pub newest_certificate: Option<Uint>,
    /// Validators that attest one runner.
    pub subset_size: u32,
    /// How many of them are enough.
    pub threshold: u32,
    /// Columns of the matrix.
    pub validators: Vec<AttesterView>,
    /// The rows, ascending by slot.
    pub rows: Vec<PresenceRow>,
    /// Ask with `after` set to this for more; none on the last page.
    pub next: Option<u32>,
}

/// A validator and its newest attestation on chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttesterView {
    /// Number of the validator.
    pub index: u32,
    /// Its identity key.
    pub key: HexHash,
    /// Height of its newest attestation.
    pub attested_at: Option<Uint>,
    /// Whether its attestation still counts.
    pub fresh: bool,
}

/// A runner and who attests it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PresenceRow {
    pub slot: u32,
    pub runner: HexAddress,
    /// P: whether it counts as present.
    pub present: bool,
    /// Numbers of the validators that may attest it.
    pub members: Vec<u32>,
    /// Those of the epoch before, while both count.
    pub previous_members: Vec<u32>,
    /// Members with a fresh attestation that has its bit set; none if this node cannot tell.
    pub attested_by: Option<Vec<u32>>,
    /// Whether it has a live session with this very node.
    pub connected_here: bool,
}
