//! Tokens of people and programs, and enrolment tokens of machines.

use super::signature::sha256_hex;
use crate::id::IdError;
use crate::text::{bounded_text, plain};
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// Scope of a token. Each includes those before it, except `Enrol`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Read runs, logs and objects.
    Viewer,
    /// Submit, cancel and repeat runs.
    Submitter,
    /// Set limits and expel workers.
    Operator,
    /// Register a worker's key.
    Enrol,
}

impl Scope {
    /// Name for operators.
    pub fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Submitter => "submitter",
            Self::Operator => "operator",
            Self::Enrol => "worker",
        }
    }

    pub fn allows(self, wanted: Self) -> bool {
        match (self, wanted) {
            (Self::Enrol, wanted) => wanted == Self::Enrol,
            (_, Self::Enrol) => false,
            (have, wanted) => have >= wanted,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

bounded_text!(
    /// SHA-256 of a token, in hex. Tokens are long and random, so a plain hash suffices.
    TokenHash, IdError, check_hash, plain
);

fn check_hash(text: &str) -> Result<(), IdError> {
    crate::id::check_hex(text, 64)
}

impl TokenHash {
    pub fn of(token: &str) -> Self {
        Self::new(&sha256_hex(token.as_bytes())).expect("64 hex digits")
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Name in the audit log.
    pub name: String,
    pub scope: Scope,
    pub sha256: TokenHash,
    /// Highest priority of its jobs. None: 0, and no limit for operators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority_max: Option<i16>,
    /// Most of its jobs held by workers at a time. None: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_max: Option<u32>,
}

impl Token {
    /// A token with the default limits.
    pub fn new(name: &str, scope: Scope, sha256: TokenHash) -> Self {
        Self { name: name.to_owned(), scope, sha256, priority_max: None, running_max: None }
    }

    /// Highest priority of its jobs. Without a limit one submitter could keep all others waiting.
    pub fn priority_max(&self) -> i16 {
        self.priority_max.unwrap_or(match self.scope {
            Scope::Operator => i16::MAX,
            _ => 0,
        })
    }
}

/// All tokens. Without any, every request is allowed: for a single machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Access(pub Vec<Token>);

impl Access {
    /// Whether every request is allowed.
    pub fn open(&self) -> bool {
        self.0.is_empty()
    }

    /// Finds a token by its hash: comparing hashes leaks no timing.
    pub fn find(&self, token: &str) -> Option<&Token> {
        let hash = TokenHash::of(token);
        self.0.iter().find(|known| known.sha256 == hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scope_includes_the_lesser_and_enrolling_is_apart() {
        use Scope::*;
        assert!(Operator.allows(Viewer) && Operator.allows(Submitter) && Submitter.allows(Viewer));
        assert!(!Viewer.allows(Submitter) && !Submitter.allows(Operator));
        assert!(Enrol.allows(Enrol) && !Enrol.allows(Viewer) && !Operator.allows(Enrol));
    }

    #[test]
    fn a_token_is_found_by_its_hash() {
        let token = Token::new("ci", Scope::Submitter, TokenHash::of("t"));
        let access = Access(vec![token.clone()]);
        assert_eq!(access.find("t"), Some(&token));
        assert_eq!(access.find("T"), None);
        assert_eq!(access.find(""), None);
    }
}
