//! `GET /timers` and `GET /timer/{id}`.

use super::App;
use super::error::Failure;
use super::extract::Part;
use axum::Json;
use axum::extract::State;
use remuda_client::types::{ApiError, HexAddress, HexHash, TimerView, TimersView, Uint, code};
use remuda_protocol::key::{
    SystemDeployersKey, TimerConfigKey, TimerKey, TimerLaneKey, TimerPayloadKey,
};
use remuda_protocol::state::{Indexed, read};

/// The timer lane: what it asks, who waits, and the limits on timers.
#[utoipa::path(
    get, path = "/timers", tag = "timers", responses((status = 200, body = TimersView))
)]
pub(super) async fn timers(State(app): State<App>) -> Json<TimersView> {
    let tip = app.tip();
    let lane = read(&tip.state, &TimerLaneKey {}).unwrap_or_default();
    let limits = read(&tip.state, &TimerConfigKey {}).unwrap_or_default();
    let deployers = read(&tip.state, &SystemDeployersKey {}).unwrap_or_default();
    let index = tip.state.timers();
    Json(TimersView {
        waiting: Uint(index.waiting() as u64),
        uncollected: Uint(index.uncollected() as u64),
        system_deployers: deployers.into_iter().map(HexAddress).collect(),
        ..TimersView::new(&lane, &limits, tip.finalised.height())
    })
}

/// A timer that has not ended. How one ended is in the events of its last block.
#[utoipa::path(
    get, path = "/timer/{id}", tag = "timers",
    params(("id" = HexHash, Path, description = "The timer's id")),
    responses((status = 200, body = TimerView), (status = "4XX", body = ApiError))
)]
pub(super) async fn timer(
    State(app): State<App>,
    Part(HexHash(id)): Part<HexHash>,
) -> Result<Json<TimerView>, Failure> {
    let tip = app.tip();
    let timer = read(&tip.state, &TimerKey { timer: id }).ok_or_else(|| {
        Failure::new(code::UNKNOWN_TIMER, "there is no such timer, or it has ended")
            .hint("a timer's id is in the TimerScheduled event of its transaction's receipt; /events?from=HEIGHT says how it ended, from a height before")
    })?;
    // Short ones are in the record itself.
    let payload = match timer.payload.here() {
        Some(here) => here.to_vec(),
        None => read(&tip.state, &TimerPayloadKey { timer: id }).unwrap_or_default().0,
    };
    Ok(Json(TimerView::new(id, &timer, &payload, tip.finalised.height())))
}
