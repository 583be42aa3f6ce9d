//! What goes into the core and what comes out.

use super::record::{Outcome, WorkerRecord};
use super::refusal::Refusal;
use super::state::RunStatus;
use crate::id::{CancelToken, JobId, KeyId, LeaseId, RunId, RunnerId};
use crate::message::{
    AckLease, AckLeaseAck, CancelAck, CancelAckAck, CancelReason, CancelRequested, Complete,
    CompleteAck, Heartbeat, HeartbeatAck, Label, LeaseGranted, LeaseRequest, LogAck, LogChunk,
    NoWork, RunSubmission, Tag, UploadGranted, UploadRequest,
};
use std::collections::BTreeSet;

/// Something happened. Whatever is random about it comes along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An orchestrator starts, with whatever leases its store has.
    Start,
    /// Time has passed. Comes more often than [`Policy::outage_after_seconds`](super::Policy).
    Sweep,
    Submit {
        run_id: RunId,
        /// The submitter's key: the same key with the same submission is the same run.
        key: Option<String>,
        submission: RunSubmission,
    },
    /// Somebody wants a run again.
    Rerun {
        of: RunId,
        run_id: RunId,
        key: Option<String>,
        /// Jobs that had a higher priority get this one.
        priority_max: i16,
        /// A label that all jobs get.
        label: Option<Label>,
    },
    /// Somebody wants a run stopped.
    CancelRun {
        run_id: RunId,
    },
    /// Somebody wants a job stopped.
    CancelJob {
        job_id: JobId,
    },
    /// An operator sets how many jobs with a label may be granted at a time.
    SetLimit {
        label: Label,
        /// None: as many as there are.
        limit: Option<u32>,
    },
    /// A runner asks for work.
    Lease {
        /// The lease's id, if one is granted: new and not to be guessed.
        lease_id: LeaseId,
        /// The lease's token, if one is granted.
        cancel_token: Option<CancelToken>,
        request: LeaseRequest,
    },
    Ack(AckLease),
    Heartbeat(Heartbeat),
    Complete(Complete),
    CancelAck(CancelAck),
    Log(LogChunk),
    /// A runner has an object.
    Upload(UploadRequest),
    /// The bytes of an object are there: whether they may stay.
    Store {
        /// The lease that they were allowed under.
        lease_id: LeaseId,
        runner_id: RunnerId,
        path: String,
    },
    /// Runs that ended so long ago are not kept any longer.
    Forget {
        /// How long they are kept.
        keep_seconds: u32,
    },
    /// A machine shows a key that its requests will be signed with.
    Enrol(WorkerRecord),
    /// An operator does not trust a key any more.
    Expel(KeyId),
}

impl Event {
    /// Why jobs are stopped by it.
    pub(super) fn reason(&self) -> CancelReason {
        match self {
            Self::CancelRun { .. } => CancelReason::RunCanceled,
            _ => CancelReason::JobCanceled,
        }
    }
}

/// The answer to an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Done,
    /// To [`Event::Sweep`].
    Swept {
        expired: usize,
        /// Whether others were due too: sweep again soon.
        more: bool,
    },
    /// To [`Event::Forget`].
    Forgot {
        runs: Vec<RunId>,
        /// Those of them that may have left objects.
        with_objects: Vec<RunId>,
        /// Whether there are others: forget again soon.
        more: bool,
    },
    /// To [`Event::Submit`] and [`Event::Rerun`].
    Submitted {
        /// The run; an earlier one, if it was submitted before.
        run_id: RunId,
        before: bool,
    },
    Granted(Box<LeaseGranted>),
    NoWork(NoWork),
    Acked(AckLeaseAck),
    Beat(HeartbeatAck),
    Completed(CompleteAck),
    Canceled(CancelAckAck),
    /// To a piece of log.
    Logged(LogAck),
    /// To a wish for an object.
    Upload(UploadGranted),
    /// To [`Event::Store`].
    MayStore {
        /// How many bytes, if the lease's row says so.
        bytes_max: Option<u64>,
    },
}

/// What must be done besides. All of it can be lost and found again from the rows: these save time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A job waits for a runner: wake one that asks.
    Ready {
        job_id: JobId,
        /// What the runner must have.
        tags: BTreeSet<Tag>,
        /// So long from now it is not granted.
        pause_ms: u64,
    },
    /// A job let go of its limits: others may be granted now.
    Room,
    /// Tell the runner now; its next heartbeat would.
    Cancel(RunnerId, CancelRequested),
    JobEnded(JobId, Outcome),
    RunEnded(RunId, RunStatus),
}

/// The outcome of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handled {
    pub reply: Result<Reply, Refusal>,
    pub actions: Vec<Action>,
}
