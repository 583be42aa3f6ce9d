//! `LogChunk` → `LogAck`: a log in numbered chunks that resume after an interruption (not in the seed).

use super::{Body, Problem, limit};
use crate::id::{LeaseId, RunnerId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Largest chunk before base64. It fits into a message.
pub const CHUNK_BYTES_MAX: usize = 512 * 1024;

/// A chunk of a job's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct LogChunk {
    /// The lease under which it was written.
    pub lease_id: LeaseId,
    /// The runner that holds it.
    pub runner_id: RunnerId,
    /// Number of the chunk within the lease, from 0.
    pub number: u64,
    /// Offset of its first byte in the log.
    pub offset: u64,
    /// The bytes, in base64: a log need not be text.
    #[serde(with = "base64")]
    #[schema(value_type = String)]
    pub data: Vec<u8>,
}

mod base64 {
    use data_encoding::BASE64;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(data: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64.encode(data))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(json: D) -> Result<Vec<u8>, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(json)?;
        BASE64.decode(text.as_bytes()).map_err(serde::de::Error::custom)
    }
}

impl Body for LogChunk {
    const TYPE: &'static str = "LogChunk";

    fn check(&self) -> Result<(), Problem> {
        limit::list("data", self.data.len(), CHUNK_BYTES_MAX)?;
        if self.data.is_empty() {
            return Err(Problem::Invalid { field: "data", why: "must not be empty" });
        }
        if self.offset.checked_add(self.data.len() as u64).is_none() {
            return Err(Problem::Invalid { field: "offset", why: "is beyond every log" });
        }
        Ok(())
    }
}

/// Where to continue. A runner that missed answers resends from here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct LogAck {
    /// The lease.
    pub lease_id: LeaseId,
    /// Whether the chunk is stored, now or from before.
    pub accepted: bool,
    /// Number of the next chunk.
    pub next_number: u64,
    /// Offset of the next chunk.
    pub next_offset: u64,
}

impl Body for LogAck {
    const TYPE: &'static str = "LogAck";

    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
}
