//! Names of things. Each has its own type, so that none can stand in another's place, and each is
//! checked once, where it enters.
//!
//! A lease id and a cancel token are capabilities: whoever has one can act. They print as the first
//! eight hex digits of their hash, in every log and every error, and only serialising shows them.

use alloy_primitives::keccak256;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// Longest id, with its prefix.
pub const ID_LENGTH_MAX: usize = 96;

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
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// What every one of them begins with.
            pub const PREFIX: &'static str = $prefix;

            /// Reads one.
            pub fn new(text: &str) -> Result<Self, IdError> {
                check(text, $prefix)?;
                Ok(Self(text.into()))
            }

            /// The whole id. Never into logs, if it is a secret.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let show: fn(&str, &mut fmt::Formatter<'_>) -> fmt::Result = $show;
                show(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                Self::new(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

fn plain(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(text)
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

impl JobId {
    /// The `index`th job of a run. Job ids are no secrets, so they need no randomness.
    pub fn of(run: &RunId, index: usize) -> Self {
        let suffix = run.as_str().strip_prefix(RunId::PREFIX).unwrap_or_default();
        Self(format!("{}{suffix}-{index}", Self::PREFIX).into())
    }
}

/// Rises by one with each grant of a job. Whoever has the higher one came later: a random lease id
/// cannot order writes, this can (SPEC §14).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
