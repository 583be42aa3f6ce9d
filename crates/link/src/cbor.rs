//! Decodes the CBOR map of a frame, with a limit on nesting.

use serde::de::DeserializeOwned;
use thiserror::Error;

/// No frame nests deeper than an enum in a map.
const DEPTH: usize = 8;

/// The bytes are not a frame.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    #[error("frame too long: {length} bytes, limit {limit}")]
    TooLong { length: usize, limit: usize },
    #[error("empty frame")]
    Empty,
    #[error("unknown frame type {0:#04x}")]
    UnknownType(u8),
    #[error("malformed frame: {0}")]
    Map(String),
}

pub(crate) fn map<T: DeserializeOwned>(mut bytes: &[u8]) -> Result<T, WireError> {
    let frame = ciborium::de::from_reader_with_recursion_limit(&mut bytes, DEPTH)
        .map_err(|error| WireError::Map(error.to_string()))?;
    if bytes.is_empty() { Ok(frame) } else { Err(WireError::Map("trailing bytes".to_owned())) }
}
