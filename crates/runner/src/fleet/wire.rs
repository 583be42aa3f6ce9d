//! A job and its result as bytes: the input and the output of a call. The orchestrator in between reads
//! neither.
//!
//! ```text
//! input   1 ‖ job id (32) ‖ milliseconds (8, big-endian) ‖ pinned (0 or 1) ‖ specification, as on chain
//! output  0 ‖ result    or    1 ‖ why there is none, as JSON
//! ```

use crate::executor::{ExecuteError, ExecuteResult};
use remuda_fleet::message::Data;
use remuda_protocol::codec::{Decode as _, Encode as _};
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::primitives::{B256, JobId};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The kind of such a call.
pub const KIND: &str = "remuda-job";

const VERSION: u8 = 1;
/// Before the specification.
const HEAD: usize = 1 + 32 + 8 + 1;
/// Characters of why there is no result.
const WORDS: usize = 1_000;

/// A job for a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobCall {
    pub job_id: JobId,
    /// Time for the work, once it has begun.
    pub time_limit: Duration,
    /// Governance vouches for the program.
    pub pinned: bool,
    pub spec: JobSpec,
}

/// Why bytes are no job, or no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Of another version, or no job at all.
    #[error("version mismatch: install the same version on runner and workers")]
    Version,
    #[error("malformed specification")]
    Spec,
    #[error("malformed result of a worker")]
    Result,
}

impl JobCall {
    /// As bytes. None: they are more than a call has room for; no transaction has that.
    pub fn encode(&self) -> Option<Data> {
        let millis = u64::try_from(self.time_limit.as_millis()).unwrap_or(u64::MAX);
        let mut bytes = vec![VERSION];
        bytes.extend(self.job_id.as_slice());
        bytes.extend(millis.to_be_bytes());
        bytes.push(self.pinned.into());
        bytes.extend(self.spec.to_bytes());
        Data::new(&bytes)
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let (head, spec) = bytes.split_at_checked(HEAD).ok_or(WireError::Version)?;
        let millis: [u8; 8] = head[33..41].try_into().map_err(|_| WireError::Version)?;
        let pinned = match head[41] {
            0 => false,
            1 => true,
            _ => return Err(WireError::Version),
        };
        if head[0] != VERSION {
            return Err(WireError::Version);
        }
        Ok(Self {
            job_id: B256::from_slice(&head[1..33]),
            time_limit: Duration::from_millis(u64::from_be_bytes(millis)),
            pinned,
            spec: JobSpec::from_bytes(spec).map_err(|_| WireError::Spec)?,
        })
    }
}

/// [`ExecuteError`] on the way. What is too costly only the runner can say.
#[derive(Serialize, Deserialize)]
enum WireFailure {
    NotAllowed(String),
    BadJob(String),
    Unreachable(String),
    Backend(String),
    Refused(String),
    BadAnswer(String),
    TooLarge(u64),
    TimedOut(u64),
    Program(String),
}

pub fn encode_result(result: &ExecuteResult) -> Data {
    let failure = |error: &ExecuteError| {
        let json = serde_json::to_vec(&WireFailure::from(error)).unwrap_or_default();
        Data::new(&[&[1], &json[..]].concat())
    };
    let data = match result {
        Ok(result) => Data::new(&[&[0], &result[..]].concat()),
        Err(error) => failure(error),
    };
    // No executor gives as much: results have the size that the job allows.
    let limit = remuda_fleet::message::DATA_BYTES_MAX;
    data.or_else(|| failure(&ExecuteError::TooLarge { limit })).unwrap_or_default()
}

pub fn decode_result(bytes: &[u8]) -> Result<ExecuteResult, WireError> {
    match bytes.split_first() {
        Some((0, result)) => Ok(Ok(result.to_vec())),
        Some((1, why)) => {
            let why: WireFailure = serde_json::from_slice(why).map_err(|_| WireError::Result)?;
            Ok(Err(why.into()))
        }
        _ => Err(WireError::Result),
    }
}

impl From<&ExecuteError> for WireFailure {
    fn from(error: &ExecuteError) -> Self {
        let brief = |why: &String| why.chars().take(WORDS).collect();
        let bytes = |limit: &usize| u64::try_from(*limit).unwrap_or(u64::MAX);
        match error {
            ExecuteError::NotAllowed(why) => Self::NotAllowed(brief(why)),
            ExecuteError::BadJob(why) => Self::BadJob(brief(why)),
            ExecuteError::Unreachable(why) => Self::Unreachable(brief(why)),
            ExecuteError::Backend(why) => Self::Backend(brief(why)),
            ExecuteError::Refused(why) => Self::Refused(brief(why)),
            ExecuteError::BadAnswer(why) => Self::BadAnswer(brief(why)),
            ExecuteError::TooLarge { limit } | ExecuteError::TooCostly { limit, .. } => {
                Self::TooLarge(bytes(limit))
            }
            ExecuteError::TimedOut(time_limit) => {
                Self::TimedOut(u64::try_from(time_limit.as_millis()).unwrap_or(u64::MAX))
            }
            ExecuteError::Program(why) => Self::Program(brief(why)),
        }
    }
}

impl From<WireFailure> for ExecuteError {
    fn from(failure: WireFailure) -> Self {
        match failure {
            WireFailure::NotAllowed(why) => Self::NotAllowed(why),
            WireFailure::BadJob(why) => Self::BadJob(why),
            WireFailure::Unreachable(why) => Self::Unreachable(why),
            WireFailure::Backend(why) => Self::Backend(why),
            WireFailure::Refused(why) => Self::Refused(why),
            WireFailure::BadAnswer(why) => Self::BadAnswer(why),
            WireFailure::TooLarge(limit) => {
                Self::TooLarge { limit: usize::try_from(limit).unwrap_or(usize::MAX) }
            }
            WireFailure::TimedOut(millis) => Self::TimedOut(Duration::from_millis(millis)),
            WireFailure::Program(why) => Self::Program(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::http_spec;

    #[test]
    fn a_job_is_decoded_as_it_was_encoded() {
        let job = JobCall {
            job_id: B256::repeat_byte(7),
            time_limit: Duration::from_millis(1_234),
            pinned: true,
            spec: http_spec("GET", "http://example.com/"),
        };
        let data = job.encode().unwrap();
        assert_eq!(JobCall::decode(data.bytes()), Ok(job));
        for end in 0..data.bytes().len() {
            assert!(JobCall::decode(&data.bytes()[..end]).is_err(), "cut at {end}");
        }
        let mut other = data.bytes().to_vec();
        other[0] = 2;
        assert_eq!(JobCall::decode(&other), Err(WireError::Version));
    }

    #[test]
    fn a_result_is_decoded_as_it_was_encoded() {
        let results: Vec<ExecuteResult> = vec![
            Ok(vec![]),
            Ok(b"\0\x01result".to_vec()),
            Err(ExecuteError::NotAllowed("a".into())),
            Err(ExecuteError::BadJob("b".into())),
            Err(ExecuteError::Unreachable("c".into())),
            Err(ExecuteError::Backend("d".into())),
            Err(ExecuteError::Refused("f".into())),
            Err(ExecuteError::BadAnswer("\u{e9}\n".into())),
            Err(ExecuteError::TooLarge { limit: 10 }),
            Err(ExecuteError::TimedOut(Duration::from_millis(1_500))),
            Err(ExecuteError::Program("e".into())),
        ];
        for result in results {
            assert_eq!(decode_result(encode_result(&result).bytes()), Ok(result));
        }
        for bytes in [&b""[..], b"\x02", b"\x01", b"\x01{}"] {
            assert_eq!(decode_result(bytes), Err(WireError::Result));
        }
        let large = encode_result(&Ok(vec![0; remuda_fleet::message::DATA_BYTES_MAX]));
        let told = decode_result(large.bytes()).unwrap();
        assert!(matches!(told, Err(ExecuteError::TooLarge { .. })));
    }
}
