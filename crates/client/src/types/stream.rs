//! What `/events` sends.
//!
//! One message per block, with the block's height as its id. A client that reconnects with the last
//! id continues with the next block, so it neither misses nor repeats an event of a block.

use super::event::EventBody;
use super::receipt::CauseName;
use super::scalar::{HexAddress, HexHash, Uint};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A finalised block and what happened in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EventView {
    /// Height of the block.
    pub height: Uint,
    pub block: HexHash,
    pub parent: HexHash,
    /// View of its round.
    pub view: Uint,
    /// Time of the block, in milliseconds since 1970.
    pub timestamp_ms: Uint,
    /// How many transactions it has.
    pub transactions: u32,
    /// What happened, in order; only what was asked for.
    pub events: Vec<Occurrence>,
}

/// One event and its cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Occurrence {
    pub cause: CauseName,
    /// The transaction, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<HexHash>,
    pub event: EventBody,
}

/// How far a runner says it is with a job. Nobody vouches for it, and it is not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProgressNews {
    pub job: HexHash,
    pub runner: HexAddress,
    pub percent: u8,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// The last message of a stream that the node ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StreamEnd {
    /// `too_slow`, `shutting_down` or `unknown_block`.
    pub code: String,
    /// What to do about it.
    pub message: String,
    /// The last block that was sent.
    pub last_height: Option<Uint>,
}

/// Names of the messages.
pub mod message {
    /// A block: [`EventView`](super::EventView).
    pub const BLOCK: &str = "block";
    /// A runner's progress: [`ProgressNews`](super::ProgressNews).
    pub const PROGRESS: &str = "progress";
    /// The end: [`StreamEnd`](super::StreamEnd).
    pub const END: &str = "end";
}
