//! `GET /account/{address}`.

use super::App;
use super::error::Failure;
use super::extract::Part;
use axum::Json;
use axum::extract::State;
use remuda_client::types::{AccountView, ApiError, HexAddress};
use remuda_protocol::key::{AccountKey, RunnerKey};
use remuda_protocol::state::{StateKey, View, read};

/// An account. Every address has one; most are empty.
#[utoipa::path(
    get, path = "/account/{address}", tag = "accounts",
    params(("address" = HexAddress, Path, description = "The account")),
    responses((status = 200, body = AccountView), (status = "4XX", body = ApiError))
)]
pub(super) async fn account(
    State(app): State<App>,
    Part(HexAddress(address)): Part<HexAddress>,
) -> Result<Json<AccountView>, Failure> {
    let tip = app.tip();
    let account = read(&tip.state, &AccountKey { address }).unwrap_or_default();
    let is_runner = tip.state.get(&RunnerKey { runner: address }.bytes()).is_some();
    let next_nonce = app.backend.next_nonce(address);
    let height = tip.finalised.height();
    Ok(Json(AccountView::new(address, &account, next_nonce, is_runner, height)))
}
