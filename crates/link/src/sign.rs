//! What each signature covers: a domain, the chain, the recipient, and every field of the frame. So a
//! frame cannot be replayed to another recipient, on another chain, or as another frame.

use crate::frame::{
    AckStatus, CancelReason, CapabilityDelta, Handover, JobAck, JobAssignment, JobCancel,
    JobResult, RejectReason, Role,
};
use remuda_protocol::crypto::PublicKey;
use remuda_protocol::primitives::{B256, keccak256};

/// Ed25519.
pub type ValidatorKey = [u8; 32];

/// Both sides sign this (SPEC §13). The exporter binds the signatures to the TLS session: a man in the
/// middle has two sessions, and neither signature is valid in the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandshakeTranscript {
    pub chain_id: u64,
    pub exporter: [u8; 32],
    pub nonce_runner: [u8; 32],
    pub nonce_validator: [u8; 32],
    pub runner: PublicKey,
    pub validator: ValidatorKey,
    /// The epoch in the validator's Hello.
    pub subset_epoch: u64,
}

impl HandshakeTranscript {
    /// The digest that the party in this role signs.
    pub fn digest(&self, role: Role) -> B256 {
        let role = match role {
            Role::Runner => 1,
            Role::Validator => 2,
        };
        Statement::new("cowboy-hello-v1:", self.chain_id)
            .fixed(&[role])
            .fixed(&self.exporter)
            .fixed(&self.nonce_runner)
            .fixed(&self.nonce_validator)
            .fixed(&self.runner.bytes)
            .fixed(&self.validator)
            .number(self.subset_epoch)
            .hash()
    }
}

pub fn ping(chain_id: u64, to: &ValidatorKey, block_height: u64, nonce: u64) -> B256 {
    Statement::new("cowboy-ping-v1:", chain_id).fixed(to).number(block_height).number(nonce).hash()
}

pub fn pong(chain_id: u64, to: &PublicKey, block_height: u64, subset_epoch: u64) -> B256 {
    Statement::new("cowboy-pong-v2:", chain_id)
        .fixed(&to.bytes)
        .number(block_height)
        .number(subset_epoch)
        .hash()
}

pub fn capability(chain_id: u64, to: &ValidatorKey, delta: &CapabilityDelta) -> B256 {
    Statement::new("cowboy-capability-v1:", chain_id)
        .fixed(to)
        .number(delta.block_height)
        .list(&delta.added_capabilities)
        .list(&delta.removed_capabilities)
        .list(&delta.added_entitlements)
        .list(&delta.removed_entitlements)
        .hash()
}

pub fn assignment(chain_id: u64, to: &PublicKey, assignment: &JobAssignment) -> B256 {
    Statement::new("cowboy-assignment-v1:", chain_id)
        .fixed(&to.bytes)
        .fixed(assignment.job_id.as_slice())
        .number(u64::from(assignment.attempt))
        .bytes(&assignment.job_spec)
        .number(assignment.block_height)
        .number(assignment.deadline_block)
        .hash()
}

pub fn ack(chain_id: u64, to: &ValidatorKey, ack: &JobAck) -> B256 {
    let (status, reason) = match ack.status {
        AckStatus::Accepted => (1, 0),
        AckStatus::Duplicate => (2, 0),
        AckStatus::Reject(reason) => (3, reject_number(reason)),
    };
    Statement::new("cowboy-ack-v1:", chain_id)
        .fixed(to)
        .fixed(ack.job_id.as_slice())
        .fixed(&[status, reason])
        .option(ack.reason.as_deref())
        .hash()
}

fn reject_number(reason: RejectReason) -> u8 {
    match reason {
        RejectReason::Capacity => 1,
        RejectReason::Capability => 2,
        RejectReason::NotAssigned => 3,
        RejectReason::TooLate => 4,
        RejectReason::Policy => 5,
        RejectReason::Draining => 6,
    }
}

/// A runner's transaction, handed to a validator.
pub fn result(chain_id: u64, to: &ValidatorKey, result: &JobResult) -> B256 {
    Statement::new("cowboy-result-frame-v1:", chain_id)
        .fixed(to)
        .fixed(result.job_id.as_slice())
        .bytes(&result.result_data)
        .hash()
}

/// A validator's cancellation of a job for a runner.
pub fn cancel(chain_id: u64, to: &PublicKey, cancel: &JobCancel) -> B256 {
    let reason = match cancel.reason {
        CancelReason::Reassigned => 1,
        CancelReason::Expired => 2,
        CancelReason::Failed => 3,
    };
    Statement::new("cowboy-cancel-v1:", chain_id)
        .fixed(&to.bytes)
        .fixed(cancel.job_id.as_slice())
        .fixed(&[reason])
        .hash()
}

/// A runner's sealed result for the aggregator.
pub fn handover(chain_id: u64, to: &[u8; 20], handover: &Handover) -> B256 {
    Statement::new("cowboy-handover-v1:", chain_id)
        .fixed(to)
        .fixed(handover.job_id.as_slice())
        .fixed(&handover.runner)
        .bytes(&handover.sealed)
        .hash()
}

/// Collects the bytes to hash. A part of variable width enters as its own hash.
struct Statement(Vec<u8>);

impl Statement {
    fn new(domain: &str, chain_id: u64) -> Self {
        Self(domain.as_bytes().to_vec()).number(chain_id)
    }

    fn fixed(mut self, part: &[u8]) -> Self {
        self.0.extend_from_slice(part);
        self
    }

    fn number(self, number: u64) -> Self {
        self.fixed(&number.to_be_bytes())
    }

    fn bytes(self, part: &[u8]) -> Self {
        self.fixed(keccak256(part).as_slice())
    }

    fn option(self, text: Option<&str>) -> Self {
        match text {
            None => self.fixed(&[0]),
            Some(text) => self.fixed(&[1]).bytes(text.as_bytes()),
        }
    }

    fn list(self, texts: &[String]) -> Self {
        let hashes: Vec<u8> = texts.iter().flat_map(|text| keccak256(text.as_bytes()).0).collect();
        self.bytes(&hashes)
    }

    fn hash(self) -> B256 {
        keccak256(&self.0)
    }
}

/// Verifies an Ed25519 signature.
pub fn validator_signed(key: &ValidatorKey, digest: &B256, signature: &[u8; 64]) -> bool {
    let key = ring::signature::UnparsedPublicKey::new(&ring::signature::ED25519, key);
    key.verify(digest.as_slice(), signature).is_ok()
}

pub trait Signer: Send + Sync {
    fn sign(&self, digest: &B256) -> [u8; 64];
}

pub struct Identity(ring::signature::Ed25519KeyPair);

impl Identity {
    /// Any 32 bytes are a valid seed.
    pub fn from_seed(seed: &[u8; 32]) -> Option<Self> {
        ring::signature::Ed25519KeyPair::from_seed_unchecked(seed).ok().map(Self)
    }

    pub fn key(&self) -> ValidatorKey {
        use ring::signature::KeyPair as _;
        self.0.public_key().as_ref().try_into().expect("32 bytes")
    }
}

impl Signer for Identity {
    fn sign(&self, digest: &B256) -> [u8; 64] {
        self.0.sign(digest.as_slice()).as_ref().try_into().expect("64 bytes")
    }
}
