//! What a runner and its workers say to each other about a job, as the bytes of a call and of its output.
//! The orchestrator in between reads neither.
//!
//! ```text
//! order   1 ‖ job id (32) ‖ milliseconds (8, big-endian) ‖ pinned (0 or 1) ‖ specification, as on chain
//! finding 0 ‖ result    or    1 ‖ why there is none, as JSON
//! ```

use crate::executor::ExecuteError;
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
pub struct Order {
    /// Which job.
    pub job_id: JobId,
    /// Time for the work, once it has begun.
    pub within: Duration,
    /// Whether governance vouches for its program, says the chain.
    pub pinned: bool,
    /// What is asked for.
    pub spec: JobSpec,
}

/// Why bytes are no order, or no finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// Of another version, or no order at all.
    #[error("it is of another version: runner and workers must be of the same")]
    Version,
    /// The specification.
    #[error("the specification cannot be read")]
    Spec,
    /// A finding that is none.
    #[error("what the worker found cannot be read")]
    Finding,
}

impl Order {
    /// As bytes. None: they are more than a call has room for; no transaction has that.
    pub fn encode(&self) -> Option<Data> {
        let millis = u64::try_from(self.within.as_millis()).unwrap_or(u64::MAX);
        let mut bytes = vec![VERSION];
        bytes.extend(self.job_id.as_slice());
        bytes.extend(millis.to_be_bytes());
        bytes.push(self.pinned.into());
        bytes.extend(self.spec.to_bytes());
        Data::new(&bytes)
    }

    /// From bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, OrderError> {
        let (head, spec) = bytes.split_at_checked(HEAD).ok_or(OrderError::Version)?;
        let millis: [u8; 8] = head[33..41].try_into().map_err(|_| OrderError::Version)?;
        let pinned = match head[41] {
            0 => false,
            1 => true,
            _ => return Err(OrderError::Version),
        };
        if head[0] != VERSION {
            return Err(OrderError::Version);
        }
        Ok(Self {
            job_id: B256::from_slice(&head[1..33]),
            within: Duration::from_millis(u64::from_be_bytes(millis)),
            pinned,
            spec: JobSpec::from_bytes(spec).map_err(|_| OrderError::Spec)?,
        })
    }
}

/// [`ExecuteError`] on the way. What is too costly only the runner can say.
#[derive(Serialize, Deserialize)]
enum Trouble {
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

/// What the work gave.
pub type Finding = Result<Vec<u8>, ExecuteError>;

/// As bytes.
pub fn encode_finding(finding: &Finding) -> Data {
    let trouble = |error: &ExecuteError| {
        let json = serde_json::to_vec(&Trouble::from(error)).unwrap_or_default();
        Data::new(&[&[1], &json[..]].concat())
    };
    let data = match finding {
        Ok(result) => Data::new(&[&[0], &result[..]].concat()),
        Err(error) => trouble(error),
    };
    // No executor gives as much: results have the size that the job allows.
    let limit = remuda_fleet::message::DATA_BYTES_MAX;
    data.or_else(|| trouble(&ExecuteError::TooLarge { limit })).unwrap_or_default()
}

/// From bytes.
pub fn decode_finding(bytes: &[u8]) -> Result<Finding, OrderError> {
    match bytes.split_first() {
        Some((0, result)) => Ok(Ok(result.to_vec())),
        Some((1, why)) => {
            let why: Trouble = serde_json::from_slice(why).map_err(|_| OrderError::Finding)?;
            Ok(Err(why.into()))
        }
        _ => Err(OrderError::Finding),
    }
}

impl From<&ExecuteError> for Trouble {
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
            ExecuteError::TimedOut(within) => {
                Self::TimedOut(u64::try_from(within.as_millis()).unwrap_or(u64::MAX))
            }
            ExecuteError::Program(why) => Self::Program(brief(why)),
        }
    }
}

impl From<Trouble> for ExecuteError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::NotAllowed(why) => Self::NotAllowed(why),
            Trouble::BadJob(why) => Self::BadJob(why),
            Trouble::Unreachable(why) => Self::Unreachable(why),
            Trouble::Backend(why) => Self::Backend(why),
            Trouble::Refused(why) => Self::Refused(why),
            Trouble::BadAnswer(why) => Self::BadAnswer(why),
            Trouble::TooLarge(limit) => {
                Self::TooLarge { limit: usize::try_from(limit).unwrap_or(usize::MAX) }
            }
            Trouble::TimedOut(millis) => Self::TimedOut(Duration::from_millis(millis)),
            Trouble::Program(why) => Self::Program(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::testing::http_spec;

    #[test]
    fn an_order_comes_as_it_was_given() {
        let order = Order {
            job_id: B256::repeat_byte(7),
            within: Duration::from_millis(1_234),
            pinned: true,
            spec: http_spec("GET", "http://example.com/"),
        };
        let data = order.encode().unwrap();
        assert_eq!(Order::decode(data.bytes()), Ok(order));
        for end in 0..data.bytes().len() {
            assert!(Order::decode(&data.bytes()[..end]).is_err(), "cut at {end}");
        }
        let mut other = data.bytes().to_vec();
        other[0] = 2;
        assert_eq!(Order::decode(&other), Err(OrderError::Version));
    }

    #[test]
    fn a_finding_comes_as_it_was_made() {
        let findings: Vec<Finding> = vec![
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
        for finding in findings {
            assert_eq!(decode_finding(encode_finding(&finding).bytes()), Ok(finding));
        }
        for bytes in [&b""[..], b"\x02", b"\x01", b"\x01{}"] {
            assert_eq!(decode_finding(bytes), Err(OrderError::Finding));
        }
        let large = encode_finding(&Ok(vec![0; remuda_fleet::message::DATA_BYTES_MAX]));
        let told = decode_finding(large.bytes()).unwrap();
        assert!(matches!(told, Err(ExecuteError::TooLarge { .. })));
    }
}
