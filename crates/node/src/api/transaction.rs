//! `GET /transaction/{hash}[/receipt]`.

use super::App;
use super::error::Failure;
use super::extract::Part;
use crate::backend::Finalised;
use axum::Json;
use axum::extract::State;
use remuda_client::types::{ApiError, HexHash, ReceiptView, TransactionView, code};
use remuda_protocol::primitives::TxHash;
use std::sync::Arc;

/// A transaction that is in a finalised block.
#[utoipa::path(
    get, path = "/transaction/{hash}", tag = "transactions",
    params(("hash" = HexHash, Path, description = "Hash of the signed bytes")),
    responses((status = 200, body = TransactionView), (status = "4XX", body = ApiError))
)]
pub(super) async fn transaction(
    State(app): State<App>,
    Part(HexHash(hash)): Part<HexHash>,
) -> Result<Json<TransactionView>, Failure> {
    let (block, index) = app.locate(hash).await?;
    let bytes = block.block.transactions.get(index as usize);
    let view = bytes.and_then(|bytes| TransactionView::new(bytes, block.height(), index).ok());
    view.map(Json).ok_or_else(|| Failure::new(code::INTERNAL, "the block does not hold it"))
}

/// How a transaction ended.
#[utoipa::path(
    get, path = "/transaction/{hash}/receipt", operation_id = "transaction_receipt", tag = "transactions",
    params(("hash" = HexHash, Path, description = "Hash of the signed bytes")),
    responses((status = 200, body = ReceiptView), (status = "4XX", body = ApiError))
)]
pub(super) async fn receipt(
    State(app): State<App>,
    Part(HexHash(hash)): Part<HexHash>,
) -> Result<Json<ReceiptView>, Failure> {
    let (block, _) = app.locate(hash).await?;
    let receipt = block.receipt_of(hash);
    let view = receipt.map(|receipt| ReceiptView::new(receipt, block.height(), block.hash));
    view.map(Json).ok_or_else(|| Failure::new(code::INTERNAL, "the block has no receipt of it"))
}

impl App {
    /// The block of a transaction, and its place there.
    async fn locate(&self, hash: TxHash) -> Result<(Arc<Finalised>, u32), Failure> {
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
        let block = self.backend.block(height).await.ok_or_else(unknown)?;
        Ok((block, index))
    }
}
