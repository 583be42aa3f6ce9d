//! `GET /proof/{key}`.

use super::App;
use super::error::Failure;
use super::extract::Part;
use crate::backend::ProofError;
use axum::Json;
use axum::extract::State;
use remuda_client::types::{ApiError, HexBytes, HexHash, ProofView, Uint, code};
use std::time::Duration;

/// Proof that a key has a value in the state, or has none.
#[utoipa::path(
    get, path = "/proof/{key}", tag = "chain",
    params(("key" = HexBytes, Path, description = "The key's bytes: its tag and its parts")),
    responses(
        (status = 200, body = ProofView),
        (status = "4XX", body = ApiError), (status = "5XX", body = ApiError),
    )
)]
pub(super) async fn proof(
    State(app): State<App>,
    Part(HexBytes(key)): Part<HexBytes>,
) -> Result<Json<ProofView>, Failure> {
    let most = app.limits.key_bytes;
    if key.is_empty() || key.len() > most {
        let message = format!("a key has 1 to {most} bytes, not {}", key.len());
        return Err(Failure::new(code::MALFORMED_PATH, message));
    }
    app.prove(key).await.map(Json)
}

impl App {
    pub(super) async fn prove(&self, key: Vec<u8>) -> Result<ProofView, Failure> {
        let proven = self.backend.prove(key.clone()).await.map_err(|error| {
            let failure = Failure::new(code::NO_PROOF, error.to_string());
            match error {
                ProofError::Unsupported => failure.hint("ask another node"),
                ProofError::Unavailable(_) => failure.retry_after(Duration::from_secs(1)),
            }
        })?;
        Ok(ProofView {
            key: HexBytes(key),
            value: proven.value.map(HexBytes),
            height: Uint(proven.height.get()),
            root: HexHash(proven.root),
            proof: HexBytes(proven.proof),
        })
    }
}
