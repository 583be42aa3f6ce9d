//! `Complete` → `CompleteAck`.

use super::limit::{self, LIST_LENGTH_MAX, NAME_BYTES_MAX, TEXT_BYTES_MAX, URI_BYTES_MAX};
use super::{Body, Data, Problem};
use crate::id::{LeaseId, RunnerId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The work is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct Complete {
    /// The lease that ends.
    pub lease_id: LeaseId,
    /// Who had it.
    pub runner_id: RunnerId,
    /// How it went.
    pub status: CompleteStatus,
    /// Of the step that was last; none if there was none, or a signal ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Why it failed, as far as only the runner can know (not in the seed). STEP_FAILED if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// By the runner's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timings: Option<Timings>,
    /// What was kept.
    #[serde(default)]
    pub artifacts: Vec<Artifact>,
    /// For people.
    #[serde(default)]
    pub summary: String,
    /// What a call gave (not in the seed).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Data>,
}

/// How it went. A canceled job is reported with `CancelAck`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CompleteStatus {
    /// Every step.
    Succeeded,
    /// A step, or what was around it.
    Failed,
    /// `max_runtime_seconds` were over.
    TimedOut,
}

/// Why it failed. The runner says what it saw; whether that is tried again, the orchestrator says.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Failure {
    /// A step ended with another code than zero.
    StepFailed,
    /// A step wanted more memory than it may have.
    OutOfMemory,
    /// The job exceeded its bounds on the disk: bytes, or files.
    OutOfDisk,
    /// The image could not be had.
    ImageUnavailable,
    /// Its steps went well, and what they left is not kept: it is too much, or there is no room.
    NotKept,
    /// The spec cannot be executed by anybody.
    SpecInvalid,
    /// The runner's own fault: its disk, its sandbox.
    RunnerError,
    /// The runner was told to stop.
    RunnerShutdown,
}

/// When, by the runner's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct Timings {
    /// The first step began.
    pub started_at: Timestamp,
    /// The last step ended.
    pub finished_at: Timestamp,
}

/// Something that was kept. Untrusted: it names, it proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct Artifact {
    /// What it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// Where it is.
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

/// The result is kept. Stop beating.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct CompleteAck {
    /// The lease that ended.
    pub lease_id: LeaseId,
    /// Always, as far as this orchestrator sends it: the rest are errors or `StaleLease`.
    pub accepted: bool,
}

impl Body for CompleteAck {
    const TYPE: &'static str = "CompleteAck";

    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
}
