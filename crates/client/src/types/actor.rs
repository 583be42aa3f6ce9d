//! Actors in JSON.

use super::history::HistoryEntry;
use super::scalar::{BigUint, HexAddress, HexBytes, HexHash, Uint};
use super::view::ToView;
use remuda_protocol::actors::record::Actor;
use remuda_protocol::primitives::{Address, Amount, Height};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Code with an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ActorView {
    pub address: HexAddress,
    /// Who may change its code.
    pub owner: HexAddress,
    /// keccak256 of its code.
    pub code_hash: HexHash,
    /// Source text.
    pub code: String,
    pub balance: BigUint,
    /// Bytes of its storage: values, three times the keys, and a fixed part for each entry.
    pub storage_bytes: Uint,
    /// What its code and storage are held against; the actor gets it as they shrink.
    #[serde(default)]
    pub deposit: BigUint,
    /// Calls that wait for an answer.
    pub waiting: u32,
    /// The height that all of this is from.
    pub height: Uint,
}

impl ActorView {
    /// The actor after the block of `height`.
    pub fn new(
        address: Address,
        actor: &Actor,
        code: String,
        balance: Amount,
        height: Height,
    ) -> Self {
        Self {
            address: HexAddress(address),
            owner: HexAddress(actor.owner),
            code_hash: HexHash(actor.code_hash),
            code,
            balance: balance.to_view(),
            storage_bytes: Uint(actor.storage_bytes),
            deposit: actor.held.amount().to_view(),
            waiting: actor.suspended,
            height: height.to_view(),
        }
    }
}

/// Some of what an actor keeps, ascending by key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ActorState {
    pub entries: Vec<ActorEntry>,
    /// The key to go on after; none if this is all.
    pub next: Option<HexBytes>,
    /// The height that all of this is from.
    pub height: Uint,
}

/// One entry of an actor's storage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ActorEntry {
    pub key: HexBytes,
    /// Its value; values that Python wrote are canonical CBOR.
    pub value: HexBytes,
}

/// What an actor said and what became of calls to it, from some blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ActorLogs {
    /// What happened, in the order of the chain.
    pub entries: Vec<HistoryEntry>,
    /// Ask for `before` this height to go on into the past; none at the beginning of the chain.
    pub next: Option<Uint>,
    /// The height up to which this is known.
    pub height: Uint,
}
