//! `Complete` and `CancelAck`: the first that is accepted decides, once.

use super::clock::LeaseClock;
use super::policy::Policy;
use super::record::{Answer, EndReason, JobRecord, LeaseRecord};
use super::refusal::Refusal;
use super::retry::{self, RetryClass};
use super::state::{AttemptState, LeaseState};
use crate::message::{Artifact, Body, CancelAck, Complete, CompleteStatus, Data, Failure, encode};
use alloy_primitives::keccak256;
use data_encoding::HEXLOWER;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// What makes two messages the same: what they say, not how they are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyHash([u8; 32]);

impl BodyHash {
    pub fn of<B: Body>(message: &B) -> Self {
        Self(keccak256(encode(message)).0)
    }
}

impl Serialize for BodyHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&HEXLOWER.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for BodyHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let bytes = HEXLOWER.decode(text.as_bytes()).map_err(D::Error::custom)?;
        bytes.try_into().map(Self).map_err(|_| D::Error::custom("must have 32 bytes"))
    }
}

/// Whether this lease already ended by this very message: then the answer is the same again.
pub(super) fn repeated(lease: &LeaseRecord, hash: BodyHash) -> Option<Result<(), Refusal>> {
    let answer = lease.answer.as_ref()?;
    Some(if answer.hash == hash { Ok(()) } else { Err(Refusal::Conflict("final message")) })
}

const NO_ROOM: &str =
    "the orchestrator has no room for what this gave; it remembers too much already";

/// So much of an answer is always kept: most have no more than the name of a log.
const ANSWER_BYTES_FREE: usize = 4 * 1_024;

/// Whether a message brings much that would have to be remembered.
pub(super) fn is_large(artifacts: &[Artifact], summary: &str, output: Option<&Data>) -> bool {
    let artifacts = artifacts.iter().map(|artifact| artifact.kind.len() + artifact.uri.len());
    let output = output.map_or(0, |output| output.bytes().len());
    artifacts.sum::<usize>() + output + summary.len() > ANSWER_BYTES_FREE
}

/// Of an end that nobody needs to know more of: what is left is that it was this message.
pub(super) fn forget_results(lease: &mut LeaseRecord) {
    lease.progress = None;
    if let Some(answer) = &mut lease.answer {
        let answer = Arc::make_mut(answer);
        (answer.artifacts, answer.summary, answer.output) = (vec![], String::new(), None);
    }
}

/// What is left of a message if there is no room for all of it. Who succeeded has failed then; who had not, goes on
/// as it would have.
pub(super) fn without_results(message: &Complete) -> Complete {
    let rest = Complete {
        artifacts: vec![],
        output: None,
        summary: NO_ROOM.to_owned(),
        ..message.clone()
    };
    match message.status {
        CompleteStatus::Succeeded => {
            Complete { status: CompleteStatus::Failed, failure: Some(Failure::NotKept), ..rest }
        }
        _ => rest,
    }
}

/// The lease is live. Inside a cancel deadline a result is accepted as it is, but not tried again. With the message
/// comes the hash of what was sent.
pub(super) fn complete(
    policy: &Policy,
    now: &LeaseClock,
    lease: &mut LeaseRecord,
    job: &mut JobRecord,
    (message, hash): (&Complete, BodyHash),
) -> Result<(), Refusal> {
    if lease.state != LeaseState::Active {
        return Err(Refusal::NotAcked);
    }
    lease.state = LeaseState::Completed;
    lease.ended_at = Some(now.wall);
    lease.answer = Some(Arc::new(Answer {
        hash,
        status: Some(message.status),
        failure: message.failure,
        exit_code: message.exit_code,
        artifacts: message.artifacts.clone(),
        summary: message.summary.clone(),
        output: message.output.clone(),
    }));
    let status = match message.status {
        CompleteStatus::Succeeded => AttemptState::Succeeded,
        CompleteStatus::Failed => AttemptState::Failed,
        CompleteStatus::TimedOut => AttemptState::TimedOut,
    };
    lease.attempt_state = status;
    match RetryClass::of(job, message.status, message.failure) {
        // A worker that shuts down and a cancel request coincided: the job counts as canceled.
        RetryClass::Returned if lease.cancel.is_some() => {
            lease.attempt_state = AttemptState::Canceled;
            retry::end(job, AttemptState::Canceled, EndReason::CancelAcked, now);
        }
        _ if lease.cancel.is_some() => retry::end(job, status, EndReason::Reported, now),
        RetryClass::Permanent => retry::end(job, status, EndReason::Reported, now),
        // Given back by somebody who may have begun.
        RetryClass::Infrastructure | RetryClass::Returned if job.order.retry.once => {
            retry::end(job, status, EndReason::Lost, now);
        }
        RetryClass::Retryable => retry::failed(policy, now, job, status),
        RetryClass::Infrastructure => {
            lease.attempt_state = AttemptState::Stale;
            retry::lost(policy, now, job);
        }
        RetryClass::Returned => {
            lease.attempt_state = AttemptState::Stale;
            retry::returned(policy, now, job);
        }
    }
    Ok(())
}

pub(super) fn cancel_ack(
    now: &LeaseClock,
    lease: &mut LeaseRecord,
    job: &mut JobRecord,
    (message, hash): (&CancelAck, BodyHash),
) -> Result<(), Refusal> {
    if lease.state != LeaseState::Active {
        return Err(Refusal::NotAcked);
    }
    if lease.cancel.is_none() {
        return Err(Refusal::NotCanceled);
    }
    lease.state = LeaseState::Canceled;
    lease.attempt_state = AttemptState::Canceled;
    lease.ended_at = Some(now.wall);
    lease.answer = Some(Arc::new(Answer {
        hash,
        status: None,
        failure: None,
        exit_code: None,
        artifacts: message.artifacts.clone(),
        summary: message.summary.clone(),
        output: None,
    }));
    retry::end(job, AttemptState::Canceled, EndReason::CancelAcked, now);
    Ok(())
}
