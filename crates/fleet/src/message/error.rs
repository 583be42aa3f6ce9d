//! What is wrong with a message, and what its sender should do.

use super::{MESSAGE_BYTES_MAX, Message, Problem};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why a message was not read. In order of precedence: the first that applies is the answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// Longer than [`MESSAGE_BYTES_MAX`].
    #[error("{found} bytes; send at most {MESSAGE_BYTES_MAX}, and large job specs by job_spec_ref")]
    TooLarge {
        /// Bytes that came.
        found: usize,
    },
    /// Not one JSON value.
    #[error("not JSON: {why}; send one JSON object")]
    NotJson {
        /// What the parser says.
        why: String,
    },
    /// No `type`, where several messages are possible.
    #[error("no `type`; name the message, one of {}", Message::TYPES.join(", "))]
    NoType,
    /// No such message.
    #[error("there is no message `{found}`; send one of {}", Message::TYPES.join(", "))]
    UnknownType {
        /// What it called itself.
        found: String,
    },
    /// A message, but not for this place.
    #[error("this is `{found}`; `{expected}` is expected here")]
    WrongType {
        /// What it called itself.
        found: String,
        /// What belongs here.
        expected: &'static str,
    },
    /// A field is missing or of the wrong kind.
    #[error("`{path}`: {why}")]
    Field {
        /// Where.
        path: String,
        /// What is wrong there.
        why: String,
    },
    /// A field has a value that cannot be.
    #[error(transparent)]
    Value(#[from] Problem),
}

impl MessageError {
    /// For programs. Never changes.
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

    /// Over HTTP.
    pub fn status(&self) -> u16 {
        match self {
            Self::TooLarge { .. } => 413,
            Self::NotJson { .. } | Self::NoType => 400,
            Self::UnknownType { .. } | Self::WrongType { .. } => 400,
            Self::Field { .. } | Self::Value(_) => 422,
        }
    }

    /// As it is sent.
    pub fn body(&self) -> ErrorBody {
        ErrorBody::new(self.code(), self.to_string())
    }
}

/// `{"error":{"code","message"}}`: every error there is but a stale lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// The only field.
    pub error: ErrorDetail,
}

/// The inside of an [`ErrorBody`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorDetail {
    /// For programs.
    pub code: String,
    /// For people: what is wrong and what to do.
    pub message: String,
}

impl ErrorBody {
    /// An error with a stable code.
    pub fn new(code: &str, message: String) -> Self {
        Self { error: ErrorDetail { code: code.to_owned(), message } }
    }
}
