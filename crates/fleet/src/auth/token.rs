//! Tokens of people and programs, and of machines that want to be let in.

use super::signature::sha256_hex;
use crate::id::IdError;
use crate::text::{bounded_text, plain};
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// What a token allows. Each includes those before it, but `Enrol`, which allows one thing.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// To look at runs, logs, objects.
    Viewer,
    /// To submit, cancel and repeat runs.
    Submitter,
    /// To set limits and to expel workers.
    Operator,
    /// To bring a worker's key.
    Enrol,
}

impl Scope {
    /// The name that operators use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Submitter => "submitter",
            Self::Operator => "operator",
            Self::Enrol => "worker",
        }
    }

    /// Whether this is enough.
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
    /// The SHA-256 of a token, in hex. Tokens are random and long, so a plain hash hides them.
    TokenHash, IdError, check_hash, plain
);

fn check_hash(text: &str) -> Result<(), IdError> {
    crate::id::check_hex(text, 64)
}

impl TokenHash {
    /// Of a token.
    pub fn of(token: &str) -> Self {
        Self::new(&sha256_hex(token.as_bytes())).expect("64 hex digits")
    }
}

/// A token: its holder's name, what it allows, its hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// In the audit log.
    pub name: String,
    /// What it allows.
    pub scope: Scope,
    /// What it is recognised by.
    pub sha256: TokenHash,
    /// The highest priority of jobs that it submits. None: 0, and any for operators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority_max: Option<i16>,
    /// Most of its jobs that workers have at a time. None: as many as there are workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_max: Option<u32>,
}

impl Token {
    /// A token with the usual ceilings.
    pub fn new(name: &str, scope: Scope, sha256: TokenHash) -> Self {
        Self { name: name.to_owned(), scope, sha256, priority_max: None, running_max: None }
    }

    /// The highest priority of jobs that it submits: with any, one submitter could keep all others waiting.
    pub fn priority_max(&self) -> i16 {
        self.priority_max.unwrap_or(match self.scope {
            Scope::Operator => i16::MAX,
            _ => 0,
        })
    }
}

/// Every token. None at all: everybody may do everything, which is for one machine alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Access(pub Vec<Token>);

impl Access {
    /// Whether everybody may do everything.
    pub fn open(&self) -> bool {
        self.0.is_empty()
    }

    /// Whose token this is. Compared are hashes: how long that takes says nothing of the token.
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
