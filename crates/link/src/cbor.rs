//! Maps of frames, in CBOR, with a limit on nesting; and why bytes are not a frame.

use serde::de::DeserializeOwned;
use thiserror::Error;

/// How deep a map may nest: no frame nests deeper than an enum in a map.
const DEPTH: usize = 8;

/// Why bytes are not a frame.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// The length is more than this stream takes.
    #[error("a frame of {length} bytes, and {limit} are the limit here")]
    TooLong { length: usize, limit: usize },
    /// Not even a type.
    #[error("an empty frame")]
    Empty,
    /// No frame has this number.
    #[error("no frame has the type {0:#04x}")]
    UnknownType(u8),
    /// The map is not what the type asks for.
    #[error("not the map of this frame: {0}")]
    Map(String),
}

/// Reads the whole of a map.
pub(crate) fn map<T: DeserializeOwned>(mut bytes: &[u8]) -> Result<T, WireError> {
    let frame = ciborium::de::from_reader_with_recursion_limit(&mut bytes, DEPTH)
        .map_err(|error| WireError::Map(error.to_string()))?;
    if bytes.is_empty() { Ok(frame) } else { Err(WireError::Map("bytes after it".to_owned())) }
}
