//! The orchestrator that the settings name, as a backend.

use super::job::{FleetError, FleetJob};
use super::token::{REQUEST_TIMEOUT, TokenCheck, TokenError};
use super::{FleetSettings, tags};
use crate::backend::{Backend, BackendError, Job};
use crate::backoff::Backoff;
use crate::executor::{Capabilities, ExecuteResult, Progress, TIMEOUT_SPARE};
use futures::future::{BoxFuture, join_all};
use futures::{FutureExt as _, StreamExt as _};
use remuda_fleet::client::{Client, ClientError};
use remuda_fleet::id::RunId;
use remuda_fleet::lease::{AttemptState, RunStatus};
use remuda_fleet::view::{JobView, RunView, WorkerList};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tracing::{debug, warn};

/// Between two attempts to reach the orchestrator.
const RETRY: Backoff =
    Backoff { first: Duration::from_millis(100), max: Duration::from_millis(1_600) };
/// How long a cancellation is retried. After that the run's own limits end it.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(60);
/// The same when the runner stops.
const SHUT_DOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// The orchestrator's code for a run that it does not have.
const UNKNOWN_RUN: &str = "UNKNOWN_RUN";
/// Interval of requests for a run that cannot be streamed.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Executes jobs by the workers of an orchestrator.
#[derive(Clone)]
pub struct FleetBackend {
    client: Client,
    token: TokenCheck,
    capabilities: Capabilities,
    /// Runs that this process waits for.
    open: Arc<Mutex<BTreeSet<RunId>>>,
}

impl FleetBackend {
    /// Fails if the token does not allow submitting. An unreachable orchestrator is no error: it is asked again
    /// later.
    pub async fn connect(settings: &FleetSettings) -> Result<Self, TokenError> {
        let backend = Self::new(settings)?;
        backend.token.check(&backend.client).await?;
        Ok(backend)
    }

    fn new(settings: &FleetSettings) -> Result<Self, TokenError> {
        let (client, token) = TokenCheck::read(settings)?;
        Ok(Self { client, token, capabilities: settings.capabilities(), open: Arc::default() })
    }

    async fn run(&self, job: &Job, progress: &dyn Progress) -> Result<ExecuteResult, FleetError> {
        let refused = |error: ClientError| FleetError::Refused(error.to_string());
        let began = Instant::now();
        let tags = tags::required(&job.spec, &self.capabilities.servers);
        let job = FleetJob::new(job);
        let submission = || job.submission(tags.clone(), began.elapsed());
        submission().ok_or_else(|| FleetError::Refused("the job is too large".to_owned()))?;
        let run_id = Client::new_run();
        // Before the submission: it may be accepted although no answer arrives.
        let cancel = CancelOnDrop::new(self.clone(), run_id.clone());
        // Each attempt states the time that is left.
        let submit = async || match submission() {
            Some(run) => self.client.submit_as(&run_id, &run).await,
            None => Ok(()),
        };
        if let Err(error) = retry_until_answered(submit).await {
            cancel.disarm();
            return Err(refused(error));
        }
        let ended = self.wait_for_end(&run_id, progress).await?;
        cancel.disarm();
        let output = match ended.state {
            AttemptState::Succeeded => {
                let output = retry_until_answered(|| self.client.output(&ended.job_id)).await;
                Some(output.map_err(|error| FleetError::Invalid(error.to_string()))?)
            }
            _ => None,
        };
        job.result(&ended, output.as_deref())
    }

    /// Waits for the end of a run, and reports the progress that the orchestrator streams.
    async fn wait_for_end(
        &self,
        run_id: &RunId,
        progress: &dyn Progress,
    ) -> Result<JobView, FleetError> {
        let failed = |error: ClientError| FleetError::Failed(error.to_string());
        loop {
            match self.client.watch(run_id).await {
                Ok(views) => {
                    let mut views = std::pin::pin!(views);
                    while let Some(Ok(view)) = views.next().await {
                        if let Some(job) = ended(view, progress)? {
                            return Ok(job);
                        }
                    }
                }
                // Polling as a fallback: the orchestrator limits the number of streams, and a proxy may cut them.
                Err(ClientError::Unreachable { .. } | ClientError::Nonsense { .. }) => {
                    let view =
                        retry_until_answered(|| self.client.run(run_id)).await.map_err(failed)?;
                    if let Some(job) = ended(view, progress)? {
                        return Ok(job);
                    }
                    tokio::time::sleep(POLL_INTERVAL).await;
                }
                Err(error) => return Err(failed(error)),
            }
            // The stream ended early, as when the orchestrator restarts.
            tokio::time::sleep(RETRY.jittered(0, rand::random())).await;
        }
    }

    /// The fleet's workers, if the orchestrator answers and accepts the token.
    async fn workers(&self) -> Option<WorkerList> {
        if let Err(error) = self.token.check(&self.client).await {
            warn!(%error, "fleet token refused");
            return None;
        }
        match tokio::time::timeout(REQUEST_TIMEOUT, self.client.workers()).await {
            Ok(Ok(list)) => Some(list),
            Ok(Err(error)) => {
                debug!(%error, "fleet unavailable");
                None
            }
            Err(_) => {
                debug!("fleet request timed out");
                None
            }
        }
    }

    fn open_runs(&self) -> MutexGuard<'_, BTreeSet<RunId>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Retries until the orchestrator answers. An unknown run may still arrive.
    async fn cancel(&self, run: &RunId) -> Result<(), ClientError> {
        loop {
            match retry_until_answered(|| self.client.cancel(run)).await {
                Err(ClientError::Refused { code, .. }) if code == UNKNOWN_RUN => {
                    tokio::time::sleep(RETRY.jittered(u32::MAX, rand::random())).await;
                }
                answered => return answered,
            }
        }
    }
}

impl Backend for FleetBackend {
    fn execute<'a>(
        &'a self,
        job: &'a Job,
        progress: &'a dyn Progress,
    ) -> BoxFuture<'a, Result<ExecuteResult, BackendError>> {
        async move {
            // An executor may use up all the time. Its timeout is a result, which takes some time to arrive.
            let done =
                tokio::time::timeout(job.expires_in + TIMEOUT_SPARE, self.run(job, progress));
            Ok(done.await.unwrap_or(Err(FleetError::Late))?)
        }
        .boxed()
    }

    fn available<'a>(&'a self, wanted: &'a [Capabilities]) -> BoxFuture<'a, Vec<bool>> {
        async move {
            let workers = self.workers().await;
            let has = |tags| workers.as_ref().is_some_and(|list| list.may_have(&tags));
            wanted.iter().map(|capabilities| has(tags::offered(capabilities))).collect()
        }
        .boxed()
    }

    fn shut_down(&self) -> BoxFuture<'_, ()> {
        async move {
            let runs: Vec<RunId> = self.open_runs().iter().cloned().collect();
            let cancels = join_all(runs.iter().map(|run| self.cancel(run)));
            if tokio::time::timeout(SHUT_DOWN_TIMEOUT, cancels).await.is_err() {
                warn!(runs = runs.len(), "cancellation timed out");
            }
        }
        .boxed()
    }
}

/// The job, if it has ended. Otherwise reports its progress.
fn ended(mut view: RunView, progress: &dyn Progress) -> Result<Option<JobView>, FleetError> {
    let ended = view.summary.status != RunStatus::Running;
    let job = view.jobs.pop();
    let job = job.ok_or_else(|| FleetError::Invalid("the run has no job".to_owned()))?;
    if ended {
        return Ok(Some(job));
    }
    if let Some(reported) = job.progress {
        progress.report(reported.percent.unwrap_or(0), &reported.message.unwrap_or_default());
    }
    Ok(None)
}

/// Repeats a request until the orchestrator answers it, whatever the answer is.
async fn retry_until_answered<T, F: Future<Output = Result<T, ClientError>>>(
    request: impl Fn() -> F,
) -> Result<T, ClientError> {
    let mut failures = 0;
    loop {
        match request().await {
            // While the orchestrator is down a proxy may answer anything.
            Err(error @ (ClientError::Unreachable { .. } | ClientError::Nonsense { .. })) => {
                debug!(%error, failures, "fleet request failed");
                tokio::time::sleep(RETRY.jittered(failures, rand::random())).await;
                failures += 1;
            }
            answered => return answered,
        }
    }
}

/// Cancels a run when it is dropped before the run has ended.
struct CancelOnDrop {
    backend: FleetBackend,
    run: Option<RunId>,
}

impl CancelOnDrop {
    fn new(backend: FleetBackend, run: RunId) -> Self {
        backend.open_runs().insert(run.clone());
        Self { backend, run: Some(run) }
    }

    /// The run has ended, or was never accepted.
    fn disarm(mut self) {
        if let Some(run) = self.run.take() {
            self.backend.open_runs().remove(&run);
        }
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let (Some(run), Ok(runtime)) = (self.run.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let backend = self.backend.clone();
        runtime.spawn(async move {
            match tokio::time::timeout(CANCEL_TIMEOUT, backend.cancel(&run)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => warn!(%run, %error, "cancellation failed"),
                Err(_) => warn!(%run, "cancellation timed out"),
            }
            backend.open_runs().remove(&run);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::NoProgress;
    use crate::testing::http_spec;
    use remuda_protocol::primitives::B256;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio::sync::mpsc;

    /// Accepts runs without an answer, and answers everything else. Returns its URL and the heads of requests.
    async fn silent_orchestrator() -> (String, mpsc::UnboundedReceiver<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (heads, seen) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let heads = heads.clone();
                tokio::spawn(async move {
                    let mut bytes = vec![0; 65_536];
                    let read = stream.read(&mut bytes).await.unwrap();
                    let head = String::from_utf8_lossy(&bytes[..read]).into_owned();
                    let submits = head.starts_with("POST /api/v1/runs ");
                    heads.send(head).unwrap();
                    if submits {
                        std::future::pending::<()>().await;
                    }
                    let answer = "HTTP/1.1 200 OK\r\nconnection: close\r\n\
                        content-length: 2\r\n\r\n{}";
                    stream.write_all(answer.as_bytes()).await.unwrap();
                });
            }
        });
        (url, seen)
    }

    #[tokio::test]
    async fn dropped_submission_cancels_the_run() {
        let (url, mut seen) = silent_orchestrator().await;
        let settings = FleetSettings { orchestrator: url, http: true, ..FleetSettings::default() };
        let backend = FleetBackend::new(&settings).unwrap();
        let job = Job {
            job_id: B256::repeat_byte(7),
            spec: http_spec("POST", "http://example.com/"),
            time_limit: Duration::from_secs(5),
            expires_in: Duration::from_secs(60),
            pinned: false,
        };
        let mut submitted = String::new();
        tokio::select! {
            _ = backend.execute(&job, &NoProgress) => panic!("nobody answered"),
            () = async {
                while !submitted.starts_with("POST /api/v1/runs ") {
                    submitted = seen.recv().await.unwrap();
                }
            } => {}
        }
        let id = submitted.lines().find_map(|line| line.strip_prefix("remuda-run-id: ")).unwrap();
        let next =
            tokio::time::timeout(Duration::from_secs(30), seen.recv()).await.unwrap().unwrap();
        assert!(next.starts_with(&format!("POST /api/v1/runs/{id}/cancel ")), "{next}");
    }
}
