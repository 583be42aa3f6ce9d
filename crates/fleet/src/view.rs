//! What people and programs see of runs.

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

/// Jobs of a run in one answer, and their bytes: what workers say of their jobs may be long.
const PAGE_JOBS_MAX: usize = 250;
const PAGE_BYTES_MAX: usize = 512 * 1024;

/// A run was submitted, now or before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Submitted {
    /// The run.
    pub run_id: RunId,
    /// Whether the same was submitted before under the same key: then this is that run.
    pub before: bool,
}

/// A run in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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
    /// Jobs that a worker has.
    #[serde(default)]
    pub running: u32,
    /// Jobs that failed or ran out of time.
    pub failed: u32,
    /// Of these, given up: somebody should look.
    #[serde(default)]
    pub dead_letters: u32,
    /// Jobs that were canceled.
    pub canceled: u32,
    /// In a list, if no job of the run is at work: what the first waits for that may begin. Of very many runs
    /// that stand still, it is said of the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitView>,
}

impl RunSummary {
    /// What there is to say of it besides numbers: why it stands still, or that somebody should look.
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

/// A page of the list of runs, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunList {
    /// The runs.
    pub runs: Vec<RunSummary>,
    /// For the next page: `?before=`. None: this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunView {
    /// What a list has of it.
    #[serde(flatten)]
    pub summary: RunSummary,
    /// Its jobs in the order of submission, or one page of them. Only the view of a single job has its artifacts.
    pub jobs: Vec<JobView>,
    /// For the next page: `?from=`. None: these are the last jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
    /// Of a run with several pages: changes whenever a job of any page does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobView {
    /// Its id.
    pub job_id: JobId,
    /// Its name in the run.
    pub name: String,
    /// Jobs of its run that must succeed first.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub needs: BTreeSet<String>,
    /// What its worker must have.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<Tag>,
    /// Where it is.
    pub state: AttemptState,
    /// The attempt that it is at.
    pub attempt: Attempt,
    /// Of the last grant; 0 if there was none.
    pub fence: Fence,
    /// Why nobody has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitView>,
    /// How often this attempt lost its lease.
    pub losses: u32,
    /// How often workers that were told to end gave this attempt back.
    #[serde(default)]
    pub returns: u32,
    /// Who has it, or had it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_id: Option<RunnerId>,
    /// If nothing was heard of who has it for too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence: Option<SilenceView>,
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
    /// What the last grant kept, where the job is asked for by itself. Untrusted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// What the last grant's runner said. Untrusted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
}

impl From<&JobRows> for JobView {
    /// What is always so, but for artifacts. Why it waits and who is silent depends on the time: [`Self::at`].
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
    /// The job as it is at a time.
    pub fn at(now: &LeaseClock, policy: &Policy, rows: &JobRows) -> Self {
        let held = rows.lease.as_ref().filter(|_| matches!(rows.job.standing, Standing::Held(_)));
        Self {
            waits: wait(now, &rows.job, rows.reached.as_ref()).map(WaitView::from),
            silence: held.and_then(|lease| silence(policy, now, lease)).map(SilenceView::from),
            ..Self::from(rows)
        }
    }

    /// The same, with what it left behind, of which there may be much.
    pub fn whole(now: &LeaseClock, policy: &Policy, rows: &JobRows) -> Self {
        let answer = rows.lease.as_ref().and_then(|lease| lease.answer.as_ref());
        let artifacts = answer.map(|answer| answer.artifacts.clone()).unwrap_or_default();
        Self { artifacts, ..Self::at(now, policy, rows) }
    }

    /// In words, if nothing was heard of who has it for too long.
    pub fn silence_line(&self) -> Option<String> {
        let (SilenceView { seconds, lease_ends_in_seconds }, runner) =
            self.silence.as_ref().zip(self.runner_id.as_ref())?;
        Some(format!(
            "no word from worker {runner} for {seconds} s; its lease ends in {lease_ends_in_seconds} s"
        ))
    }
}

impl RunView {
    /// The run as it is at a time.
    pub fn at(now: &LeaseClock, policy: &Policy, rows: &RunRows) -> Self {
        let jobs = rows.jobs.iter().map(|rows| JobView::at(now, policy, rows)).collect();
        Self { summary: RunSummary::from(&rows.run), jobs, next: None, revision: None }
    }

    /// The jobs from one on, as many as one answer may have.
    pub fn page(mut self, from: usize) -> Self {
        let (mut hash, mut page, mut bytes) = (Context::new(&SHA256), Vec::new(), 0);
        let all = self.jobs.len();
        for (index, job) in std::mem::take(&mut self.jobs).into_iter().enumerate() {
            // What cannot be written is not shown either.
            let text = serde_json::to_vec(&job).unwrap_or_default();
            hash.update(&text);
            bytes += if index < from { 0 } else { text.len() };
            // One fits, however large it is.
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

/// A job that has not ended, outside of its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OpenJob {
    /// Its id.
    pub job_id: JobId,
    /// Whose it is.
    pub run_id: RunId,
    /// Its name in the run.
    pub name: String,
    /// Where it is.
    pub state: AttemptState,
    /// What its worker must have.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<Tag>,
    /// Higher goes first.
    pub priority: i16,
    /// The attempt that it is at.
    pub attempt: Attempt,
    /// Of the last grant; 0 if there was none.
    pub fence: Fence,
    /// The end of the pause between two attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
    /// Why nobody has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitView>,
    /// Who has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_id: Option<RunnerId>,
    /// Since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

/// What waits and what is being done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueueView {
    /// Jobs that wait for a worker.
    pub waiting: u64,
    /// Jobs that a worker has.
    pub held: u64,
    /// Workers that would be busy, for autoscalers: jobs that limits hold back do not count.
    pub desired_workers: u64,
    /// The first of those that wait, who is next first.
    pub next: Vec<OpenJob>,
    /// Some of those that a worker has.
    pub running: Vec<OpenJob>,
}

/// A worker that was heard of lately, or has a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkerView {
    /// It.
    pub runner_id: RunnerId,
    /// What it can do. None: it has not asked for work since the orchestrator started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<BTreeSet<Tag>>,
    /// When it last spoke. None: it did not, here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<Timestamp>,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<OpenJob>,
}

/// Who works or wants to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkerList {
    /// Those with a job first.
    pub workers: Vec<WorkerView>,
    /// How many there are; more than are listed, if there are very many.
    pub total: usize,
}

impl WorkerList {
    /// Whether a worker is known that has these tags, or might: one that only reported so far has
    /// not said what it can do, and a list that is not whole proves nothing.
    pub fn may_have(&self, tags: &BTreeSet<Tag>) -> bool {
        let fits = |worker: &WorkerView| {
            worker.capabilities.as_ref().is_none_or(|has| tags.is_subset(has))
        };
        self.total > self.workers.len() || self.workers.iter().any(fits)
    }
}

/// A machine that was let in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MachineView {
    /// What it is expelled by.
    pub key_id: KeyId,
    /// Whose token let it in.
    pub enrolled_by: String,
    /// When.
    pub enrolled_at: Timestamp,
    /// Nothing that it signs is believed since then.
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

/// Machines that were let in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MachineList {
    /// By their keys.
    pub machines: Vec<MachineView>,
    /// Whether there are more than are listed.
    pub more: bool,
}

/// What a token is to the orchestrator that it is shown to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenView {
    /// Its name in the audit log.
    pub name: String,
    /// What it allows.
    pub scope: Scope,
    /// The highest priority of jobs that it submits.
    #[serde(default)]
    pub priority_max: i16,
    /// Most of its jobs that workers have at a time. None: as many as there are workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_max: Option<u32>,
}

/// How many jobs with a label may run at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LimitView {
    /// The label.
    pub label: Label,
    /// None: as many as there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// How many do.
    pub running: u32,
}

impl From<&LabelRecord> for LimitView {
    fn from(LabelRecord { label, limit, in_use }: &LabelRecord) -> Self {
        Self { label: label.clone(), limit: *limit, running: *in_use }
    }
}

/// Labels that have a limit, or a job that somebody has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LimitList {
    /// By their names.
    pub limits: Vec<LimitView>,
    /// Whether there are more than are listed.
    pub more: bool,
}

impl RunView {
    /// Jobs that wait for a worker, and for nothing else.
    pub fn ready(&self) -> impl Iterator<Item = &JobView> {
        let ready = |job: &&JobView| {
            let reason = job.waits.as_ref().map(|waits| waits.reason);
            matches!(reason, Some(WaitReason::Turn | WaitReason::NoWorker))
        };
        self.jobs.iter().filter(ready)
    }
}
