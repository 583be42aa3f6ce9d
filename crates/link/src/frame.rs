//! The messages between runners and validators (CIP-11 §12.2).
//!
//! A frame is encoded as `length u32 be ‖ type u8 ‖ CBOR map`; the length counts what follows it. Fields
//! have the names of CIP-11. Decoders ignore unknown fields, so that a later version may add some.

use crate::cbor::{self, WireError};
use remuda_protocol::primitives::{B256, JobId};
use serde::{Deserialize, Serialize};

/// The upper byte is the major version.
pub const VERSION: u16 = 0x0100;

/// A recoverable secp256k1 signature.
pub type RunnerSignature = [u8; 65];
/// Ed25519.
pub type ValidatorSignature = [u8; 64];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    Runner,
    Validator,
}

/// The first frame of both sides. The signatures cover the subset epoch of the validator's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub version: u16,
    /// 33 bytes of a runner, 32 of a validator.
    #[serde(with = "serde_bytes")]
    pub party_pubkey: Vec<u8>,
    pub party_role: Role,
    /// The newest block that the sender knows.
    pub block_height: u64,
    /// The other side's signature must cover it.
    #[serde(with = "serde_bytes")]
    pub challenge_nonce: [u8; 32],
    pub subset_epoch: u64,
}

/// The second frame of both sides: proves the key of the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelloAck {
    pub version: u16,
    #[serde(with = "serde_bytes")]
    pub party_pubkey: Vec<u8>,
    pub party_role: Role,
    /// Over both nonces, both keys and the TLS session; see [`HandshakeTranscript`](crate::sign::HandshakeTranscript).
    #[serde(with = "serde_bytes")]
    pub signed_challenge: Vec<u8>,
    /// The newest block that the sender knows.
    pub block_height: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatPing {
    /// The newest block that the runner knows.
    pub block_height: u64,
    /// Rises with every ping of a connection.
    pub nonce: u64,
    #[serde(with = "serde_bytes")]
    pub signed: RunnerSignature,
}

/// Answers a ping. Also sent unasked for each new final block: so a runner learns of the block, and of a
/// new subset epoch, within half a round trip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatPong {
    /// The newest final block of the validator.
    pub block_height: u64,
    /// The subset epoch of that block.
    pub subset_epoch: u64,
    #[serde(with = "serde_bytes")]
    pub validator_signed: ValidatorSignature,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackpressureSignal {
    pub active_jobs: u32,
    pub max_concurrent: u32,
    /// Only runners that accept jobs are attested as present.
    pub accepting_new: bool,
    pub reason: Option<String>,
}

/// What a runner can do at the moment. Advice to the validator, unknown to the chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapabilityDelta {
    /// The newest block that the runner knows.
    pub block_height: u64,
    /// Available again.
    pub added_capabilities: Vec<String>,
    /// Unavailable for now.
    pub removed_capabilities: Vec<String>,
    pub added_entitlements: Vec<String>,
    pub removed_entitlements: Vec<String>,
    #[serde(with = "serde_bytes")]
    pub signed: RunnerSignature,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobAssignment {
    #[serde(with = "hash")]
    pub job_id: JobId,
    /// The selection that drew the runner.
    pub attempt: u32,
    /// The specification in the chain's own encoding.
    #[serde(with = "serde_bytes")]
    pub job_spec: Vec<u8>,
    /// The block that assigned it.
    pub block_height: u64,
    /// The last block for a commit, or for the result of a single runner.
    pub deadline_block: u64,
    #[serde(with = "serde_bytes")]
    pub validator_signed: ValidatorSignature,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobAck {
    #[serde(with = "hash")]
    pub job_id: JobId,
    pub status: AckStatus,
    pub reason: Option<String>,
    #[serde(with = "serde_bytes")]
    pub signed: RunnerSignature,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AckStatus {
    Accepted,
    /// The runner has the job from another validator. That is the normal case.
    Duplicate,
    Reject(RejectReason),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RejectReason {
    /// All slots are taken, or fees cannot be paid.
    Capacity,
    Capability,
    /// The chain disagrees with the assignment.
    NotAssigned,
    TooLate,
    /// The operator does not allow it.
    Policy,
    /// The runner is about to stop.
    Draining,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobProgress {
    #[serde(with = "hash")]
    pub job_id: JobId,
    /// Percent.
    pub fraction: u8,
    pub detail: Option<String>,
}

/// A transaction of the runner about this job: a commit, a reveal, or a result. The validator puts it
/// into its mempool as if it had come in by HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobResult {
    #[serde(with = "hash")]
    pub job_id: JobId,
    #[serde(with = "serde_bytes")]
    pub result_data: Vec<u8>,
    #[serde(with = "serde_bytes")]
    pub runner_signed: RunnerSignature,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCancel {
    #[serde(with = "hash")]
    pub job_id: JobId,
    pub reason: CancelReason,
    #[serde(with = "serde_bytes")]
    pub validator_signed: ValidatorSignature,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CancelReason {
    Reassigned,
    Expired,
    /// The job ended without this runner.
    Failed,
}

/// A result for the job's aggregator, sealed to its key. Only the aggregator can open it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handover {
    #[serde(with = "hash")]
    pub job_id: JobId,
    #[serde(with = "serde_bytes")]
    pub runner: [u8; 20],
    #[serde(with = "serde_bytes")]
    pub sealed: Vec<u8>,
    #[serde(with = "serde_bytes")]
    pub runner_signed: RunnerSignature,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goodbye {
    /// A word of [`CloseReason`], or of a later version.
    pub reason: String,
    pub detail: Option<String>,
}

macro_rules! close_reasons {
    ($( $variant:ident $word:literal $about:literal; )*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum CloseReason { $( #[doc = $about] $variant, )* }

        impl CloseReason {
            pub const ALL: &'static [Self] = &[$( Self::$variant ),*];

            /// As in a [`Goodbye`].
            pub const fn word(self) -> &'static str {
                match self { $( Self::$variant => $word ),* }
            }
        }
    };
}

close_reasons! {
    UnsupportedVersion "unsupported_version" "The peer speaks another version.";
    Malformed "malformed" "A frame could not be read, or was too large.";
    Unexpected "unexpected_frame" "A frame arrived that is not allowed in this state.";
    RateLimited "rate_limited" "Too many attempts; retry later.";
    TooManySessions "too_many_sessions" "The validator holds as many sessions as it can.";
    NotRegistered "not_registered" "No registered runner has this key.";
    Jailed "jailed" "The runner is in jail.";
    WrongSubset "wrong_subset" "The validator is not in this runner's subset.";
    WrongEpoch "wrong_epoch" "The peers disagree on the subset epoch.";
    BadSignature "bad_signature" "A signature is invalid.";
    Replay "replay" "A nonce did not rise.";
    Replaced "replaced" "The runner has a newer session.";
    Silent "silent" "Nothing arrived in time.";
    TooFast "too_fast" "Frames exceeded the rate limit.";
    Shutdown "shutdown" "The sender is shutting down.";
}

impl CloseReason {
    pub fn goodbye(self) -> Frame {
        Frame::Goodbye(Goodbye { reason: self.word().to_owned(), detail: None })
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.word() == word)
    }
}

macro_rules! frames {
    ($( $number:literal $name:ident, )*) => {
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Frame {
            $( #[doc = concat!("See [`", stringify!($name), "`].")] $name($name), )*
        }

        impl Frame {
            /// On the wire.
            pub fn number(&self) -> u8 {
                match self { $( Self::$name(_) => $number ),* }
            }

            /// As in CIP-11.
            pub fn name(&self) -> &'static str {
                match self { $( Self::$name(_) => stringify!($name) ),* }
            }

            pub(crate) fn write(&self, out: &mut Vec<u8>) {
                let written = match self { $( Self::$name(frame) => ciborium::into_writer(frame, out) ),* };
                written.expect("writing to a vector cannot fail");
            }

            pub(crate) fn read(number: u8, map: &[u8]) -> Result<Self, WireError> {
                match number {
                    $( $number => cbor::map(map).map(Self::$name), )*
                    other => Err(WireError::UnknownType(other)),
                }
            }
        }

        $( impl From<$name> for Frame {
            fn from(frame: $name) -> Self {
                Self::$name(frame)
            }
        } )*
    };
}

frames! {
    0x01 Hello,
    0x02 HelloAck,
    0x10 HeartbeatPing,
    0x11 HeartbeatPong,
    0x12 BackpressureSignal,
    0x13 CapabilityDelta,
    0x20 JobAssignment,
    0x21 JobAck,
    0x22 JobProgress,
    0x23 JobResult,
    0x24 JobCancel,
    0x25 Handover,
    0xF0 Goodbye,
}

mod hash {
    use super::B256;
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(hash: &B256, serializer: S) -> Result<S::Ok, S::Error> {
        serde_bytes::serialize(hash.as_slice(), serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<B256, D::Error> {
        let bytes: [u8; 32] = serde_bytes::deserialize(deserializer)?;
        Ok(B256::from(bytes))
    }
}
