//! Trying again what may pass.

use super::{ExecuteError, Work};
use std::time::Duration;
use tokio::time::sleep;

/// The first pause; each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(200);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// The retries that a job allows.
pub(super) struct Retries<'a> {
    work: &'a Work<'a>,
    left: u32,
    pause: Duration,
}

impl<'a> Retries<'a> {
    /// As many as the job allows.
    pub(super) fn of(work: &'a Work<'a>) -> Self {
        Self { work, left: work.spec.bounds.max_retries, pause: PAUSE }
    }

    /// None: once is all that is safe.
    pub(super) fn none(work: &'a Work<'a>) -> Self {
        Self { left: 0, ..Self::of(work) }
    }

    /// Whether to try again after a failure. If so, some time has passed.
    pub(super) async fn again(&mut self, failure: &ExecuteError) -> bool {
        failure.passing() && self.anyway(failure).await
    }

    /// The same after a failure of which only the caller knows that it may pass.
    pub(super) async fn anyway(&mut self, failure: &ExecuteError) -> bool {
        if self.left == 0 {
            return false;
        }
        self.work.progress.report(0, &format!("trying again: {failure}"));
        sleep(self.pause).await;
        self.left -= 1;
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        true
    }
}
