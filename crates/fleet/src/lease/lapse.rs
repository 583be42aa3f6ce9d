//! Deadlines that passed.
//!
//! A lease is over when its time is, not when a sweep notices: every message is judged as if the
//! sweep had just been there. So it never matters how late sweeps are.

use super::policy::Policy;
use super::record::{EndReason, JobRecord, LeaseRecord};
use super::retry;
use super::state::{AttemptState, LeaseState};
use crate::time::Millis;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lapse {
    NeverAcked,
    Expired,
    /// `max_runtime_seconds` and the buffer.
    RuntimeOver,
    /// Asked to stop, and silent since.
    CancelForced,
}

/// What ended this lease by now. If several deadlines have passed, the first of them did it, so that
/// the answer is the same whenever the question is asked.
pub fn lapse(now: Millis, lease: &LeaseRecord) -> Option<Lapse> {
    let due = lease.due_at().filter(|due| *due <= now)?;
    Some(match lease {
        // Whoever goes silent after a request to stop is not started again elsewhere.
        LeaseRecord { cancel: Some(_), .. } => Lapse::CancelForced,
        LeaseRecord { runtime_ends_at: Some(end), .. } if *end == due => Lapse::RuntimeOver,
        LeaseRecord { state: LeaseState::Granted, .. } => Lapse::NeverAcked,
        _ => Lapse::Expired,
    })
}

/// Ends the lease, and the job or its turn.
pub(super) fn apply(
    policy: &Policy,
    now: Millis,
    lapse: Lapse,
    lease: &mut LeaseRecord,
    job: &mut JobRecord,
) {
    lease.ended_at = Some(now);
    (lease.state, lease.attempt_state) = match lapse {
        Lapse::NeverAcked => (LeaseState::Revoked, AttemptState::Stale),
        Lapse::Expired => (LeaseState::Expired, AttemptState::Stale),
        Lapse::RuntimeOver => (LeaseState::Revoked, AttemptState::TimedOut),
        Lapse::CancelForced => (LeaseState::Canceled, AttemptState::Canceled),
    };
    match lapse {
        // Whoever acknowledged may have begun.
        Lapse::Expired if job.order.retry.once => {
            retry::end(job, AttemptState::Failed, EndReason::Lost, now);
        }
        // Nobody else would begin it.
        Lapse::NeverAcked | Lapse::Expired if job.too_late(now) => retry::late(now, job),
        Lapse::NeverAcked | Lapse::Expired => retry::lost(policy, now, job),
        Lapse::RuntimeOver if job.order.retry.on_timeout => {
            retry::failed(policy, now, job, AttemptState::TimedOut);
        }
        Lapse::RuntimeOver => {
            retry::end(job, AttemptState::TimedOut, EndReason::RuntimeExceeded, now);
        }
        Lapse::CancelForced => {
            retry::end(job, AttemptState::Canceled, EndReason::CancelForced, now);
        }
    }
}

/// Nobody could be heard for so long, but it was known from when on: that time does not count. [`grace`] is one TTL,
/// and this is no more, where it happens again and again: who is silent is gone some time, and what no heartbeat
/// moves must come some time, however slow a disk is.
pub(crate) fn missed(policy: &Policy, millis: u64, lease: &mut LeaseRecord) {
    let most = u64::from(lease.ttl_seconds(policy)) * 1_000;
    let later = |at: Millis| Millis(at.0.saturating_add(millis));
    if lease.given.unheard < most {
        lease.given.unheard = lease.given.unheard.saturating_add(millis);
        lease.expires_at = later(lease.expires_at);
    }
    if lease.given.in_all < most {
        lease.given.in_all = lease.given.in_all.saturating_add(millis);
        lease.runtime_ends_at = lease.runtime_ends_at.map(later);
        if let Some(cancel) = &mut lease.cancel {
            cancel.deadline_at = later(cancel.deadline_at);
        }
    }
}

/// Nobody could be heard for a while: what was alive then gets one TTL from now, so that an outage
/// does not end every lease at once (SPEC §14). The end of the runtime moves too: its runner may have
/// kept it and wait to say so. No more than that: times that are further away are of a clock that was set back.
pub(super) fn grace(policy: &Policy, now: Millis, lease: &mut LeaseRecord) {
    let ttl = lease.ttl_seconds(policy);
    let until = now.plus_seconds(ttl);
    let patient = |seconds: u32| now.plus_seconds(seconds.max(ttl));
    lease.expires_at = match lease.state {
        LeaseState::Granted => lease.expires_at.clamp(until, patient(policy.ack_window_seconds)),
        _ => until,
    };
    if let (Some(end), Some(acked)) = (lease.runtime_ends_at, lease.acked_at) {
        let set_back = acked.0.saturating_sub(now.0);
        lease.acked_at = Some(acked.min(now));
        let end = Millis(end.0.saturating_sub(set_back)).max(until);
        // An earlier grace may have been by a clock that had leapt ahead: nobody has more than all of its time again.
        let whole = lease.runtime_seconds.map(patient);
        lease.runtime_ends_at = Some(whole.map_or(end, |whole| end.min(whole)));
    }
    if let Some(cancel) = &mut lease.cancel {
        let last = patient(policy.cancel_deadline_seconds);
        cancel.deadline_at = cancel.deadline_at.clamp(until, last);
    }
}
