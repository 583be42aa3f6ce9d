//! Histories over a socket: what a runner or a person can send is sent as they would; the passing of
//! time is the test's own.

use super::suite::{Place, policy};
use remuda_fleet::id::{Fence, JobId, KeyId, RunId};
use remuda_fleet::lease::{Event, Handled, LabelRecord, Refusal, Reply, RunRecord, WorkerRecord};
use remuda_fleet::message::{Body, ErrorBody, Message, StaleLease, Tag, decode, encode};
use remuda_fleet::orchestrator::{App, Config, StoreConfig, router};
use remuda_fleet::store::{
    AnyStore, Counts, JobRows, RunCursor, RunRows, Store, StoreError, Tables,
};
use remuda_fleet::time::Millis;
use remuda_fleet::view::Submitted;
use reqwest::{Method, RequestBuilder};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The time of the history that is under way. One at a time.
static NOW: AtomicU64 = AtomicU64::new(0);

pub struct OverHttp;

/// An orchestrator behind a socket.
pub struct Remote {
    app: App,
    url: String,
    http: reqwest::Client,
    serving: JoinHandle<()>,
}

impl Place for OverHttp {
    type Store = Remote;
    /// The orchestrator makes names up itself.
    const NAMES: bool = false;

    async fn open(now: Millis) -> Remote {
        NOW.store(now.0, Ordering::SeqCst);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("history-http-{}", std::process::id()));
        let mut config = Config::in_folder(&folder);
        config.store = StoreConfig::Memory;
        config.audit = None;
        config.policy = policy();
        config.clock.frozen = Some(&NOW);
        Remote::serve(App::open(config).await.expect("an orchestrator")).await
    }

    /// The rows stay; every connection is cut.
    async fn restart(remote: Remote, now: Millis) -> Remote {
        NOW.store(now.0, Ordering::SeqCst);
        remote.serving.abort();
        remote.app.handle(Event::Start).await.expect("a store").expect("started");
        Remote::serve(remote.app.clone()).await
    }
}

impl Remote {
    async fn serve(app: App) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
        let url = format!("http://{}/api/v1", listener.local_addr().expect("an address"));
        let routes = router(app.clone());
        let serving = tokio::spawn(async move {
            axum::serve(listener, routes).await.expect("served");
        });
        Self { app, url, http: reqwest::Client::new(), serving }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
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
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.serving.abort();
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
            // Its proof is for whoever uses it.
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
        "TOO_MUCH" => Refusal::TooMuch("of it"),
        other => panic!("{other}: {}", error.error.message),
    })
}

impl Store for Remote {
    async fn handle(&self, now: Millis, event: Event) -> Result<Handled, StoreError> {
        NOW.store(now.0, Ordering::SeqCst);
        let Some(request) = self.asked(&event) else {
            return Ok(Handled { reply: self.app.handle(event).await?, actions: vec![] });
        };
        let answer = request.send().await.expect("an answer");
        let success = answer.status().is_success();
        let bytes = answer.bytes().await.expect("a body");
        Ok(Handled { reply: read(success, &bytes), actions: vec![] })
    }

    async fn log(
        &self,
        job: &JobId,
        fence: Fence,
        offset: u64,
        _: usize,
    ) -> Result<Vec<u8>, StoreError> {
        let path = format!("/jobs/{job}/log?fence={fence}&offset={offset}");
        let answer = self.request(Method::GET, &path).send().await.expect("an answer");
        Ok(answer.bytes().await.expect("a body").to_vec())
    }

    async fn run(&self, id: &RunId) -> Result<Option<RunRows>, StoreError> {
        self.rows().run(id).await
    }

    async fn runs(
        &self,
        before: Option<RunCursor>,
        most: usize,
    ) -> Result<Vec<RunRecord>, StoreError> {
        self.rows().runs(before, most).await
    }

    async fn job(&self, id: &JobId) -> Result<Option<JobRows>, StoreError> {
        self.rows().job(id).await
    }

    async fn worker(&self, id: &KeyId) -> Result<Option<WorkerRecord>, StoreError> {
        self.rows().worker(id).await
    }

    async fn machines(&self, most: usize) -> Result<Vec<WorkerRecord>, StoreError> {
        self.rows().machines(most).await
    }

    async fn labels(&self, most: usize) -> Result<Vec<LabelRecord>, StoreError> {
        self.rows().labels(most).await
    }

    async fn waiting(
        &self,
        now: Millis,
        most: usize,
    ) -> Result<Vec<(JobId, BTreeSet<Tag>)>, StoreError> {
        self.rows().waiting(now, most).await
    }

    async fn open_jobs(&self, most: usize) -> Result<Vec<JobRows>, StoreError> {
        self.rows().open_jobs(most).await
    }

    async fn counts(&self) -> Result<Counts, StoreError> {
        self.rows().counts().await
    }

    async fn snapshot(&self) -> Result<Tables, StoreError> {
        self.rows().snapshot().await
    }
}

impl Remote {
    fn rows(&self) -> &AnyStore {
        self.app.store()
    }
}
