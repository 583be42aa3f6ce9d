//! `GET /actor/{address}[/logs|/state]`: code, what it keeps, what it said.

use super::App;
use super::error::Failure;
use super::extract::{Asked, Part, Peer};
use super::history::entries;
use axum::Json;
use axum::extract::State;
use remuda_client::types::{
    ActorEntry, ActorLogs, ActorState, ActorView, ApiError, HexAddress, HexBytes, Uint, code,
};
use remuda_protocol::actors::storage::{self, Scan};
use remuda_protocol::event::Event;
use remuda_protocol::key::{AccountKey, ActorKey, CodeKey};
use remuda_protocol::primitives::{Address, Height};
use remuda_protocol::state::read;
use serde::Deserialize;
use utoipa::IntoParams;

/// Bytes of values on one page of an actor's storage: the next page goes on.
const PAGE_BYTES_MAX: usize = 512 * 1024;

fn unknown_actor() -> Failure {
    Failure::new(code::UNKNOWN_ACTOR, "this address has no code")
        .hint("an actor's address is in the ActorDeployed event of its transaction's receipt")
}

/// An actor: its owner, its code, its money, what waits.
#[utoipa::path(
    get, path = "/actor/{address}", tag = "actors",
    params(("address" = HexAddress, Path, description = "The actor")),
    responses((status = 200, body = ActorView), (status = "4XX", body = ApiError))
)]
pub(super) async fn actor(
    State(app): State<App>,
    Part(HexAddress(actor)): Part<HexAddress>,
) -> Result<Json<ActorView>, Failure> {
    let tip = app.tip();
    let record = read(&tip.state, &ActorKey { actor }).ok_or_else(unknown_actor)?;
    let code = read(&tip.state, &CodeKey { actor }).unwrap_or_default();
    let account = read(&tip.state, &AccountKey { address: actor }).unwrap_or_default();
    let height = tip.finalised.height();
    Ok(Json(ActorView::new(actor, &record, code, account.balance, height)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct LogsQuery {
    /// Only blocks below this height; from the newest on if none is given.
    before: Option<u64>,
}

/// What an actor said and what became of calls to it: from as many blocks, backwards, as one answer may
/// be gathered from. An empty answer with `next` is no end.
#[utoipa::path(
    get, path = "/actor/{address}/logs", operation_id = "actor_logs", tag = "actors",
    params(("address" = HexAddress, Path, description = "The actor"), LogsQuery),
    responses((status = 200, body = ActorLogs), (status = "4XX", body = ApiError))
)]
pub(super) async fn logs(
    State(app): State<App>,
    peer: Peer,
    Part(HexAddress(actor)): Part<HexAddress>,
    Asked(query): Asked<LogsQuery>,
) -> Result<Json<ActorLogs>, Failure> {
    let tip = app.tip();
    read(&tip.state, &ActorKey { actor }).ok_or_else(unknown_actor)?;
    let newest = tip.finalised.height().get();
    let end = query.before.map_or(newest, |before| newest.min(before.saturating_sub(1)));
    let blocks = app.limits.history_blocks as u64;
    let first = end.saturating_sub(blocks).saturating_add(1);
    app.allow(peer, app.price_of_blocks((end + 1 - first) as usize))?;
    let mut reading = app.reading(peer)?;
    let (mut found, mut first_read) = (Vec::new(), end + 1);
    while first_read > first && !reading.is_over() {
        first_read -= 1;
        // A node that joined late does not have all of them.
        let Some(block) = reading.block(Height(first_read)).await else { continue };
        found.push(entries(&block, |event| is_about(event, actor)));
    }
    let next = Some(Uint(first_read)).filter(|_| first_read > 1);
    let entries = found.into_iter().rev().flatten().collect();
    Ok(Json(ActorLogs { entries, next, height: Uint(newest) }))
}

fn is_about(event: &Event, address: Address) -> bool {
    match event {
        Event::ActorDeployed { actor, .. }
        | Event::ActorUpgraded { actor, .. }
        | Event::ActorEvent { actor, .. }
        | Event::ActorReturned { actor, .. }
        | Event::CallFailed { actor, .. }
        | Event::CallRan { actor, .. }
        | Event::CallSuspended { actor, .. }
        | Event::CallFinished { actor, .. }
        | Event::TimerFired { actor, .. }
        | Event::TimerScheduled { actor, .. }
        | Event::TimerExpired { actor, .. }
        | Event::TimerCancelled { actor, .. }
        | Event::TimerCancelledInsufficientFunds { actor, .. } => *actor == address,
        Event::CallQueued { from, to, .. } => *from == address || *to == address,
        Event::JobSubmitted { submitter, .. } => *submitter == address,
        _ => false,
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct StateQuery {
    /// Only keys that begin so, in hex.
    prefix: Option<HexBytes>,
    /// Only keys beyond this one, in hex.
    after: Option<HexBytes>,
    /// So many at most.
    limit: Option<u32>,
}

/// What an actor keeps, a page at a time, ascending by key.
#[utoipa::path(
    get, path = "/actor/{address}/state", operation_id = "actor_state", tag = "actors",
    params(("address" = HexAddress, Path, description = "The actor"), StateQuery),
    responses((status = 200, body = ActorState), (status = "4XX", body = ApiError))
)]
pub(super) async fn state(
    State(app): State<App>,
    Part(HexAddress(actor)): Part<HexAddress>,
    Asked(query): Asked<StateQuery>,
) -> Result<Json<ActorState>, Failure> {
    let tip = app.tip();
    read(&tip.state, &ActorKey { actor }).ok_or_else(unknown_actor)?;
    let limit = query.limit.unwrap_or(app.limits.page).clamp(1, app.limits.page) as usize;
    let prefix = query.prefix.unwrap_or_default().0;
    let mut after = query.after.map(|after| after.0);
    let (mut entries, mut bytes) = (Vec::new(), 0);
    let next = loop {
        // One at a time: values may be long, and a page has a bound.
        let scan = Scan { prefix: &prefix, after: after.as_deref(), limit: 1 };
        let mut cycles = u64::MAX;
        let found = storage::scan(&tip.state, actor, scan, &mut cycles).unwrap_or_default();
        let Some((key, value)) = found.into_iter().next() else { break None };
        if entries.len() == limit || bytes > PAGE_BYTES_MAX {
            break after.map(HexBytes);
        }
        bytes += value.0.len();
        after = Some(key.0.clone());
        entries.push(ActorEntry { key: HexBytes(key.0), value: HexBytes(value.0) });
    };
    Ok(Json(ActorState { entries, next, height: Uint(tip.finalised.height().get()) }))
}
