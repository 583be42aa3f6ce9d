//! From JSON to a job, with errors that name the field.

use super::super::scalar::{BigUint, number_text};
use super::JobSpecView;
use crate::amount::{AmountError, parse_amount};
use remuda_protocol::dispatcher::file::job_from_json;
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::verifier::json::parse;
use serde::Deserializer;
use serde::de::Error as _;
use thiserror::Error;

/// A JSON document may be this long: no transaction can carry a longer job.
const SPEC_BYTES_MAX: usize = 512 * 1024;

/// What is wrong with a job in JSON, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field}: {problem}")]
pub struct SpecError {
    /// Path of the field, such as `verification.checks[0].NumericRange.min`.
    pub field: String,
    pub problem: String,
}

/// An amount of base units as programs write it, or of CBY as people do.
pub(super) fn price<'de, D: Deserializer<'de>>(from: D) -> Result<BigUint, D::Error> {
    match parse_amount(&number_text(from)?) {
        Ok(amount) => Ok(BigUint(amount.get())),
        Err(AmountError::Zero) => Ok(BigUint(0)),
        Err(error) => Err(D::Error::custom(error)),
    }
}

impl JobSpecView {
    pub fn from_json(bytes: &[u8]) -> Result<Self, SpecError> {
        let wrong = |field: String, problem: String| SpecError { field, problem };
        if bytes.len() > SPEC_BYTES_MAX {
            let problem =
                format!("a job in JSON has at most {SPEC_BYTES_MAX} bytes, not {}", bytes.len());
            return Err(wrong(".".to_owned(), problem));
        }
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        let spec = serde_path_to_error::deserialize(&mut reader)
            .map_err(|error| wrong(error.path().to_string(), error.inner().to_string()))?;
        reader.end().map_err(|error| wrong(".".to_owned(), error.to_string()))?;
        Ok(spec)
    }
}

impl TryFrom<&JobSpecView> for JobSpec {
    type Error = SpecError;

    /// Reads the job as actors' jobs are read, so that the same document is the same job.
    fn try_from(view: &JobSpecView) -> Result<Self, SpecError> {
        let whole = |problem: String| SpecError { field: ".".to_owned(), problem };
        let json = serde_json::to_vec(view).map_err(|error| whole(error.to_string()))?;
        let json = parse(&json).map_err(|error| whole(error.to_string()))?;
        job_from_json(&json)
            .map_err(|error| SpecError { field: error.field, problem: error.problem.to_owned() })
    }
}
