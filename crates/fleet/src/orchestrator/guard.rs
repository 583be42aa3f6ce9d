//! Authentication of requests, and bounded reading of bodies.
//!
//! The sender is checked by the head first: no body is read for strangers.

use super::answer::Failure;
use super::app::App;
use crate::auth::{Scope, Signature, Signed, Token, sha256_hex};
use crate::id::{KeyId, RunnerId};
use crate::lease::WorkerRecord;
use crate::message::{Body, MESSAGE_BYTES_MAX, MessageError, decode};
use crate::store::Store;
use axum::body::{Bytes, to_bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a key is cached. An expulsion by another orchestrator takes effect after this.
const KNOWN_FOR: Duration = Duration::from_secs(10);
const KNOWN_MAX: usize = 100_000;
/// Header with the hash of a body that is streamed.
pub(super) const CONTENT_HASH: &str = "remuda-content-sha256";

/// Cache of registered keys.
#[derive(Debug, Default)]
pub(super) struct KeyCache(Mutex<BTreeMap<KeyId, (WorkerRecord, Instant)>>);

impl KeyCache {
    fn get(&self, id: &KeyId) -> Option<WorkerRecord> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (worker, since) = known.get(id)?;
        (since.elapsed() < KNOWN_FOR).then(|| worker.clone())
    }

    pub(super) fn put(&self, worker: WorkerRecord) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        let id = worker.key.id();
        // A concurrent request may bring a row from before the expulsion.
        if known.get(&id).is_some_and(|(known, _)| known.expelled_at > worker.expelled_at) {
            return;
        }
        known.insert(id, (worker, Instant::now()));
    }
}

/// The key that signed a request. None: the orchestrator has no tokens.
#[derive(Clone, Debug)]
pub(super) struct Machine(pub(super) Option<KeyId>);

impl Machine {
    /// Refuses runners of other machines.
    pub(super) fn speaks_for(&self, runner: &RunnerId) -> Result<(), Failure> {
        match &self.0 {
            Some(key) if !runner.belongs_to(key) => {
                let text = format!("this runner's id must begin with `runner_{key}-`");
                Err(Failure::new(StatusCode::FORBIDDEN, "WRONG_RUNNER", text))
            }
            _ => Ok(()),
        }
    }
}

fn authorization(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()
}

fn unauthorized(text: &str) -> Failure {
    Failure::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", text)
}

impl App {
    /// The name of the request's token, if its scope allows this.
    pub(super) fn person(&self, headers: &HeaderMap, wanted: Scope) -> Result<String, Failure> {
        if self.0.tokens.is_open() {
            return Ok("anybody".to_owned());
        }
        let token = self.token(headers)?;
        if !token.scope.allows(wanted) {
            let text = format!(
                "this token has the scope {}; this request needs {}",
                token.scope.name(),
                wanted.name()
            );
            return Err(Failure::new(StatusCode::FORBIDDEN, "FORBIDDEN", text));
        }
        Ok(token.name)
    }

    /// The request's token.
    pub(super) fn token(&self, headers: &HeaderMap) -> Result<Token, Failure> {
        let access = self.0.tokens.access();
        let token = authorization(headers).and_then(|value| value.strip_prefix("Bearer "));
        let token = token.ok_or_else(|| unauthorized("send a token: `authorization: Bearer …`"))?;
        let token = access.find(token);
        let token = token.ok_or_else(|| unauthorized("unknown token"))?;
        Ok(token.clone())
    }

    /// The signature that the request claims, if its key is registered.
    async fn claimed(&self, headers: &HeaderMap) -> Result<Option<Signature>, Failure> {
        if self.0.tokens.is_open() {
            return Ok(None);
        }
        let header = authorization(headers).filter(|header| Signature::is_one(header));
        let header =
            header.ok_or_else(|| unauthorized("sign the request with the worker's key"))?;
        let signature = Signature::parse(header)?;
        let id = signature.key.id();
        let worker = match self.0.keys.get(&id) {
            Some(worker) => worker,
            None => {
                let found = self.0.store.worker(&id).await?;
                let worker = found.ok_or_else(|| {
                    let text = "this key is not enrolled; enrol it with an enrolment token";
                    Failure::new(StatusCode::UNAUTHORIZED, "UNKNOWN_KEY", text)
                })?;
                self.0.keys.put(worker.clone());
                worker
            }
        };
        if worker.expelled_at.is_some() {
            return Err(crate::lease::Refusal::Expelled.into());
        }
        Ok(Some(signature))
    }

    /// Verifies the claimed signature. It is accepted once.
    fn prove(
        &self,
        claimed: Option<Signature>,
        parts: &Parts,
        body: &str,
    ) -> Result<Machine, Failure> {
        let Some(signature) = claimed else { return Ok(Machine(None)) };
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let request = Signed { method: parts.method.as_str(), path, body };
        let now = self.now();
        signature.check(now, request)?;
        let mut replays = self.0.replays.lock().unwrap_or_else(PoisonError::into_inner);
        replays.note(now, &signature)?;
        Ok(Machine(Some(signature.key.id())))
    }

    pub(super) async fn message<B: Body>(&self, request: Request) -> Result<(B, Machine), Failure> {
        let (parts, body) = request.into_parts();
        let claimed = self.claimed(&parts.headers).await?;
        let bytes = self.read(&parts.headers, body).await?;
        let machine = self.prove(claimed, &parts, &sha256_hex(&bytes))?;
        Ok((decode(&bytes)?, machine))
    }

    /// Checks a worker's request with a streamed body, which is signed with the body's hash.
    pub(super) async fn head(&self, parts: &Parts) -> Result<(String, Machine), Failure> {
        let claimed = self.claimed(&parts.headers).await?;
        let hash = parts.headers.get(CONTENT_HASH).and_then(|hash| hash.to_str().ok());
        let hash = hash.ok_or_else(|| {
            let text = format!("send the body's hash in `{CONTENT_HASH}`");
            Failure::new(StatusCode::BAD_REQUEST, "NO_HASH", text)
        })?;
        let machine = self.prove(claimed, parts, hash)?;
        Ok((hash.to_owned(), machine))
    }

    /// Reads a body with a message's limits on size and time.
    pub(super) async fn read(
        &self,
        headers: &HeaderMap,
        body: axum::body::Body,
    ) -> Result<Bytes, Failure> {
        let announced =
            headers.get(header::CONTENT_LENGTH).and_then(|n| n.to_str().ok()?.parse().ok());
        if let Some(found) = announced.filter(|found| *found > MESSAGE_BYTES_MAX) {
            return Err(MessageError::TooLarge { found }.into());
        }
        let read = to_bytes(body, MESSAGE_BYTES_MAX);
        match tokio::time::timeout(self.0.config.request_timeout, read).await {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(_)) => Err(MessageError::TooLarge { found: MESSAGE_BYTES_MAX + 1 }.into()),
            Err(_) => {
                let text = "timeout while reading the body; send it again";
                Err(Failure::new(StatusCode::REQUEST_TIMEOUT, "TOO_SLOW", text))
            }
        }
    }
}
