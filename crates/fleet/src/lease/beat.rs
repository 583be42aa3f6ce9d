//! Acknowledgement and heartbeats: decisions over one row, the lease's.

use super::clock::{Deadline, LeaseClock};
use super::policy::Policy;
use super::record::LeaseRecord;
use super::refusal::Refusal;
use super::state::{AttemptState, LeaseState};
use crate::message::{AckLease, AckLeaseAck, Heartbeat, HeartbeatAck, Phase};

/// The lease is live. The same acknowledgement again gets the same answer.
pub(super) fn ack(
    policy: &Policy,
    now: &LeaseClock,
    lease: &mut LeaseRecord,
    max_runtime_seconds: u32,
    message: &AckLease,
) -> Result<AckLeaseAck, Refusal> {
    if message.job_id != lease.job_id {
        return Err(Refusal::WrongJob);
    }
    if lease.state == LeaseState::Granted {
        lease.state = LeaseState::Active;
        lease.attempt_state = AttemptState::Starting;
        lease.expires = Deadline::after(now.lease, lease.ttl_seconds);
        let runtime = max_runtime_seconds.saturating_add(policy.runtime_buffer_seconds);
        lease.runtime = Some(Deadline::after(now.lease, runtime));
    }
    Ok(AckLeaseAck {
        lease_id: lease.lease_id.clone(),
        accepted: true,
        lease_ttl_seconds: remaining(now, lease),
    })
}

pub(super) fn heartbeat(
    now: &LeaseClock,
    lease: &mut LeaseRecord,
    message: &Heartbeat,
) -> Result<HeartbeatAck, Refusal> {
    if lease.state == LeaseState::Granted {
        return Err(Refusal::NotAcked);
    }
    // A beat that was overtaken, or comes twice, says nothing about the runner now.
    let fresh = message.seq.is_none_or(|seq| lease.seq.is_none_or(|last| last < seq));
    if fresh {
        lease.seq = message.seq.or(lease.seq);
        let expires = Deadline::after(now.lease, lease.ttl_seconds);
        // Of several orchestrators, one may have read the clock earlier and decide later.
        if expires.until > lease.expires.until {
            lease.expires = expires;
        }
        if message.progress.is_some() {
            lease.progress.clone_from(&message.progress);
        }
        advance(lease, message.phase.unwrap_or(Phase::Running));
    }
    Ok(HeartbeatAck {
        lease_id: lease.lease_id.clone(),
        extend_lease: fresh,
        new_lease_ttl_seconds: remaining(now, lease),
        cancel_requested: lease.cancel.is_some(),
        cancel_deadline_seconds: lease.cancel_seconds(now),
    })
}

/// Phases go forward, and a request to stop stays visible.
fn advance(lease: &mut LeaseRecord, phase: Phase) {
    let state = match phase {
        Phase::Starting => AttemptState::Starting,
        Phase::Running => AttemptState::Running,
        Phase::Uploading => AttemptState::Uploading,
    };
    if lease.attempt_state != AttemptState::CancelRequested {
        lease.attempt_state = lease.attempt_state.max(state);
    }
}

/// Seconds until the lease ends without another heartbeat, or until `max_runtime` if that is sooner.
pub(super) fn remaining(now: &LeaseClock, lease: &LeaseRecord) -> u32 {
    let expires = lease.expires.end(now, lease.ttl_seconds);
    let end = lease.runtime_ends_at(now).map_or(expires, |end| end.min(expires));
    now.lease.seconds_until(end)
}
