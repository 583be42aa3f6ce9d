//! `GET /job/{id}`.

use super::App;
use super::error::Failure;
use super::extract::Part;
use crate::backend::Tip;
use axum::Json;
use axum::extract::State;
use remuda_client::types::{ApiError, HexHash, JobRecords, JobView, code};
use remuda_protocol::key::{BondKey, JobKey, JobSpecKey, ResultKey};
use remuda_protocol::primitives::JobId;
use remuda_protocol::state::read;

/// A job: what it asks for, and where it stands.
#[utoipa::path(
    get, path = "/job/{id}", tag = "jobs",
    params(("id" = HexHash, Path, description = "The job's id")),
    responses((status = 200, body = JobView), (status = "4XX", body = ApiError))
)]
pub(super) async fn job(
    State(app): State<App>,
    Part(HexHash(id)): Part<HexHash>,
) -> Result<Json<JobView>, Failure> {
    app.job_view(&app.tip(), id).map(Json).ok_or_else(unknown_job)
}

pub(super) fn unknown_job() -> Failure {
    Failure::new(code::UNKNOWN_JOB, "there is no such job, or it has left the state").hint(
        "a job's id is in the JobSubmitted event of its transaction's receipt; a job leaves the state \
         system:chain:job_retention_blocks (/params) after its end, so save /job/{id}/receipt before",
    )
}

impl App {
    pub(super) fn job_view(&self, tip: &Tip, job: JobId) -> Option<JobView> {
        let progress = read(&tip.state, &JobKey { job })?;
        let spec = read(&tip.state, &JobSpecKey { job })?;
        let result = read(&tip.state, &ResultKey { job });
        let bond = read(&tip.state, &BondKey { job });
        let records = JobRecords {
            job: &progress,
            spec: &spec,
            result: result.as_ref(),
            bond: bond.as_ref(),
        };
        Some(JobView::new(job, records, tip.finalised.height()))
    }
}
