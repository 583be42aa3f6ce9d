//! What a runner may keep: pieces of its log, and objects.

use super::beat::remaining;
use super::policy::Policy;
use super::record::LeaseRecord;
use super::refusal::Refusal;
use super::state::LeaseState;
use crate::message::{LogAck, LogChunk, UploadGranted, UploadRequest};
use crate::time::Millis;

/// The lease is live. True: the piece is new and must be kept; the answer says where to go on in
/// any case, so that a runner that lost answers, or pieces, finds its place again.
pub(super) fn log(
    policy: &Policy,
    lease: &mut LeaseRecord,
    chunk: &LogChunk,
) -> Result<(LogAck, bool), Refusal> {
    if lease.state == LeaseState::Granted {
        return Err(Refusal::NotAcked);
    }
    let end = chunk.offset.saturating_add(chunk.data.len() as u64);
    let new = chunk.number == lease.log.next_number && chunk.offset == lease.log.next_offset;
    if new && end > policy.log_bytes_max {
        return Err(Refusal::TooMuch("log"));
    }
    if new {
        lease.log.next_number += 1;
        lease.log.next_offset = end;
    }
    let known = chunk.number < lease.log.next_number && end <= lease.log.next_offset;
    let ack = LogAck {
        lease_id: lease.lease_id.clone(),
        accepted: known,
        next_number: lease.log.next_number,
        next_offset: lease.log.next_offset,
    };
    Ok((ack, new))
}

/// The lease is live. The path has the fence in it: what a runner that lost its lease still writes,
/// it writes where nobody looks.
pub(super) fn upload(
    policy: &Policy,
    now: Millis,
    lease: &mut LeaseRecord,
    request: &UploadRequest,
) -> Result<UploadGranted, Refusal> {
    if lease.state == LeaseState::Granted {
        return Err(Refusal::NotAcked);
    }
    if lease.uploads >= policy.uploads_max {
        return Err(Refusal::TooMuch("objects"));
    }
    lease.uploads += 1;
    let (run, job) = (&lease.run_id, &lease.job_id);
    let (attempt, fence) = (lease.attempt, lease.fence);
    Ok(UploadGranted {
        lease_id: lease.lease_id.clone(),
        path: format!("runs/{run}/jobs/{job}/{attempt}-{fence}/{}", request.name),
        attempt,
        fence,
        bytes: request.bytes,
        expires_seconds: remaining(now, lease),
    })
}
