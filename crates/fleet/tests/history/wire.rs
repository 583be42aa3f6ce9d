//! What a runner or a person sends, as they would send it.

use remuda_fleet::id::{Fence, JobId};
use remuda_fleet::lease::{Event, Refusal, Reply};
use remuda_fleet::message::{Body, ErrorBody, Message, StaleLease, decode, encode};
use remuda_fleet::view::Submitted;
use reqwest::{Method, RequestBuilder};
use std::net::SocketAddr;

/// A way to an orchestrator.
pub struct Wire {
    url: String,
    http: reqwest::Client,
}

impl Wire {
    pub fn new(address: SocketAddr) -> Self {
        Self { url: format!("http://{address}/api/v1"), http: reqwest::Client::new() }
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.url));
        request.header("content-type", "application/json")
    }

    fn message<B: Body>(&self, path: &str, body: &B) -> RequestBuilder {
        self.request(Method::POST, &format!("/internal/{path}")).body(encode(body))
    }

    /// The request that an event is, if anybody but time can cause it.
    fn asked(&self, event: &Event) -> Option<RequestBuilder> {
        Some(match event {
            Event::Submit { key, submission, .. } => {
                keyed(self.request(Method::POST, "/runs").body(encode(submission)), key)
            }
            Event::Rerun { of, key, .. } => {
                keyed(self.request(Method::POST, &format!("/runs/{of}/rerun")), key)
            }
            Event::CancelRun { run_id } => {
                self.request(Method::POST, &format!("/runs/{run_id}/cancel"))
            }
            Event::CancelJob { job_id } => {
                self.request(Method::POST, &format!("/jobs/{job_id}/cancel"))
            }
            Event::SetLimit { label, limit } => {
                let limit = limit.map(|limit| format!("?limit={limit}")).unwrap_or_default();
                self.request(Method::PUT, &format!("/limits/{label}{limit}"))
            }
            Event::Lease { request, .. } => self.message("lease", request),
            Event::Ack(message) => self.message("ack-lease", message),
            Event::Heartbeat(message) => self.message("heartbeat", message),
            Event::Complete(message) => self.message("complete", message),
            Event::CancelAck(message) => self.message("cancel-ack", message),
            Event::Log(message) => self.message("log", message),
            Event::Upload(message) => self.message("upload", message),
            _ => return None,
        })
    }

    /// What is answered to an event; none if only time can cause it.
    pub async fn ask(&self, event: &Event) -> Option<Result<Reply, Refusal>> {
        let answer = self.asked(event)?.send().await.expect("an answer");
        let success = answer.status().is_success();
        let bytes = answer.bytes().await.expect("a body");
        Some(read(success, &bytes))
    }

    pub async fn log(&self, job: &JobId, fence: Fence, offset: u64) -> Vec<u8> {
        let path = format!("/jobs/{job}/log?fence={fence}&offset={offset}");
        let answer = self.request(Method::GET, &path).send().await.expect("an answer");
        answer.bytes().await.expect("a body").to_vec()
    }
}

fn keyed(request: RequestBuilder, key: &Option<String>) -> RequestBuilder {
    match key {
        Some(key) => request.header("idempotency-key", key),
        None => request,
    }
}

/// What an answer means.
fn read(success: bool, bytes: &[u8]) -> Result<Reply, Refusal> {
    if success {
        if let Ok(submitted) = serde_json::from_slice::<Submitted>(bytes) {
            let Submitted { run_id, before } = submitted;
            return Ok(Reply::Submitted { run_id, before });
        }
        return Ok(match Message::decode(bytes) {
            Ok(Message::LeaseGranted(granted)) => Reply::Granted(Box::new(granted)),
            Ok(Message::NoWork(message)) => Reply::NoWork(message),
            Ok(Message::AckLeaseAck(message)) => Reply::Acked(message),
            Ok(Message::HeartbeatAck(message)) => Reply::Beat(message),
            Ok(Message::CompleteAck(message)) => Reply::Completed(message),
            Ok(Message::CancelAckAck(message)) => Reply::Canceled(message),
            Ok(Message::LogAck(message)) => Reply::Logged(message),
            // The grant's signature is for the upload alone and is not compared.
            Ok(Message::UploadGranted(mut message)) => {
                message.grant = None;
                Reply::Upload(message)
            }
            _ if bytes == b"{}" => Reply::Done,
            other => panic!("no answer: {other:?}"),
        });
    }
    if let Ok(stale) = decode::<StaleLease>(bytes) {
        return Err(Refusal::Stale(stale));
    }
    let error: ErrorBody = serde_json::from_slice(bytes).expect("an error");
    Err(match error.error.code.as_str() {
        "WRONG_RUNNER" => Refusal::WrongRunner,
        "WRONG_JOB" => Refusal::WrongJob,
        "CONFLICT" => Refusal::Conflict("message"),
        "LEASE_NOT_ACKED" => Refusal::NotAcked,
        "CANCEL_NOT_REQUESTED" => Refusal::NotCanceled,
        "RUNNER_BUSY" => Refusal::RunnerBusy,
        "UNKNOWN_RUN" => Refusal::UnknownRun,
        "TOO_MUCH" => Refusal::TooMuch("of it"),
        other => panic!("{other}: {}", error.error.message),
    })
}
