//! Stopping a job: at once if nobody has begun, in two steps otherwise.

use super::policy::Policy;
use super::record::{Cancel, EndReason, JobRecord, LeaseRecord};
use super::retry;
use super::state::{AttemptState, LeaseState};
use crate::message::{CancelReason, CancelRequested};
use crate::time::Millis;

/// A job that nobody has.
pub(super) fn queued(now: Millis, job: &mut JobRecord) {
    retry::end(job, AttemptState::Canceled, EndReason::CanceledInQueue, now);
}

/// A job that somebody has. A grant that was not acknowledged is taken back: its runner has not
/// begun, and will be told when it tries. Of an active lease the runner is asked to stop; asking
/// twice does not give it more time.
pub(super) fn held(
    policy: &Policy,
    now: Millis,
    reason: CancelReason,
    lease: &mut LeaseRecord,
    job: &mut JobRecord,
) -> Option<CancelRequested> {
    if lease.state == LeaseState::Granted {
        lease.state = LeaseState::Canceled;
        lease.attempt_state = AttemptState::Canceled;
        lease.ended_at = Some(now);
        retry::end(job, AttemptState::Canceled, EndReason::CanceledInQueue, now);
        return None;
    }
    let deadline_at = now.plus_seconds(policy.cancel_deadline_seconds);
    let cancel = *lease.cancel.get_or_insert(Cancel { reason, deadline_at });
    lease.attempt_state = AttemptState::CancelRequested;
    Some(CancelRequested {
        lease_id: lease.lease_id.clone(),
        job_id: lease.job_id.clone(),
        reason: cancel.reason,
        deadline_seconds: now.seconds_until(cancel.deadline_at),
        ts: Some(now.timestamp()),
        cancel_token: lease.cancel_token.clone(),
    })
}
