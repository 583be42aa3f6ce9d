//! The executors of this process.

use super::{Backend, BackendError, Job};
use crate::executor::{
    ExecuteError, ExecuteResult, ExecutorError, ExecutorSettings, Executors, Progress,
    TIMEOUT_SPARE, Work,
};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use std::panic::AssertUnwindSafe;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

/// Executes jobs in this process, one for each slot. A job that finds no free slot waits for one.
pub struct LocalBackend {
    executors: Executors,
    slots: Semaphore,
}

impl LocalBackend {
    /// A backend with the executors of these settings. Reads keys and certificates.
    pub fn new(settings: &ExecutorSettings, slots: u32) -> Result<Self, ExecutorError> {
        let slots = usize::try_from(slots).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        Ok(Self { executors: Executors::new(settings)?, slots: Semaphore::new(slots) })
    }

    async fn run(&self, job: &Job, progress: &dyn Progress) -> Result<ExecuteResult, BackendError> {
        let expires = Instant::now() + job.expires_in;
        let Ok(Ok(_slot)) = timeout_at(expires, self.slots.acquire()).await else {
            return Err(BackendError::NoSlot);
        };
        let Job { job_id, ref spec, pinned, .. } = *job;
        let time_limit = job.time_limit.min(expires - Instant::now());
        let work = Work { job_id, spec, time_limit, progress };
        let executed = self.executors.execute_in_time(&work, pinned);
        // A panic must not lose the slot, and what may be done once only is noted as failed.
        match timeout_at(expires + TIMEOUT_SPARE, AssertUnwindSafe(executed).catch_unwind()).await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(_)) => Err(BackendError::Panicked),
            Err(_) => Err(BackendError::Expired),
        }
    }
}

impl Backend for LocalBackend {
    fn execute<'a>(
        &'a self,
        job: &'a Job,
        progress: &'a dyn Progress,
    ) -> BoxFuture<'a, Result<ExecuteResult, BackendError>> {
        self.run(job, progress).boxed()
    }

    fn probe<'a>(&'a self, capability: &'a str) -> BoxFuture<'a, Option<Result<(), String>>> {
        // A panic of an executor must not end the prober: only probes close faults.
        let probe = AssertUnwindSafe(self.executors.probe(capability)).catch_unwind();
        let told = |tested: Result<Option<Result<(), ExecuteError>>, _>| match tested {
            Ok(tested) => Some(tested?.map_err(|error| error.to_string())),
            Err(_) => Some(Err("the probe panicked".to_owned())),
        };
        probe.map(told).boxed()
    }
}
