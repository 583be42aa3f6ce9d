//! Proofs of state entries in JSON.

use super::scalar::{HexBytes, HexHash, Uint};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Proof that a key has a value in the state after a block, or has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProofView {
    pub key: HexBytes,
    /// The value's bytes; none if the key is absent.
    pub value: Option<HexBytes>,
    /// The block after which this holds.
    pub height: Uint,
    /// State root in that block's header.
    pub root: HexHash,
    /// The proof, in the encoding of the node's authenticated store.
    pub proof: HexBytes,
}
