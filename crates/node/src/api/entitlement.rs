//! `GET /pool/{name}`, `/entitlement/{id}` and `/account/{address}/entitlements`.

use super::App;
use super::error::Failure;
use super::extract::{Asked, Part};
use crate::backend::Tip;
use axum::Json;
use axum::extract::State;
use remuda_client::types::{
    ApiError, EntitlementView, EntitlementsView, HexAddress, HexHash, PoolName, PoolView, RoleView,
    Uint, code,
};
use remuda_protocol::entitlements::check::{is_live, reach};
use remuda_protocol::entitlements::record::pool_hash;
use remuda_protocol::key::{
    AssignedKey, AssignmentKey, EntitlementKey, HeldKey, HolderKey, PoolKey, PoolMemberKey, RoleKey,
};
use remuda_protocol::primitives::{Address, B256};
use remuda_protocol::state::read;
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct PoolQuery {
    /// From this place on: `next` of the page before.
    after: Option<u32>,
    /// So many memberships at most.
    limit: Option<u32>,
}

/// A pool of runners and its memberships, a page at a time. They are in no order, and one that ends
/// makes another change its place.
#[utoipa::path(
    get, path = "/pool/{name}", tag = "entitlements",
    params(("name" = PoolName, Path, description = "The pool's name, or 0x and its bytes"), PoolQuery),
    responses((status = 200, body = PoolView), (status = "4XX", body = ApiError))
)]
pub(super) async fn pool(
    State(app): State<App>,
    Part(PoolName(name)): Part<PoolName>,
    Asked(query): Asked<PoolQuery>,
) -> Result<Json<PoolView>, Failure> {
    let tip = app.tip();
    let pool = pool_hash(&name);
    let record = read(&tip.state, &PoolKey { pool }).ok_or_else(|| {
        Failure::new(code::UNKNOWN_POOL, "nobody has made a pool of this name")
            .hint("remuda pool create makes one; a name in hex begins with 0x")
    })?;
    let first = query.after.unwrap_or(0);
    let limit = query.limit.unwrap_or(app.limits.page).clamp(1, app.limits.page);
    let end = first.saturating_add(limit).min(record.members);
    let ids = (first..end).filter_map(|place| read(&tip.state, &PoolMemberKey { pool, place }));
    let memberships = ids.filter_map(|id| view(&tip, id)).collect();
    let next = Some(end).filter(|end| *end < record.members);
    let height = Uint(tip.finalised.height().get());
    Ok(Json(PoolView { next, ..PoolView::new(&record, memberships, height) }))
}

/// A right that somebody has, and whether it holds.
#[utoipa::path(
    get, path = "/entitlement/{id}", tag = "entitlements",
    params(("id" = HexHash, Path, description = "The entitlement's id")),
    responses((status = 200, body = EntitlementView), (status = "4XX", body = ApiError))
)]
pub(super) async fn entitlement(
    State(app): State<App>,
    Part(HexHash(id)): Part<HexHash>,
) -> Result<Json<EntitlementView>, Failure> {
    view(&app.tip(), id).map(Json).ok_or_else(|| {
        Failure::new(code::UNKNOWN_ENTITLEMENT, "there is no such entitlement, or it was revoked")
            .hint("an entitlement's id is in the EntitlementGranted event of its transaction's receipt")
    })
}

/// What an address may do: its rights and roles, live and lapsed.
#[utoipa::path(
    get, path = "/account/{address}/entitlements", operation_id = "account_entitlements",
    tag = "entitlements", params(("address" = HexAddress, Path, description = "The account")),
    responses((status = 200, body = EntitlementsView), (status = "4XX", body = ApiError))
)]
pub(super) async fn held(
    State(app): State<App>,
    Part(HexAddress(address)): Part<HexAddress>,
) -> Result<Json<EntitlementsView>, Failure> {
    let tip = app.tip();
    // The chain bounds both lists.
    let counters = read(&tip.state, &HolderKey { address }).unwrap_or_default();
    let held = (0..counters.held)
        .filter_map(|place| read(&tip.state, &HeldKey { holder: address, place }))
        .filter_map(|id| view(&tip, id));
    let roles = (0..counters.roles).filter_map(|place| role(&tip, address, place));
    Ok(Json(EntitlementsView {
        address: HexAddress(address),
        entitlements: held.collect(),
        roles: roles.collect(),
        height: Uint(tip.finalised.height().get()),
    }))
}

fn view(tip: &Tip, id: B256) -> Option<EntitlementView> {
    let record = read(&tip.state, &EntitlementKey { entitlement: id })?;
    let next = tip.finalised.height().plus(1);
    let live = is_live(reach(&tip.state, id).as_deref(), next);
    Some(EntitlementView::new(id, &record, live))
}

fn role(tip: &Tip, holder: Address, place: u32) -> Option<RoleView> {
    let id = read(&tip.state, &AssignedKey { holder, place })?;
    let role = read(&tip.state, &RoleKey { role: id })?;
    let assignment = read(&tip.state, &AssignmentKey { holder, role: id })?;
    Some(RoleView::new(id, &role, &assignment))
}
