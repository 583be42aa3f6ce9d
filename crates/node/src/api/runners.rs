//! `GET /runners`, `/runner/{address}` and `/runner/{address}/jobs`, the poll of CIP-11.

use super::App;
use super::error::Failure;
use super::extract::{Asked, Part, Peer};
use crate::backend::Tip;
use axum::Json;
use axum::extract::State;
use remuda_client::types::{ApiError, HexAddress, RunnerJobs, RunnerView, RunnersPage, Uint, code};
use remuda_protocol::key::{JobSpecKey, ProfileKey, RunnerKey};
use remuda_protocol::presence::PresencePolicy;
use remuda_protocol::primitives::{Address, JobId};
use remuda_protocol::state::{StateKey, View, read};
use serde::Deserialize;
use std::ops::Bound;
use utoipa::IntoParams;

/// Jobs in the answer to a poll.
const POLLED_JOBS_MAX: usize = 256;

/// Bytes of jobs that are as much work to write out as a request: about a millisecond.
const BYTES_PER_TOKEN: usize = 128 * 1024;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct PageQuery {
    /// Only runners with a greater address.
    after: Option<HexAddress>,
    /// So many at most.
    limit: Option<u32>,
}

/// All runners, a page at a time, ascending by address.
#[utoipa::path(
    get, path = "/runners", tag = "runners", params(PageQuery),
    responses((status = 200, body = RunnersPage), (status = "4XX", body = ApiError))
)]
pub(super) async fn runners(
    State(app): State<App>,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<RunnersPage>, Failure> {
    let limit = query.limit.unwrap_or(app.limits.page).clamp(1, app.limits.page) as usize;
    let tip = app.tip();
    let mut found = addresses_after(&tip, query.after.map(|after| after.0), limit + 1);
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().copied().filter(|_| more).map(HexAddress);
    let runners = found.into_iter().filter_map(|address| app.runner_view(&tip, address)).collect();
    Ok(Json(RunnersPage { height: Uint(tip.finalised.height().get()), runners, next }))
}

/// Addresses of runners in key order, which is address order: a walk of so many steps, from
/// wherever the last page ended.
fn addresses_after(tip: &Tip, after: Option<Address>, limit: usize) -> Vec<Address> {
    let start = match after {
        Some(runner) => Bound::Excluded(RunnerKey { runner }.bytes()),
        None => Bound::Included(vec![RunnerKey::TAG]),
    };
    let end = Bound::Excluded(vec![RunnerKey::TAG + 1]);
    let keys = tip.state.entries().range((start, end)).map(|(key, _)| key);
    keys.filter_map(|key| Address::try_from(key.get(1..)?).ok()).take(limit).collect()
}

#[utoipa::path(
    get, path = "/runner/{address}", tag = "runners",
    params(("address" = HexAddress, Path, description = "The runner's account")),
    responses((status = 200, body = RunnerView), (status = "4XX", body = ApiError))
)]
pub(super) async fn runner(
    State(app): State<App>,
    Part(HexAddress(address)): Part<HexAddress>,
) -> Result<Json<RunnerView>, Failure> {
    app.runner_view(&app.tip(), address).map(Json).ok_or_else(unknown_runner)
}

/// Jobs that a runner sits on: what it would be pushed, if its stream broke.
#[utoipa::path(
    get, path = "/runner/{address}/jobs", operation_id = "runner_jobs", tag = "runners",
    params(("address" = HexAddress, Path, description = "The runner's account")),
    responses(
        (status = 200, body = RunnerJobs),
        (status = 410, body = ApiError, description = "Polling has ended on this chain"),
        (status = "4XX", body = ApiError),
    )
)]
pub(super) async fn jobs(
    State(app): State<App>,
    peer: Peer,
    Part(HexAddress(address)): Part<HexAddress>,
) -> Result<Json<RunnerJobs>, Failure> {
    app.check_sunset()?;
    let tip = app.tip();
    if tip.state.get(&RunnerKey { runner: address }.bytes()).is_none() {
        return Err(unknown_runner());
    }
    let open = app.backend.open_jobs(address);
    let size =
        |job: &JobId| tip.state.get(&JobSpecKey { job: *job }.bytes()).map_or(0, |v| v.len());
    let bytes: usize = open.iter().take(POLLED_JOBS_MAX).map(size).sum();
    let price = u32::try_from(bytes / BYTES_PER_TOKEN).unwrap_or(u32::MAX);
    app.allow(peer, price.min(app.limits.burst / 2))?;
    let jobs = open.into_iter().filter_map(|job| app.job_view(&tip, job)).filter(|job| !job.over);
    Ok(Json(RunnerJobs {
        runner: HexAddress(address),
        height: Uint(tip.finalised.height().get()),
        jobs: jobs.take(POLLED_JOBS_MAX).collect(),
    }))
}

pub(super) fn unknown_runner() -> Failure {
    Failure::new(code::UNKNOWN_RUNNER, "no runner was ever registered at this address")
        .hint("/runners lists all of them")
}

impl App {
    pub(super) fn runner_view(&self, tip: &Tip, runner: Address) -> Option<RunnerView> {
        let standing = read(&tip.state, &RunnerKey { runner })?;
        let profile = read(&tip.state, &ProfileKey { runner })?;
        let height = tip.finalised.height();
        Some(RunnerView::new(runner, profile.current(), &standing, height, self.params()))
    }

    /// Under policy `sunset` the endpoints that runners poll are gone (SPEC §9).
    pub(super) fn check_sunset(&self) -> Result<(), Failure> {
        if self.params().policy() != PresencePolicy::Sunset {
            return Ok(());
        }
        Err(Failure::new(code::SUNSET, "runners are no longer served by polling on this chain")
            .hint("keep a QUIC session with your validators; transactions go to /submit"))
    }
}
