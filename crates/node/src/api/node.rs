//! `GET /status`, `/health`, `/ready`, `/metrics`: how the node itself is.

use super::App;
use super::error::Failure;
use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use remuda_client::types::{
    ApiError, BasefeesView, BigUint, HealthView, HexHash, StatusView, Uint, ValidatorView, code,
};
use remuda_protocol::chain::Validator;
use remuda_protocol::key::{BasefeesKey, EpochCommitteeKey, SupplyKey, ValidatorsKey};
use remuda_protocol::primitives::B256;
use remuda_protocol::state::read;
use std::time::Duration;

/// Where the node and its chain stand.
#[utoipa::path(
    get, path = "/status", tag = "node",
    responses((status = 200, body = StatusView), (status = "5XX", body = ApiError))
)]
pub(super) async fn status(State(app): State<App>) -> Result<Json<StatusView>, Failure> {
    let (tip, node, params) = (app.tip(), app.backend.status(), app.params());
    let (Some(basefees), Some(supply), Some(committee)) = (
        read(&tip.state, &BasefeesKey {}),
        read(&tip.state, &SupplyKey {}),
        read(&tip.state, &EpochCommitteeKey {}),
    ) else {
        return Err(Failure::new(code::INTERNAL, "the state has no genesis"));
    };
    let validators = read(&tip.state, &ValidatorsKey {}).unwrap_or_default();
    let header = &tip.finalised.block.header;
    Ok(Json(StatusView {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        chain_id: Uint(params.chain_id),
        genesis_hash: HexHash(app.backend.genesis().hash()),
        height: Uint(header.height.get()),
        block: HexHash(tip.finalised.hash),
        timestamp_ms: Uint(header.timestamp_ms),
        view: Uint(node.view),
        block_time_ms: Uint(params.block_time_ms),
        validators: (0..).zip(&validators).map(validator).collect(),
        policy: params.policy().name().to_owned(),
        basefees: BasefeesView { cycle: BigUint(basefees.cycle), cell: BigUint(basefees.cell) },
        state_deposit_per_kib: BigUint(params.state_deposit_per_kib),
        supply: BigUint(supply.total.get()),
        burned: BigUint(supply.burned.get()),
        m_adaptive: Uint(committee.m_adaptive),
        peers: node.peers,
        mempool: Uint(node.mempool as u64),
        ready: node.ready,
        uptime_seconds: Uint(node.started.elapsed().as_secs()),
    }))
}

fn validator((index, validator): (u32, &Validator)) -> ValidatorView {
    ValidatorView {
        index,
        key: HexHash(B256::new(validator.key)),
        fee_recipient: validator.fee_recipient.into(),
    }
}

/// Whether the process is alive.
#[utoipa::path(
    get, path = "/health", tag = "node", responses((status = 200, body = HealthView))
)]
pub(super) async fn health(State(app): State<App>) -> Json<HealthView> {
    Json(HealthView { ok: true, height: Uint(app.tip().finalised.height().get()) })
}

/// Whether the node has caught up and sees new blocks: send it traffic, or wait.
#[utoipa::path(
    get, path = "/ready", tag = "node",
    responses((status = 200, body = HealthView), (status = 503, body = ApiError))
)]
pub(super) async fn ready(State(app): State<App>) -> Result<Json<HealthView>, Failure> {
    if app.backend.status().ready && !*app.stopping.borrow() {
        return Ok(health(State(app)).await);
    }
    Err(Failure::new(
        code::NOT_READY,
        "this node has not caught up with its peers, sees no new blocks, or is stopping",
    )
    .hint("ask another node; if all say so, too many validators are away for blocks to be made")
    .retry_after(Duration::from_secs(1)))
}

#[utoipa::path(
    get, path = "/metrics", tag = "node",
    responses((status = 200, body = String, content_type = "text/plain"))
)]
pub(super) async fn metrics(State(app): State<App>) -> impl IntoResponse {
    let mut text = app.metrics.render(app.streams.count(), app.connections.count());
    text.push_str(&app.runners.metrics());
    // Last: it ends with a mark of the end.
    text.push_str(&app.backend.metrics());
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text)
}
