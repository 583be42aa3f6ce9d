//! Stopping a job: at once if nobody has begun, in two steps otherwise.

use super::clock::{Deadline, LeaseClock};
use super::policy::Policy;
use super::record::{Cancel, EndReason, JobRecord, LeaseRecord};
use super::retry;
use super::state::{AttemptState, LeaseState};
use crate::message::{CancelReason, CancelRequested};

/// A job that nobody has.
pub(super) fn queued(now: &LeaseClock, job: &mut JobRecord) {
    retry::end(job, AttemptState::Canceled, EndReason::CanceledInQueue, now);
}

/// A job that somebody has. A grant that was not acknowledged is taken back: its runner has not
/// begun, and will be told when it tries. Of an active lease the runner is asked to stop; asking
/// twice does not give it more time.
pub(super) fn held(
    policy: &Policy,
    now: &LeaseClock,
    reason: CancelReason,
    lease: &mut LeaseRecord,
    job: &mut JobRecord,
) -> Option<CancelRequested> {
    if lease.state == LeaseState::Granted {
        lease.state = LeaseState::Canceled;
        lease.attempt_state = AttemptState::Canceled;
        lease.ended_at = Some(now.wall);
        retry::end(job, AttemptState::Canceled, EndReason::CanceledInQueue, now);
        return None;
    }
    let deadline = Deadline::after(now.lease, policy.cancel_deadline_seconds);
    let cancel = *lease.cancel.get_or_insert(Cancel { reason, deadline });
    lease.attempt_state = AttemptState::CancelRequested;
    Some(CancelRequested {
        lease_id: lease.lease_id.clone(),
        job_id: lease.job_id.clone(),
        reason: cancel.reason,
        deadline_seconds: lease.cancel_seconds(now),
        ts: Some(now.wall.timestamp()),
        cancel_token: lease.cancel_token.clone(),
    })
}
