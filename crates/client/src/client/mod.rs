//! The client: typed calls to one of several nodes.
//!
//! A call goes to the node that answered last. If that one cannot be reached, the next is asked at
//! once; if all fail, and the call may be repeated, after a pause that doubles, with jitter so that
//! many clients of one node that restarts do not come back in step. What may be repeated: reading,
//! and handing in signed bytes, because a node knows a transaction by its hash. Asking the faucet
//! twice is two gifts, so that call is repeated only if the node says that it took nothing
//! (429, 503) or was never reached.

mod calls;
mod events;
mod retry;
mod sse;

pub use calls::{BlockId, EventFilter};
pub use events::{Events, EventsError};
pub use retry::RetryPolicy;

use crate::types::ApiError;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use thiserror::Error;

/// An answer may be this long. Blocks with everything in them are a few MiB.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How to reach the nodes.
#[derive(Clone, Debug)]
pub struct Config {
    /// Base URLs, such as `http://127.0.0.1:8080`.
    pub nodes: Vec<String>,
    /// Patience with one connection attempt.
    pub connect_timeout: Duration,
    pub timeout: Duration,
    /// Patience with an answer that the node gives only when a transaction is in a block.
    pub wait_timeout: Duration,
    pub retry: RetryPolicy,
}

impl Config {
    /// The usual patience with these nodes.
    pub fn new(nodes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            nodes: nodes.into_iter().map(Into::into).collect(),
            connect_timeout: Duration::from_secs(3),
            timeout: Duration::from_secs(15),
            wait_timeout: Duration::from_secs(90),
            retry: RetryPolicy::default(),
        }
    }
}

#[derive(Debug, Error)]
pub enum ClientError {
    /// No nodes were given, or a URL is none.
    #[error("{0:?} is not the URL of a node; write http://host:port")]
    BadUrl(String),
    /// No node can be reached.
    #[error("no node can be reached; the last one tried: {0}. Is it running?")]
    Unreachable(#[source] reqwest::Error),
    /// The answer did not come, or broke off.
    #[error("the node did not answer: {0}")]
    Transport(#[source] reqwest::Error),
    #[error("{status}: {error}")]
    Refused {
        status: u16,
        error: ApiError,
        /// When it may be asked again, if it says so: `Retry-After` of a 429 or 503.
        retry_after: Option<Duration>,
    },
    /// The answer is not what this client expects: another version, or no node at all.
    #[error("the answer is not that of a Remuda node ({0})")]
    Unexpected(String),
    /// The transaction is in no block after all that waiting.
    #[error("transaction {0} is in no block yet; look it up later")]
    NotIncluded(crate::types::HexHash),
}

impl ClientError {
    /// The node's stable code, if it gave one.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { error, .. } => Some(&error.code),
            _ => None,
        }
    }

    /// When the node may be asked again, if it says so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Whether there was no answer at all.
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Transport(_))
    }

    /// Whether the thing that was asked for does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. })
    }
}

/// What may be done about a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeat {
    /// It may be sent again whatever happened.
    Always,
    /// Only if the node did nothing.
    IfNotTaken,
}

struct Call {
    method: Method,
    path: String,
    body: Option<serde_json::Value>,
    repeat: Repeat,
    timeout: Duration,
}

/// A client. Copies share connections.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    config: Arc<Config>,
    /// The node that answered last.
    preferred: Arc<AtomicUsize>,
}

/// How one attempt at one node ended.
enum Attempt {
    Answer(Response),
    /// Nobody was there: another node can be asked at once.
    Unreachable(reqwest::Error),
    /// Something was sent, and no answer came.
    Broken(reqwest::Error),
}

impl Client {
    /// A client of one node.
    pub fn new(node: impl Into<String>) -> Result<Self, ClientError> {
        Self::with(Config::new([node]))
    }

    /// A client with its own settings.
    pub fn with(mut config: Config) -> Result<Self, ClientError> {
        if config.nodes.is_empty() {
            return Err(ClientError::BadUrl(String::new()));
        }
        for node in &mut config.nodes {
            let url = reqwest::Url::parse(node);
            if !url.is_ok_and(|url| url.scheme() == "http" && url.has_host()) {
                return Err(ClientError::BadUrl(node.clone()));
            }
            node.truncate(node.trim_end_matches('/').len());
        }
        let http = reqwest::Client::builder()
            .connect_timeout(config.connect_timeout)
            // Nodes close idle connections after 30 s: a request must not meet the end of one.
            .pool_idle_timeout(Duration::from_secs(20))
            // A node never redirects; following one would take a transaction who knows where.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("remuda-client/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(ClientError::Transport)?;
        Ok(Self { http, config: Arc::new(config), preferred: Arc::default() })
    }

    pub fn nodes(&self) -> &[String] {
        &self.config.nodes
    }

    async fn get<T: DeserializeOwned>(&self, path: String) -> Result<T, ClientError> {
        self.get_within(path, self.config.timeout).await
    }

    async fn get_within<T: DeserializeOwned>(
        &self,
        path: String,
        timeout: Duration,
    ) -> Result<T, ClientError> {
        let repeat = Repeat::Always;
        self.call(Call { method: Method::GET, path, body: None, repeat, timeout }).await
    }

    /// Makes a call until it is answered, or no more attempts are left.
    async fn call<T: DeserializeOwned>(&self, call: Call) -> Result<T, ClientError> {
        let mut attempt = 0;
        loop {
            let (error, asked_to_wait) = match self.round(&call).await {
                Ok(response) if response.status().is_success() => return read(response).await,
                Ok(response) => {
                    let status = response.status();
                    let error = refusal(response).await;
                    let busy = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];
                    let gateway = [StatusCode::BAD_GATEWAY, StatusCode::GATEWAY_TIMEOUT];
                    let again = busy.contains(&status)
                        || (gateway.contains(&status) && call.repeat == Repeat::Always);
                    if !again {
                        return Err(error);
                    }
                    let after = error.retry_after();
                    (error, after)
                }
                Err(error @ ClientError::Unreachable(_)) => (error, None),
                Err(error) if call.repeat == Repeat::Always => (error, None),
                Err(error) => return Err(error),
            };
            let Some(pause) = self.config.retry.pause(attempt, asked_to_wait) else {
                return Err(error);
            };
            attempt += 1;
            tokio::time::sleep(pause).await;
        }
    }

    /// Asks the nodes in turn until one is there.
    async fn round(&self, call: &Call) -> Result<Response, ClientError> {
        let count = self.config.nodes.len();
        let first = self.preferred.load(Ordering::Relaxed);
        let mut unreachable = None;
        for node in (first..first + count).map(|i| i % count) {
            match self.attempt(node, call).await {
                Attempt::Answer(response) => {
                    self.preferred.store(node, Ordering::Relaxed);
                    return Ok(response);
                }
                Attempt::Unreachable(error) => unreachable = Some(error),
                Attempt::Broken(error) => {
                    // The next attempt, if there is one, starts with another node.
                    self.preferred.store((node + 1) % count, Ordering::Relaxed);
                    return Err(ClientError::Transport(error));
                }
            }
        }
        match unreachable {
            Some(error) => Err(ClientError::Unreachable(error)),
            None => Err(ClientError::BadUrl(String::new())),
        }
    }

    async fn attempt(&self, node: usize, call: &Call) -> Attempt {
        let mut request = self.request(node, call.method.clone(), &call.path).timeout(call.timeout);
        if let Some(body) = &call.body {
            request = request.json(body);
        }
        match request.send().await {
            Ok(response) => Attempt::Answer(response),
            Err(error) if error.is_connect() => Attempt::Unreachable(error),
            Err(error) => Attempt::Broken(error),
        }
    }

    fn request(&self, node: usize, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.config.nodes[node]))
    }
}

/// Reads a body that is no longer than it may be.
async fn bytes(mut response: Response) -> Result<Vec<u8>, ClientError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(ClientError::Transport)? {
        if bytes.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(ClientError::Unexpected(format!("more than {ANSWER_BYTES_MAX} bytes")));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

async fn read<T: DeserializeOwned>(response: Response) -> Result<T, ClientError> {
    let bytes = bytes(response).await?;
    let mut reader = serde_json::Deserializer::from_slice(&bytes);
    serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| ClientError::Unexpected(error.to_string()))
}

/// What an answer without success says.
async fn refusal(response: Response) -> ClientError {
    let (status, retry_after) = (response.status().as_u16(), retry::retry_after(&response));
    match read::<ApiError>(response).await {
        Ok(error) => ClientError::Refused { status, error, retry_after },
        Err(error) => ClientError::Unexpected(format!("status {status}; {error}")),
    }
}
