//! The rows. A decision reads a few of them and writes them back; it never sees the rest.

use super::clock::{Deadline, LeaseClock};
use super::finish::BodyHash;
use super::policy::Policy;
use super::state::{AttemptState, LeaseState, RunStatus};
use crate::auth::sha256_hex;
use crate::id::{Attempt, CancelToken, Fence, JobId, LeaseId, RunId, RunnerId, WorkerKey};
use crate::message::{
    Artifact, CancelReason, CompleteStatus, Data, Failure, JobSubmission, Label, Progress,
};
use crate::time::{LeaseTime, Millis};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// An enrolled machine. Requests signed with its key are accepted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WorkerRecord {
    /// Public key of the machine.
    pub key: WorkerKey,
    /// Owner of the token that enrolled it.
    pub enrolled_by: String,
    /// Time of enrolment.
    pub enrolled_at: Millis,
    /// Requests of the machine are refused since this time.
    pub expelled_at: Option<Millis>,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RunRecord {
    /// Its key.
    pub run_id: RunId,
    /// For people.
    pub name: String,
    /// By the orchestrator's clock.
    pub created_at: Millis,
    /// What the submitter calls this submission, and the hash of it: the same again is the same run.
    pub idempotency: Option<Idempotency>,
    /// The run that this one repeats.
    pub rerun_of: Option<RunId>,
    /// Whose run that is, if another one's token repeats it: it stays theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerun_for: Option<String>,
    /// The run that took over this run's `once` jobs, none of which had begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerun_by: Option<RunId>,
    /// At most so many jobs at a time.
    pub max_parallel: Option<u32>,
    /// Jobs that somebody has a lease of.
    pub in_use: u32,
    /// Jobs that have not ended.
    pub open: u32,
    /// Jobs that failed or ran out of time.
    pub failed: u32,
    /// Of these, given up: somebody should look.
    #[serde(default, skip_serializing_if = "is_none")]
    pub dead_letters: u32,
    /// Jobs that were canceled.
    pub canceled: u32,
    /// When the last one ended.
    pub ended_at: Option<Millis>,
}

fn is_none(count: &u32) -> bool {
    *count == 0
}

/// What makes a submission the same as an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Idempotency {
    /// The submitter's word.
    pub key: String,
    /// The hash of what was submitted.
    pub hash: BodyHash,
}

impl Idempotency {
    /// The key of what a submitter calls its submission: two submitters may use the same word. With the
    /// name's length, so that no name and word together look like another's.
    pub fn key(who: &str, word: &str) -> String {
        format!("{}:{who}/{word}", who.len())
    }

    /// The name in such a key.
    pub fn submitter(&self) -> Option<&str> {
        let (length, rest) = self.key.split_once(':')?;
        rest.get(..length.parse().ok()?)
    }
}

impl RunRecord {
    /// How it stands.
    pub fn status(&self) -> RunStatus {
        match self {
            Self { open: 1.., .. } => RunStatus::Running,
            Self { failed: 1.., .. } => RunStatus::Failed,
            Self { canceled: 1.., .. } => RunStatus::Canceled,
            _ => RunStatus::Succeeded,
        }
    }

    /// Whose it is, if that is known: whose token it was submitted with, or the run that it repeats.
    pub fn submitter(&self) -> Option<&str> {
        let own = || self.idempotency.as_ref()?.submitter();
        self.rerun_for.as_deref().or_else(own)
    }

    /// What its jobs' caches are kept under: what one submitter leaves in a cache, no other's job runs. A hash,
    /// because workers need not know names.
    pub fn cache_scope(&self) -> Option<String> {
        self.submitter().map(|name| sha256_hex(name.as_bytes())[..32].to_owned())
    }

    /// Whether one more of its jobs may be granted.
    pub fn has_room(&self) -> bool {
        self.max_parallel.is_none_or(|most| self.in_use < most)
    }
}

/// A label and its limit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LabelRecord {
    /// Its key.
    pub label: Label,
    /// At most so many jobs with this label at a time, over all runs.
    pub limit: Option<u32>,
    /// Jobs with it that somebody has a lease of.
    pub in_use: u32,
}

impl LabelRecord {
    /// Whether one more job with this label may be granted.
    pub fn has_room(&self) -> bool {
        self.limit.is_none_or(|most| self.in_use < most)
    }

    /// Whether it says no more of a label than that it may be used.
    pub fn is_plain(&self) -> bool {
        self.limit.is_none() && self.in_use == 0
    }
}

/// A job.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct JobRecord {
    /// Its key.
    pub job_id: JobId,
    /// Whose it is.
    pub run_id: RunId,
    /// Its place among all jobs: who came first goes first. It keeps it when it is granted again.
    pub seq: u64,
    /// What was submitted.
    #[serde(with = "shared")]
    pub order: Arc<JobSubmission>,
    /// `order.needs`, by id.
    pub needs: Vec<JobId>,
    /// How many of these have not succeeded yet.
    pub needs_open: u32,
    /// The attempt that it is at.
    pub attempt: Attempt,
    /// Of the last grant.
    pub fence: Fence,
    /// How often this attempt lost its lease.
    pub losses: u32,
    /// How often a runner that was told to end gave this attempt back.
    #[serde(default)]
    pub returns: u32,
    /// Not granted before this: the pause between two attempts.
    pub not_before: LeaseTime,
    /// Not begun from then on: nobody wants it any more.
    #[serde(default)]
    pub not_after: Option<Millis>,
    /// Where it is.
    pub standing: Standing,
}

/// An order is written once and read often: rows share it in memory, and each writes its own.
mod shared {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::sync::Arc;

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        value: &Arc<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        T::serialize(value, serializer)
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<T>, D::Error> {
        T::deserialize(deserializer).map(Arc::new)
    }
}

/// The same, of what may not be there.
mod shared_option {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::sync::Arc;

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        value: &Option<Arc<T>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_deref().serialize(serializer)
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Arc<T>>, D::Error> {
        Ok(Option::<T>::deserialize(deserializer)?.map(Arc::new))
    }
}

/// Where a job is. What its runner is doing is in the lease's row: so heartbeats write one row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Standing {
    /// With nobody.
    Queued,
    /// With the holder of this lease.
    Held(LeaseId),
    /// Over. Never changes.
    Ended(Outcome),
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Outcome {
    /// SUCCEEDED, FAILED, CANCELED or TIMED_OUT.
    pub status: AttemptState,
    /// Cause of the end.
    pub reason: EndReason,
    /// Whether somebody should look: it was tried as often as it may be and did not come to an end.
    pub dead_letter: bool,
    /// Time of the end, on the store's clock.
    pub at: Millis,
}

/// Why a job ended.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EndReason {
    /// Its runner said so, and that is final.
    Reported,
    /// Its runner said so, and it was the last attempt.
    AttemptsExhausted,
    /// Its lease was lost too often.
    Lost,
    /// Its time was over and its runner did not say so.
    RuntimeExceeded,
    /// Its runner stopped it when asked.
    CancelAcked,
    /// Its runner was asked to stop, and was silent or gone.
    CancelForced,
    /// Canceled before anybody began.
    CanceledInQueue,
    /// A job that it needs did not succeed.
    NeedFailed,
    /// It was too late to begin it, or to begin it again.
    TooLate,
}

impl JobRecord {
    /// Whether it gives an output.
    pub fn is_call(&self) -> bool {
        self.order.job_spec.as_ref().is_some_and(|spec| spec.call.is_some())
    }

    /// Whether it may be granted once its time has come.
    pub fn waiting(&self) -> bool {
        self.standing == Standing::Queued && self.needs_open == 0
    }

    /// Whether it is too late to begin.
    pub fn too_late(&self, now: Millis) -> bool {
        self.not_after.is_some_and(|end| end <= now)
    }

    /// When it ends by itself unless somebody has it by then.
    pub fn queued_until(&self) -> Option<Millis> {
        self.not_after.filter(|_| self.standing == Standing::Queued)
    }

    /// How it ended.
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.standing {
            Standing::Ended(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Its state, given the lease that holds it, if one does.
    pub fn state(&self, lease: Option<&LeaseRecord>) -> AttemptState {
        match (&self.standing, lease) {
            (Standing::Ended(outcome), _) => outcome.status,
            (Standing::Held(_), Some(lease)) => lease.attempt_state,
            (Standing::Held(_), None) => AttemptState::Leased,
            (Standing::Queued, _) => AttemptState::Queued,
        }
    }
}

/// A lease: one grant of one attempt of a job.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LeaseRecord {
    /// Its key.
    pub lease_id: LeaseId,
    /// What was granted.
    pub job_id: JobId,
    /// Whose job it is.
    pub run_id: RunId,
    /// To whom.
    pub runner_id: RunnerId,
    /// Which attempt.
    pub attempt: Attempt,
    /// Which grant.
    pub fence: Fence,
    /// Whether it gives rights.
    pub state: LeaseState,
    /// What became of the work under it.
    pub attempt_state: AttemptState,
    /// What a cancellation shows.
    pub cancel_token: Option<CancelToken>,
    /// Whose caches its job may use, as [`RunRecord::cache_scope`] says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<String>,
    /// The policy's, or a shorter one that the job asked for.
    pub ttl_seconds: u32,
    /// For people, on the store's clock.
    pub granted_at: Millis,
    /// One TTL after its runner was last heard; before the acknowledgement, the end of the window for it.
    pub expires: Deadline,
    /// From the acknowledgement on. No heartbeat moves it.
    pub runtime: Option<Deadline>,
    /// Somebody asked for a stop.
    pub cancel: Option<Cancel>,
    /// The highest number of a heartbeat.
    pub seq: Option<u64>,
    /// What the last heartbeat said.
    pub progress: Option<Progress>,
    /// How much log is kept.
    pub log: LogRecord,
    /// Objects that it was allowed to write.
    pub uploads: u32,
    /// Their bytes.
    #[serde(default)]
    pub upload_bytes: u64,
    /// The last of them: the same may be asked for again, if the answer was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_upload: Option<LastUpload>,
    /// What ended it, if a message did.
    #[serde(default, with = "shared_option")]
    pub answer: Option<Arc<Answer>>,
    /// When it ended.
    pub ended_at: Option<Millis>,
}

/// The object that a lease asked for last: a runner sends one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LastUpload {
    /// As it was asked for.
    pub name: String,
    /// The most that was asked for it.
    pub bytes: u64,
}

/// A stop that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cancel {
    /// Cause of the request.
    pub reason: CancelReason,
    /// The job is canceled by force after this deadline.
    pub deadline: Deadline,
}

/// Where a log goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LogRecord {
    /// The number of the next piece.
    pub next_number: u64,
    /// Bytes so far.
    pub next_offset: u64,
}

/// The message that ended a lease. The same again gets the same answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Answer {
    /// Of the message.
    pub hash: BodyHash,
    /// None: it was a `CancelAck`.
    pub status: Option<CompleteStatus>,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// Of the last step.
    pub exit_code: Option<i32>,
    /// What was kept.
    #[serde(default)]
    pub artifacts: Vec<Artifact>,
    /// For people.
    pub summary: String,
    /// What a call gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Data>,
}

impl LeaseRecord {
    /// How often its runner should beat: two beats may be lost.
    pub(super) fn beats_seconds(&self, policy: &Policy) -> u32 {
        policy.heartbeat_interval_seconds.min((self.ttl_seconds / 3).max(1))
    }

    pub(super) fn runtime_ends_at(&self, clock: &LeaseClock) -> Option<LeaseTime> {
        self.runtime.map(|runtime| runtime.end(clock, self.ttl_seconds))
    }

    /// Until a requested stop is forced.
    pub(super) fn cancel_seconds(&self, now: &LeaseClock) -> u32 {
        let end = self.cancel.map(|cancel| cancel.deadline.end(now, self.ttl_seconds));
        end.map_or(0, |end| now.lease.seconds_until(end))
    }

    /// The next time at which something happens to it by itself; none once it has ended. Of the clock only its last
    /// start matters.
    pub fn due_at(&self, clock: &LeaseClock) -> Option<LeaseTime> {
        let deadlines = [Some(self.expires), self.runtime, self.cancel.map(|it| it.deadline)];
        let ends = deadlines.into_iter().flatten().map(|it| it.end(clock, self.ttl_seconds));
        ends.min().filter(|_| self.state.live())
    }

    /// The same, without the grace of a start: never later.
    pub(crate) fn due_at_earliest(&self) -> Option<LeaseTime> {
        self.due_at(&LeaseClock::default())
    }
}
