//! A worker: asks for work, does it, says how it went. One job at a time.
//!
//! Whatever happens to it, it decides nothing: what it may do is in the lease, and what its lease is
//! worth the orchestrator says, in the answer to each heartbeat. So it goes on while the orchestrator
//! cannot be reached, and stops the moment it hears that its lease is lost.

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
mod verdict;

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

/// Between two questions, if nothing else says how long.
const IDLE_PAUSE: Duration = Duration::from_secs(1);
/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_secs(2);
/// How long the orchestrator is asked for work before it is looked for the broker again.
const UNHEARD_SECONDS: u32 = 5;

/// Why there is no worker.
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
    /// The configured job network cannot be enforced.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The orchestrator does not let it in.
    #[error(transparent)]
    Refused(LinkError),
}

/// Works until `stop` resolves; then the job that it has may end, within [`Config::drain`], or is given
/// back. With [`Config::one_shot`] until one job is done.
pub async fn run(config: Config, stop: impl Future<Output = ()> + Send) -> Result<(), WorkerError> {
    let mut config = config;
    let endpoint = Endpoint::new(&config.orchestrator, &config.trust)?;
    config.broker.as_ref().map_or(Ok(()), broker::Config::check)?;
    std::fs::create_dir_all(&config.folder).map_err(WorkerError::Folder)?;
    // Whole, and by no link: jobs and containers begin elsewhere, and it is hidden from them by its name.
    config.folder = config.folder.canonicalize().map_err(WorkerError::Folder)?;
    // Jobs' files and secrets are nobody else's on this machine.
    std::fs::set_permissions(&config.folder, Permissions::from_mode(0o700))
        .map_err(WorkerError::Folder)?;
    if config.sandbox != Sandbox::Process {
        // What would end each job is said before the first.
        hidden::hidden(&config).map_err(WorkerError::Folder)?;
    }
    descriptors::keep_own();
    if let (Network::Internet(internet), true) = (&config.network, config.confines()) {
        internet.try_out().await?;
    }
    // Of a worker that was killed. Nobody works there any more: a folder has one worker at a time.
    leftover::clear(&config.folder).await;
    let key = Arc::new(KeyPair::load_or_generate(&config.key)?);
    let caches = Caches::open(&config.folder.join("caches"), config.cache_bytes_max);
    let caches = caches.map_err(WorkerError::Folder)?;
    let images = match &config.images {
        Images::Runc(runc) => {
            // Of a worker that was killed: its processes are gone, and this is what is left of them.
            image::scrap(runc, &config.folder, None).await;
            let scratch = config.folder.join("layout");
            let opened = image::Store::open(&runc.from, &runc.store, &scratch, runc.bytes_max);
            Some(Arc::new(opened.map_err(WorkerError::Folder)?))
        }
        _ => None,
    };
    let link = Link::new(endpoint, key.clone(), config.clock);
    // A process that starts anew is a new runner: the lease of the old one is lost, not in its way.
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
                tracing::info!(runner = %context.runner_id, seconds,
                    "the worker takes no more jobs; one that it has may end within this time, and is given back otherwise");
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

/// Says goodbye. Nothing depends on it, so it is said once: who is not heard is missed a little later.
async fn leave(context: &WorkerContext) {
    let goodbye = Leave { runner_id: context.runner_id.clone() };
    let said = tokio::time::timeout(GOODBYE, context.link.send::<_, Left>("leave", &goodbye)).await;
    match said {
        Ok(Ok(_)) => tracing::info!(runner = %context.runner_id, "the worker leaves"),
        _ => tracing::info!(runner = %context.runner_id, "the worker leaves, and is not heard"),
    }
}

async fn work(
    context: &WorkerContext,
    mut drain: watch::Receiver<bool>,
) -> Result<(), WorkerError> {
    tracing::info!(runner = %context.runner_id, "the worker begins");
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
        // A question whose answer nobody waits for is taken back with its connection.
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

/// The broker, if one is configured and its address is one. It need not be there yet.
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
            Err(error) => tracing::warn!(%error, "work is not heard of"),
        }
        tokio::select! {
            () = tokio::time::sleep(backoff.pause()) => {}
            _ = drain.wait_for(|drain| *drain) => return None,
        }
    }
}

/// Until there is work.
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
        // A hint if there is one. If there is none, there may be work all the same.
        let taken = hints.now().await.unwrap_or_default();
        if let Some(granted) = follow(context, taken).await? {
            return Ok(granted);
        }
        let wait = Duration::from_secs(context.config.wait_seconds.max(1).into());
        let granted = match hints.wait(retry::jittered(wait)).await {
            Ok(None) => None,
            Ok(taken) => follow(context, taken).await?,
            Err(error) => {
                tracing::warn!(%error, "the orchestrator is asked instead");
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

/// Asks for what a hint promised, or for anything. The hint is done with when the orchestrator has
/// answered: whoever dies in between leaves it to others.
async fn follow(
    context: &WorkerContext,
    taken: Option<Taken>,
) -> Result<Option<LeaseGranted>, WorkerError> {
    let asked = ask(context, 0).await?;
    if let Some(taken) = taken {
        taken.done().await;
    }
    // The next hint is an invitation, however soon it comes.
    Ok(match asked {
        Asked::Granted(granted) => Some(*granted),
        Asked::Nothing(_) => None,
    })
}

/// What a question for work came to.
enum Asked {
    Granted(Box<LeaseGranted>),
    /// There is none, and none is to be asked for until so much later.
    Nothing(Duration),
}

/// Asks once, and waits so long for an answer.
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
            // A pause is up to a fifth shorter than it is said to be; this one is not to be.
            let wished = Duration::from_secs(retry_after_seconds.into()) * 5 / 4;
            let pause = retry::jittered(wished);
            return Ok(Asked::Nothing(pause.max(context.pause())));
        }
        Ok(_) => tokio::time::sleep(IDLE_PAUSE).await,
        // Its last lease is not over there yet: it ends by itself.
        Err(LinkError::Refused { code, .. }) if code == "RUNNER_BUSY" => {
            tokio::time::sleep(IDLE_PAUSE).await;
        }
        Err(error) => return Err(WorkerError::Refused(error)),
    }
    Ok(Asked::Nothing(context.pause()))
}
