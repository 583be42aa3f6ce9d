//! `Heartbeat` → `HeartbeatAck`.

use super::limit::{self, LIST_LENGTH_MAX, SCRIPT_BYTES_MAX, SECONDS_MAX, TEXT_BYTES_MAX};
use super::{Body, Problem};
use crate::id::{LeaseId, RunnerId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The runner is alive and this is how far it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct Heartbeat {
    /// The lease to be extended.
    pub lease_id: LeaseId,
    /// Who beats.
    pub runner_id: RunnerId,
    /// Rises with each beat of a lease (not in the seed, SPEC §14): a beat that arrives after a later
    /// one extends nothing. A runner that sends none has every beat taken for a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// What the runner is at (not in the seed, whose states have no message). RUNNING if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// How far it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// How much log it has sent. Told, and no more: what of it has come is in the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_cursor: Option<LogCursor>,
    /// By the runner's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ts: Option<Timestamp>,
}

/// Of an attempt, in order; it never goes back.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Phase {
    /// Preparing folder, image and caches.
    Starting,
    /// In a step.
    Running,
    /// Steps are done; artifacts and caches are being saved.
    Uploading,
}

/// How far a job is. For people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct Progress {
    /// 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
    /// The step's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_step: Option<String>,
    /// The step's place, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_index: Option<u32>,
    /// Anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Progress {
    /// Whether its texts are longer than anybody would read.
    pub(crate) fn is_large(&self) -> bool {
        let texts = [&self.current_step, &self.message];
        texts.into_iter().flatten().map(String::len).sum::<usize>() > 1_024
    }
}

/// How much log was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct LogCursor {
    /// Bytes.
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

/// The lease lives on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct HeartbeatAck {
    /// The lease.
    pub lease_id: LeaseId,
    /// Whether this beat extended it. A beat that was overtaken by another did not, and nothing is
    /// wrong; a lease that ended is answered with `StaleLease`.
    pub extend_lease: bool,
    /// The lease ends so long from now.
    pub new_lease_ttl_seconds: u32,
    /// Stop, and send `CancelAck`.
    pub cancel_requested: bool,
    /// By then.
    pub cancel_deadline_seconds: u32,
}

impl Body for HeartbeatAck {
    const TYPE: &'static str = "HeartbeatAck";

    fn check(&self) -> Result<(), Problem> {
        limit::range("new_lease_ttl_seconds", self.new_lease_ttl_seconds, 0, SECONDS_MAX.into())?;
        limit::range("cancel_deadline_seconds", self.cancel_deadline_seconds, 0, SECONDS_MAX.into())
    }
}
