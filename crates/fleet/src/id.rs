//! Ids and counters, one type each, checked on construction.
//!
//! Lease ids and cancel tokens are capabilities. `Debug` and `Display` print eight hex digits of their hash;
//! only serialising reveals them.

use crate::text::{bounded_text, plain};
use alloy_primitives::keccak256;
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

pub const ID_LENGTH_MAX: usize = 96;

/// Hex digits of a run's id.
pub(crate) const RUN_DIGITS: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    #[error("must begin with `{0}`")]
    Prefix(&'static str),
    #[error("must have something after `{0}`")]
    Empty(&'static str),
    #[error("must have at most {ID_LENGTH_MAX} characters")]
    Long,
    /// Ids are used in paths and file names.
    #[error("may only have letters, digits, `_` and `-`")]
    Character,
    #[error("must have {0} lower-case hex digits")]
    Hex(usize),
}

fn check(text: &str, prefix: &'static str) -> Result<(), IdError> {
    let rest = text.strip_prefix(prefix).ok_or(IdError::Prefix(prefix))?;
    if rest.is_empty() {
        return Err(IdError::Empty(prefix));
    }
    if text.len() > ID_LENGTH_MAX {
        return Err(IdError::Long);
    }
    if !rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
        return Err(IdError::Character);
    }
    Ok(())
}

/// A secret's hash, shortened: enough to find it in a log, useless otherwise.
fn redacted(secret: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let hash = keccak256(secret.as_bytes());
    write!(f, "#{:02x}{:02x}{:02x}{:02x}", hash[0], hash[1], hash[2], hash[3])
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $show:expr) => {
        bounded_text!($(#[$doc])* $name, IdError, |text| check(text, $prefix), $show);

        impl $name {
            /// Prefix of all ids of this type.
            pub const PREFIX: &'static str = $prefix;
        }
    };
}

id!(
    /// Id of a run: jobs that were submitted together.
    RunId, "run_", plain
);
id!(
    /// Id of a job.
    JobId, "job_", plain
);
id!(
    /// Id of a runner process. A restarted process takes a new one.
    RunnerId, "runner_", plain
);
id!(
    /// Id of a lease: the right to execute a job. A secret.
    LeaseId, "lease_", redacted
);
id!(
    /// Proof that a cancellation comes from the orchestrator. A secret.
    CancelToken, "cancel_", redacted
);

bounded_text!(
    /// A machine's public key (Ed25519), as 64 hex digits.
    WorkerKey, IdError, |text| check_hex(text, 64), plain
);
bounded_text!(
    /// Id of a machine's key: the first 24 hex digits of its hash. Ids of its runners begin with it, so a
    /// runner's id names the key that must sign for it.
    KeyId, IdError, |text| check_hex(text, 24), plain
);

pub(crate) fn check_hex(text: &str, digits: usize) -> Result<(), IdError> {
    let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    (text.len() == digits && text.bytes().all(hex)).then_some(()).ok_or(IdError::Hex(digits))
}

impl WorkerKey {
    pub fn id(&self) -> KeyId {
        KeyId(HEXLOWER.encode(&keccak256(self.as_str().as_bytes())[..12]).into())
    }
}

impl RunnerId {
    /// Id of a runner on the machine with this key.
    pub fn of(key: &KeyId, process: &str) -> Result<Self, IdError> {
        Self::new(&format!("{}{key}-{process}", Self::PREFIX))
    }

    /// The key of its machine, if the id names one.
    pub fn key(&self) -> Option<KeyId> {
        let rest = self.as_str().strip_prefix(Self::PREFIX)?;
        KeyId::new(rest.split_once('-')?.0).ok()
    }

    /// Whether it runs on the machine with this key.
    pub fn belongs_to(&self, key: &KeyId) -> bool {
        let rest = self.as_str().strip_prefix(Self::PREFIX);
        let rest = rest.and_then(|rest| rest.strip_prefix(key.as_str()));
        rest.is_some_and(|rest| rest.starts_with('-'))
    }
}

impl RunId {
    /// An id chosen by a submitter. All run ids have one length, which leaves room for the number in ids of
    /// jobs.
    pub fn chosen(text: &str) -> Result<Self, IdError> {
        let rest = text.strip_prefix(Self::PREFIX).ok_or(IdError::Prefix(Self::PREFIX))?;
        check_hex(rest, RUN_DIGITS)?;
        Self::new(text)
    }
}

impl JobId {
    /// Id of the `index`th job of a run. Job ids are no secrets and need no randomness.
    pub fn of(run: &RunId, index: usize) -> Self {
        let suffix = run.as_str().strip_prefix(RunId::PREFIX).unwrap_or_default();
        Self(format!("{}{suffix}-{index}", Self::PREFIX).into())
    }

    /// The run of a job whose id was made by [`JobId::of`].
    pub fn run(&self) -> Option<RunId> {
        let (run, _) = self.as_str().strip_prefix(Self::PREFIX)?.rsplit_once('-')?;
        RunId::new(&format!("{}{run}", RunId::PREFIX)).ok()
    }
}

/// Rises by one with each grant of a job, and so orders writes of its leases (SPEC §14).
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    ToSchema,
)]
#[serde(transparent)]
pub struct Fence(pub u64);

impl Fence {
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Number of an attempt, from 1. A lost grant and the next one belong to the same attempt.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(transparent)]
pub struct Attempt(pub u32);

impl Attempt {
    pub const FIRST: Self = Self(1);

    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job id that does not parse would block the queue.
    #[test]
    fn ids_of_jobs_can_be_read_whatever_run_was_chosen() {
        let longest = format!("run_{}", "0".repeat(32));
        let run = RunId::chosen(&longest).expect("as new ones are");
        let job = JobId::of(&run, 999);
        assert_eq!(JobId::new(job.as_str()), Ok(job));
        assert_eq!(RunId::chosen(&format!("run_{}", "0".repeat(92))), Err(IdError::Hex(32)));
        assert_eq!(RunId::chosen("run_1"), Err(IdError::Hex(32)));
        assert_eq!(RunId::chosen("job_1"), Err(IdError::Prefix("run_")));
    }

    #[test]
    fn ids_have_a_prefix_and_no_surprises() {
        assert!(JobId::new("job_123").is_ok());
        assert_eq!(JobId::new("run_123"), Err(IdError::Prefix("job_")));
        assert_eq!(JobId::new("job_"), Err(IdError::Empty("job_")));
        assert_eq!(JobId::new("job_../x"), Err(IdError::Character));
        assert_eq!(JobId::new(&format!("job_{}", "x".repeat(93))), Err(IdError::Long));
        assert!(JobId::new(&format!("job_{}", "x".repeat(92))).is_ok());
    }

    #[test]
    fn a_runner_belongs_to_the_key_in_its_id_and_to_no_other() {
        let key = WorkerKey::new(&"ab".repeat(32)).expect("a key").id();
        let other = WorkerKey::new(&"cd".repeat(32)).expect("a key").id();
        let runner = RunnerId::of(&key, "7").expect("an id");
        assert!(runner.belongs_to(&key) && !runner.belongs_to(&other));
        let near = RunnerId::new(&format!("runner_{key}x-7")).expect("an id");
        assert!(!near.belongs_to(&key));
    }

    #[test]
    fn secrets_print_as_a_hash() {
        let lease = LeaseId::new("lease_abcdef").expect("valid");
        for shown in [format!("{lease}"), format!("{lease:?}")] {
            assert!(!shown.contains("abcdef"), "{shown}");
            assert_eq!(shown.len(), 9);
        }
        assert_eq!(serde_json::to_string(&lease).expect("json"), r#""lease_abcdef""#);
    }

    #[test]
    fn a_bad_id_in_json_says_what_is_wrong() {
        let error = serde_json::from_str::<JobId>(r#""lease_1""#).expect_err("not a job");
        assert!(error.to_string().contains("must begin with `job_`"), "{error}");
    }
}
