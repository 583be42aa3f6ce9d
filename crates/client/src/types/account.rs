//! Accounts in JSON.

use super::scalar::{BigUint, HexAddress, Uint};
use super::view::ToView;
use remuda_protocol::account::Account;
use remuda_protocol::primitives::{Address, Height};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What the chain keeps of an address. An address that nobody has used is an empty account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AccountView {
    pub address: HexAddress,
    /// Money that can be spent.
    pub balance: BigUint,
    /// Nonce of the next transaction on chain.
    pub nonce: Uint,
    /// Nonce of the next transaction if everything that waits at this node is taken first.
    pub next_nonce: Uint,
    /// Callbacks of this submitter's jobs that failed.
    pub failed_callbacks: Uint,
    /// Whether a runner is or was registered here.
    pub is_runner: bool,
    /// The height that all of this is from.
    pub height: Uint,
}

impl AccountView {
    /// The account after the block of `height`.
    pub fn new(
        address: Address,
        account: &Account,
        next_nonce: u64,
        is_runner: bool,
        height: Height,
    ) -> Self {
        Self {
            address: HexAddress(address),
            balance: account.balance.to_view(),
            nonce: Uint(account.nonce),
            next_nonce: Uint(next_nonce.max(account.nonce)),
            failed_callbacks: Uint(account.failed_callbacks),
            is_runner,
            height: height.to_view(),
        }
    }
}
