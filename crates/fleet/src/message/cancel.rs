//! `CancelRequested` → `CancelAck` → `CancelAckAck`.

use super::complete::check_artifacts;
use super::limit::{self, SECONDS_MAX, TEXT_BYTES_MAX};
use super::{Artifact, Body, Problem};
use crate::id::{CancelToken, JobId, LeaseId, RunnerId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The orchestrator asks the runner to stop a job.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct CancelRequested {
    /// The lease of the job.
    pub lease_id: LeaseId,
    /// The job.
    pub job_id: JobId,
    /// Why it is stopped.
    pub reason: CancelReason,
    /// The time for a graceful stop.
    pub deadline_seconds: u32,
    /// By the orchestrator's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ts: Option<Timestamp>,
    /// Token of the grant (not in the seed's example). A runner that was granted one ignores cancellations
    /// without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_token: Option<CancelToken>,
}

/// Why a job is stopped.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CancelReason {
    /// Its run was canceled.
    RunCanceled,
    /// The job was canceled.
    JobCanceled,
    /// Unknown to this version. The job stops all the same.
    #[serde(other)]
    Other,
}

impl Body for CancelRequested {
    const TYPE: &'static str = "CancelRequested";

    fn check(&self) -> Result<(), Problem> {
        limit::range("deadline_seconds", self.deadline_seconds, 0, SECONDS_MAX.into())
    }
}

/// The runner has stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct CancelAck {
    /// The lease, which ends.
    pub lease_id: LeaseId,
    /// The runner that held it.
    pub runner_id: RunnerId,
    /// Final status of the job.
    pub final_status: FinalStatus,
    /// By the runner's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ts: Option<Timestamp>,
    /// Artifacts stored so far.
    #[serde(default)]
    pub artifacts: Vec<Artifact>,
    /// Text for people.
    #[serde(default)]
    pub summary: String,
}

/// A job that ended before it could be stopped is reported with `Complete`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FinalStatus {
    /// The job was stopped.
    Canceled,
}

impl Body for CancelAck {
    const TYPE: &'static str = "CancelAck";

    fn check(&self) -> Result<(), Problem> {
        check_artifacts(&self.artifacts)?;
        limit::text("summary", &self.summary, TEXT_BYTES_MAX)
    }
}

/// The cancellation is recorded (the seed leaves the answer open).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct CancelAckAck {
    /// The lease that ended.
    pub lease_id: LeaseId,
    /// Always true: anything else is an error or `StaleLease`.
    pub accepted: bool,
}

impl Body for CancelAckAck {
    const TYPE: &'static str = "CancelAckAck";

    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
}
