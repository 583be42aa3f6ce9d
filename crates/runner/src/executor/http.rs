//! Web requests.
//!
//! A job may name any address; [`AddressRules`] decides which ones the runner connects to, and is
//! checked again at every redirect. The job's time limit covers name lookups, connections, redirects,
//! retries and the body together.

use super::address::AddressRules;
use super::envelope::Response;
use super::redirect::{self, Hop};
use super::resolve::{Resolve, SystemResolver};
use super::retry::Retries;
use super::transport::{Answer, CaError, NOT_FOUND, Outgoing, Transport, TransportError};
use super::{ExecuteError, Progress, Work};
use bytes::Bytes;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    USER_AGENT,
};
use hyper::{Method, StatusCode};
use remuda_protocol::dispatcher::spec::{DataFormat, JobType};
use remuda_protocol::verifier::path::Path;
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::time::timeout;
use tracing::{info, warn};
use url::Url;

/// What a job may do to a server.
const METHODS: [Method; 6] =
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
/// Headers that belong to the connection, which is ours.
const OURS: [&str; 9] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The error for a name without a reachable address; it begins with [`NOT_FOUND`].
const NOBODY: &str = "cannot look up that name";

/// Bytes of memory for each byte of JSON, at worst: a small object is 7 bytes of text, and a node of
/// a tree.
const JSON_MEMORY: usize = 128;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HttpConfig {
    /// Addresses that jobs may reach.
    pub addresses: AddressRules,
    /// Bytes of a body, of which a job may want a part only. Read as JSON they may take more than
    /// a hundred times as much memory.
    pub body_bytes_max: usize,
    /// Certificates (PEM) that are trusted besides the public ones.
    pub ca_file: Option<PathBuf>,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self { addresses: AddressRules::default(), body_bytes_max: 1024 * 1024, ca_file: None }
    }
}

pub struct Http {
    transport: Transport,
    body_bytes_max: usize,
}

struct Asked {
    first: Hop,
    extract: Path,
}

impl Http {
    /// With this machine's way of looking up names.
    pub fn new(config: &HttpConfig) -> Result<Self, CaError> {
        Self::with_resolver(config, Arc::new(SystemResolver))
    }

    /// With another way of looking up names.
    pub fn with_resolver(config: &HttpConfig, resolver: Arc<dyn Resolve>) -> Result<Self, CaError> {
        let transport =
            Transport::new(config.addresses.clone(), resolver, config.ca_file.as_deref())?;
        Ok(Self { transport, body_bytes_max: config.body_bytes_max })
    }

    pub async fn execute(&self, work: &Work<'_>) -> Result<Vec<u8>, ExecuteError> {
        let asked = read(work)?;
        let response = timeout(work.time_limit, self.persist(work, &asked))
            .await
            .map_err(|_| ExecuteError::TimedOut(work.time_limit))??;
        response.into_result(work, &asked.extract)
    }

    /// Tries again what may pass, as often as the job allows, if trying again is harmless.
    async fn persist(&self, work: &Work<'_>, asked: &Asked) -> Result<Response, ExecuteError> {
        let mut retries = match asked.first.method.is_idempotent() {
            true => Retries::of(work),
            false => Retries::none(work),
        };
        loop {
            match self.follow(work, asked.first.clone()).await {
                Err(error) if retries.again(&error).await => {}
                end => return end,
            }
        }
    }

    /// Asks, and asks whom the answer points to.
    async fn follow(&self, work: &Work<'_>, mut hop: Hop) -> Result<Response, ExecuteError> {
        let first = hop.method.clone();
        for followed in 0..=redirect::HOPS_MAX {
            let outgoing = Outgoing {
                method: &hop.method,
                url: &hop.url,
                headers: hop.headers.clone(),
                body: hop.body.clone(),
            };
            let answer = self.transport.send(outgoing).await;
            let answer = answer.map_err(|error| explain(error, &first, followed > 0))?;
            match hop.redirected(&answer).map_err(|error| bad(error.to_string()))? {
                Some(next) => hop = next,
                None => {
                    if let Some(why) = turned_away(&answer) {
                        return Err(ExecuteError::Refused(why));
                    }
                    let taken = self.take(work, answer, &hop.method).await;
                    return taken.map_err(|error| explain(error, &first, followed > 0));
                }
            }
        }
        Err(bad(format!("more than {} redirects", redirect::HOPS_MAX)))
    }

    async fn take(
        &self,
        work: &Work<'_>,
        mut answer: Answer,
        method: &Method,
    ) -> Result<Response, TransportError> {
        let status = answer.status;
        if status.is_server_error() {
            return Err(TransportError::Broken(format!("the server fails with {status}")));
        }
        let limit = match work.spec.result_schema.data_format {
            DataFormat::Json => {
                let memory = work.spec.bounds.max_memory_mb as usize * 1024 * 1024;
                self.body_bytes_max.min(memory / JSON_MEMORY)
            }
            DataFormat::Text | DataFormat::Bytes => self.body_bytes_max.min(work.max_bytes()),
        };
        let empty = matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
            || method == Method::HEAD;
        let mut arrival = Arrival::new(work, &answer, limit);
        let body = answer.body_told(limit, |bytes| arrival.has(bytes)).await?;
        let header = |name| answer.headers.get(name).and_then(|value| value.to_str().ok());
        let encoding =
            header(CONTENT_ENCODING).filter(|text| !text.eq_ignore_ascii_case("identity"));
        Ok(Response {
            status: status.as_u16(),
            content_type: header(CONTENT_TYPE).map(str::to_owned),
            content_encoding: encoding.filter(|_| !empty).map(str::to_owned),
            body: (!empty).then_some(body),
        })
    }
}

/// How firewalls in front of web servers say that they want to see a person: Cloudflare, AWS and Vercel.
const CHALLENGES: [(&str, &[&str]); 3] = [
    ("cf-mitigated", &["challenge"]),
    ("x-amzn-waf-action", &["challenge", "captcha"]),
    ("x-vercel-mitigated", &["challenge", "deny"]),
];

/// Why a response is no result: it depends on the rate or the origin of the requests, not on their content.
/// Other runners of the committee get another one, so a runner that took it for a result would be outvoted.
fn turned_away(answer: &Answer) -> Option<String> {
    let says = |(name, values): &(&str, &[&str])| {
        let value = answer.headers.get(*name).and_then(|value| value.to_str().ok());
        value.is_some_and(|value| values.contains(&value.trim()))
    };
    match answer.status {
        StatusCode::TOO_MANY_REQUESTS => Some("the server limits the request rate (429)".into()),
        status if CHALLENGES.iter().any(says) => {
            Some(format!("a web firewall answered with a challenge ({status})"))
        }
        _ => None,
    }
}

/// Reports progress relative to the announced size, or else to the limit.
struct Arrival<'a> {
    progress: &'a dyn Progress,
    whole: usize,
    percent: u8,
}

impl<'a> Arrival<'a> {
    fn new(work: &Work<'a>, answer: &Answer, limit: usize) -> Self {
        work.progress.report(0, &format!("the server answers {}", answer.status.as_u16()));
        let announced = answer.announced().and_then(|bytes| usize::try_from(bytes).ok());
        let whole = announced.filter(|bytes| *bytes <= limit).unwrap_or(limit).max(1);
        Self { progress: work.progress, whole, percent: 0 }
    }

    /// By whole percents only: a body may come byte by byte.
    fn has(&mut self, bytes: usize) {
        let percent = (bytes.saturating_mul(100) / self.whole).min(99) as u8;
        if percent > self.percent {
            self.percent = percent;
            self.progress.report(percent, &format!("{bytes} of {} bytes", self.whole));
        }
    }
}

/// Maps an error so that nothing is retried once a request that is not idempotent was sent. `method` is the job's,
/// not that of a redirect.
fn explain(error: TransportError, method: &Method, redirected: bool) -> ExecuteError {
    let safe = method.is_idempotent();
    // A forbidden address looks like a name that does not exist, and is retried like one.
    let error = match error {
        TransportError::Refused(refusal) => {
            warn!(%refusal, "request to a forbidden address refused");
            TransportError::NotConnected(NOBODY.to_owned())
        }
        TransportError::NotConnected(reason) if reason.starts_with(NOT_FOUND) => {
            info!(reason, "host not found");
            TransportError::NotConnected(NOBODY.to_owned())
        }
        error => error,
    };
    match error {
        TransportError::BadUrl(_) if redirected => bad(format!("a redirect's address: {error}")),
        TransportError::BadUrl(_) => ExecuteError::BadJob(format!("its address: {error}")),
        TransportError::NotConnected(reason) if safe || !redirected => {
            ExecuteError::Unreachable(reason)
        }
        TransportError::Broken(reason) if safe => ExecuteError::Unreachable(reason),
        TransportError::Refused(_) => ExecuteError::Unreachable(NOBODY.to_owned()),
        TransportError::NotConnected(reason) | TransportError::Broken(reason) => {
            bad(format!("{reason}; {method} may have had its effect and is not sent again"))
        }
        TransportError::NotHttp(reason) => bad(reason),
        TransportError::TooLarge(limit) => ExecuteError::TooLarge { limit },
    }
}

fn bad(reason: impl Into<String>) -> ExecuteError {
    ExecuteError::BadAnswer(reason.into())
}

/// Reads a job, before anything is sent.
fn read(work: &Work<'_>) -> Result<Asked, ExecuteError> {
    let bad = |reason: String| ExecuteError::BadJob(reason);
    let JobType::Http { method, url, headers, body, extract } = &work.spec.job_type else {
        return Err(bad("no web request".into()));
    };
    let method = METHODS.into_iter().find(|known| known.as_str() == method);
    let method = method.ok_or_else(|| bad(format!("the method is none of {METHODS:?}")))?;
    let mut url = Url::parse(url).map_err(|error| bad(format!("its address: {error}")))?;
    if redirect::has_credentials(&url) {
        return Err(bad("credentials belong into a header, not into the address".into()));
    }
    url.set_fragment(None);
    let extract = Path::parse(extract).map_err(|error| bad(format!("its path: {error}")))?;
    if !extract.is_whole() && work.spec.result_schema.data_format != DataFormat::Json {
        return Err(bad("only a JSON result can be a part of the answer".into()));
    }
    let headers = read_headers(headers)?;
    let first = Hop { method, url, headers, body: Bytes::copy_from_slice(body) };
    Ok(Asked { first, extract })
}

fn read_headers(lines: &[(String, String)]) -> Result<HeaderMap, ExecuteError> {
    let bad = |name: &str, what: &str| ExecuteError::BadJob(format!("header {name:?} {what}"));
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        let key = HeaderName::try_from(name).map_err(|_| bad(name, "has no proper name"))?;
        if OURS.contains(&key.as_str()) || key.as_str().starts_with("proxy-") {
            return Err(bad(name, "is not a job's to set"));
        }
        let value = HeaderValue::try_from(value).map_err(|_| bad(name, "has no proper value"))?;
        headers.append(key, value);
    }
    // All runners send the same headers, unless the job sets them.
    let ours = [(ACCEPT, "*/*"), (ACCEPT_ENCODING, "identity"), (USER_AGENT, "remuda")];
    for (name, value) in ours {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    Ok(headers)
}
