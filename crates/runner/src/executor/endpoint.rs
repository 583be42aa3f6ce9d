//! A server that the operator named: for a model, for a chain, for tools.
//!
//! Its address may hold a secret and its errors may repeat one, so neither gets into our errors as
//! it is: they are told to strangers. The operator finds the reason in the log, without the key.
//!
//! **Whose fault a failure is.** A provider refuses a job for its content (403, 413) or its cost (402,
//! 429), or fails while serving it (5xx). It gives the same answers if the operator's key or account is no
//! longer valid. [`blame`] tells these apart by a fixed test request that has nothing of the job in it.

use super::ExecuteError;
use super::address::AddressRules;
use super::resolve::SystemResolver;
use super::transport::{Answer, CaError, Outgoing, Transport, TransportError};
use crate::private;
use hyper::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, StatusCode};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::time::timeout;
use tracing::warn;
use url::Url;
use zeroize::Zeroizing;

/// Bytes of a file with a key.
const KEY_BYTES_MAX: u64 = 4_096;
/// How long a plain question may take.
pub(crate) const PLAIN: Duration = Duration::from_secs(10);
/// Characters from which on a part of an address may be a secret. Shorter ones are words like `v3`.
const SECRET_LENGTH: usize = 8;

/// Why an operator's server cannot be used.
#[derive(Debug, Error)]
pub enum EndpointError {
    #[error("{what}: the address must start with http:// or https:// and hold no user or password")]
    BadUrl { what: String },
    #[error("{what}: cannot use the key in {path}: {reason}")]
    BadKey {
        what: String,
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    #[error("{what} is configured twice; remove one of them")]
    Twice { what: String },
    #[error(transparent)]
    Ca(#[from] CaError),
}

/// A server to post JSON to.
pub(super) struct Endpoint {
    transport: Transport,
    url: Url,
    authorization: Option<HeaderValue>,
    /// What must not be repeated: the key, and parts of the address that may be one.
    secrets: Vec<Zeroizing<String>>,
    /// For errors: which server this is.
    what: String,
}

/// A transport to wherever the operator's servers are.
pub(super) fn transport(ca_file: Option<&Path>) -> Result<Transport, CaError> {
    Transport::new(AddressRules::anywhere(), Arc::new(SystemResolver), ca_file)
}

/// Whose fault it is that an operator's server fails at a job: the job's, if the server answers a plain
/// question; the operator's, if it turns that down. A server that does not answer in time may only be
/// busy, and a stranger's job can keep it so: that is no proof of a fault.
pub(super) async fn blame(
    error: ExecuteError,
    plain: impl Future<Output = Result<(), ExecuteError>>,
) -> ExecuteError {
    let (ExecuteError::Unreachable(why)
    | ExecuteError::Backend(why)
    | ExecuteError::BadAnswer(why)) = &error
    else {
        return error;
    };
    let why = why.clone();
    match timeout(PLAIN, plain).await {
        Ok(Ok(())) => ExecuteError::Refused(why),
        Err(_) | Ok(Err(ExecuteError::Unreachable(_))) => ExecuteError::Unreachable(why),
        Ok(Err(_)) => ExecuteError::Backend(why),
    }
}

impl Endpoint {
    /// A server by its address, with the key in a file if it wants one.
    pub(super) fn new(
        what: String,
        transport: Transport,
        url: &str,
        key_file: Option<&Path>,
    ) -> Result<Self, EndpointError> {
        let url = Url::parse(url).ok().filter(|url| {
            let plain = url.username().is_empty() && url.password().is_none();
            plain && matches!(url.scheme(), "http" | "https") && url.has_host()
        });
        let Some(mut url) = url else {
            return Err(EndpointError::BadUrl { what });
        };
        url.set_fragment(None);
        let mut secrets = secrets(&url);
        let mut authorization = None;
        if let Some(path) = key_file {
            let bad =
                |reason| EndpointError::BadKey { what: what.clone(), path: path.into(), reason };
            let key = read_key(path).map_err(bad)?;
            authorization = Some(header(&key).map_err(bad)?);
            secrets.push(key);
        }
        Ok(Self { transport, url, authorization, secrets, what })
    }

    /// Posts a JSON document to a server that works for the job's own words, and may fail because of
    /// them. The answer may have any status but those of a server that is away or busy.
    pub(super) async fn ask(&self, document: String) -> Result<Answer, ExecuteError> {
        let answer = self.send(Method::POST, HeaderMap::new(), document.into_bytes()).await?;
        match answer.status.as_u16() {
            429 | 502..=504 => Err(self.unreachable(&format!("it answers {}", answer.status))),
            _ => Ok(answer),
        }
    }

    /// Posts a JSON document. The answer may have any status but those that may pass.
    pub(super) async fn post(&self, document: String) -> Result<Answer, ExecuteError> {
        self.exchange(Method::POST, HeaderMap::new(), document.into_bytes()).await
    }

    /// The same with another method and more headers.
    pub(super) async fn exchange(
        &self,
        method: Method,
        headers: HeaderMap,
        document: Vec<u8>,
    ) -> Result<Answer, ExecuteError> {
        let answer = self.send(method, headers, document).await?;
        let status = answer.status;
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return Err(self.unreachable(&format!("it answers {status}")));
        }
        Ok(answer)
    }

    async fn send(
        &self,
        method: Method,
        mut headers: HeaderMap,
        document: Vec<u8>,
    ) -> Result<Answer, ExecuteError> {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if let Some(authorization) = &self.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        let outgoing = Outgoing { method: &method, url: &self.url, headers, body: document.into() };
        self.transport.send(outgoing).await.map_err(|error| self.explain(error))
    }

    /// An error that may be published.
    pub(super) fn explain(&self, error: TransportError) -> ExecuteError {
        warn!(server = self.what, %error, "backend request failed");
        match error {
            TransportError::TooLarge(limit) => ExecuteError::TooLarge { limit },
            TransportError::NotHttp(_) => self.useless("no proper HTTP"),
            TransportError::Broken(_) => self.unreachable("it broke off"),
            TransportError::NotConnected(_)
            | TransportError::BadUrl(_)
            | TransportError::Refused(_) => self.unreachable("it does not answer"),
        }
    }

    /// The server's text without secrets.
    pub(super) fn without_secrets(&self, words: String) -> String {
        let hide = |words: String, secret: &Zeroizing<String>| words.replace(&secret[..], "[…]");
        self.secrets.iter().fold(words, hide)
    }

    pub(super) fn unreachable(&self, reason: &str) -> ExecuteError {
        ExecuteError::Unreachable(format!("{}: {reason}", self.what))
    }

    /// A server of the operator that is not what its settings say.
    pub(super) fn misplaced(&self, reason: &str) -> ExecuteError {
        ExecuteError::Backend(format!("{}: {reason}", self.what))
    }

    /// An answer that says no. Who may not come in, or finds nothing there, was sent to the wrong place
    /// or with the wrong key: that is not the job's fault.
    pub(super) fn declined(&self, status: StatusCode) -> ExecuteError {
        let reason = format!("it answers {status}");
        match status.as_u16() {
            401..=404 | 407 => self.misplaced(&reason),
            _ => self.useless(&reason),
        }
    }

    /// An invalid response.
    pub(super) fn useless(&self, reason: &str) -> ExecuteError {
        ExecuteError::BadAnswer(format!("{}: {reason}", self.what))
    }
}

/// The parts of an address that may be secret.
fn secrets(url: &Url) -> Vec<Zeroizing<String>> {
    let values = url.query_pairs().map(|(_, value)| value.into_owned());
    let parts = url.path_segments().into_iter().flatten().map(str::to_owned);
    let long = |part: &String| part.len() >= SECRET_LENGTH;
    values.chain(parts).filter(long).map(Zeroizing::new).collect()
}

fn read_key(path: &Path) -> Result<Zeroizing<String>, String> {
    private::tighten(path).map_err(|error| error.to_string())?;
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut text = Zeroizing::new(String::new());
    let length = file.take(KEY_BYTES_MAX + 1).read_to_string(&mut text);
    if length.map_err(|error| error.to_string())? as u64 > KEY_BYTES_MAX {
        return Err(format!("more than {KEY_BYTES_MAX} bytes"));
    }
    match text.trim() {
        "" => Err("there is none".into()),
        key => Ok(Zeroizing::new(key.to_owned())),
    }
}

/// The header that shows a key. It is not shown when headers are.
fn header(key: &str) -> Result<HeaderValue, String> {
    let line = Zeroizing::new(format!("Bearer {key}"));
    let mut value =
        HeaderValue::try_from(&line[..]).map_err(|_| "not one line of plain text".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}
