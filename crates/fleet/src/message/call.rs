//! A job that is a call of an executor inside the worker's process, with bytes that only submitter and
//! executor understand. The result travels in `Complete`, so accepting the completion and accepting the
//! result are one step under one fence.

use super::Problem;
use super::limit::{self, NAME_BYTES_MAX};
use data_encoding::BASE64;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;
use utoipa::ToSchema;

/// Longest input, and longest output, of a call. In base64 either fits into a message with its other fields.
pub const DATA_BYTES_MAX: usize = 256 * 1024;

/// In base64: four characters for three bytes.
const TEXT_LENGTH_MAX: usize = DATA_BYTES_MAX.div_ceil(3) * 4;

const _: () = assert!(TEXT_LENGTH_MAX + 128 * 1024 <= super::MESSAGE_BYTES_MAX);

/// A call of an executor.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct Call {
    /// The kind of executor.
    pub kind: String,
    /// Input of the executor.
    pub input: Data,
}

impl Call {
    pub(super) fn check(&self) -> Result<(), Problem> {
        limit::word("job_spec.call.kind", &self.kind, NAME_BYTES_MAX)
    }
}

/// Opaque bytes, base64 on the wire. `Debug` prints the length only.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Data(Arc<[u8]>);

impl Data {
    /// `None` if there are more than [`DATA_BYTES_MAX`].
    pub fn new(bytes: &[u8]) -> Option<Self> {
        (bytes.len() <= DATA_BYTES_MAX).then(|| Self(bytes.into()))
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let text = <std::borrow::Cow<'de, str> as Deserialize>::deserialize(json)?;
        // Before decoding.
        if text.len() > TEXT_LENGTH_MAX {
            return Err(D::Error::custom(format!("must have at most {DATA_BYTES_MAX} bytes")));
        }
        let bytes = BASE64.decode(text.as_bytes()).map_err(|_| D::Error::custom("must be base64"));
        bytes.map(|bytes| Self(bytes.into()))
    }
}

impl utoipa::PartialSchema for Data {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        crate::text::string_schema()
    }
}
impl ToSchema for Data {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_comes_back_as_it_went_and_no_larger_than_it_may_be() {
        for bytes in [&b""[..], b"a", b"\0\xff\n"] {
            let data = Data::new(bytes).expect("few");
            let text = serde_json::to_string(&data).expect("json");
            assert_eq!(serde_json::from_str::<Data>(&text).expect("data"), data);
        }
        let most = vec![7; DATA_BYTES_MAX];
        let text = serde_json::to_string(&Data::new(&most).expect("few enough")).expect("json");
        assert!(serde_json::from_str::<Data>(&text).is_ok());
        assert!(Data::new(&[&most[..], &[7]].concat()).is_none());
        let longer = format!("\"{}AAAA\"", text.trim_matches('"'));
        let error = serde_json::from_str::<Data>(&longer).expect_err("too much");
        assert!(error.to_string().contains("at most"), "{error}");
        assert!(serde_json::from_str::<Data>("\"a\"").is_err());
    }
}
