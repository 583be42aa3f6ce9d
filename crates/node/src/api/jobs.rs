//! `GET /jobs`: what was ordered lately, by everybody or by one account.

use super::App;
use super::error::Failure;
use super::extract::Asked;
use axum::Json;
use axum::extract::State;
use remuda_client::types::{ApiError, HexAddress, JobPlace, JobSummary, JobsPage, Uint};
use remuda_protocol::key::JobKey;
use remuda_protocol::state::read;
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct JobsQuery {
    /// Only jobs that this account pays for.
    submitter: Option<HexAddress>,
    /// Only jobs that were submitted before this one: `next` of the page before.
    #[param(value_type = Option<String>)]
    after: Option<JobPlace>,
    /// So many at most.
    limit: Option<u32>,
}

/// Jobs, a page at a time, newest first. A node lists those of the blocks that it has an index of.
#[utoipa::path(
    get, path = "/jobs", tag = "jobs", params(JobsQuery),
    responses((status = 200, body = JobsPage), (status = "4XX", body = ApiError))
)]
pub(super) async fn jobs(
    State(app): State<App>,
    Asked(query): Asked<JobsQuery>,
) -> Result<Json<JobsPage>, Failure> {
    let limit = query.limit.unwrap_or(app.limits.page).clamp(1, app.limits.page) as usize;
    let submitter = query.submitter.map(|submitter| submitter.0);
    let mut found = app.backend.jobs(submitter, query.after, limit + 1);
    // After the index, which may not be ahead of the state.
    let tip = app.tip();
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().map(|(place, _)| *place).filter(|_| more);
    let summary = |(_, job)| Some(JobSummary::new(job, &read(&tip.state, &JobKey { job })?));
    let jobs = found.into_iter().filter_map(summary).collect();
    Ok(Json(JobsPage { height: Uint(tip.finalised.height().get()), jobs, next }))
}
