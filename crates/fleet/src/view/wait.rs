//! Why a job waits, as text and for programs.

use crate::lease::{Gate, Reached, Silence, Wait};
use crate::message::Label;
use crate::time::{Millis, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// What a waiting job waits for.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WaitReason {
    /// Jobs that it `needs`.
    Needs,
    /// The end of the pause before its next attempt.
    Retry,
    /// `max_parallel` of its run is reached. More workers would not help.
    RunLimit,
    /// The limit of a label is reached. More workers would not help.
    LabelLimit,
    /// No worker seen recently has its tags.
    NoWorker,
    /// A free worker, after the jobs before it.
    Turn,
    /// Unknown to this version.
    #[serde(other)]
    Other,
}

/// Why a job waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WaitView {
    /// Reason.
    pub reason: WaitReason,
    /// Label whose limit is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
    /// Jobs that the limit allows at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Jobs under the limit that workers hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<u32>,
    /// Earliest start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

impl WaitView {
    fn new(reason: WaitReason) -> Self {
        Self { reason, label: None, limit: None, running: None, until: None }
    }

    pub(crate) fn no_worker() -> Self {
        Self::new(WaitReason::NoWorker)
    }
}

impl From<Wait> for WaitView {
    fn from(wait: Wait) -> Self {
        match wait {
            Wait::Needs => Self::new(WaitReason::Needs),
            Wait::Pause(until) => {
                Self { until: Some(Millis::timestamp(until)), ..Self::new(WaitReason::Retry) }
            }
            Wait::Limit(Reached { gate, limit, in_use }) => {
                let (reason, label) = match gate {
                    Gate::Run(_) => (WaitReason::RunLimit, None),
                    Gate::Label(label) => (WaitReason::LabelLimit, Some(label)),
                };
                Self { label, limit: Some(limit), running: Some(in_use), ..Self::new(reason) }
            }
            Wait::Turn => Self::new(WaitReason::Turn),
        }
    }
}

impl fmt::Display for WaitView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: Option<u32>| n.map_or_else(String::new, |n| n.to_string());
        let (running, limit) = (count(self.running), count(self.limit));
        match (self.reason, &self.label, self.until) {
            (WaitReason::Needs, ..) => f.write_str("waits for jobs that it needs"),
            (WaitReason::Retry, _, Some(until)) => write!(f, "is tried again at {until}"),
            (WaitReason::Retry, ..) => f.write_str("is tried again after a pause"),
            (WaitReason::RunLimit, ..) => {
                write!(
                    f,
                    "held back by max_parallel of its run: {running} at work, {limit} allowed"
                )
            }
            (WaitReason::LabelLimit, Some(label), _) => {
                write!(f, "held back by the label {label}: {running} at work, {limit} allowed")
            }
            (WaitReason::LabelLimit, ..) => f.write_str("held back by the limit of a label"),
            (WaitReason::NoWorker, ..) => f.write_str("no worker seen recently has its tags"),
            (WaitReason::Turn, ..) => f.write_str("waits for a free worker"),
            (WaitReason::Other, ..) => f.write_str("waits"),
        }
    }
}

/// Heartbeats of the worker that holds a job are overdue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SilenceView {
    /// Time since the last heartbeat.
    pub seconds: u32,
    /// Time until its lease expires and the job is requeued.
    pub lease_ends_in_seconds: u32,
}

impl From<Silence> for SilenceView {
    fn from(Silence { seconds, ends_in_seconds }: Silence) -> Self {
        Self { seconds, lease_ends_in_seconds: ends_in_seconds }
    }
}
