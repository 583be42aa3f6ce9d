//! `GET /actor/{address}[/logs|/state]`: said plainly that there are none yet.

use super::error::Failure;
use super::extract::Part;
use axum::Json;
use remuda_client::types::{ApiError, HexAddress, code};

fn none_yet() -> Failure {
    Failure::new(code::NO_ACTORS, "no address of this chain has code: actors come with the VM")
}

/// An actor.
#[utoipa::path(
    get, path = "/actor/{address}", tag = "actors",
    params(("address" = HexAddress, Path, description = "The actor")),
    responses((status = 501, body = ApiError), (status = "4XX", body = ApiError))
)]
pub(super) async fn actor(_: Part<HexAddress>) -> Result<Json<ApiError>, Failure> {
    Err(none_yet())
}

/// What an actor printed.
#[utoipa::path(
    get, path = "/actor/{address}/logs", operation_id = "actor_logs", tag = "actors",
    params(("address" = HexAddress, Path, description = "The actor")),
    responses((status = 501, body = ApiError), (status = "4XX", body = ApiError))
)]
pub(super) async fn logs(_: Part<HexAddress>) -> Result<Json<ApiError>, Failure> {
    Err(none_yet())
}

/// What an actor keeps.
#[utoipa::path(
    get, path = "/actor/{address}/state", operation_id = "actor_state", tag = "actors",
    params(("address" = HexAddress, Path, description = "The actor")),
    responses((status = 501, body = ApiError), (status = "4XX", body = ApiError))
)]
pub(super) async fn state(_: Part<HexAddress>) -> Result<Json<ApiError>, Failure> {
    Err(none_yet())
}
