//! The words of the protocol: every message of the seed with its own field names, read with limits.
//!
//! [`decode`] is the only way in. It looks at the size before it parses, at the `type` before it
//! reads fields, and at every length before anybody uses one. Unknown fields are ignored (SPEC §14),
//! unknown types are not.
//!
//! The types are read one by one and never through an enum with a tag: such an enum buffers what it
//! reads, and buffered numbers are no numbers any more once `serde_json` keeps them as written.

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

/// Longest message. A chunk of a log is the largest that anybody needs to send.
pub const MESSAGE_BYTES_MAX: usize = 1024 * 1024;

/// A message: a JSON object whose `type` is its name.
pub trait Body: Serialize + DeserializeOwned {
    const TYPE: &'static str;

    /// Whether every part has a size that can be worked with and none contradicts another.
    fn check(&self) -> Result<(), Problem>;
}

/// Reads the message that is expected here.
///
/// A body without `type` is taken for the one that is expected: over HTTP the path says it too.
pub fn decode<B: Body>(bytes: &[u8]) -> Result<B, MessageError> {
    match kind(bytes)? {
        Some(found) if found != B::TYPE => {
            Err(MessageError::WrongType { found: shown(&found), expected: B::TYPE })
        }
        _ => body(bytes),
    }
}

pub fn encode<B: Body>(body: &B) -> Vec<u8> {
    // Only maps with keys that are no strings, or writers that fail, make this fail; there are none.
    serde_json::to_vec(body).unwrap_or_default()
}

/// What a message calls itself, if it does.
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
    // That it is JSON is known by now. Of an enum that is no text the parser complains as if it
    // were not; the field is what is wrong.
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

/// A stranger's text in an answer: short.
fn shown(text: &str) -> String {
    text.chars().take(64).collect()
}

macro_rules! messages {
    ($($name:ident),+ $(,)?) => {
        /// Any message, for transports that carry them all on one channel.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Message {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] $name($name),)+
        }

        impl Message {
            pub const TYPES: &'static [&'static str] = &[$($name::TYPE),+];

            /// Reads whatever message this is.
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
