//! The runner's own fleet: an orchestrator in memory, and a worker for each of the runner's places, all in
//! this process.
//!
//! Its rows need not survive the process, since none of its workers does: what was begun, and what must
//! not be begun again, is in the runner's journal.

use super::errand::{Errand, FleetError};
use super::hands::Hands;
use super::order::Finding;
use super::{Means, tags};
use crate::daemon::dispatch::Executors;
use crate::executor::Progress;
use remuda_fleet::id::RunId;
use remuda_fleet::lease::Policy;
use remuda_fleet::message::Tag;
use remuda_fleet::orchestrator::{Config, Placed, ServeError, StoreConfig, Within, WithinError};
use remuda_fleet::store::JobRows;
use remuda_fleet::view::JobView;
use remuda_fleet::worker::{Calls, Link, run_within};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tracing::{error, warn};

/// How often it is looked how far a job is.
const LOOK: Duration = Duration::from_millis(500);
/// What has ended is kept so long: whoever waits for it is told at once.
const KEEP_SECONDS: u32 = 10;
/// How often what is over is looked for.
const SWEEP: Duration = Duration::from_millis(250);
/// Before a worker that could not work tries again.
const PAUSE: Duration = Duration::from_secs(1);

/// Nothing gets lost on the way within a process, so beats are few. A lease that ends all the same is that
/// of a worker that hangs.
fn policy() -> Policy {
    let usual = Policy::default();
    Policy { lease_ttl_seconds: 30, heartbeat_interval_seconds: 10, ..usual }
}

/// See the module. It ends when this is dropped.
pub(super) struct Here {
    within: Arc<Within>,
    means: Means,
    executors: Arc<Executors>,
    _workers: JoinSet<()>,
}

impl Here {
    pub(super) async fn start(
        data: &Path,
        means: Means,
        executors: Arc<Executors>,
        places: u32,
    ) -> Result<Self, ServeError> {
        let mut config = Config::in_folder(&data.join("fleet"));
        config.store = StoreConfig::Memory;
        config.audit = None;
        config.policy = policy();
        config.sweep_every = SWEEP;
        config.keep_seconds = KEEP_SECONDS;
        let within = Arc::new(Within::start(config).await?);
        let calls = Calls(Arc::new(Hands(executors.clone())));
        let mut workers = JoinSet::new();
        for _ in 0..places {
            workers.spawn(work(within.link(), kinds(&means), calls.clone()));
        }
        Ok(Self { within, means, executors, _workers: workers })
    }

    pub(super) async fn probe(&self, part: &str) -> Option<Result<(), String>> {
        let tried = self.executors.probe(part).await?;
        Some(tried.map_err(|error| error.to_string()))
    }

    pub(super) async fn execute(
        &self,
        errand: &Errand,
        progress: &dyn Progress,
    ) -> Result<Finding, FleetError> {
        let refused = |error: WithinError| FleetError::Refused(error.to_string());
        let undone = |error: WithinError| FleetError::Undone(error.to_string());
        let wanted = tags::wanted(&errand.order.spec, &self.means.servers);
        let wanted = wanted.into_iter().filter(is_kind).collect();
        let run = errand.submission(wanted, Duration::ZERO);
        let run = run.ok_or_else(|| FleetError::Refused("it is too large".to_owned()))?;
        let Placed { run_id, job_id, mut ended } =
            self.within.submit(run).await.map_err(refused)?;
        let wish = Wish { within: self.within.clone(), run: Some(run_id) };
        loop {
            tokio::select! {
                // An orchestrator that is gone tells nobody, and neither knows the job.
                _ = &mut ended => break,
                () = tokio::time::sleep(LOOK) => {
                    if let Ok(Some(JobRows { lease: Some(lease), .. })) = self.within.job(&job_id).await
                        && let Some(far) = &lease.progress
                    {
                        let words = far.message.as_deref().unwrap_or_default();
                        progress.report(far.percent.unwrap_or(0), words);
                    }
                }
            }
        }
        wish.fulfilled();
        let rows = self.within.job(&job_id).await.map_err(undone)?;
        let rows = rows.ok_or_else(|| FleetError::Undone("nobody knows of it".to_owned()))?;
        let output = rows.output().map(remuda_fleet::message::Data::bytes);
        errand.finding(&JobView::from(&rows), output)
    }
}

/// Every worker here can do the same, so jobs only name their kind.
fn kinds(means: &Means) -> BTreeSet<Tag> {
    tags::offered(means).into_iter().filter(is_kind).collect()
}

fn is_kind(tag: &Tag) -> bool {
    tag.as_str().starts_with("remuda:")
}

async fn work(link: Link, capabilities: BTreeSet<Tag>, calls: Calls) {
    loop {
        if let Err(error) = run_within(link.clone(), capabilities.clone(), calls.clone()).await {
            error!(%error, "a worker cannot work; it tries again");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Somebody waits for a run. If that ends before the run does, nobody wants it any more.
struct Wish {
    within: Arc<Within>,
    run: Option<RunId>,
}

impl Wish {
    fn fulfilled(mut self) {
        self.run = None;
    }
}

impl Drop for Wish {
    fn drop(&mut self) {
        let (Some(run), Ok(runtime)) = (self.run.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let within = self.within.clone();
        runtime.spawn(async move {
            if let Err(error) = within.cancel(run).await {
                warn!(%error, "a job that nobody wants goes on");
            }
        });
    }
}
