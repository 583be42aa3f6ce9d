//! The protocol's messages, with the seed's field names, parsed under limits.
//!
//! [`decode`] is the only entry. It checks the size before parsing, the `type` before the fields, and every
//! length before use. Unknown fields are ignored (SPEC §14), unknown types are refused.
//!
//! Each type is deserialised by itself, not through a tagged enum: that would buffer numbers, and with
//! `arbitrary_precision` a buffered number no longer deserialises as one.

mod ack;
mod call;
mod cancel;
mod complete;
mod enrol;
mod error;
mod heartbeat;
mod lease;
mod leave;
mod limit;
mod log;
mod spec;
mod stale;
mod submit;
mod text;
mod upload;

pub use ack::{AckLease, AckLeaseAck};
pub use call::{Call, DATA_BYTES_MAX, Data};
pub use cancel::{CancelAck, CancelAckAck, CancelReason, CancelRequested, FinalStatus};
pub use complete::{Artifact, Complete, CompleteAck, CompleteStatus, Failure, Timings};
pub use enrol::{Enrol, Enrolled};
pub use error::{ErrorBody, ErrorDetail, MessageError};
pub use heartbeat::{Heartbeat, HeartbeatAck, LogCursor, Phase, Progress};
pub use lease::{LeaseGranted, LeaseRequest, NoWork, WAIT_SECONDS_MAX};
pub use leave::{Leave, Left};
pub use limit::{Problem, RUN_JOBS_MAX, TEXT_BYTES_MAX};
pub use log::{CHUNK_BYTES_MAX, LogAck, LogChunk};
pub use spec::{ArtifactSpec, CacheSpec, JobSpec, Work};
pub use stale::{StaleLease, StaleReason};
pub use submit::{ATTEMPTS_MAX, JobSubmission, Retry, RunSubmission};
pub use text::{Label, Tag};
pub use upload::{OBJECT_BYTES_MAX, UploadGranted, UploadRequest, is_object_path};

use serde::Serialize;
use serde::de::{Deserialize, DeserializeOwned};
use std::borrow::Cow;

/// Longest message. A log chunk is the largest.
pub const MESSAGE_BYTES_MAX: usize = 1024 * 1024;

/// A message: a JSON object whose `type` is its name.
pub trait Body: Serialize + DeserializeOwned {
    const TYPE: &'static str;

    /// Checks sizes and consistency.
    fn check(&self) -> Result<(), Problem>;
}

/// Parses the expected message.
///
/// `type` may be missing: over HTTP the path implies it.
pub fn decode<B: Body>(bytes: &[u8]) -> Result<B, MessageError> {
    match kind(bytes)? {
        Some(found) if found != B::TYPE => {
            Err(MessageError::WrongType { found: shown(&found), expected: B::TYPE })
        }
        _ => body(bytes),
    }
}

pub fn encode<B: Body>(body: &B) -> Vec<u8> {
    // Cannot fail: no map has keys other than strings, and a `Vec` takes every write.
    serde_json::to_vec(body).unwrap_or_default()
}

/// The message's `type`, if it has one.
fn kind(bytes: &[u8]) -> Result<Option<Cow<'_, str>>, MessageError> {
    #[derive(serde::Deserialize)]
    struct Envelope<'a> {
        #[serde(rename = "type", borrow)]
        kind: Option<Cow<'a, str>>,
    }
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(MessageError::TooLarge { found: bytes.len() });
    }
    let envelope: Envelope<'_> = read(bytes).map_err(|(path, error)| match error.is_data() {
        true => field(path, &error),
        false => MessageError::NotJson { why: error.to_string() },
    })?;
    Ok(envelope.kind)
}

fn body<B: Body>(bytes: &[u8]) -> Result<B, MessageError> {
    // The bytes are known to be JSON. For an enum that is no text the parser reports a syntax error; the
    // field is what is wrong.
    let body: B = read(bytes).map_err(|(path, error)| field(path, &error))?;
    body.check()?;
    Ok(body)
}

fn read<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, (String, serde_json::Error)> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json)
        .map_err(|error| (error.path().to_string(), error.into_inner()))?;
    json.end().map_err(|error| (String::new(), error))?;
    Ok(value)
}

fn field(path: String, error: &serde_json::Error) -> MessageError {
    MessageError::Field { path, why: error.to_string() }
}

/// Shortens untrusted text for an answer.
fn shown(text: &str) -> String {
    text.chars().take(64).collect()
}

macro_rules! messages {
    ($($name:ident),+ $(,)?) => {
        /// Any message, for a channel that carries several types.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Message {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] $name($name),)+
        }

        impl Message {
            pub const TYPES: &'static [&'static str] = &[$($name::TYPE),+];

            /// Parses a message of any type.
            pub fn decode(bytes: &[u8]) -> Result<Self, MessageError> {
                match kind(bytes)?.as_deref() {
                    $(Some($name::TYPE) => Ok(Self::$name(body(bytes)?)),)+
                    Some(other) => Err(MessageError::UnknownType { found: shown(other) }),
                    None => Err(MessageError::NoType),
                }
            }

            pub fn encode(&self) -> Vec<u8> {
                match self {
                    $(Self::$name(body) => encode(body),)+
                }
            }
        }
    };
}

messages!(
    LeaseRequest,
    LeaseGranted,
    NoWork,
    AckLease,
    AckLeaseAck,
    Heartbeat,
    HeartbeatAck,
    Complete,
    CompleteAck,
    CancelRequested,
    CancelAck,
    CancelAckAck,
    StaleLease,
    LogChunk,
    LogAck,
    UploadRequest,
    UploadGranted,
    Enrol,
    Enrolled,
    Leave,
    Left,
);
