//! `Heartbeat` → `HeartbeatAck`.

use super::limit::{self, LIST_LENGTH_MAX, SCRIPT_BYTES_MAX, SECONDS_MAX, TEXT_BYTES_MAX};
use super::{Body, Problem};
use crate::id::{LeaseId, RunnerId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Extends a lease and reports progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct Heartbeat {
    /// The lease to extend.
    pub lease_id: LeaseId,
    /// The runner that holds it.
    pub runner_id: RunnerId,
    /// Rises with each heartbeat of a lease (not in the seed, SPEC §14). A heartbeat that arrives after a
    /// later one extends nothing. Without it every heartbeat counts as new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Phase of the job (not in the seed, whose states have no message). Default: RUNNING.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Progress of the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// How much of the log was sent. Informative: the orchestrator counts what it has received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_cursor: Option<LogCursor>,
    /// By the runner's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ts: Option<Timestamp>,
}

/// Phase of an attempt. It never goes back.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Phase {
    /// Preparing directory, image and caches.
    Starting,
    /// Running a step.
    Running,
    /// Saving artifacts and caches.
    Uploading,
}

/// Progress of a job, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct Progress {
    /// From 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
    /// Text of the current step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_step: Option<String>,
    /// Index of the current step, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_index: Option<u32>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Progress {
    pub(crate) fn is_large(&self) -> bool {
        let texts = [&self.current_step, &self.message];
        texts.into_iter().flatten().map(String::len).sum::<usize>() > 1_024
    }
}

/// Position in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct LogCursor {
    /// Bytes sent.
    pub bytes_sent: u64,
}

impl Body for Heartbeat {
    const TYPE: &'static str = "Heartbeat";

    fn check(&self) -> Result<(), Problem> {
        let Some(progress) = &self.progress else { return Ok(()) };
        if let Some(percent) = progress.percent {
            limit::range("progress.percent", percent, 0, 100)?;
        }
        if let Some(index) = progress.step_index {
            limit::range("progress.step_index", index, 0, LIST_LENGTH_MAX as u64)?;
        }
        limit::maybe("progress.current_step", progress.current_step.as_ref(), SCRIPT_BYTES_MAX)?;
        limit::maybe("progress.message", progress.message.as_ref(), TEXT_BYTES_MAX)
    }
}

/// Answer to a heartbeat of a lease that still holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct HeartbeatAck {
    /// The lease.
    pub lease_id: LeaseId,
    /// False if a later heartbeat arrived first, which is no error. A lease that ended is answered with
    /// `StaleLease`.
    pub extend_lease: bool,
    /// Time until the lease expires.
    pub new_lease_ttl_seconds: u32,
    /// The runner must stop and send `CancelAck`.
    pub cancel_requested: bool,
    /// Time left for that.
    pub cancel_deadline_seconds: u32,
}

impl Body for HeartbeatAck {
    const TYPE: &'static str = "HeartbeatAck";

    fn check(&self) -> Result<(), Problem> {
        limit::range("new_lease_ttl_seconds", self.new_lease_ttl_seconds, 0, SECONDS_MAX.into())?;
        limit::range("cancel_deadline_seconds", self.cancel_deadline_seconds, 0, SECONDS_MAX.into())
    }
}
