//! Results that are JSON: canonical, so that equal answers are equal bytes, and within the job's
//! size.

use super::{ExecuteError, Work};
use remuda_protocol::dispatcher::spec::DataFormat;
use remuda_protocol::verifier::json::{Decimal, Json, parse};

/// A JSON object of some members.
pub(super) fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

pub(super) fn string(text: impl Into<String>) -> Json {
    Json::String(text.into())
}

/// A whole number. Any 64-bit one is within the protocol's limits.
pub(super) fn number(value: u64) -> Json {
    thousandths(i128::from(value) * 1_000)
}

/// A number in thousandths.
pub(super) fn thousandths(value: i128) -> Json {
    let number = Decimal::from_nanos(value * 1_000_000);
    Json::Number(number.expect("64 bits are less than 10^20"))
}

/// The bytes of a JSON result, if the chain will take them.
pub(super) fn finish(work: &Work<'_>, result: &Json) -> Result<Vec<u8>, ExecuteError> {
    let bytes = within(work, result.canonical().into_bytes())?;
    // Around a document of 64 levels an envelope is one too many.
    match parse(&bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(ExecuteError::BadAnswer(format!("in its envelope: {error}"))),
    }
}

/// Bytes, if they are not too many for the job.
pub(super) fn within(work: &Work<'_>, bytes: Vec<u8>) -> Result<Vec<u8>, ExecuteError> {
    let limit = work.max_bytes();
    if bytes.len() > limit { Err(ExecuteError::TooLarge { limit }) } else { Ok(bytes) }
}

/// Refuses a job whose result could only be JSON, if it asks for something else.
pub(super) fn require_json(work: &Work<'_>) -> Result<(), ExecuteError> {
    match work.spec.result_schema.data_format {
        DataFormat::Json => Ok(()),
        _ => Err(ExecuteError::BadJob("its result is a JSON document: ask for one".into())),
    }
}
