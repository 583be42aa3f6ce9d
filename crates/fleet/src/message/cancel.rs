//! `CancelRequested` → `CancelAck` → `CancelAckAck`.

use super::complete::check_artifacts;
use super::limit::{self, SECONDS_MAX, TEXT_BYTES_MAX};
use super::{Artifact, Body, Problem};
use crate::id::{CancelToken, JobId, LeaseId, RunnerId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The orchestrator wants the work stopped.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct CancelRequested {
    /// The lease whose work it is.
    pub lease_id: LeaseId,
    /// Its job.
    pub job_id: JobId,
    /// Why.
    pub reason: CancelReason,
    /// The time for a graceful stop.
    pub deadline_seconds: u32,
    /// By the orchestrator's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ts: Option<Timestamp>,
    /// The token of the grant (not in the seed's example): a runner that has one stops for nobody
    /// who does not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_token: Option<CancelToken>,
}

/// Why work is stopped.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CancelReason {
    /// The whole run is.
    RunCanceled,
    /// This job is.
    JobCanceled,
    /// One that this reader does not know yet. It stops all the same.
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
    /// The lease that ends.
    pub lease_id: LeaseId,
    /// Who had it.
    pub runner_id: RunnerId,
    /// How it ended.
    pub final_status: FinalStatus,
    /// By the runner's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ts: Option<Timestamp>,
    /// What was kept all the same.
    #[serde(default)]
    pub artifacts: Vec<Artifact>,
    /// For people.
    #[serde(default)]
    pub summary: String,
}

/// Work that was over before it could be stopped is reported with `Complete`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FinalStatus {
    /// Stopped.
    Canceled,
}

impl Body for CancelAck {
    const TYPE: &'static str = "CancelAck";

    fn check(&self) -> Result<(), Problem> {
        check_artifacts(&self.artifacts)?;
        limit::text("summary", &self.summary, TEXT_BYTES_MAX)
    }
}

/// The end is kept (the seed leaves the answer open).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct CancelAckAck {
    /// The lease that ended.
    pub lease_id: LeaseId,
    /// Always: the rest are errors or `StaleLease`.
    pub accepted: bool,
}

impl Body for CancelAckAck {
    const TYPE: &'static str = "CancelAckAck";

    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
}
