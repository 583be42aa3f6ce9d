//! Calls: jobs that an executor runs inside the worker's process. Lease, heartbeats and completion are those
//! of any job.

use super::lease_run::LeaseRun;
use super::steps::Ended;
use crate::message::{Call, Data, Failure, Phase, TEXT_BYTES_MAX};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio::time::{Instant, sleep_until};

/// Reports progress of a call: percent and text. May be called at any rate.
pub type Report<'a> = &'a (dyn Fn(u8, &str) + Send + Sync);

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// Cause, which decides whether the job is retried.
    pub failure: Failure,
    pub why: String,
}

/// Executes calls. Dropping the future cancels the call: the lease was lost or the job cancelled.
pub trait Executor: Send + Sync {
    fn execute<'a>(
        &'a self,
        call: &'a Call,
        report: Report<'a>,
    ) -> BoxFuture<'a, Result<Data, CallError>>;
}

#[derive(Clone)]
pub struct Calls(pub Arc<dyn Executor>);

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an executor")
    }
}

impl LeaseRun<'_> {
    /// Runs a call and reports its end.
    pub(super) async fn call(&self, call: &Call, until: Instant) {
        let Some(Calls(executor)) = self.context.config.executor.clone() else {
            let why = "this worker has no executor for calls".to_owned();
            return self.end(Ended::Broken(why), None, vec![], None).await;
        };
        self.status.send_modify(|status| status.phase = Phase::Running);
        let report = |percent: u8, words: &str| {
            let words = shortened(words);
            self.status.send_modify(|status| {
                status.progress.percent = Some(percent.min(100));
                status.progress.message = Some(words);
            });
        };
        let mut control = self.control.subscribe();
        // The first to finish cancels the others.
        let (ended, failure, output) = tokio::select! {
            done = AssertUnwindSafe(executor.execute(call, &report)).catch_unwind() => match done {
                Ok(Ok(output)) => (Ended::Succeeded, None, Some(output)),
                Ok(Err(CallError { failure, why })) => (Ended::Broken(why), Some(failure), None),
                // A panic would repeat on other workers.
                Err(_) => {
                    let why = "the executor panicked".to_owned();
                    (Ended::Broken(why), Some(Failure::StepFailed), None)
                }
            },
            () = sleep_until(until) => (Ended::TimedOut, None, None),
            ended = Ended::demanded(&mut control) => (ended, None, None),
        };
        self.end(ended, failure, vec![], output).await;
    }
}

/// The beginning of a text, as long as a message allows.
pub(super) fn shortened(text: &str) -> String {
    let end = (0..=text.len().min(TEXT_BYTES_MAX)).rev().find(|at| text.is_char_boundary(*at));
    text[..end.unwrap_or(0)].to_owned()
}
