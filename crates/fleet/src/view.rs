//! What people and programs see of runs.

use crate::id::{Attempt, Fence, JobId, RunId, RunnerId};
use crate::lease::{AttemptState, EndReason, RunRecord, RunStatus};
use crate::message::{Artifact, Failure, Progress};
use crate::store::{JobRows, RunRows};
use crate::time::{Millis, Timestamp};
use serde::{Deserialize, Serialize};

/// A run was submitted, now or before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submitted {
    /// The run.
    pub run_id: RunId,
    /// Whether the same was submitted before under the same key: then this is that run.
    pub before: bool,
}

/// A run in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Its id.
    pub run_id: RunId,
    /// For people.
    pub name: String,
    /// How it stands.
    pub status: RunStatus,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// When its last job ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The run that it repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerun_of: Option<RunId>,
    /// Jobs that have not ended.
    pub open: u32,
    /// Jobs that failed or ran out of time.
    pub failed: u32,
    /// Jobs that were canceled.
    pub canceled: u32,
}

impl From<&RunRecord> for RunSummary {
    fn from(run: &RunRecord) -> Self {
        Self {
            run_id: run.run_id.clone(),
            name: run.name.clone(),
            status: run.status(),
            created_at: run.created_at.timestamp(),
            ended_at: run.ended_at.map(Millis::timestamp),
            rerun_of: run.rerun_of.clone(),
            open: run.open,
            failed: run.failed,
            canceled: run.canceled,
        }
    }
}

/// A page of the list of runs, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunList {
    /// The runs.
    pub runs: Vec<RunSummary>,
    /// For the next page: `?before=`. None: this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunView {
    /// What a list has of it.
    #[serde(flatten)]
    pub summary: RunSummary,
    /// Its jobs, in the order of their submission.
    pub jobs: Vec<JobView>,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobView {
    /// Its id.
    pub job_id: JobId,
    /// Its name in the run.
    pub name: String,
    /// Where it is.
    pub state: AttemptState,
    /// The attempt that it is at.
    pub attempt: Attempt,
    /// Of the last grant; 0 if there was none.
    pub fence: Fence,
    /// How often this attempt lost its lease.
    pub losses: u32,
    /// Who has it, or had it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_id: Option<RunnerId>,
    /// How far the last grant is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// Bytes of log of the last grant.
    pub log_bytes: u64,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<EndReason>,
    /// Whether somebody should look.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dead_letter: bool,
    /// Of the last step of the last grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Why the last grant failed, as its runner saw it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// What the last grant kept. Untrusted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// What the last grant's runner said. Untrusted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
}

impl From<&JobRows> for JobView {
    fn from(rows: &JobRows) -> Self {
        let JobRows { job, lease } = rows;
        let answer = lease.as_ref().and_then(|lease| lease.answer.as_ref());
        Self {
            job_id: job.job_id.clone(),
            name: job.order.name.clone(),
            state: job.state(lease.as_ref()),
            attempt: job.attempt,
            fence: job.fence,
            losses: job.losses,
            runner_id: lease.as_ref().map(|lease| lease.runner_id.clone()),
            progress: lease.as_ref().and_then(|lease| lease.progress.clone()),
            log_bytes: lease.as_ref().map_or(0, |lease| lease.log.next_offset),
            reason: job.outcome().map(|outcome| outcome.reason),
            dead_letter: job.outcome().is_some_and(|outcome| outcome.dead_letter),
            exit_code: answer.and_then(|answer| answer.exit_code),
            failure: answer.and_then(|answer| answer.failure),
            artifacts: answer.map(|answer| answer.artifacts.clone()).unwrap_or_default(),
            summary: answer.map(|answer| answer.summary.clone()).unwrap_or_default(),
        }
    }
}

impl From<&RunRows> for RunView {
    fn from(rows: &RunRows) -> Self {
        let jobs = rows.jobs.iter().map(JobView::from).collect();
        Self { summary: RunSummary::from(&rows.run), jobs }
    }
}
