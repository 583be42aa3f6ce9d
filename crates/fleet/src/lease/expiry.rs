//! Deadlines that passed.
//!
//! A lease is over when its time is, not when a sweep notices: every message is judged as if the
//! sweep had just been there. So it never matters how late sweeps are.

use super::clock::LeaseClock;
use super::policy::Policy;
use super::record::{EndReason, JobRecord, LeaseRecord};
use super::retry;
use super::state::{AttemptState, LeaseState};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    NeverAcked,
    Expired,
    /// `max_runtime_seconds` and the buffer.
    RuntimeOver,
    /// Asked to stop, and silent since.
    CancelForced,
}

/// What ended this lease by now. If several deadlines have passed, the first of them did it, so that
/// the answer is the same whenever the question is asked.
pub fn expiry(now: &LeaseClock, lease: &LeaseRecord) -> Option<Expiry> {
    let due = lease.due_at(now).filter(|due| *due <= now.lease)?;
    Some(match lease {
        // A job that was asked to stop is not requeued if its worker goes silent.
        LeaseRecord { cancel: Some(_), .. } => Expiry::CancelForced,
        _ if lease.runtime_ends_at(now) == Some(due) => Expiry::RuntimeOver,
        LeaseRecord { state: LeaseState::Granted, .. } => Expiry::NeverAcked,
        _ => Expiry::Expired,
    })
}

/// Ends the lease, and the job or its turn.
pub(super) fn apply(
    policy: &Policy,
    now: &LeaseClock,
    expiry: Expiry,
    lease: &mut LeaseRecord,
    job: &mut JobRecord,
) {
    lease.ended_at = Some(now.wall);
    (lease.state, lease.attempt_state) = match expiry {
        Expiry::NeverAcked => (LeaseState::Revoked, AttemptState::Stale),
        Expiry::Expired => (LeaseState::Expired, AttemptState::Stale),
        Expiry::RuntimeOver => (LeaseState::Revoked, AttemptState::TimedOut),
        Expiry::CancelForced => (LeaseState::Canceled, AttemptState::Canceled),
    };
    match expiry {
        // The worker acknowledged the lease, so the job may have begun.
        Expiry::Expired if job.order.retry.once => {
            retry::end(job, AttemptState::Failed, EndReason::Lost, now);
        }
        // Nobody else would begin it.
        Expiry::NeverAcked | Expiry::Expired if job.too_late(now.wall) => retry::late(now, job),
        Expiry::NeverAcked | Expiry::Expired => retry::lost(policy, now, job),
        Expiry::RuntimeOver if job.order.retry.on_timeout => {
            retry::failed(policy, now, job, AttemptState::TimedOut);
        }
        Expiry::RuntimeOver => {
            retry::end(job, AttemptState::TimedOut, EndReason::RuntimeExceeded, now);
        }
        Expiry::CancelForced => {
            retry::end(job, AttemptState::Canceled, EndReason::CancelForced, now);
        }
    }
}
