//! Views: runs, jobs, workers and limits as the API shows them.

mod wait;

pub use wait::{SilenceView, WaitReason, WaitView};

use crate::auth::Scope;
use crate::id::{Attempt, Fence, JobId, KeyId, RunId, RunnerId};
use crate::lease::{
    AttemptState, EndReason, LabelRecord, LeaseClock, Policy, RunRecord, RunStatus, Standing,
    WorkerRecord, silence, wait,
};
use crate::message::{Artifact, Failure, Label, Progress, Tag};
use crate::store::{JobRows, RunRows};
use crate::time::{Millis, Timestamp};
use data_encoding::HEXLOWER;
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use utoipa::ToSchema;

/// Jobs of a run in one answer, and their bytes: texts of workers may be long.
const PAGE_JOBS_MAX: usize = 250;
const PAGE_BYTES_MAX: usize = 512 * 1024;

/// Answer to a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Submitted {
    /// The run.
    pub run_id: RunId,
    /// True if the run was submitted before under the same key.
    pub before: bool,
}

/// Summary of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunSummary {
    /// Id of the run.
    pub run_id: RunId,
    /// Name, for people.
    pub name: String,
    /// Status of the run.
    pub status: RunStatus,
    /// Time of submission.
    pub created_at: Timestamp,
    /// Time at which its last job ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The run that it repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerun_of: Option<RunId>,
    /// Jobs that have not ended.
    pub open: u32,
    /// Jobs held by a worker.
    #[serde(default)]
    pub running: u32,
    /// Jobs that failed or timed out.
    pub failed: u32,
    /// Failed jobs that were given up: a person should look.
    #[serde(default)]
    pub dead_letters: u32,
    /// Jobs that were canceled.
    pub canceled: u32,
    /// In a list, if no job of the run is held: what its first startable job waits for. Computed for the
    /// newest stalled runs only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitView>,
}

impl RunSummary {
    /// Text: why it is stalled, or that a person should look.
    pub fn what(&self) -> String {
        match (&self.waits, self.dead_letters) {
            (Some(waits), _) => waits.to_string(),
            (None, 0) => String::new(),
            (None, 1) => "1 dead letter".to_owned(),
            (None, several) => format!("{several} dead letters"),
        }
    }
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
            running: run.in_use,
            failed: run.failed,
            dead_letters: run.dead_letters,
            canceled: run.canceled,
            waits: None,
        }
    }
}

/// A page of runs, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunList {
    /// The runs.
    pub runs: Vec<RunSummary>,
    /// `?before=` of the next page. Absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A run and its jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunView {
    /// Its summary.
    #[serde(flatten)]
    pub summary: RunSummary,
    /// A page of its jobs in the order of submission, without artifacts.
    pub jobs: Vec<JobView>,
    /// `?from=` of the next page. Absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
    /// Of a run with several pages: changes with any job of any page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

/// A job of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobView {
    /// Id of the job.
    pub job_id: JobId,
    /// Name within the run.
    pub name: String,
    /// Names of jobs of the run that must succeed first.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub needs: BTreeSet<String>,
    /// Capabilities that its worker must have.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<Tag>,
    /// State of the current attempt.
    pub state: AttemptState,
    /// Number of the current attempt.
    pub attempt: Attempt,
    /// Fence of the last grant. 0: never granted.
    pub fence: Fence,
    /// Why no worker holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitView>,
    /// Leases that this attempt lost.
    pub losses: u32,
    /// Times that this attempt was given back by a worker that shut down.
    #[serde(default)]
    pub returns: u32,
    /// Worker that holds or last held it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_id: Option<RunnerId>,
    /// Set if heartbeats of its worker are overdue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence: Option<SilenceView>,
    /// Progress of the last grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// Log bytes of the last grant.
    pub log_bytes: u64,
    /// Cause of its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<EndReason>,
    /// Whether it was given up: a person should look.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dead_letter: bool,
    /// Exit code of the last step of the last grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Cause of failure of the last grant, as its runner saw it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Artifacts of the last grant, if the job is requested by itself. Untrusted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// Summary by the last grant's runner. Untrusted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
}

impl From<&JobRows> for JobView {
    /// The fields that do not depend on the time, without artifacts. See [`Self::at`].
    fn from(rows: &JobRows) -> Self {
        let JobRows { job, lease, .. } = rows;
        let answer = lease.as_ref().and_then(|lease| lease.answer.as_ref());
        Self {
            job_id: job.job_id.clone(),
            name: job.order.name.clone(),
            needs: job.order.needs.clone(),
            tags: job.order.tags.clone(),
            state: job.state(lease.as_deref()),
            attempt: job.attempt,
            fence: job.fence,
            waits: None,
            losses: job.losses,
            returns: job.returns,
            runner_id: lease.as_ref().map(|lease| lease.runner_id.clone()),
            silence: None,
            progress: lease.as_ref().and_then(|lease| lease.progress.clone()),
            log_bytes: lease.as_ref().map_or(0, |lease| lease.log.next_offset),
            reason: job.outcome().map(|outcome| outcome.reason),
            dead_letter: job.outcome().is_some_and(|outcome| outcome.dead_letter),
            exit_code: answer.and_then(|answer| answer.exit_code),
            failure: answer.and_then(|answer| answer.failure),
            artifacts: vec![],
            summary: answer.map(|answer| answer.summary.clone()).unwrap_or_default(),
        }
    }
}

impl JobView {
    /// The job at a time, without artifacts.
    pub fn at(now: &LeaseClock, policy: &Policy, rows: &JobRows) -> Self {
        let held = rows.lease.as_ref().filter(|_| matches!(rows.job.standing, Standing::Held(_)));
        Self {
            waits: wait(now, &rows.job, rows.reached.as_ref()).map(WaitView::from),
            silence: held.and_then(|lease| silence(policy, now, lease)).map(SilenceView::from),
            ..Self::from(rows)
        }
    }

    /// The same with artifacts, of which there may be many.
    pub fn whole(now: &LeaseClock, policy: &Policy, rows: &JobRows) -> Self {
        let answer = rows.lease.as_ref().and_then(|lease| lease.answer.as_ref());
        let artifacts = answer.map(|answer| answer.artifacts.clone()).unwrap_or_default();
        Self { artifacts, ..Self::at(now, policy, rows) }
    }

    /// Text, if heartbeats of its worker are overdue.
    pub fn silence_line(&self) -> Option<String> {
        let (SilenceView { seconds, lease_ends_in_seconds }, runner) =
            self.silence.as_ref().zip(self.runner_id.as_ref())?;
        Some(format!(
            "no word from worker {runner} for {seconds} s; its lease ends in {lease_ends_in_seconds} s"
        ))
    }
}

impl RunView {
    /// The run at a time.
    pub fn at(now: &LeaseClock, policy: &Policy, rows: &RunRows) -> Self {
        let jobs = rows.jobs.iter().map(|rows| JobView::at(now, policy, rows)).collect();
        Self { summary: RunSummary::from(&rows.run), jobs, next: None, revision: None }
    }

    /// The page of jobs that begins at an index.
    pub fn page(mut self, from: usize) -> Self {
        let (mut hash, mut page, mut bytes) = (Context::new(&SHA256), Vec::new(), 0);
        let all = self.jobs.len();
        for (index, job) in std::mem::take(&mut self.jobs).into_iter().enumerate() {
            // A job that cannot be serialised is left out.
            let text = serde_json::to_vec(&job).unwrap_or_default();
            hash.update(&text);
            bytes += if index < from { 0 } else { text.len() };
            // The first always fits.
            let fits = page.is_empty() || page.len() < PAGE_JOBS_MAX && bytes <= PAGE_BYTES_MAX;
            if index >= from && fits && from + page.len() == index {
                page.push(job);
            }
        }
        let end = from + page.len();
        self.next = (end < all && !page.is_empty()).then_some(end);
        self.revision = (page.len() < all).then(|| HEXLOWER.encode(&hash.finish().as_ref()[..8]));
        self.jobs = page;
        self
    }
}

/// An open job, outside of its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OpenJob {
    /// Id of the job.
    pub job_id: JobId,
    /// Its run.
    pub run_id: RunId,
    /// Name within the run.
    pub name: String,
    /// State of the current attempt.
    pub state: AttemptState,
    /// Capabilities that its worker must have.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<Tag>,
    /// A higher priority goes first.
    pub priority: i16,
    /// Number of the current attempt.
    pub attempt: Attempt,
    /// Fence of the last grant. 0: never granted.
    pub fence: Fence,
    /// End of the pause before the next attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
    /// Why no worker holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitView>,
    /// Worker that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_id: Option<RunnerId>,
    /// Time of the grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

/// Waiting and running jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueueView {
    /// Jobs that wait for a worker.
    pub waiting: u64,
    /// Jobs held by a worker.
    pub held: u64,
    /// Workers that would be busy, for autoscalers. Jobs held back by limits do not count.
    pub desired_workers: u64,
    /// The first waiting jobs, in order.
    pub next: Vec<OpenJob>,
    /// Some of the held jobs.
    pub running: Vec<OpenJob>,
}

/// A worker that was seen recently, or holds a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkerView {
    /// Id of the runner.
    pub runner_id: RunnerId,
    /// Its capabilities. Absent: it has not asked for a job since the orchestrator started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<BTreeSet<Tag>>,
    /// Time of its last message. Absent: none reached this orchestrator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<Timestamp>,
    /// The job that it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<OpenJob>,
}

/// Known workers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkerList {
    /// Workers, busy ones first.
    pub workers: Vec<WorkerView>,
    /// Number of workers, which may exceed the list.
    pub total: usize,
}

impl WorkerList {
    /// Whether a known worker has these tags, or might have: capabilities of some are unknown, and the list
    /// may be cut.
    pub fn may_have(&self, tags: &BTreeSet<Tag>) -> bool {
        let fits = |worker: &WorkerView| {
            worker.capabilities.as_ref().is_none_or(|has| tags.is_subset(has))
        };
        self.total > self.workers.len() || self.workers.iter().any(fits)
    }
}

/// A machine with a registered key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MachineView {
    /// Id of the key, by which the machine is expelled.
    pub key_id: KeyId,
    /// Name of the token that enrolled it.
    pub enrolled_by: String,
    /// Time of enrolment.
    pub enrolled_at: Timestamp,
    /// Time of expulsion. Signatures are refused since then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expelled_at: Option<Timestamp>,
}

impl From<&WorkerRecord> for MachineView {
    fn from(worker: &WorkerRecord) -> Self {
        Self {
            key_id: worker.key.id(),
            enrolled_by: worker.enrolled_by.clone(),
            enrolled_at: worker.enrolled_at.timestamp(),
            expelled_at: worker.expelled_at.map(Millis::timestamp),
        }
    }
}

/// Registered machines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MachineList {
    /// Machines, by key.
    pub machines: Vec<MachineView>,
    /// Whether the list is cut.
    pub more: bool,
}

/// Permissions of the token that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenView {
    /// Name in the audit log.
    pub name: String,
    /// Scope of the token.
    pub scope: Scope,
    /// Highest priority of jobs that it may submit.
    #[serde(default)]
    pub priority_max: i16,
    /// Most of its jobs held by workers at a time. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_max: Option<u32>,
}

/// The limit of a label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LimitView {
    /// The label.
    pub label: Label,
    /// Most jobs at a time. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Jobs held by workers.
    pub running: u32,
}

impl From<&LabelRecord> for LimitView {
    fn from(LabelRecord { label, limit, in_use }: &LabelRecord) -> Self {
        Self { label: label.clone(), limit: *limit, running: *in_use }
    }
}

/// Labels with a limit or a held job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LimitList {
    /// Labels, by name.
    pub limits: Vec<LimitView>,
    /// Whether the list is cut.
    pub more: bool,
}

impl RunView {
    /// Jobs that wait for a worker only.
    pub fn ready(&self) -> impl Iterator<Item = &JobView> {
        let ready = |job: &&JobView| {
            let reason = job.waits.as_ref().map(|waits| waits.reason);
            matches!(reason, Some(WaitReason::Turn | WaitReason::NoWorker))
        };
        self.jobs.iter().filter(ready)
    }
}
