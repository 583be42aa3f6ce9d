//! A fleet on other machines: the orchestrator that the settings name, and whatever workers it has.

use super::errand::{Errand, FleetError};
use super::order::Finding;
use super::token::{Pass, TokenError};
use super::{FleetSettings, Means, tags};
use crate::daemon::backoff::pause;
use crate::executor::Progress;
use futures::StreamExt as _;
use futures::future::join_all;
use remuda_fleet::client::{Client, ClientError};
use remuda_fleet::id::RunId;
use remuda_fleet::lease::{AttemptState, RunStatus};
use remuda_fleet::view::{JobView, RunView, WorkerList};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tracing::{debug, warn};

/// Pauses between two tries to reach the orchestrator grow so often.
const GROWTH: u32 = 4;
/// How long an orchestrator is told that a run is not wanted. Then nobody begins it, or its limits end it.
const INSISTING: Duration = Duration::from_secs(60);
/// The same when the runner stops.
const LEAVING: Duration = Duration::from_secs(2);
/// What an orchestrator says of a run that it does not have.
const UNKNOWN_RUN: &str = "UNKNOWN_RUN";
/// The pause between two looks at a run that cannot be watched.
const LOOK_PAUSE: Duration = Duration::from_secs(1);
/// How long one look at the workers may take.
pub(super) const LOOK: Duration = Duration::from_secs(5);

/// See the module.
#[derive(Clone)]
pub(super) struct There {
    client: Client,
    pass: Pass,
    means: Means,
    /// Runs that somebody here waits for.
    open: Arc<Mutex<BTreeSet<RunId>>>,
}

impl There {
    pub(super) fn new(settings: &FleetSettings) -> Result<Self, TokenError> {
        let (client, pass) = Pass::read(settings)?;
        Ok(Self { client, pass, means: Means::of_fleet(settings), open: Arc::default() })
    }

    /// Whether the token allows jobs to be handed out.
    pub(super) async fn admitted(&self) -> Result<(), TokenError> {
        self.pass.admitted(&self.client).await
    }

    pub(super) async fn execute(
        &self,
        errand: &Errand,
        progress: &dyn Progress,
    ) -> Result<Finding, FleetError> {
        let refused = |error: ClientError| FleetError::Refused(error.to_string());
        let began = Instant::now();
        let wanted = tags::wanted(&errand.order.spec, &self.means.servers);
        let run = || errand.submission(wanted.clone(), began.elapsed());
        run().ok_or_else(|| FleetError::Refused("it is too large".to_owned()))?;
        let run_id = Client::new_run();
        // Before it is sent: what is sent may be taken, whether or not anybody hears of it.
        let wish = Wish::new(self.clone(), run_id.clone());
        // Each try says how much time is left by then.
        let submit = async || match run() {
            Some(run) => self.client.submit_as(&run_id, &run).await,
            None => Ok(()),
        };
        if let Err(error) = insist(submit).await {
            wish.fulfilled();
            return Err(refused(error));
        }
        let job = self.end_of(&run_id, progress).await?;
        wish.fulfilled();
        let output = match job.state {
            AttemptState::Succeeded => {
                let output = insist(|| self.client.output(&job.job_id)).await;
                Some(output.map_err(|error| FleetError::Useless(error.to_string()))?)
            }
            _ => None,
        };
        errand.finding(&job, output.as_deref())
    }

    /// Until the run is over. How far it is, is told on the way.
    async fn end_of(&self, run_id: &RunId, progress: &dyn Progress) -> Result<JobView, FleetError> {
        let undone = |error: ClientError| FleetError::Undone(error.to_string());
        loop {
            match self.client.watch(run_id).await {
                Ok(views) => {
                    let mut views = std::pin::pin!(views);
                    while let Some(Ok(view)) = views.next().await {
                        if let Some(job) = over(view, progress)? {
                            return Ok(job);
                        }
                    }
                }
                // Too many may watch: a look now and then will do.
                Err(ClientError::Unreachable { .. } | ClientError::Nonsense { .. }) => {
                    let view = insist(|| self.client.run(run_id)).await.map_err(undone)?;
                    if let Some(job) = over(view, progress)? {
                        return Ok(job);
                    }
                    tokio::time::sleep(LOOK_PAUSE).await;
                }
                Err(error) => return Err(undone(error)),
            }
            // It broke off: the orchestrator stops, or is gone. It, or another, knows the run.
            tokio::time::sleep(pause(0, rand::random())).await;
        }
    }

    /// Who works there, if anybody can be asked.
    pub(super) async fn workers(&self) -> Option<WorkerList> {
        if let Err(error) = self.admitted().await {
            warn!(%error, "the fleet is of no use");
            return None;
        }
        match tokio::time::timeout(LOOK, self.client.workers()).await {
            Ok(Ok(list)) => Some(list),
            Ok(Err(error)) => {
                debug!(%error, "the fleet cannot be asked");
                None
            }
            Err(_) => None,
        }
    }

    /// Tells the orchestrator that nothing is wanted any more. What it does not hear, nobody begins
    /// once it is too late.
    pub(super) async fn leave(&self) {
        let runs: Vec<RunId> = self.runs().iter().cloned().collect();
        let cancels = join_all(runs.iter().map(|run| self.call_off(run)));
        if tokio::time::timeout(LEAVING, cancels).await.is_err() {
            warn!("the fleet may not know that nobody waits for its jobs any more");
        }
    }

    fn runs(&self) -> std::sync::MutexGuard<'_, BTreeSet<RunId>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl There {
    /// Until the run is called off. One that is unknown may be on its way.
    async fn call_off(&self, run: &RunId) -> Result<(), ClientError> {
        loop {
            match insist(|| self.client.cancel(run)).await {
                Err(ClientError::Refused { code, .. }) if code == UNKNOWN_RUN => {
                    tokio::time::sleep(pause(GROWTH, rand::random())).await;
                }
                answered => return answered,
            }
        }
    }
}

/// The job, if it is over. How far it is, is told.
fn over(mut view: RunView, progress: &dyn Progress) -> Result<Option<JobView>, FleetError> {
    let over = view.summary.status != RunStatus::Running;
    let job = view.jobs.pop();
    let job = job.ok_or_else(|| FleetError::Useless("a run without its job".to_owned()))?;
    if over {
        return Ok(Some(job));
    }
    if let Some(far) = job.progress {
        progress.report(far.percent.unwrap_or(0), &far.message.unwrap_or_default());
    }
    Ok(None)
}

/// Asks until there is an answer, good or bad.
async fn insist<T, F: Future<Output = Result<T, ClientError>>>(
    ask: impl Fn() -> F,
) -> Result<T, ClientError> {
    let mut failures = 0;
    loop {
        match ask().await {
            // What is in between may say anything while the orchestrator is away.
            Err(error @ (ClientError::Unreachable { .. } | ClientError::Nonsense { .. })) => {
                debug!(%error, "the fleet is asked again");
                tokio::time::sleep(pause(failures.min(GROWTH), rand::random())).await;
                failures += 1;
            }
            answered => return answered,
        }
    }
}

/// Somebody waits for a run. If that ends before the run does, nobody wants it any more.
struct Wish {
    there: There,
    run: Option<RunId>,
}

impl Wish {
    fn new(there: There, run: RunId) -> Self {
        there.runs().insert(run.clone());
        Self { there, run: Some(run) }
    }

    fn fulfilled(mut self) {
        if let Some(run) = self.run.take() {
            self.there.runs().remove(&run);
        }
    }
}

impl Drop for Wish {
    fn drop(&mut self) {
        let (Some(run), Ok(runtime)) = (self.run.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let there = self.there.clone();
        runtime.spawn(async move {
            match tokio::time::timeout(INSISTING, there.call_off(&run)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => warn!(%error, "a job that nobody wants goes on"),
                Err(_) => warn!("the fleet may not know that nobody wants a job any more"),
            }
            there.runs().remove(&run);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::testing::http_spec;
    use crate::fleet::Order;
    use remuda_protocol::primitives::B256;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio::sync::mpsc;

    struct Silent;

    impl Progress for Silent {
        fn report(&self, _: u8, _: &str) {}
    }

    /// Takes runs and says nothing; answers everything else. Heads of requests come out.
    async fn mute() -> (String, mpsc::UnboundedReceiver<String>) {
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
    async fn what_is_given_up_while_it_is_submitted_is_called_off() {
        let (url, mut seen) = mute().await;
        let settings = FleetSettings { orchestrator: url, http: true, ..FleetSettings::default() };
        let there = There::new(&settings).unwrap();
        let order = Order {
            job_id: B256::repeat_byte(7),
            within: Duration::from_secs(5),
            pinned: false,
            spec: http_spec("POST", "http://example.com/"),
        };
        let errand = Errand { order, patience: Duration::from_secs(60), once: true };
        let mut submitted = String::new();
        tokio::select! {
            _ = there.execute(&errand, &Silent) => panic!("nobody answered"),
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
