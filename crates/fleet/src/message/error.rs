//! Errors of messages, and what the sender should do.

use super::{MESSAGE_BYTES_MAX, Message, Problem};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// In order of precedence: the first that applies is the answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    #[error("{found} bytes; send at most {MESSAGE_BYTES_MAX}, and large job specs by job_spec_ref")]
    TooLarge { found: usize },
    #[error("not JSON: {why}; send one JSON object")]
    NotJson { why: String },
    #[error("no `type`; name the message, one of {}", Message::TYPES.join(", "))]
    NoType,
    #[error("there is no message `{found}`; send one of {}", Message::TYPES.join(", "))]
    UnknownType { found: String },
    #[error("this is `{found}`; `{expected}` is expected here")]
    WrongType { found: String, expected: &'static str },
    #[error("`{path}`: {why}")]
    Field { path: String, why: String },
    #[error(transparent)]
    Value(#[from] Problem),
}

impl MessageError {
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "MESSAGE_TOO_LARGE",
            Self::NotJson { .. } => "NOT_JSON",
            Self::NoType => "NO_TYPE",
            Self::UnknownType { .. } => "UNKNOWN_TYPE",
            Self::WrongType { .. } => "WRONG_TYPE",
            Self::Field { .. } => "BAD_FIELD",
            Self::Value(problem) => problem.code(),
        }
    }

    pub fn status(&self) -> u16 {
        match self {
            Self::TooLarge { .. } => 413,
            Self::NotJson { .. } | Self::NoType => 400,
            Self::UnknownType { .. } | Self::WrongType { .. } => 400,
            Self::Field { .. } | Self::Value(_) => 422,
        }
    }

    pub fn body(&self) -> ErrorBody {
        ErrorBody::new(self.code(), self.to_string())
    }
}

/// `{"error":{"code","message"}}`: every error but a stale lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// The error.
    pub error: ErrorDetail,
}

/// The error in an [`ErrorBody`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorDetail {
    /// Stable code, for programs.
    pub code: String,
    /// What is wrong and what to do, for people.
    pub message: String,
}

impl ErrorBody {
    pub fn new(code: &str, message: String) -> Self {
        Self { error: ErrorDetail { code: code.to_owned(), message } }
    }
}
