//! What comes after a failure.

use super::clock::LeaseClock;
use super::policy::Policy;
use super::record::{EndReason, JobRecord, Outcome, Standing};
use super::state::AttemptState;
use crate::id::Attempt;
use crate::message::{CompleteStatus, Failure};

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryClass {
    Permanent,
    /// May go away: a new attempt, as often as the job's order says.
    Retryable,
    /// Not the job's fault: the same attempt, as often as the policy says.
    Infrastructure,
    /// Nobody's fault: its runner was told to end. The same attempt, and no loss.
    Returned,
}

impl RetryClass {
    /// Of what a runner reported.
    pub fn of(job: &JobRecord, status: CompleteStatus, failure: Option<Failure>) -> Self {
        match (status, failure.unwrap_or(Failure::StepFailed)) {
            (CompleteStatus::Succeeded, _) => Self::Permanent,
            (CompleteStatus::TimedOut, _) if job.order.retry.on_timeout => Self::Retryable,
            (CompleteStatus::TimedOut, _) => Self::Permanent,
            (_, Failure::StepFailed | Failure::OutOfMemory | Failure::OutOfDisk) => Self::Retryable,
            (_, Failure::ImageUnavailable | Failure::NotKept) => Self::Retryable,
            (_, Failure::SpecInvalid) => Self::Permanent,
            (_, Failure::RunnerError) => Self::Infrastructure,
            (_, Failure::RunnerShutdown) => Self::Returned,
        }
    }
}

/// The runner was told to end, and gave the job back: the attempt goes on elsewhere.
pub(super) fn returned(policy: &Policy, now: &LeaseClock, job: &mut JobRecord) {
    if job.returns >= policy.returns_max {
        return lost(policy, now, job);
    }
    job.returns += 1;
    job.not_before = now.lease;
    job.standing = Standing::Queued;
}

/// The lease was lost, or the runner broke down: the attempt goes on elsewhere, or the job is dead.
pub(super) fn lost(policy: &Policy, now: &LeaseClock, job: &mut JobRecord) {
    if job.losses >= policy.losses_max {
        end(job, AttemptState::Failed, EndReason::Lost, now);
        return;
    }
    job.losses += 1;
    job.not_before = now.lease;
    job.standing = Standing::Queued;
}

/// The attempt failed in a way that may go away.
pub(super) fn failed(policy: &Policy, now: &LeaseClock, job: &mut JobRecord, status: AttemptState) {
    let retry = job.order.retry;
    if job.attempt.0 >= retry.max_attempts {
        end(job, status, EndReason::AttemptsExhausted, now);
        return;
    }
    let pause = pause(policy, retry.backoff_seconds, job.attempt.0);
    // It would only be too late then, and what it has come to would not be told.
    if job.too_late(now.wall.plus_seconds(pause)) {
        end(job, status, EndReason::AttemptsExhausted, now);
        return;
    }
    job.not_before = now.lease.plus_seconds(pause);
    job.attempt = job.attempt.next();
    (job.losses, job.returns) = (0, 0);
    job.standing = Standing::Queued;
}

/// Nobody wants it begun any more. If an attempt of it has failed, then that is how it went.
pub(super) fn late(now: &LeaseClock, job: &mut JobRecord) {
    match job.attempt > Attempt::FIRST {
        true => end(job, AttemptState::Failed, EndReason::AttemptsExhausted, now),
        false => end(job, AttemptState::Canceled, EndReason::TooLate, now),
    }
}

/// Twice as long after each attempt, up to the policy's longest.
fn pause(policy: &Policy, seconds: u32, attempts: u32) -> u32 {
    let doubled = 1_u32.checked_shl(attempts.saturating_sub(1)).unwrap_or(u32::MAX);
    seconds.saturating_mul(doubled).min(policy.backoff_seconds_max)
}

/// The only place where a job ends.
pub(super) fn end(job: &mut JobRecord, status: AttemptState, reason: EndReason, now: &LeaseClock) {
    debug_assert!(job.outcome().is_none(), "a job ends once");
    let tried_again = job.order.retry.max_attempts > 1;
    let dead_letter = match reason {
        EndReason::Lost => true,
        EndReason::AttemptsExhausted => tried_again,
        _ => false,
    };
    job.standing = Standing::Ended(Outcome { status, reason, dead_letter, at: now.wall });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_stay_below_the_longest() {
        let policy = Policy::default();
        assert_eq!([1, 2, 3].map(|n| pause(&policy, 10, n)), [10, 20, 40]);
        assert_eq!(pause(&policy, 10, 20), 600);
        assert_eq!(pause(&policy, 10, 200), 600);
        assert_eq!(pause(&policy, 0, 5), 0);
    }
}
