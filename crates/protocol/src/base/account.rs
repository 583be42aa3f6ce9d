//! Accounts.
//!
//! Consensus: a change here forks the chain.

use crate::base::codec::codec_struct;
use crate::base::primitives::Amount;

/// What the chain keeps of an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Money that can be spent.
    pub balance: Amount,
    /// Nonce of the next transaction.
    pub nonce: u64,
    /// Callbacks of this submitter's jobs that failed. Runners may look at it before they offer
    /// their work; nothing else depends on it.
    pub failed_callbacks: u64,
}
codec_struct!(Account { balance, nonce, failed_callbacks });
