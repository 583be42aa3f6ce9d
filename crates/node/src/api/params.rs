//! `GET /params`.

use super::App;
use axum::Json;
use axum::extract::State;
use remuda_client::types::ParamsView;

/// The chain's parameters, with what they decide and their ranges.
#[utoipa::path(
    get, path = "/params", tag = "chain", responses((status = 200, body = ParamsView))
)]
pub(super) async fn params(State(app): State<App>) -> Json<ParamsView> {
    Json(app.params().into())
}
