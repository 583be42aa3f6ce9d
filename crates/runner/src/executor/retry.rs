//! Retries after transient failures.

use super::{ExecuteError, Work};
use crate::backoff::Backoff;
use std::time::Duration;
use tokio::time::sleep;

const PAUSE: Backoff = Backoff { first: Duration::from_millis(200), max: Duration::from_secs(5) };

/// The retries that a job allows.
pub(super) struct Retries<'a> {
    work: &'a Work<'a>,
    failures: u32,
    max: u32,
}

impl<'a> Retries<'a> {
    /// As many as the job allows.
    pub(super) fn of(work: &'a Work<'a>) -> Self {
        Self { work, failures: 0, max: work.spec.bounds.max_retries }
    }

    /// For work that must not be repeated.
    pub(super) fn none(work: &'a Work<'a>) -> Self {
        Self { max: 0, ..Self::of(work) }
    }

    /// Waits and returns `true` if the failure is transient and a retry is left.
    pub(super) async fn again(&mut self, failure: &ExecuteError) -> bool {
        failure.is_transient() && self.anyway(failure).await
    }

    /// The same for a failure that only the caller knows to be transient.
    pub(super) async fn anyway(&mut self, failure: &ExecuteError) -> bool {
        if self.failures >= self.max {
            return false;
        }
        self.work.progress.report(0, &format!("retrying: {failure}"));
        sleep(PAUSE.pause(self.failures)).await;
        self.failures += 1;
        true
    }
}
