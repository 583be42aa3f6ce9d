//! `Complete` → `CompleteAck`.

use super::limit::{self, LIST_LENGTH_MAX, NAME_BYTES_MAX, TEXT_BYTES_MAX, URI_BYTES_MAX};
use super::{Body, Data, Problem};
use crate::id::{LeaseId, RunnerId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The runner reports the end of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct Complete {
    /// The lease, which ends.
    pub lease_id: LeaseId,
    /// The runner that held it.
    pub runner_id: RunnerId,
    /// Result of the job.
    pub status: CompleteStatus,
    /// Exit code of the last step. Absent if there was none, or a signal ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Cause of the failure as the runner saw it (not in the seed). Default: STEP_FAILED.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// By the runner's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timings: Option<Timings>,
    /// Stored files.
    #[serde(default)]
    pub artifacts: Vec<Artifact>,
    /// Text for people.
    #[serde(default)]
    pub summary: String,
    /// Output of a call (not in the seed).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Data>,
}

/// Result of a job. A canceled job is reported with `CancelAck`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CompleteStatus {
    /// Every step succeeded.
    Succeeded,
    /// A step failed, or its environment did.
    Failed,
    /// `max_runtime_seconds` elapsed.
    TimedOut,
}

/// Cause of a failure. The orchestrator decides whether the job is retried.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Failure {
    /// A step exited with a code other than zero.
    StepFailed,
    /// The memory limit was exceeded.
    OutOfMemory,
    /// The disk limit was exceeded, in bytes or files.
    OutOfDisk,
    /// The image is unavailable.
    ImageUnavailable,
    /// The steps succeeded, but their artifacts were not stored: too large, or no room.
    NotKept,
    /// No worker can execute the spec.
    SpecInvalid,
    /// The runner itself failed, such as its disk or sandbox.
    RunnerError,
    /// The runner was shut down.
    RunnerShutdown,
}

/// Times by the runner's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct Timings {
    /// Start of the first step.
    pub started_at: Timestamp,
    /// End of the last step.
    pub finished_at: Timestamp,
}

/// A stored file, or the log. Untrusted: reported by the runner.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct Artifact {
    /// Kind of artifact.
    #[serde(rename = "type")]
    pub kind: String,
    /// Where to get it.
    pub uri: String,
}

pub(super) fn check_artifacts(artifacts: &[Artifact]) -> Result<(), Problem> {
    limit::list("artifacts", artifacts.len(), LIST_LENGTH_MAX)?;
    for artifact in artifacts {
        limit::word("artifacts.type", &artifact.kind, NAME_BYTES_MAX)?;
        limit::word("artifacts.uri", &artifact.uri, URI_BYTES_MAX)?;
    }
    Ok(())
}

impl Body for Complete {
    const TYPE: &'static str = "Complete";

    fn check(&self) -> Result<(), Problem> {
        check_artifacts(&self.artifacts)?;
        limit::text("summary", &self.summary, TEXT_BYTES_MAX)?;
        if self.status == CompleteStatus::Succeeded && self.exit_code.is_some_and(|code| code != 0)
        {
            return Err(Problem::Invalid { field: "exit_code", why: "must be 0 if SUCCEEDED" });
        }
        if self.status != CompleteStatus::Succeeded && self.output.is_some() {
            return Err(Problem::Invalid { field: "output", why: "is only for SUCCEEDED" });
        }
        if self.status != CompleteStatus::Failed && self.failure.is_some() {
            return Err(Problem::Invalid { field: "failure", why: "is only for FAILED" });
        }
        Ok(())
    }
}

/// The result is recorded. The runner stops its heartbeats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct CompleteAck {
    /// The lease that ended.
    pub lease_id: LeaseId,
    /// Always true: anything else is an error or `StaleLease`.
    pub accepted: bool,
}

impl Body for CompleteAck {
    const TYPE: &'static str = "CompleteAck";

    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
}
