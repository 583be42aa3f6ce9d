//! What is answered to a message that is in order, but not in its place.

use crate::message::{ErrorBody, StaleLease};

/// Why a message changed nothing. In order of precedence.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// The lease gives no rights any more.
    #[error("the lease is stale ({:?}); stop the work and do not report it again", .0.reason)]
    Stale(StaleLease),
    /// The lease is somebody else's.
    #[error("this lease was granted to another runner; use only leases that you were granted")]
    WrongRunner,
    /// The lease is for another job.
    #[error("this lease is not for that job; send the job_id of its LeaseGranted")]
    WrongJob,
    /// Something else was accepted under the same name before.
    #[error("a different {0} was accepted before; the first one stands, do not send this again")]
    Conflict(&'static str),
    /// The lease was not acknowledged.
    #[error("the lease is not acknowledged; send AckLease first")]
    NotAcked,
    /// The work was wanted until now.
    #[error("it is too late to begin this work; ask for other work")]
    TooLate,
    /// Only calls have an output.
    #[error("this job is no call; send Complete without `output`")]
    NoCall,
    /// Nobody asked for a stop.
    #[error("nobody requested a cancellation of this lease; report with Complete")]
    NotCanceled,
    #[error("this runner holds a lease; complete it first, or wait until it expires")]
    RunnerBusy,
    #[error("there is no such run; look it up in the list of runs")]
    UnknownRun,
    #[error("there is no such job; look it up in its run")]
    UnknownJob,
    #[error("there is no such worker; look it up in the list of workers")]
    UnknownWorker,
    #[error("this key was expelled; make a new one, and ask the operator for a new token")]
    Expelled,
    /// The path is not one that this lease may write.
    #[error("this path is not the lease's; send the path of its UploadGranted")]
    WrongPath,
    /// It has kept as much as it may.
    #[error("the lease may not keep more {0}; write less")]
    TooMuch(&'static str),
    /// The run was to be done once.
    #[error("a job of this run may be begun once only, and was; submit a new run if it must be")]
    OnceOnly,
    /// More runs are open than the orchestrator can remember.
    #[error("the orchestrator has as many runs as it can remember; submit this again later")]
    Full,
    /// Open jobs of one submitter have too many different sets of tags and labels.
    #[error(
        "open jobs of this token have too many different sets of tags and labels; submit this again later"
    )]
    TagsFull,
}

impl Refusal {
    /// For programs. Never changes.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Stale(_) => "STALE_LEASE",
            Self::WrongRunner => "WRONG_RUNNER",
            Self::WrongJob => "WRONG_JOB",
            Self::Conflict(_) => "CONFLICT",
            Self::NotAcked => "LEASE_NOT_ACKED",
            Self::TooLate => "TOO_LATE",
            Self::NoCall => "NO_CALL",
            Self::NotCanceled => "CANCEL_NOT_REQUESTED",
            Self::RunnerBusy => "RUNNER_BUSY",
            Self::UnknownRun => "UNKNOWN_RUN",
            Self::UnknownJob => "UNKNOWN_JOB",
            Self::UnknownWorker => "UNKNOWN_WORKER",
            Self::Expelled => "EXPELLED",
            Self::WrongPath => "WRONG_PATH",
            Self::TooMuch(_) => "TOO_MUCH",
            Self::OnceOnly => "ONCE_ONLY",
            Self::Full => "RUNS_FULL",
            Self::TagsFull => "TAGS_FULL",
        }
    }

    pub fn status(&self) -> u16 {
        match self {
            Self::WrongRunner | Self::WrongPath | Self::Expelled => 403,
            Self::UnknownRun | Self::UnknownJob | Self::UnknownWorker => 404,
            Self::TooMuch(_) => 413,
            Self::Full | Self::TagsFull => 429,
            _ => 409,
        }
    }

    /// As it is sent; a stale lease is sent as [`StaleLease`] instead.
    pub fn body(&self) -> ErrorBody {
        ErrorBody::new(self.code(), self.to_string())
    }
}
