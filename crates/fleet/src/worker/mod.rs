//! A worker: leases jobs, runs them and reports their ends, one at a time.
//!
//! It decides nothing: its rights are in the lease, and each answer to a heartbeat tells whether the lease
//! still holds. So it continues while the orchestrator is unreachable, and stops as soon as it learns that
//! the lease is lost.

mod artifact;
mod beat;
mod blocking;
mod cache;
mod call;
mod config;
mod descriptors;
mod disk;
mod end;
mod files;
mod hidden;
mod image;
mod job_dir;
mod keep;
mod lease_run;
mod leftover;
mod link;
mod log;
mod mask;
mod network;
mod outbox;
mod pattern;
mod retry;
mod sandbox;
mod status;
mod steps;
mod tree;
mod upload;

pub use call::{CallError, Calls, Executor, Report};
pub use config::{Config, Images, Runc};
pub use image::ImageError;
pub use link::{Link, LinkError};
pub use mask::Mask;
pub use network::{Internet, Network, NetworkError};
pub use outbox::{Outbox, Piece};
pub use sandbox::{BwrapFeatures, Sandbox};

use crate::auth::{KeyError, KeyPair, random_hex};
use crate::broker::{self, BrokerError, Cancels, Hints, Taken};
use crate::http::{Endpoint, EndpointError};
use crate::id::RunnerId;
use crate::message::{LeaseGranted, LeaseRequest, Leave, Left, Message, NoWork};
use cache::Caches;
use lease_run::WorkerContext;
use retry::{Backoff, retry_until_answered};
use std::fs::Permissions;
use std::future::Future;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Default pause between two requests for a job.
const IDLE_PAUSE: Duration = Duration::from_secs(1);
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest poll of the orchestrator while the broker is unavailable.
const UNHEARD_SECONDS: u32 = 5;

#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    #[error(transparent)]
    Broker(#[from] BrokerError),
    #[error("the worker's folder cannot be used: {0}")]
    Folder(io::Error),
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// Refused by the orchestrator.
    #[error(transparent)]
    Refused(LinkError),
}

/// Runs jobs until `stop` resolves. A running job may finish within [`Config::drain`], otherwise it is given
/// back. With [`Config::one_shot`] it stops after one job.
pub async fn run(config: Config, stop: impl Future<Output = ()> + Send) -> Result<(), WorkerError> {
    let mut config = config;
    let endpoint = Endpoint::new(&config.orchestrator, &config.trust)?;
    config.broker.as_ref().map_or(Ok(()), broker::Config::check)?;
    std::fs::create_dir_all(&config.folder).map_err(WorkerError::Folder)?;
    // Absolute and without links: jobs start in other directories, and it is hidden from them by this path.
    config.folder = config.folder.canonicalize().map_err(WorkerError::Folder)?;
    // Other users must not read jobs' files and secrets.
    std::fs::set_permissions(&config.folder, Permissions::from_mode(0o700))
        .map_err(WorkerError::Folder)?;
    if config.sandbox != Sandbox::Process {
        // Fail now instead of in each job.
        hidden::hidden(&config).map_err(WorkerError::Folder)?;
    }
    descriptors::keep_own();
    if let (Network::Internet(internet), true) = (&config.network, config.confines()) {
        internet.try_out().await?;
    }
    // Left by a killed worker. A directory has one worker at a time.
    leftover::clear(&config.folder).await;
    let key = Arc::new(KeyPair::load_or_generate(&config.key)?);
    let caches = Caches::open(&config.folder.join("caches"), config.cache_bytes_max);
    let caches = caches.map_err(WorkerError::Folder)?;
    let images = match &config.images {
        Images::Runc(runc) => {
            // Containers of a killed worker, whose processes are gone.
            image::scrap(runc, &config.folder, None).await;
            let scratch = config.folder.join("layout");
            let opened = image::Store::open(&runc.from, &runc.store, &scratch, runc.bytes_max);
            Some(Arc::new(opened.map_err(WorkerError::Folder)?))
        }
        _ => None,
    };
    let link = Link::new(endpoint, key.clone(), config.clock);
    // A restarted process is a new runner: the old one's lease must not block it.
    let runner_id = RunnerId::of(&key.id(), &random_hex::<4>()).expect("hex digits are an id");
    let (draining, drain) = watch::channel(false);
    let context = WorkerContext { config, link, runner_id, caches, images };
    let ended = {
        let work = work(&context, drain);
        tokio::pin!(work);
        tokio::select! {
            ended = &mut work => ended,
            () = stop => {
                let seconds = context.config.drain.as_secs();
                tracing::info!(runner = %context.runner_id, seconds, "worker draining");
                draining.send_replace(true);
                work.await
            }
        }
    };
    if ended.is_ok() {
        leave(&context).await;
    }
    ended
}

/// Tells the orchestrator that this runner ends, once: nothing depends on it.
async fn leave(context: &WorkerContext) {
    let runner = &context.runner_id;
    let leave = Leave { runner_id: runner.clone() };
    let sent = tokio::time::timeout(LEAVE_TIMEOUT, context.link.send::<_, Left>("leave", &leave));
    let error = match sent.await {
        Ok(Ok(_)) => return tracing::info!(%runner, "worker stopped"),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "timeout".to_owned(),
    };
    tracing::info!(%runner, error, "worker stopped, orchestrator not notified");
}

async fn work(
    context: &WorkerContext,
    mut drain: watch::Receiver<bool>,
) -> Result<(), WorkerError> {
    tracing::info!(runner = %context.runner_id, "worker started");
    if let Some(token) = &context.config.token {
        tokio::select! {
            enrolled = retry_until_answered(|| context.link.enrol(token)) => {
                enrolled.map_err(WorkerError::Refused)?;
            }
            _ = drain.wait_for(|drain| *drain) => return Ok(()),
        }
    }
    let mut broker = broker(context, &mut drain).await;
    loop {
        // Dropping the request closes its connection, which withdraws it.
        let granted = tokio::select! {
            granted = lease(context, broker.as_mut().map(|(hints, _)| hints)) => granted?,
            _ = drain.wait_for(|drain| *drain) => return Ok(()),
        };
        let cancels = broker.as_mut().map(|(_, cancels)| cancels);
        context.work(granted, cancels, drain.clone()).await;
        if context.config.one_shot || *drain.borrow() {
            return Ok(());
        }
    }
}

/// Connects to the broker, if configured. It may be unavailable.
async fn broker(
    context: &WorkerContext,
    drain: &mut watch::Receiver<bool>,
) -> Option<(Hints, Cancels)> {
    let config = context.config.broker.as_ref()?;
    let mut backoff = Backoff::default();
    loop {
        let opened = async {
            let hints = Hints::open(config, &context.config.capabilities).await?;
            let cancels = hints.cancels(&context.runner_id).await?;
            Ok::<_, BrokerError>((hints, cancels))
        };
        match opened.await {
            Ok(broker) => return Some(broker),
            Err(error) => tracing::warn!(%error, "broker setup failed, retrying"),
        }
        tokio::select! {
            () = tokio::time::sleep(backoff.pause()) => {}
            _ = drain.wait_for(|drain| *drain) => return None,
        }
    }
}

async fn lease(
    context: &WorkerContext,
    broker: Option<&mut Hints>,
) -> Result<LeaseGranted, WorkerError> {
    let Some(hints) = broker else {
        loop {
            match ask(context, context.config.wait_seconds).await? {
                Asked::Granted(granted) => return Ok(*granted),
                Asked::Nothing(pause) => tokio::time::sleep(pause).await,
            }
        }
    };
    loop {
        // Without a hint there may be a job all the same.
        let taken = hints.now().await.unwrap_or_default();
        if let Some(granted) = follow(context, taken).await? {
            return Ok(granted);
        }
        let wait = Duration::from_secs(context.config.wait_seconds.max(1).into());
        let granted = match hints.wait(retry::jittered(wait)).await {
            Ok(None) => None,
            Ok(taken) => follow(context, taken).await?,
            Err(error) => {
                tracing::warn!(%error, "broker unavailable, polling the orchestrator");
                match ask(context, context.config.wait_seconds.min(UNHEARD_SECONDS)).await? {
                    Asked::Granted(granted) => Some(*granted),
                    Asked::Nothing(pause) => {
                        tokio::time::sleep(pause).await;
                        None
                    }
                }
            }
        };
        if let Some(granted) = granted {
            return Ok(granted);
        }
    }
}

/// Requests a job. The hint is acknowledged after the orchestrator answered: if this worker dies before,
/// another gets it.
async fn follow(
    context: &WorkerContext,
    taken: Option<Taken>,
) -> Result<Option<LeaseGranted>, WorkerError> {
    let asked = ask(context, 0).await?;
    if let Some(taken) = taken {
        taken.done().await;
    }
    // The next hint is followed at once.
    Ok(match asked {
        Asked::Granted(granted) => Some(*granted),
        Asked::Nothing(_) => None,
    })
}

/// Result of a request for a job.
enum Asked {
    Granted(Box<LeaseGranted>),
    /// None. Ask again after this pause.
    Nothing(Duration),
}

/// Requests a job once.
async fn ask(context: &WorkerContext, max_wait_seconds: u32) -> Result<Asked, WorkerError> {
    let request = LeaseRequest {
        runner_id: context.runner_id.clone(),
        capabilities: context.config.capabilities.clone(),
        max_wait_seconds,
    };
    let wait = Duration::from_secs(max_wait_seconds.into());
    match retry_until_answered(|| context.link.ask("lease", &request, wait)).await {
        Ok(Message::LeaseGranted(granted)) => return Ok(Asked::Granted(Box::new(granted))),
        Ok(Message::NoWork(NoWork { retry_after_seconds })) => {
            // Jitter shortens by up to a fifth; this pause must not be shorter.
            let wished = Duration::from_secs(retry_after_seconds.into()) * 5 / 4;
            let pause = retry::jittered(wished);
            return Ok(Asked::Nothing(pause.max(context.pause())));
        }
        Ok(_) => tokio::time::sleep(IDLE_PAUSE).await,
        // Its previous lease has not expired yet.
        Err(LinkError::Refused { code, .. }) if code == "RUNNER_BUSY" => {
            tokio::time::sleep(IDLE_PAUSE).await;
        }
        Err(error) => return Err(WorkerError::Refused(error)),
    }
    Ok(Asked::Nothing(context.pause()))
}
