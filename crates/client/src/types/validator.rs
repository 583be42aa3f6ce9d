//! Validators and their runners in JSON.

use super::scalar::{HexAddress, HexBytes, HexHash, Uint};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The validators that a runner keeps sessions with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunnerValidators {
    pub runner: HexAddress,
    /// The height that all of this is from.
    pub height: Uint,
    /// Number of the running subset epoch.
    pub epoch: Uint,
    /// How many of the current ones must hear the runner for it to be present.
    pub threshold: u32,
    /// Those of the running epoch first, in the order of their numbers; then those of the epoch
    /// before, while they count too.
    pub validators: Vec<RunnerValidator>,
}

/// A validator, for a runner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunnerValidator {
    /// Number of the validator.
    pub index: u32,
    /// Its identity key, which it shows in TLS.
    pub key: HexHash,
    /// Address and port that runners connect to (QUIC); none if the node does not know.
    pub link: Option<String>,
    /// Where its API is; none if the node does not know.
    pub api: Option<String>,
    /// Whether it belongs to the running epoch.
    pub current: bool,
}

/// A committee member's result for its aggregator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HandoverPost {
    /// Runner that made the result.
    pub runner: HexAddress,
    /// Sealed to the aggregator's key.
    pub sealed: HexBytes,
    /// The sender's signature over all of it and the aggregator's address.
    pub signature: HexBytes,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HandedOver {
    /// Whether the aggregator has a session with this node. If not, try another of its validators.
    pub connected: bool,
}
