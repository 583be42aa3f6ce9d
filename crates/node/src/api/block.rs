//! `GET /block/{latest|height|hash}`.

use super::App;
use super::error::Failure;
use super::extract::{Asked, Part, Peer};
use crate::backend::Finalised;
use axum::Json;
use axum::extract::State;
use remuda_client::types::{ApiError, BlockView, HexHash, Uint, code};
use remuda_protocol::primitives::Height;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::IntoParams;

/// Signatures that are as much work as a request: about a millisecond.
const SENDERS_PER_TOKEN: u32 = 8;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct BlockQuery {
    /// Whole transactions and receipts, too.
    #[serde(default)]
    full: bool,
}

/// A finalised block.
#[utoipa::path(
    get, path = "/block/{id}", tag = "blocks",
    params(("id" = String, Path, description = "`latest`, a height, or a hash"), BlockQuery),
    responses((status = 200, body = BlockView), (status = "4XX", body = ApiError))
)]
pub(super) async fn block(
    State(app): State<App>,
    Part(id): Part<String>,
    peer: Peer,
    Asked(BlockQuery { full }): Asked<BlockQuery>,
) -> Result<Json<BlockView>, Failure> {
    let found = app.find_block(peer, &id).await?;
    if !full {
        return Ok(Json(BlockView::new(&found.block, found.hash)));
    }
    app.allow(peer, app.price_of(&found))?;
    let view = move || BlockView::full(&found.block, found.hash, &found.receipts);
    let view = tokio::task::spawn_blocking(view).await;
    view.map(Json).map_err(|_| Failure::new(code::INTERNAL, "the block could not be written out"))
}

impl App {
    /// Tokens for a block with everything in it: every sender is recovered from a signature. Never
    /// more than half of an allowance, or nobody could ever ask for a full block.
    fn price_of(&self, found: &Finalised) -> u32 {
        let transactions = u32::try_from(found.block.transactions.len()).unwrap_or(u32::MAX);
        (transactions / SENDERS_PER_TOKEN).min(self.limits.burst / 2)
    }

    async fn find_block(&self, peer: Peer, id: &str) -> Result<Arc<Finalised>, Failure> {
        let tip = self.tip();
        if id == "latest" {
            return Ok(tip.finalised.clone());
        }
        let unknown = |what: String| {
            let height = tip.finalised.height();
            Failure::new(code::UNKNOWN_BLOCK, format!("this node has no block {what}"))
                .hint(format!("the newest finalised block has height {height}"))
        };
        let height = if id.starts_with("0x") {
            let HexHash(hash) = id.parse().map_err(malformed)?;
            self.backend.height_of(hash).ok_or_else(|| unknown("of this hash".to_owned()))?
        } else {
            let Uint(height) = id.parse().map_err(malformed)?;
            Height(height)
        };
        self.read_block(peer, height).await.ok_or_else(|| unknown(height.to_string()))
    }
}

fn malformed(error: remuda_client::types::ScalarError) -> Failure {
    Failure::new(code::MALFORMED_PATH, format!("no block is named like that: {error}"))
        .hint("write `latest`, a height, or a hash with 0x in front")
}
