//! Responses: errors, JSON, extractors that fail in JSON.

use crate::auth::SignatureError;
use crate::lease::{Refusal, Reply};
use crate::message::{self, Body, ErrorBody, MessageError};
use crate::object::ObjectError;
use crate::store::StoreError;
use crate::view::Submitted;
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// An error response.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) status: StatusCode,
    pub(super) code: &'static str,
    body: Vec<u8>,
}

impl Failure {
    pub(super) fn new(status: StatusCode, code: &'static str, text: impl Into<String>) -> Self {
        let body = serde_json::to_vec(&ErrorBody::new(code, text.into())).unwrap_or_default();
        Self { status, code, body }
    }

    /// The text for people.
    pub(super) fn message(&self) -> String {
        let body = serde_json::from_slice::<ErrorBody>(&self.body);
        body.map_or_else(|_| self.code.to_owned(), |body| body.error.message)
    }

    pub(super) fn not_found(what: &str) -> Self {
        let text = format!("there is no such {what}; look it up in the list");
        Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", text)
    }
}

fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

impl From<MessageError> for Failure {
    fn from(error: MessageError) -> Self {
        Self::new(status(error.status()), error.code(), error.to_string())
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let code = refusal.code();
        match refusal {
            // A stale lease has its own message.
            Refusal::Stale(stale) => {
                Self { status: StatusCode::CONFLICT, code, body: message::encode(&stale) }
            }
            other => Self::new(status(other.status()), code, other.to_string()),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        // Not logged: any client can cause it.
        if let StoreError::Busy = error {
            return Self::new(StatusCode::SERVICE_UNAVAILABLE, "BUSY", error.to_string());
        }
        // Details of the database are for its operator only.
        tracing::error!(%error, "store request failed");
        let text = "the orchestrator cannot reach its store; retry soon";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "STORE_UNAVAILABLE", text)
    }
}

impl From<SignatureError> for Failure {
    fn from(error: SignatureError) -> Self {
        let code = match error {
            SignatureError::Malformed => "BAD_AUTHORIZATION",
            SignatureError::Wrong => "BAD_SIGNATURE",
            SignatureError::Clock => "BAD_CLOCK",
            SignatureError::Replayed => "REPLAYED",
        };
        Self::new(StatusCode::UNAUTHORIZED, code, error.to_string())
    }
}

impl From<ObjectError> for Failure {
    fn from(error: ObjectError) -> Self {
        let (status, code) = match error {
            ObjectError::Path => (StatusCode::UNPROCESSABLE_ENTITY, "BAD_PATH"),
            ObjectError::Size { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "WRONG_SIZE"),
            ObjectError::Hash => (StatusCode::UNPROCESSABLE_ENTITY, "WRONG_HASH"),
            ObjectError::Exists => (StatusCode::CONFLICT, "OBJECT_EXISTS"),
            ObjectError::Full => (StatusCode::INSUFFICIENT_STORAGE, "DISK_FULL"),
            ObjectError::NoRoom { .. } | ObjectError::TooMany { .. } => {
                (StatusCode::INSUFFICIENT_STORAGE, "OBJECTS_FULL")
            }
            ObjectError::Store(_) | ObjectError::Overwrites | ObjectError::Plain(_) => {
                (StatusCode::SERVICE_UNAVAILABLE, "OBJECTS_UNAVAILABLE")
            }
            ObjectError::Disk(_) => (StatusCode::SERVICE_UNAVAILABLE, "DISK_FAILED"),
        };
        Self::new(status, code, error.to_string())
    }
}

fn json_bytes(status: StatusCode, body: Vec<u8>) -> Response {
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    (status, [kind], body).into_response()
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        json_bytes(self.status, self.body)
    }
}

/// Query parameters. Rejections are JSON.
pub(super) struct QueryParams<T>(pub(super) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for QueryParams<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(asked)) => Ok(Self(asked)),
            Err(error) => {
                let text = format!("malformed query: {}", error.body_text());
                Err(Failure::new(StatusCode::BAD_REQUEST, "BAD_QUERY", text))
            }
        }
    }
}

/// The parameter of a path. Rejections are JSON.
pub(super) struct PathParam(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for PathParam {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let named = Path::from_request_parts(parts, state).await;
        named.map(|Path(name)| Self(name)).map_err(|error| {
            let text = format!("malformed path: {}", error.body_text());
            Failure::new(StatusCode::BAD_REQUEST, "BAD_PATH", text)
        })
    }
}

pub(super) fn json_message<B: Body>(body: &B) -> Response {
    json_bytes(StatusCode::OK, message::encode(body))
}

pub(super) fn json<T: Serialize>(value: &T) -> Response {
    json_bytes(StatusCode::OK, serde_json::to_vec(value).unwrap_or_default())
}

pub(super) fn reply(reply: Reply) -> Response {
    match reply {
        Reply::Done | Reply::Swept { .. } | Reply::Forgot { .. } | Reply::MayStore { .. } => {
            json_bytes(StatusCode::OK, b"{}".to_vec())
        }
        Reply::Submitted { run_id, before } => json(&Submitted { run_id, before }),
        Reply::Granted(message) => json_message(&*message),
        Reply::NoWork(message) => json_message(&message),
        Reply::Acked(message) => json_message(&message),
        Reply::Beat(message) => json_message(&message),
        Reply::Completed(message) => json_message(&message),
        Reply::Canceled(message) => json_message(&message),
        Reply::Logged(message) => json_message(&message),
        Reply::Upload(message) => json_message(&message),
    }
}
