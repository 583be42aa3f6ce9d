//! Client of the orchestrator's worker API: signed requests and the meaning of responses.

use crate::auth::{KeyPair, Signed, random_hex, sha256_hex};
use crate::http::{Endpoint, file_body, reason};
use crate::id::{LeaseId, RunnerId};
use crate::message::{
    self, Body, Enrol, Enrolled, ErrorBody, MESSAGE_BYTES_MAX, Message, MessageError, StaleLease,
};
use crate::time::{Clock, Millis};
use axum::body::{Body as HttpBody, to_bytes};
use axum::http::{Method, Request, Response, StatusCode, header};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::io::AsyncSeekExt as _;

/// Response timeout, beyond a requested wait.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// Error code: the signature's time is off. The response carries the right one.
pub(super) const BAD_CLOCK: &str = "BAD_CLOCK";
/// Error codes of failures that may be permanent.
const MAY_LAST: [&str; 3] = ["DISK_FAILED", "OBJECTS_UNAVAILABLE", "TOO_SLOW"];
/// Statuses of proxies whose orchestrator is unavailable.
const AWAY: [StatusCode; 3] =
    [StatusCode::BAD_GATEWAY, StatusCode::SERVICE_UNAVAILABLE, StatusCode::GATEWAY_TIMEOUT];
const JSON: &str = "application/json";

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// The lease is lost.
    #[error("the lease is stale ({:?})", .0.reason)]
    Stale(StaleLease),
    /// Refused permanently.
    #[error("the orchestrator refuses: {code}: {message}")]
    Refused { code: String, message: String },
    /// The orchestrator failed. Can be retried.
    #[error("the orchestrator failed: {code}: {message}")]
    Failing { code: String, message: String },
    /// A local file cannot be read.
    #[error("the file cannot be read: {0}")]
    Own(String),
    /// A proxy refused the request. Can be retried.
    #[error("a proxy in front of the orchestrator answered with status {0}")]
    Between(u16),
    /// Unknown outcome. Can be retried.
    #[error("the orchestrator cannot be reached: {0}")]
    Unreachable(String),
}

impl LinkError {
    /// Whether a retry may help.
    pub fn passes(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Between(_) | Self::Failing { .. })
    }

    /// Whether the cause may be permanent, such as a full disk, a slow line or a proxy, rather than load.
    pub(super) fn may_last(&self) -> bool {
        match self {
            Self::Failing { code, .. } => MAY_LAST.contains(&code.as_str()),
            Self::Between(_) => true,
            Self::Stale(_) | Self::Refused { .. } | Self::Own(_) | Self::Unreachable(_) => false,
        }
    }
}

#[derive(Clone)]
pub struct Link {
    endpoint: Endpoint,
    key: Arc<KeyPair>,
    /// Offset of the orchestrator's clock, by its last response.
    ahead: Arc<AtomicI64>,
    clock: Clock,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Link({:?} to {})", self.key, self.endpoint.url())
    }
}

impl Link {
    pub fn new(endpoint: Endpoint, key: Arc<KeyPair>, clock: Clock) -> Self {
        Self { endpoint, key, ahead: Arc::default(), clock }
    }

    /// Registers the key with an enrolment token.
    pub async fn enrol(&self, token: &str) -> Result<Enrolled, LinkError> {
        let body = message::encode(&Enrol { key: self.key.public().clone() });
        let request = Request::post(format!("{}/api/v1/internal/enrol", self.endpoint.url()))
            .header(header::CONTENT_TYPE, JSON)
            .header(header::AUTHORIZATION, format!("Bearer {token}"));
        let request = request.body(HttpBody::from(body)).map_err(own)?;
        let bytes = self.exchange(request, ANSWER_TIMEOUT).await?;
        message::decode(&bytes).map_err(nonsense)
    }

    /// Sends a message that has one type of answer.
    pub async fn send<B: Body, A: Body>(&self, path: &str, body: &B) -> Result<A, LinkError> {
        let bytes = self.post(path, body, Duration::ZERO).await?;
        message::decode(&bytes).map_err(nonsense)
    }

    /// Sends a message that has several types of answers, and may wait for one.
    pub async fn ask<B: Body>(
        &self,
        path: &str,
        body: &B,
        wait: Duration,
    ) -> Result<Message, LinkError> {
        let bytes = self.post(path, body, wait).await?;
        Message::decode(&bytes).map_err(nonsense)
    }

    async fn post<B: Body>(
        &self,
        path: &str,
        body: &B,
        wait: Duration,
    ) -> Result<Vec<u8>, LinkError> {
        let bytes = message::encode(body);
        let path = format!("/api/v1/internal/{path}");
        let hash = sha256_hex(&bytes);
        let mut first = true;
        loop {
            let request = Request::post(format!("{}{path}", self.endpoint.url()))
                .header(header::CONTENT_TYPE, JSON)
                .header(header::AUTHORIZATION, self.signature(&Method::POST, &path, &hash))
                .body(HttpBody::from(bytes.clone()))
                .map_err(own)?;
            match self.exchange(request, ANSWER_TIMEOUT + wait).await {
                // The response corrected the clock offset.
                Err(LinkError::Refused { code, .. }) if code == BAD_CLOCK && first => first = false,
                read => return read,
            }
        }
    }

    /// Uploads an object under a grant.
    pub async fn put(
        &self,
        path: &str,
        lease: (&LeaseId, &RunnerId),
        grant: &str,
        sha256: &str,
        file: tokio::fs::File,
    ) -> Result<(), LinkError> {
        let path = format!("/api/v1/internal/objects/{path}");
        let bytes = file.metadata().await.map_err(own)?.len();
        let mut first = true;
        loop {
            let mut again = file.try_clone().await.map_err(own)?;
            again.rewind().await.map_err(own)?;
            let request = Request::put(format!("{}{path}", self.endpoint.url()))
                .header(header::AUTHORIZATION, self.signature(&Method::PUT, &path, sha256))
                .header("remuda-lease", lease.0.as_str())
                .header("remuda-runner", lease.1.as_str())
                .header("remuda-grant", grant)
                .header("remuda-content-sha256", sha256)
                .header(header::CONTENT_LENGTH, bytes)
                .body(file_body(again))
                .map_err(own)?;
            let answer =
                self.endpoint.http().send(request).await.map_err(LinkError::Unreachable)?;
            match self.read(answer).await {
                // The response corrected the clock offset.
                Err(LinkError::Refused { code, .. }) if code == BAD_CLOCK && first => first = false,
                read => return read.map(drop),
            }
        }
    }

    /// Sends a request with a timeout.
    async fn exchange(
        &self,
        request: Request<HttpBody>,
        patience: Duration,
    ) -> Result<Vec<u8>, LinkError> {
        let exchange = async {
            let answer =
                self.endpoint.http().send(request).await.map_err(LinkError::Unreachable)?;
            self.read(answer).await
        };
        let silent = |_| Err(LinkError::Unreachable("timeout".to_owned()));
        tokio::time::timeout(patience, exchange).await.unwrap_or_else(silent)
    }

    fn signature(&self, method: &Method, path: &str, body: &str) -> String {
        let now = self.clock.now().0.saturating_add_signed(self.ahead.load(Ordering::Relaxed));
        let request = Signed { method: method.as_str(), path, body };
        self.key.sign(Millis(now), random_hex::<16>(), request).header()
    }

    fn note_time(&self, answer: &Response<HttpBody>) {
        let time =
            answer.headers().get("remuda-time").and_then(|time| time.to_str().ok()?.parse().ok());
        let ahead = time.and_then(|time: i64| time.checked_sub_unsigned(self.clock.now().0));
        ahead.into_iter().for_each(|ahead| self.ahead.store(ahead, Ordering::Relaxed));
    }

    async fn read(&self, answer: Response<HttpBody>) -> Result<Vec<u8>, LinkError> {
        self.note_time(&answer);
        match answer.status().is_success() {
            true => bounded(answer).await,
            false => Err(self.refusal(answer).await),
        }
    }

    async fn refusal(&self, answer: Response<HttpBody>) -> LinkError {
        let status = answer.status();
        let bytes = match bounded(answer).await {
            Ok(bytes) => bytes,
            Err(error) => return error,
        };
        if let Ok(stale) = message::decode::<StaleLease>(&bytes)
            && status == StatusCode::CONFLICT
        {
            return LinkError::Stale(stale);
        }
        let passes = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS];
        match serde_json::from_slice::<ErrorBody>(&bytes) {
            // A full disk outlasts a lease.
            Ok(body)
                if (status.is_client_error() && !passes.contains(&status))
                    || status == StatusCode::INSUFFICIENT_STORAGE =>
            {
                LinkError::Refused { code: body.error.code, message: body.error.message }
            }
            Ok(body) => LinkError::Failing { code: body.error.code, message: body.error.message },
            // A proxy that cannot reach the orchestrator.
            Err(_) if AWAY.contains(&status) || passes.contains(&status) => {
                LinkError::Unreachable(format!("status {status}"))
            }
            Err(_) => LinkError::Between(status.as_u16()),
        }
    }
}

/// Reads a body with the limit of a message.
async fn bounded(answer: Response<HttpBody>) -> Result<Vec<u8>, LinkError> {
    let read = to_bytes(answer.into_body(), MESSAGE_BYTES_MAX).await;
    read.map(Vec::from).map_err(|error| LinkError::Unreachable(reason(&error)))
}

fn nonsense(error: MessageError) -> LinkError {
    LinkError::Unreachable(format!("malformed response: {error}"))
}

fn own(error: impl fmt::Display) -> LinkError {
    LinkError::Own(error.to_string())
}
