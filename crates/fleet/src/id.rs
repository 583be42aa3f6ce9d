//! Names of things. Each has its own type, so that none can stand in another's place, and each is
//! checked once, where it enters.
//!
//! A lease id and a cancel token are capabilities: whoever has one can act. They print as the first
//! eight hex digits of their hash, in every log and every error, and only serialising shows them.

use crate::text::{bounded_text, plain};
use alloy_primitives::keccak256;
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// Longest id, with its prefix.
pub const ID_LENGTH_MAX: usize = 96;

/// Hex digits of a run's id.
pub(crate) const RUN_DIGITS: usize = 32;

/// Why a text is not an id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Another thing's id, or none.
    #[error("must begin with `{0}`")]
    Prefix(&'static str),
    /// Nothing after the prefix.
    #[error("must have something after `{0}`")]
    Empty(&'static str),
    /// See [`ID_LENGTH_MAX`].
    #[error("must have at most {ID_LENGTH_MAX} characters")]
    Long,
    /// Ids end up in paths and file names.
    #[error("may only have letters, digits, `_` and `-`")]
    Character,
    /// A key, or the name of one.
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

/// What of a secret may be shown: enough to find it again in a log, too little to use it.
fn redacted(secret: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let hash = keccak256(secret.as_bytes());
    write!(f, "#{:02x}{:02x}{:02x}{:02x}", hash[0], hash[1], hash[2], hash[3])
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $show:expr) => {
        bounded_text!($(#[$doc])* $name, IdError, |text| check(text, $prefix), $show);

        impl $name {
            /// What every one of them begins with.
            pub const PREFIX: &'static str = $prefix;
        }
    };
}

id!(
    /// A run: jobs that were submitted together.
    RunId, "run_", plain
);
id!(
    /// A job: a unit of work.
    JobId, "job_", plain
);
id!(
    /// A runner, unique in its lifetime: a process that starts anew takes a new one.
    RunnerId, "runner_", plain
);
id!(
    /// The right to execute a job. A secret.
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
    /// The name of a machine's key: the first 24 hex digits of its hash. Its runners' ids begin with
    /// it, so that an id says whose signature proves it.
    KeyId, IdError, |text| check_hex(text, 24), plain
);

pub(crate) fn check_hex(text: &str, digits: usize) -> Result<(), IdError> {
    let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    (text.len() == digits && text.bytes().all(hex)).then_some(()).ok_or(IdError::Hex(digits))
}

impl WorkerKey {
    /// Its name.
    pub fn id(&self) -> KeyId {
        KeyId(HEXLOWER.encode(&keccak256(self.as_str().as_bytes())[..12]).into())
    }
}

impl RunnerId {
    /// A process on the machine that has this key.
    pub fn of(key: &KeyId, process: &str) -> Result<Self, IdError> {
        Self::new(&format!("{}{key}-{process}", Self::PREFIX))
    }

    /// The key of the machine that it is a process on, if its id says so.
    pub fn key(&self) -> Option<KeyId> {
        let rest = self.as_str().strip_prefix(Self::PREFIX)?;
        KeyId::new(rest.split_once('-')?.0).ok()
    }

    /// Whether it is a process on the machine that has this key.
    pub fn belongs_to(&self, key: &KeyId) -> bool {
        let rest = self.as_str().strip_prefix(Self::PREFIX);
        let rest = rest.and_then(|rest| rest.strip_prefix(key.as_str()));
        rest.is_some_and(|rest| rest.starts_with('-'))
    }
}

impl RunId {
    /// One that a submitter chose. All run ids have one length, so that those of their jobs have room
    /// for a number.
    pub fn chosen(text: &str) -> Result<Self, IdError> {
        let rest = text.strip_prefix(Self::PREFIX).ok_or(IdError::Prefix(Self::PREFIX))?;
        check_hex(rest, RUN_DIGITS)?;
        Self::new(text)
    }
}

impl JobId {
    /// The `index`th job of a run. Job ids are no secrets, so they need no randomness.
    pub fn of(run: &RunId, index: usize) -> Self {
        let suffix = run.as_str().strip_prefix(RunId::PREFIX).unwrap_or_default();
        Self(format!("{}{suffix}-{index}", Self::PREFIX).into())
    }

    /// The run of a job that was named by [`JobId::of`].
    pub fn run(&self) -> Option<RunId> {
        let (run, _) = self.as_str().strip_prefix(Self::PREFIX)?.rsplit_once('-')?;
        RunId::new(&format!("{}{run}", RunId::PREFIX)).ok()
    }
}

/// Rises by one with each grant of a job. Whoever has the higher one came later: a random lease id
/// cannot order writes, this can (SPEC §14).
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
    /// Of the next grant.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How often a job was tried, from 1. A grant that was lost belongs to the same attempt as the next.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(transparent)]
pub struct Attempt(pub u32);

impl Attempt {
    /// Where every job begins.
    pub const FIRST: Self = Self(1);

    /// The one after this.
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

    /// An id of a job that could not be read again would be in the way of all others.
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
