//! Why a transaction is not let in.

use remuda_client::money::InCby;
use remuda_protocol::error::Inadmissible;
use remuda_protocol::primitives::Amount;
use thiserror::Error;

/// Why a transaction is not let in, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// No block could hold it, now or later.
    #[error(transparent)]
    Inadmissible(#[from] Inadmissible),
    #[error("this transaction waits here already; there is nothing to do but wait")]
    AlreadyKnown,
    /// No basefee can fall to its bid.
    #[error(
        "max_fee is below {floor} base units, that is {cby}, per cycle or cell, which no basefee \
         falls below; bid at least that", cby = in_cby(&Amount(*floor))
    )]
    FeeBelowFloor {
        /// The floor of both basefees.
        floor: u128,
    },
    /// Its nonce is used up.
    #[error("nonce {nonce} is on chain already; the account's next is {next}")]
    NonceTooLow { nonce: u64, next: u64 },
    /// Too many would have to come before it.
    #[error("nonce {nonce} is too far ahead of the account's {next}; send those below {end} first")]
    NonceTooFar {
        nonce: u64,
        next: u64,
        /// First nonce that is too far.
        end: u64,
    },
    /// The sender has enough waiting.
    #[error("this sender has {count} transactions waiting; wait until some are on chain")]
    SenderFull { count: usize },
    /// The sender has enough bytes waiting.
    #[error("this sender may have {limit} bytes waiting; wait until some are on chain")]
    SenderBytesFull { limit: usize },
    /// The balance does not cover it beside what waits already.
    #[error(
        "insufficient balance: this transaction and the sender's pending ones may take up to {} ({needed} base \
         units), {} ({balance} base units) available; lower the limits on value, cycles, cells or deposit, of which \
         unused parts are never charged, or add money",
        in_cby(needed),
        in_cby(balance)
    )]
    CannotPay {
        /// By all of the sender's transactions together; the largest number if it does not fit.
        needed: Amount,
        balance: Amount,
    },
    /// Another one with the same nonce waits, and this one does not bid enough to take its place.
    #[error(
        "another transaction with nonce {nonce} waits; to take its place raise max_fee and \
         max_priority of both bids by at least {percent} percent"
    )]
    ReplacementUnderpriced { nonce: u64, percent: u128 },
    /// The pool is full of better ones.
    #[error("the pool is full of transactions that bid as much or more; bid more or try later")]
    PoolFull,
}

fn in_cby(amount: &Amount) -> InCby {
    InCby(*amount)
}

impl Refusal {
    /// The stable name that programs compare.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Inadmissible(reason) => reason.api_code(),
            Self::AlreadyKnown => "already_known",
            Self::FeeBelowFloor { .. } => "fee_below_floor",
            Self::NonceTooLow { .. } => "nonce_too_low",
            Self::NonceTooFar { .. } => "nonce_too_far",
            Self::SenderFull { .. } => "sender_full",
            Self::SenderBytesFull { .. } => "sender_bytes_full",
            Self::CannotPay { .. } => "cannot_pay",
            Self::ReplacementUnderpriced { .. } => "replacement_underpriced",
            Self::PoolFull => "pool_full",
        }
    }
}
