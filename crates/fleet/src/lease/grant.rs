//! The birth of a lease.

use super::clock::{Deadline, LeaseClock};
use super::policy::Policy;
use super::record::{JobRecord, LeaseRecord, LogRecord, Standing};
use super::state::{AttemptState, LeaseState};
use crate::id::{CancelToken, LeaseId, RunnerId};
use crate::message::LeaseGranted;

/// A queued job goes to a runner, under a fence that is higher than every one before it.
pub(super) fn grant(
    policy: &Policy,
    now: &LeaseClock,
    job: &mut JobRecord,
    runner_id: RunnerId,
    lease_id: LeaseId,
    cancel_token: Option<CancelToken>,
) -> LeaseRecord {
    debug_assert!(job.waiting() && job.not_before <= now.lease, "only what is ready is granted");
    job.fence = job.fence.next();
    job.standing = Standing::Held(lease_id.clone());
    let usual = policy.lease_ttl_seconds;
    let ttl_seconds = job.order.lease_ttl_seconds.map_or(usual, |ttl| ttl.min(usual));
    let window = match job.order.lease_ttl_seconds {
        Some(ttl) => ttl.min(policy.ack_window_seconds),
        None => policy.ack_window_seconds,
    };
    LeaseRecord {
        lease_id,
        job_id: job.job_id.clone(),
        run_id: job.run_id.clone(),
        runner_id,
        attempt: job.attempt,
        fence: job.fence,
        state: LeaseState::Granted,
        attempt_state: AttemptState::Leased,
        cancel_token,
        cache_scope: None,
        ttl_seconds,
        granted_at: now.wall,
        expires: Deadline::after(now.lease, window),
        runtime: None,
        cancel: None,
        seq: None,
        progress: None,
        log: LogRecord::default(),
        uploads: 0,
        upload_bytes: 0,
        last_upload: None,
        answer: None,
        ended_at: None,
    }
}

/// The message, made from the rows: so a grant whose answer was lost can be sent again as it was.
pub(super) fn granted(policy: &Policy, job: &JobRecord, lease: &LeaseRecord) -> LeaseGranted {
    LeaseGranted {
        job_id: job.job_id.clone(),
        run_id: job.run_id.clone(),
        lease_id: lease.lease_id.clone(),
        attempt: lease.attempt,
        fence: lease.fence,
        lease_ttl_seconds: lease.ttl_seconds,
        heartbeat_interval_seconds: lease.beats_seconds(policy),
        max_runtime_seconds: job.order.max_runtime_seconds,
        job_spec: job.order.job_spec.clone(),
        job_spec_ref: job.order.job_spec_ref.clone(),
        cancel_token: lease.cancel_token.clone(),
        cache_scope: lease.cache_scope.clone(),
    }
}
