//! Client of an orchestrator's API.

use crate::auth::random_id;
use crate::http::{Endpoint, reason};
use crate::id::{Fence, JobId, KeyId, RunId};
use crate::message::{ErrorBody, Label, MESSAGE_BYTES_MAX, RUN_JOBS_MAX, RunSubmission, encode};
use crate::orchestrator::RUN_ID;
use crate::view::{
    JobView, LimitList, MachineList, QueueView, RunList, RunView, Submitted, TokenView, WorkerList,
};
use axum::body::{Body, to_bytes};
use axum::http::{HeaderValue, Method, Request, Response, StatusCode, header};
use futures::{Stream, StreamExt, stream};
use http_body_util::LengthLimitError;
use percent_encoding::{NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};
use serde::de::DeserializeOwned;
use std::error::Error as _;
use std::future::Future;
use std::time::Duration;

const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// Timeout of a silent stream. The orchestrator sends something every 15 seconds.
const SILENCE_MAX: Duration = Duration::from_secs(45);
/// Largest response. Pages of a run have half a mebibyte, a job with all artifacts little more.
const VIEW_BYTES_MAX: usize = 16 * MESSAGE_BYTES_MAX;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The request was refused.
    #[error("{message} ({code})")]
    Refused { code: String, message: String },
    /// Unknown outcome, or a temporary failure: the request may be repeated.
    #[error("the orchestrator at {url} cannot be reached: {why}")]
    Unreachable { url: String, why: String },
    /// No orchestrator, or another version.
    #[error(
        "what answers at {url} is not understood ({why}); look whether it is an orchestrator, and of this version"
    )]
    Nonsense { url: String, why: String },
}

#[derive(Clone, Debug)]
pub struct Client {
    endpoint: Endpoint,
    token: Option<String>,
    silence_max: Duration,
}

impl Client {
    pub fn new(endpoint: Endpoint, token: Option<String>) -> Self {
        Self { endpoint, token, silence_max: SILENCE_MAX }
    }

    /// Changes the timeout of silent streams.
    pub fn with_silence_max(self, silence_max: Duration) -> Self {
        Self { silence_max, ..self }
    }

    /// Submits a run, once per key.
    pub async fn submit(
        &self,
        run: &RunSubmission,
        key: Option<&str>,
    ) -> Result<Submitted, ClientError> {
        self.json(self.submission(run, key)?).await
    }

    /// Submits a run under an id made by [`Self::new_run`], once however often it is sent: if the response is
    /// lost, the run can be cancelled by its id. A run accepted under the id before stands, even if it
    /// differs.
    pub async fn submit_as(&self, id: &RunId, run: &RunSubmission) -> Result<(), ClientError> {
        let mut request = self.submission(run, Some(id.as_str()))?;
        let chosen = HeaderValue::from_str(id.as_str()).expect("ids are visible characters");
        request.headers_mut().insert(RUN_ID, chosen);
        match self.json::<Submitted>(request).await {
            Err(ClientError::Refused { code, .. }) if code == "CONFLICT" => Ok(()),
            answered => answered.map(drop),
        }
    }

    /// A new random id.
    pub fn new_run() -> RunId {
        random_id(RunId::PREFIX, RunId::new)
    }

    /// Repeats a run, once per key.
    pub async fn rerun(&self, run: &RunId, key: Option<&str>) -> Result<Submitted, ClientError> {
        let request = self.request(Method::POST, &format!("/runs/{run}/rerun"))?;
        self.json(keyed(request, key)?).await
    }

    pub async fn cancel(&self, run: &RunId) -> Result<(), ClientError> {
        let request = self.request(Method::POST, &format!("/runs/{run}/cancel"))?;
        self.read(request).await.map(drop)
    }

    pub async fn cancel_job(&self, job: &JobId) -> Result<(), ClientError> {
        let request = self.request(Method::POST, &format!("/jobs/{job}/cancel"))?;
        self.read(request).await.map(drop)
    }

    pub async fn token(&self) -> Result<TokenView, ClientError> {
        self.json(self.request(Method::GET, "/token")?).await
    }

    pub async fn workers(&self) -> Result<WorkerList, ClientError> {
        self.json(self.request(Method::GET, "/workers")?).await
    }

    pub async fn machines(&self) -> Result<MachineList, ClientError> {
        self.json(self.request(Method::GET, "/machines")?).await
    }

    /// Expels a machine: its signatures are refused.
    pub async fn expel(&self, key: &KeyId) -> Result<(), ClientError> {
        let request = self.request(Method::DELETE, &format!("/workers/{key}"))?;
        self.read(request).await.map(drop)
    }

    /// Limits and their usage.
    pub async fn limits(&self) -> Result<LimitList, ClientError> {
        self.json(self.request(Method::GET, "/limits")?).await
    }

    /// Sets the limit of a label. None: no limit.
    pub async fn set_limit(&self, label: &Label, limit: Option<u32>) -> Result<(), ClientError> {
        let limit = limit.map(|limit| format!("?limit={limit}")).unwrap_or_default();
        let path = format!("/limits/{}{limit}", in_path(label.as_str()));
        let request = self.request(Method::PUT, &path)?;
        self.read(request).await.map(drop)
    }

    pub async fn queue(&self) -> Result<QueueView, ClientError> {
        self.json(self.request(Method::GET, "/queue")?).await
    }

    /// The newest runs. `before` is `next` of the previous page.
    pub async fn list(&self, before: Option<&str>, limit: usize) -> Result<RunList, ClientError> {
        let before = before.map(|before| format!("&before={before}")).unwrap_or_default();
        let request = self.request(Method::GET, &format!("/runs?limit={limit}{before}"))?;
        self.json(request).await
    }

    /// A run with all pages of its jobs.
    pub async fn run(&self, run: &RunId) -> Result<RunView, ClientError> {
        let first = self.page(run, 0).await?;
        self.whole(run, first).await
    }

    async fn page(&self, run: &RunId, from: usize) -> Result<RunView, ClientError> {
        self.json(self.request(Method::GET, &format!("/runs/{run}?from={from}"))?).await
    }

    /// Adds the pages after the first.
    async fn whole(&self, run: &RunId, mut view: RunView) -> Result<RunView, ClientError> {
        while let Some(from) = view.next.take() {
            let page = self.page(run, from).await?;
            if page.jobs.is_empty() || view.jobs.len() > RUN_JOBS_MAX {
                return Err(self.nonsense("endless pages"));
            }
            view.jobs.extend(page.jobs);
            view.next = page.next;
        }
        view.revision = None;
        Ok(view)
    }

    pub async fn job(&self, job: &JobId) -> Result<JobView, ClientError> {
        let request = self.request(Method::GET, &format!("/jobs/{job}"))?;
        self.json(request).await
    }

    /// Part of a log from an offset. Empty: no more yet.
    pub async fn log(
        &self,
        job: &JobId,
        fence: Option<Fence>,
        offset: u64,
    ) -> Result<Vec<u8>, ClientError> {
        let fence = fence.map(|fence| format!("&fence={fence}")).unwrap_or_default();
        let request =
            self.request(Method::GET, &format!("/jobs/{job}/log?offset={offset}{fence}"))?;
        self.read(request).await
    }

    /// An object's size, if known, and its bytes in chunks.
    pub async fn object(
        &self,
        path: &str,
    ) -> Result<(Option<u64>, impl Stream<Item = Result<Vec<u8>, ClientError>> + use<>), ClientError>
    {
        let path: Vec<String> = path.split('/').map(|part| in_path(part).to_string()).collect();
        let request = self.request(Method::GET, &format!("/objects/{}", path.join("/")))?;
        let answer = self.with_timeout(self.send(request)).await?;
        let bytes = answer.headers().get(header::CONTENT_LENGTH);
        let bytes = bytes.and_then(|bytes| bytes.to_str().ok()?.parse().ok());
        let state = Some((self.clone(), answer.into_body().into_data_stream()));
        let pieces = stream::unfold(state, |state| async move {
            let (client, mut pieces) = state?;
            let piece = tokio::time::timeout(client.silence_max, pieces.next()).await;
            match piece.map(|piece| piece.transpose()) {
                Ok(Ok(piece)) => Some((Ok(piece?.to_vec()), Some((client, pieces)))),
                // After an error nothing more is read.
                Ok(Err(error)) => Some((Err(client.unreachable(reason(&error))), None)),
                Err(_) => Some((Err(client.unreachable("the stream timed out")), None)),
            }
        });
        Ok((bytes, pieces))
    }

    /// Output of a job's call.
    pub async fn output(&self, job: &JobId) -> Result<Vec<u8>, ClientError> {
        let request = self.request(Method::GET, &format!("/jobs/{job}/output"))?;
        self.read(request).await
    }

    /// A run after each change, until it ends.
    pub async fn watch(
        &self,
        run: &RunId,
    ) -> Result<impl Stream<Item = Result<RunView, ClientError>> + use<>, ClientError> {
        let request = self.request(Method::GET, &format!("/runs/{run}/events"))?;
        let answer = self.with_timeout(self.send(request)).await?;
        let state = (self.clone(), Some(answer.into_body().into_data_stream()), Vec::new());
        let run = run.clone();
        Ok(Box::pin(stream::unfold(state, move |(client, mut pieces, mut text)| {
            let run = run.clone();
            async move {
                loop {
                    if let Some(view) = next_event(&mut text) {
                        let view = match view {
                            Ok(first) => client.whole(&run, first).await,
                            Err(why) => Err(client.unreachable(why)),
                        };
                        return Some((view, (client, pieces, text)));
                    }
                    let piece = tokio::time::timeout(client.silence_max, pieces.as_mut()?.next());
                    let why = match piece.await.map(|piece| piece.transpose()) {
                        Err(_) => "the stream timed out".to_owned(),
                        Ok(Ok(None)) => return None,
                        Ok(Ok(Some(piece))) if text.len() + piece.len() <= VIEW_BYTES_MAX => {
                            text.extend(piece);
                            continue;
                        }
                        Ok(Ok(Some(_))) => "event too long".to_owned(),
                        Ok(Err(error)) => reason(&error),
                    };
                    // After an error nothing more is read.
                    let error = client.unreachable(why);
                    return Some((Err(error), (client, None, Vec::new())));
                }
            }
        })))
    }

    fn submission(
        &self,
        run: &RunSubmission,
        key: Option<&str>,
    ) -> Result<Request<Body>, ClientError> {
        let request = self.request(Method::POST, "/runs")?;
        keyed(request.map(|_| encode(run).into()), key)
    }

    fn request(&self, method: Method, path: &str) -> Result<Request<Body>, ClientError> {
        let request = Request::builder().method(method);
        let request = request.uri(format!("{}/api/v1{path}", self.endpoint.url()));
        let request = request.header(header::CONTENT_TYPE, "application/json");
        let request = match &self.token {
            Some(token) => request.header(header::AUTHORIZATION, format!("Bearer {token}")),
            None => request,
        };
        request.body(Body::empty()).map_err(|error| ClientError::Refused {
            code: "BAD_REQUEST".to_owned(),
            message: format!("{error}: a token or a list cursor must be one word"),
        })
    }

    async fn with_timeout<T>(
        &self,
        asked: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        let answered = tokio::time::timeout(ANSWER_TIMEOUT, asked).await;
        answered.unwrap_or_else(|_| Err(self.unreachable("timeout")))
    }

    async fn send(&self, request: Request<Body>) -> Result<Response<Body>, ClientError> {
        let answer = self.endpoint.http().send(request).await;
        let answer = answer.map_err(|why| self.unreachable(why))?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        let status = answer.status();
        let bytes = self.bytes(answer).await?;
        Err(match serde_json::from_slice::<ErrorBody>(&bytes) {
            // Temporary failures are no refusals.
            Ok(body) if passing(status) => {
                self.unreachable(format!("{} ({})", body.error.message, body.error.code))
            }
            Ok(body) => ClientError::Refused { code: body.error.code, message: body.error.message },
            Err(_) if passing(status) => self.unreachable(format!("status {status}")),
            Err(_) => self.nonsense(format!("status {status}")),
        })
    }

    async fn read(&self, request: Request<Body>) -> Result<Vec<u8>, ClientError> {
        self.with_timeout(async {
            let answer = self.send(request).await?;
            self.bytes(answer).await
        })
        .await
    }

    async fn bytes(&self, answer: Response<Body>) -> Result<Vec<u8>, ClientError> {
        let read = to_bytes(answer.into_body(), VIEW_BYTES_MAX).await;
        read.map(Vec::from).map_err(|error| match error.source() {
            Some(source) if source.is::<LengthLimitError>() => self.nonsense(source),
            _ => self.unreachable(reason(&error)),
        })
    }

    async fn json<T: DeserializeOwned>(&self, request: Request<Body>) -> Result<T, ClientError> {
        let bytes = self.read(request).await?;
        serde_json::from_slice(&bytes).map_err(|error| self.nonsense(error))
    }

    fn nonsense(&self, why: impl ToString) -> ClientError {
        ClientError::Nonsense { url: self.endpoint.url().to_owned(), why: why.to_string() }
    }

    fn unreachable(&self, why: impl ToString) -> ClientError {
        ClientError::Unreachable { url: self.endpoint.url().to_owned(), why: why.to_string() }
    }
}

/// Whether a status is a temporary failure.
fn passing(status: StatusCode) -> bool {
    status.is_server_error()
        || matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS)
}

/// Adds the idempotency key.
fn keyed(mut request: Request<Body>, key: Option<&str>) -> Result<Request<Body>, ClientError> {
    let Some(key) = key else { return Ok(request) };
    let value = HeaderValue::from_str(key).map_err(|_| ClientError::Refused {
        code: "BAD_KEY".to_owned(),
        message: "a key must have 1 to 200 visible characters".to_owned(),
    })?;
    request.headers_mut().insert("idempotency-key", value);
    Ok(request)
}

/// Any text as one segment of a path.
fn in_path(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, NON_ALPHANUMERIC)
}

/// Removes the next event with data from the buffer. None: incomplete.
fn next_event(text: &mut Vec<u8>) -> Option<Result<RunView, String>> {
    loop {
        let end = text.windows(2).position(|pair| pair == b"\n\n")?;
        let event: Vec<u8> = text.drain(..end + 2).collect();
        let event = String::from_utf8_lossy(&event);
        // Comments keep the connection alive.
        if let Some(data) = event.lines().find_map(|line| line.strip_prefix("data:")) {
            return Some(serde_json::from_str(data).map_err(|error| error.to_string()));
        }
    }
}
