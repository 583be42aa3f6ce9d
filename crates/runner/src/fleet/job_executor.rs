//! What a worker of the fleet executes jobs with.

use super::wire::{JobCall, KIND, encode_result};
use crate::executor::{ExecutorError, ExecutorSettings, Executors, Progress, Work};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use remuda_fleet::message::{Call, Data, Failure};
use remuda_fleet::worker::{CallError, Calls, Executor, Report};
use std::sync::Arc;

/// The executors of these settings, for a worker. Reads keys and certificates.
pub fn calls(settings: &ExecutorSettings) -> Result<Calls, ExecutorError> {
    Ok(Calls(Arc::new(JobExecutor(Executors::new(settings)?))))
}

/// Executes calls that are jobs.
struct JobExecutor(Executors);

/// Passes progress to the worker, whose heartbeats carry it to the orchestrator.
struct WorkerProgress<'a>(Report<'a>);

impl Progress for WorkerProgress<'_> {
    fn report(&self, percent: u8, detail: &str) {
        (self.0)(percent, detail);
    }
}

impl JobExecutor {
    async fn run(&self, call: &Call, report: Report<'_>) -> Result<Data, CallError> {
        let invalid = |why: String| CallError { failure: Failure::SpecInvalid, why };
        if call.kind != KIND {
            return Err(invalid(format!("nobody here does {:?}", call.kind)));
        }
        let job =
            JobCall::decode(call.input.bytes()).map_err(|error| invalid(error.to_string()))?;
        let JobCall { job_id, time_limit, pinned, ref spec } = job;
        let work = Work { job_id, spec, time_limit, progress: &WorkerProgress(report) };
        Ok(encode_result(&self.0.execute_in_time(&work, pinned).await))
    }
}

impl Executor for JobExecutor {
    fn execute<'a>(
        &'a self,
        call: &'a Call,
        report: Report<'a>,
    ) -> BoxFuture<'a, Result<Data, CallError>> {
        self.run(call, report).boxed()
    }
}
