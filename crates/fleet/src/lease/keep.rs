//! What a runner may keep: pieces of its log, and objects.

use super::beat::remaining;
use super::clock::LeaseClock;
use super::policy::Policy;
use super::record::{LastUpload, LeaseRecord};
use super::refusal::Refusal;
use super::state::LeaseState;
use crate::message::{LogAck, LogChunk, UploadGranted, UploadRequest};

/// How much may still be kept: in all, and by runs of the same submitter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    pub(super) all: u64,
    pub(super) own: u64,
}

/// One submitter does not take the room of all: a quarter is always for others.
pub(super) fn share(all: u64) -> u64 {
    all - all / 4
}

/// The lease is live. True: the piece is new and must be kept; the answer says where to go on in
/// any case, so that a runner that lost answers, or pieces, finds its place again.
pub(super) fn log(
    policy: &Policy,
    left: Left,
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
    if new && chunk.data.len() as u64 > left.all {
        return Err(Refusal::TooMuch("log, with those of all others"));
    }
    if new && chunk.data.len() as u64 > left.own {
        return Err(Refusal::TooMuch("log, with those of all runs of its submitter"));
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

/// The lease is live, and runs of its submitter may keep so many bytes more. The path has the fence in it: what a runner that lost its lease still writes,
/// it writes where nobody looks.
pub(super) fn upload(
    policy: &Policy,
    now: &LeaseClock,
    left: u64,
    lease: &mut LeaseRecord,
    request: &UploadRequest,
) -> Result<UploadGranted, Refusal> {
    if lease.state == LeaseState::Granted {
        return Err(Refusal::NotAcked);
    }
    // The same again: the answer was lost, or the orchestrator that sealed it is gone. It counts once, with the
    // most that was asked for it: every one of its grants may be used.
    let last = lease.last_upload.as_ref().filter(|last| last.name == request.name);
    let before = last.map(|last| last.bytes);
    let most = before.unwrap_or(0).max(request.bytes);
    let others = lease.upload_bytes.saturating_sub(before.unwrap_or(0));
    let bytes = others.saturating_add(most);
    let uploads = lease.uploads + u32::from(before.is_none());
    if uploads > policy.uploads_max || bytes > policy.upload_bytes_max {
        return Err(Refusal::TooMuch("objects"));
    }
    if bytes - lease.upload_bytes > left {
        return Err(Refusal::TooMuch("objects, with those of all runs of its submitter"));
    }
    lease.uploads = uploads;
    lease.upload_bytes = bytes;
    lease.last_upload = Some(LastUpload { name: request.name.clone(), bytes: most });
    let (attempt, fence) = (lease.attempt, lease.fence);
    Ok(UploadGranted {
        lease_id: lease.lease_id.clone(),
        path: format!("{}{}", folder(lease), request.name),
        attempt,
        fence,
        grant: None,
        bytes: request.bytes,
        expires_seconds: remaining(now, lease),
    })
}

/// Checks that a live lease may keep this object. Returns the granted size if the object is the lease's last upload:
/// then the row proves the grant, regardless of which orchestrator signed it.
pub(super) fn stored(lease: &LeaseRecord, path: &str) -> Result<Option<u64>, Refusal> {
    if lease.state == LeaseState::Granted {
        return Err(Refusal::NotAcked);
    }
    let name = path.strip_prefix(&folder(lease)).ok_or(Refusal::WrongPath)?;
    let last = lease.last_upload.as_ref().filter(|last| last.name == name);
    Ok(last.map(|last| last.bytes))
}

/// Where all objects of a lease are.
fn folder(lease: &LeaseRecord) -> String {
    let LeaseRecord { run_id, job_id, attempt, fence, .. } = lease;
    format!("runs/{run_id}/jobs/{job_id}/{attempt}-{fence}/")
}
