//! How a transaction, or a block's own work, ended.

use super::event::EventBody;
use super::scalar::{BigUint, HexHash, Uint};
use super::view::{ToView, view};
use remuda_protocol::error::Refusal;
use remuda_protocol::event::{Cause, Receipt};
use remuda_protocol::fees::Usage;
use remuda_protocol::primitives::{B256, Height};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What caused events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CauseName {
    /// A transaction.
    Transaction,
    /// The block itself, before its transactions.
    Opening,
    /// The block itself, after its transactions.
    Closing,
}

impl CauseName {
    /// What caused a receipt, and which transaction if it was one.
    pub fn of(cause: &Cause) -> (Self, Option<HexHash>) {
        match cause {
            Cause::Transaction { hash } => (Self::Transaction, Some(hash.to_view())),
            Cause::Opening => (Self::Opening, None),
            Cause::Closing => (Self::Closing, None),
        }
    }
}

/// A receipt and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReceiptView {
    /// Height of its block.
    pub height: Uint,
    /// Hash of its block.
    pub block: HexHash,
    pub cause: CauseName,
    /// The transaction, if it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction: Option<HexHash>,
    /// Whether it did what it was meant to.
    pub ok: bool,
    /// 0, or the code of the refusal.
    pub code: u16,
    /// Why it was turned down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<RefusalView>,
    pub used: UsageView,
    /// Total fee, tip and basefees.
    pub fee: BigUint,
    /// Events in chain order.
    pub events: Vec<EventBody>,
}

/// Why the rules turned a transaction down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RefusalView {
    /// Stable identifier of the reason.
    pub name: String,
    /// What to do about it.
    pub message: String,
}

view! {
    /// Computation and bytes consumed.
    #[derive(Copy)]
    pub struct UsageView of Usage {
        cycles: Uint,
        /// Bytes consumed.
        cells: Uint,
    }
}

impl ReceiptView {
    /// The receipt as it stands in a block.
    pub fn new(receipt: &Receipt, height: Height, block: B256) -> Self {
        let (cause, transaction) = CauseName::of(&receipt.cause);
        let refusal = Refusal::from_code(receipt.code).map(|refusal| RefusalView {
            name: refusal.name().to_owned(),
            message: refusal.to_string(),
        });
        Self {
            height: height.to_view(),
            block: block.to_view(),
            cause,
            transaction,
            ok: receipt.code == 0,
            code: receipt.code,
            refusal,
            used: receipt.used.to_view(),
            fee: receipt.fee.to_view(),
            events: receipt.events.to_view(),
        }
    }
}
