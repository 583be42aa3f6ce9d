//! Errors as they go out: a status and `{code, message, hint?}`, whatever went wrong and where.

use crate::backend::Refusal;
use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::http::header::{CONNECTION, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use remuda_client::types::{ApiError, code};
use std::time::Duration;

/// Characters of a message. Parsers repeat what they were given, which may be long.
const MESSAGE_CHARS_MAX: usize = 400;

#[derive(Clone, Debug)]
pub(super) struct Failure {
    status: StatusCode,
    error: ApiError,
    retry_after: Option<Duration>,
    close: bool,
}

impl Failure {
    /// One of the API's own codes; its status is in their table.
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        let known = code::ALL.iter().find(|(known, _)| *known == code);
        let status = known.and_then(|(_, status)| StatusCode::from_u16(*status).ok());
        Self::with_status(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), code, message)
    }

    fn with_status(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        let message: String = message.into();
        let message = match message.char_indices().nth(MESSAGE_CHARS_MAX) {
            Some((end, _)) => format!("{}…", &message[..end]),
            None => message,
        };
        let error = ApiError { code: code.to_owned(), message, hint: None };
        Self { status, error, retry_after: None, close: false }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.error.hint = Some(hint.into());
        self
    }

    /// Says when to come back.
    pub(super) fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Ends the connection: the rest of the request is not read.
    pub(super) fn closing(mut self) -> Self {
        self.close = true;
        self
    }

    /// What goes into the body.
    pub(super) fn error(&self) -> &ApiError {
        &self.error
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        if refusal.temporary {
            return Self::with_status(
                StatusCode::SERVICE_UNAVAILABLE,
                refusal.code,
                refusal.message,
            )
            .retry_after(Duration::from_secs(1));
        }
        Self::with_status(StatusCode::UNPROCESSABLE_ENTITY, refusal.code, refusal.message)
    }
}

impl From<JsonRejection> for Failure {
    fn from(rejection: JsonRejection) -> Self {
        let code = match &rejection {
            JsonRejection::JsonDataError(_) => code::INVALID_BODY,
            JsonRejection::JsonSyntaxError(_) => code::MALFORMED_JSON,
            JsonRejection::MissingJsonContentType(_) => code::UNSUPPORTED_MEDIA_TYPE,
            other if other.status() == StatusCode::PAYLOAD_TOO_LARGE => code::BODY_TOO_LARGE,
            _ => code::MALFORMED_JSON,
        };
        let failure = Self::new(code, rejection.body_text());
        match code {
            code::BODY_TOO_LARGE => failure.hint("send fewer transactions at once").closing(),
            code::UNSUPPORTED_MEDIA_TYPE => failure.hint("set content-type: application/json"),
            _ => failure.hint("/openapi.json describes every body"),
        }
    }
}

impl From<PathRejection> for Failure {
    fn from(rejection: PathRejection) -> Self {
        Self::new(code::MALFORMED_PATH, rejection.body_text())
            .hint("bytes, hashes and addresses are hex with 0x in front")
    }
}

impl From<QueryRejection> for Failure {
    fn from(rejection: QueryRejection) -> Self {
        Self::new(code::MALFORMED_QUERY, rejection.body_text())
            .hint("/openapi.json lists the parameters of every path")
    }
}

/// Rounded up, and at least one: earlier is what a return must not be.
pub(super) fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1)
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.error)).into_response();
        let headers = response.headers_mut();
        if let Some(wait) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(whole_seconds(wait)));
        }
        if self.close {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}
