//! What runners and validators say to each other (CIP-11 §12.2).
//!
//! A frame travels as `length u32 be ‖ type u8 ‖ CBOR map`; the length counts what follows it. Fields
//! have the names of CIP-11. Whoever decodes a frame ignores fields that it does not know, so that a
//! later version may add some.

use crate::cbor::{self, WireError};
use remuda_protocol::primitives::{B256, JobId};
use serde::{Deserialize, Serialize};

/// The version of this protocol; the upper byte is the major one.
pub const VERSION: u16 = 0x0100;

/// A signature of a runner, or of a validator without its last byte.
pub type RunnerSignature = [u8; 65];
/// A signature of a validator.
pub type ValidatorSignature = [u8; 64];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// The one that works, and that connects.
    Runner,
    /// The one that is connected to.
    Validator,
}

/// The first word of both sides. The validator's says which subset epoch the signatures name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// See [`VERSION`].
    pub version: u16,
    /// 33 bytes of a runner, 32 of a validator.
    #[serde(with = "serde_bytes")]
    pub party_pubkey: Vec<u8>,
    pub party_role: Role,
    /// The newest block that the sender knows.
    pub block_height: u64,
    /// What the other side's signature has to cover.
    #[serde(with = "serde_bytes")]
    pub challenge_nonce: [u8; 32],
    /// The sender's subset epoch.
    pub subset_epoch: u64,
}

/// The second word of both sides: the proof of the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelloAck {
    /// See [`VERSION`].
    pub version: u16,
    /// As in [`Hello`].
    #[serde(with = "serde_bytes")]
    pub party_pubkey: Vec<u8>,
    /// As in [`Hello`].
    pub party_role: Role,
    /// Over both nonces, both keys and the TLS session; see [`Meeting`](crate::sign::Meeting).
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

/// The validator heard it. Sent unasked, too, when there is a new final block: that is how a runner
/// learns of it, and of a new subset epoch, within half a round trip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatPong {
    /// The newest final block of the validator.
    pub block_height: u64,
    /// The subset epoch of that block.
    pub subset_epoch: u64,
    #[serde(with = "serde_bytes")]
    pub validator_signed: ValidatorSignature,
}

/// How busy a runner is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackpressureSignal {
    pub active_jobs: u32,
    /// Jobs it works on at most.
    pub max_concurrent: u32,
    /// Whether it should be attested as present.
    pub accepting_new: bool,
    pub reason: Option<String>,
}

/// What a runner can do for the moment. Advice to the validator; the chain knows nothing of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapabilityDelta {
    /// The newest block that the runner knows.
    pub block_height: u64,
    /// What it can do again.
    pub added_capabilities: Vec<String>,
    /// What it cannot do for now.
    pub removed_capabilities: Vec<String>,
    /// Entitlements that it holds again.
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

/// What became of an assignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobAck {
    #[serde(with = "hash")]
    pub job_id: JobId,
    /// What the runner does with it.
    pub status: AckStatus,
    pub reason: Option<String>,
    #[serde(with = "serde_bytes")]
    pub signed: RunnerSignature,
}

/// What a runner does with an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AckStatus {
    Accepted,
    /// It has it from another validator. That is the normal case.
    Duplicate,
    Reject(RejectReason),
}

/// Why a runner will not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RejectReason {
    /// It has as many jobs as it takes.
    Capacity,
    /// It cannot do such work.
    Capability,
    /// The assignment is not what the chain says.
    NotAssigned,
    /// There is not enough time left.
    TooLate,
    /// Its operator does not allow it.
    Policy,
    /// It is about to stop.
    Draining,
}

/// How far the work is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobProgress {
    #[serde(with = "hash")]
    pub job_id: JobId,
    /// In percent.
    pub fraction: u8,
    pub detail: Option<String>,
}

/// A transaction of the runner about this job: a commit, a reveal, or a result. The validator puts it
/// into its mempool as if it had come in by HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobResult {
    #[serde(with = "hash")]
    pub job_id: JobId,
    /// The signed transaction.
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
    /// The job is over without it.
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

/// The last word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goodbye {
    /// One of the words of [`Parting`], or one that only a later version knows.
    pub reason: String,
    pub detail: Option<String>,
}

macro_rules! partings {
    ($( $variant:ident $word:literal $about:literal; )*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Parting { $( #[doc = $about] $variant, )* }

        impl Parting {
            pub const ALL: &'static [Self] = &[$( Self::$variant ),*];

            /// Its word in a [`Goodbye`].
            pub const fn word(self) -> &'static str {
                match self { $( Self::$variant => $word ),* }
            }

            pub const fn about(self) -> &'static str {
                match self { $( Self::$variant => $about ),* }
            }
        }
    };
}

partings! {
    UnsupportedVersion "unsupported_version" "The other side speaks another version.";
    Malformed "malformed" "A frame could not be read, or was too large.";
    Unexpected "unexpected_frame" "A frame came that has no place there.";
    RateLimited "rate_limited" "Too many attempts; come back later.";
    TooManySessions "too_many_sessions" "The validator has as many sessions as it holds.";
    NotRegistered "not_registered" "The key belongs to no registered runner.";
    Jailed "jailed" "The runner is in jail.";
    WrongSubset "wrong_subset" "The validator is not one of this runner's.";
    WrongEpoch "wrong_epoch" "The sides do not agree on the subset epoch.";
    BadSignature "bad_signature" "A signature does not hold.";
    Replay "replay" "A nonce did not rise.";
    Replaced "replaced" "The runner has a newer session.";
    Silent "silent" "Nothing came for too long.";
    TooFast "too_fast" "Frames came faster than a session may send them.";
    Shutdown "shutdown" "The sender stops.";
}

impl Parting {
    /// The frame that says so.
    pub fn goodbye(self) -> Frame {
        Frame::Goodbye(Goodbye { reason: self.word().to_owned(), detail: None })
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|parting| parting.word() == word)
    }
}

macro_rules! frames {
    ($( $number:literal $name:ident, )*) => {
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Frame {
            $( #[doc = concat!("See [`", stringify!($name), "`].")] $name($name), )*
        }

        impl Frame {
            /// Its number on the wire.
            pub fn number(&self) -> u8 {
                match self { $( Self::$name(_) => $number ),* }
            }

            /// Its name in CIP-11.
            pub fn name(&self) -> &'static str {
                match self { $( Self::$name(_) => stringify!($name) ),* }
            }

            pub(crate) fn write(&self, out: &mut Vec<u8>) {
                let written = match self { $( Self::$name(frame) => ciborium::into_writer(frame, out) ),* };
                written.expect("a vector takes everything");
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

/// A hash as a byte string.
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
