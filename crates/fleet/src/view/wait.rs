//! Why a job is not being done, in words and for programs.

use crate::lease::{Gate, Reached, Silence, Wait};
use crate::message::Label;
use crate::time::{Millis, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// What a job that nobody has waits for.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WaitReason {
    /// Others of its run: `needs`.
    Needs,
    /// The end of the pause before its next attempt.
    Retry,
    /// `max_parallel` of its run is reached: more workers would not help.
    RunLimit,
    /// The limit of a label is reached: more workers would not help.
    LabelLimit,
    /// No worker that was heard of lately has its tags.
    NoWorker,
    /// A worker that is free, after those before it.
    Turn,
    /// One that this reader does not know yet.
    #[serde(other)]
    Other,
}

/// Why nobody has a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WaitView {
    /// What it waits for.
    pub reason: WaitReason,
    /// Whose limit is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
    /// How many jobs the limit allows at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// How many of them somebody has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<u32>,
    /// Not before this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

impl WaitView {
    fn new(reason: WaitReason) -> Self {
        Self { reason, label: None, limit: None, running: None, until: None }
    }

    /// It waits for a worker, and none is known that could do it.
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
            (WaitReason::NoWorker, ..) => {
                f.write_str("no worker that was heard of lately has its tags")
            }
            (WaitReason::Turn, ..) => f.write_str("waits for a free worker"),
            (WaitReason::Other, ..) => f.write_str("waits"),
        }
    }
}

/// Nothing was heard of the worker that has a job, for longer than it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SilenceView {
    /// For how long.
    pub seconds: u32,
    /// Until its lease ends, if that goes on; then the job goes to another.
    pub lease_ends_in_seconds: u32,
}

impl From<Silence> for SilenceView {
    fn from(Silence { seconds, ends_in_seconds }: Silence) -> Self {
        Self { seconds, lease_ends_in_seconds: ends_in_seconds }
    }
}
