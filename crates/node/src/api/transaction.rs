//! `GET /transaction/{hash}[/receipt|/status]`.

use super::App;
use super::error::Failure;
use super::extract::{Asked, Part, Peer};
use super::wait::LOOKS_UNTIL_DROPPED;
use crate::backend::Finalised;
use axum::Json;
use axum::extract::State;
use remuda_client::types::{
    ApiError, HexHash, ReceiptView, TransactionStatus, TransactionStatusView, TransactionView,
    Uint, code,
};
use remuda_protocol::primitives::TxHash;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;
use utoipa::IntoParams;

/// A transaction that is in a finalised block.
#[utoipa::path(
    get, path = "/transaction/{hash}", tag = "transactions",
    params(("hash" = HexHash, Path, description = "Hash of the signed bytes")),
    responses((status = 200, body = TransactionView), (status = "4XX", body = ApiError))
)]
pub(super) async fn transaction(
    State(app): State<App>,
    peer: Peer,
    Part(HexHash(hash)): Part<HexHash>,
) -> Result<Json<TransactionView>, Failure> {
    let (block, index) = app.locate(peer, hash).await?;
    let bytes = block.block.transactions.get(index as usize);
    let view = bytes.and_then(|bytes| TransactionView::new(bytes, block.height(), index).ok());
    view.map(Json).ok_or_else(|| Failure::new(code::INTERNAL, "the block does not hold it"))
}

#[utoipa::path(
    get, path = "/transaction/{hash}/receipt", operation_id = "transaction_receipt", tag = "transactions",
    params(("hash" = HexHash, Path, description = "Hash of the signed bytes")),
    responses((status = 200, body = ReceiptView), (status = "4XX", body = ApiError))
)]
pub(super) async fn receipt(
    State(app): State<App>,
    peer: Peer,
    Part(HexHash(hash)): Part<HexHash>,
) -> Result<Json<ReceiptView>, Failure> {
    let (block, _) = app.locate(peer, hash).await?;
    let receipt = block.receipt_of(hash);
    let view = receipt.map(|receipt| ReceiptView::new(receipt, block.height(), block.hash));
    view.map(Json).ok_or_else(|| Failure::new(code::INTERNAL, "the block has no receipt of it"))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusQuery {
    /// Answer only when it is in a finalised block, or after so many milliseconds, or when the
    /// node's own patience ends, or when it turns out that this node does not have it.
    wait_ms: Option<Uint>,
}

/// Where a transaction is: in a block, waiting here, or unknown to this node.
#[utoipa::path(
    get, path = "/transaction/{hash}/status", operation_id = "transaction_status", tag = "transactions",
    params(("hash" = HexHash, Path, description = "Hash of the signed bytes"), StatusQuery),
    responses((status = 200, body = TransactionStatusView), (status = "4XX", body = ApiError))
)]
pub(super) async fn status(
    State(app): State<App>,
    peer: Peer,
    Part(hash): Part<HexHash>,
    Asked(StatusQuery { wait_ms }): Asked<StatusQuery>,
) -> Result<Json<TransactionStatusView>, Failure> {
    let mut wait = app.wait(wait_ms.map_or(Duration::ZERO, |wait| Duration::from_millis(wait.0)));
    let mut missing = 0;
    let status = loop {
        let status = app.whereabouts(peer, hash.0).await;
        let settled = match status {
            TransactionStatus::Included { .. } => true,
            TransactionStatus::Pending {} => false,
            TransactionStatus::Unknown {} => {
                missing += 1;
                missing >= LOOKS_UNTIL_DROPPED
            }
        };
        if settled || !wait.for_a_block().await {
            break status;
        }
    };
    let height = Uint(app.tip().finalised.height().get());
    Ok(Json(TransactionStatusView { hash, status, height }))
}

impl App {
    /// Where a transaction is. Whether it waits is asked first: it waits until a block is known to
    /// have it, so it cannot slip through in between.
    pub(super) async fn whereabouts(&self, peer: Peer, hash: TxHash) -> TransactionStatus {
        let pending = self.backend.pending(hash);
        let Some((height, _)) = self.backend.transaction(hash) else {
            return if pending {
                TransactionStatus::Pending {}
            } else {
                TransactionStatus::Unknown {}
            };
        };
        let block = self.read_block(peer, height).await;
        let receipt = block.as_ref().and_then(|block| {
            let receipt = block.receipt_of(hash)?;
            Some(Box::new(ReceiptView::new(receipt, height, block.hash)))
        });
        TransactionStatus::Included { height: Uint(height.get()), receipt }
    }

    /// The block of a transaction, and its place there.
    async fn locate(&self, peer: Peer, hash: TxHash) -> Result<(Arc<Finalised>, u32), Failure> {
        let unknown = || {
            let failure = Failure::new(
                code::UNKNOWN_TRANSACTION,
                "no finalised block of this node has this transaction",
            );
            if self.backend.pending(hash) {
                failure.hint("it waits for a block; ask again in a moment")
            } else {
                failure.hint("hand it in at /submit")
            }
        };
        let (height, index) = self.backend.transaction(hash).ok_or_else(unknown)?;
        let block = self.read_block(peer, height).await.ok_or_else(unknown)?;
        Ok((block, index))
    }
}
