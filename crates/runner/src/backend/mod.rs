//! The backends that execute jobs.
//!
//! A [`Backend`] executes one [`Job`], reports its progress meanwhile, and stops when its future is
//! dropped. There are two:
//!
//! - [`LocalBackend`]: the executors of this process, one job for each of the runner's slots
//! - [`FleetBackend`](crate::fleet::FleetBackend): an orchestrator elsewhere and its workers
//!
//! # Forms of a job
//!
//! Between the daemon and an executor of this process a job has three forms:
//!
//! 1. `Task` (`daemon::work`): the job, and what the daemon needs to sign its result
//! 2. [`Job`]: a part of the task, which the backend borrows
//! 3. [`Work`](crate::executor::Work): a view of the job for one executor, with the progress to report to
//!
//! Nothing is copied or encoded on the way. A fleet needs more, because the job crosses a network; see
//! [`crate::fleet`].
//!
//! # Jobs that must not begin twice
//!
//! A backend does not remember jobs. The daemon writes to the journal that a job has begun before it
//! hands the job to a backend, and after a restart it does not begin work again that is not
//! [`repeatable`](crate::executor::repeatable). Only a fleet, which may give a job to a second worker, must be
//! told as well.

mod local;

pub use local::LocalBackend;

use crate::executor::{Capabilities, ExecuteResult, Progress};
use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::primitives::JobId;
use std::time::Duration;
use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub job_id: JobId,
    pub spec: JobSpec,
    /// Time for the work itself, once it has begun.
    pub time_limit: Duration,
    /// Time until the result is useless, waiting included.
    pub expires_in: Duration,
    /// Whether governance vouches for the job's program.
    pub pinned: bool,
}

/// Why a backend has no result. The operator has to fix that; it is no excuse for the job.
#[derive(Debug, Error)]
pub enum BackendError {
    /// Every slot was taken until the job expired.
    #[error("no slot was free before the job expired")]
    NoSlot,
    /// The work did not end in time.
    #[error("the job was not done before it expired")]
    Expired,
    /// A bug in an executor.
    #[error("the executor panicked")]
    Panicked,
    /// Another reason, which depends on the backend.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

pub trait Backend: Send + Sync {
    /// Executes a job. Dropping the future cancels the job.
    ///
    /// The inner result is what the job led to: bytes, or an error that the job itself may be the cause of.
    fn execute<'a>(
        &'a self,
        job: &'a Job,
        progress: &'a dyn Progress,
    ) -> BoxFuture<'a, Result<ExecuteResult, BackendError>>;

    /// Whether each of these sets of capabilities is available now, as far as the backend knows.
    fn available<'a>(&'a self, wanted: &'a [Capabilities]) -> BoxFuture<'a, Vec<bool>> {
        ready(vec![true; wanted.len()]).boxed()
    }

    /// Tests one capability with a plain request, outside of any job. None: it cannot be tested without a
    /// job.
    fn probe<'a>(&'a self, _capability: &'a str) -> BoxFuture<'a, Option<Result<(), String>>> {
        ready(None).boxed()
    }

    /// Cancels every job that is still open: the runner stops.
    fn shut_down(&self) -> BoxFuture<'_, ()> {
        ready(()).boxed()
    }
}
