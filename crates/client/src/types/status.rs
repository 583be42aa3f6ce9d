//! A node and its chain at a glance.

use super::scalar::{BigUint, HexAddress, HexHash, Uint};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Where a node and its chain stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StatusView {
    /// Version of the node's software.
    pub version: String,
    pub chain_id: Uint,
    /// Hash of the genesis block.
    pub genesis_hash: HexHash,
    /// Height of the newest finalised block.
    pub height: Uint,
    pub block: HexHash,
    /// Time of the block, in milliseconds since 1970.
    pub timestamp_ms: Uint,
    /// View that this node is in.
    pub view: Uint,
    /// Time between blocks that block counts are meant for.
    pub block_time_ms: Uint,
    pub validators: Vec<ValidatorView>,
    /// What the network makes of presence: shadow, prefer, require or sunset.
    pub policy: String,
    /// What the next block asks.
    pub basefees: BasefeesView,
    /// What 1,024 bytes that stay in the state are held against. Returned when they go.
    #[serde(default)]
    pub state_deposit_per_kib: BigUint,
    /// Amount in existence, in base units.
    pub supply: BigUint,
    /// Burned since genesis.
    pub burned: BigUint,
    /// The largest committee that a job gets in this epoch.
    pub m_adaptive: Uint,
    /// Peers that this node is connected to.
    pub peers: u32,
    /// Transactions that wait at this node.
    pub mempool: Uint,
    /// Whether this node has caught up.
    pub ready: bool,
    /// How long this node has been running.
    pub uptime_seconds: Uint,
}

/// One of those who make blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ValidatorView {
    /// Number of the validator.
    pub index: u32,
    /// Its identity key.
    pub key: HexHash,
    /// The account that gets its tips.
    pub fee_recipient: HexAddress,
}

/// Price of a cycle and of a cell; burned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BasefeesView {
    pub cycle: BigUint,
    pub cell: BigUint,
}

/// Whether a node is alive, or ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HealthView {
    /// Always true; otherwise the answer is an error.
    pub ok: bool,
    /// Height of the newest finalised block.
    pub height: Uint,
}
