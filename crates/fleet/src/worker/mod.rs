//! A worker: asks for work, does it, says how it went. One job at a time.
//!
//! Whatever happens to it, it decides nothing: what it may do is in the lease, and what its lease is
//! worth the orchestrator says, in the answer to each heartbeat. So it goes on while the orchestrator
//! cannot be reached, and stops the moment it hears that its lease is lost.

mod artifact;
mod beat;
mod cache;
mod config;
mod life;
mod link;
mod log;
mod mask;
mod outbox;
mod pace;
mod place;
mod status;
mod steps;
mod tree;

pub use config::{Config, Images, Sandbox};
pub use link::{Link, LinkError};
pub use mask::Mask;
pub use outbox::{Outbox, Piece};

use crate::auth::{KeyError, KeyPair, random_hex};
use crate::id::RunnerId;
use crate::message::{LeaseGranted, LeaseRequest, Message};
use beat::insist;
use cache::Caches;
use life::Workshop;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Why there is no worker.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// Its key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Its folder.
    #[error("the worker's folder cannot be used: {0}")]
    Folder(io::Error),
    /// The orchestrator does not let it in.
    #[error(transparent)]
    Refused(LinkError),
}

/// Works until `stop` resolves; then the job that it has may end, within [`Config::drain`], or is given
/// back. With [`Config::one_shot`] until one job is done.
pub async fn run(config: Config, stop: impl Future<Output = ()> + Send) -> Result<(), WorkerError> {
    std::fs::create_dir_all(&config.folder).map_err(WorkerError::Folder)?;
    // Of a worker that was killed. Nobody works there any more: a folder has one worker at a time.
    life::clear(&config.folder.join("jobs")).await.map_err(WorkerError::Folder)?;
    let key = Arc::new(KeyPair::load_or_generate(&config.key)?);
    let caches = Caches::open(&config.folder.join("caches")).map_err(WorkerError::Folder)?;
    let link = Link::new(&config.orchestrator, key.clone(), config.clock);
    // A process that starts anew is a new runner: the lease of the old one is lost, not in its way.
    let runner_id = RunnerId::of(&key.id(), &random_hex::<4>()).expect("hex digits are an id");
    let (draining, drain) = watch::channel(false);
    let shop = Workshop { config, link, runner_id, caches };
    let work = work(&shop, drain);
    tokio::pin!(work);
    tokio::select! {
        ended = &mut work => return ended,
        () = stop => {}
    }
    draining.send_replace(true);
    work.await
}

async fn work(shop: &Workshop, mut drain: watch::Receiver<bool>) -> Result<(), WorkerError> {
    tracing::info!(runner = %shop.runner_id, "the worker begins");
    if let Some(token) = &shop.config.token {
        tokio::select! {
            enrolled = insist(|| shop.link.enrol(token)) => {
                enrolled.map_err(WorkerError::Refused)?;
            }
            _ = drain.wait_for(|drain| *drain) => return Ok(()),
        }
    }
    loop {
        // A question whose answer nobody waits for is taken back with its connection.
        let granted = tokio::select! {
            granted = lease(shop) => granted?,
            _ = drain.wait_for(|drain| *drain) => return Ok(()),
        };
        shop.work(granted, drain.clone()).await;
        if shop.config.one_shot || *drain.borrow() {
            return Ok(());
        }
    }
}

/// Until there is work.
async fn lease(shop: &Workshop) -> Result<LeaseGranted, WorkerError> {
    let request = LeaseRequest {
        runner_id: shop.runner_id.clone(),
        capabilities: shop.config.capabilities.clone(),
        max_wait_seconds: shop.config.wait_seconds,
    };
    let wait = Duration::from_secs(shop.config.wait_seconds.into());
    loop {
        let answer = insist(|| shop.link.ask("lease", &request, wait)).await;
        match answer {
            Ok(Message::LeaseGranted(granted)) => return Ok(granted),
            Ok(Message::NoWork(no_work)) => {
                // It has waited; a little more keeps those that wait apart.
                let pause = Duration::from_secs(no_work.retry_after_seconds.min(60).into());
                tokio::time::sleep(pace::beat_pause(pause, pace::random())).await;
            }
            // Its last lease is not over there yet: it ends by itself.
            Err(LinkError::Refused { code, .. }) if code == "RUNNER_BUSY" => {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            Ok(_) => tokio::time::sleep(Duration::from_secs(1)).await,
            Err(error) => return Err(WorkerError::Refused(error)),
        }
    }
}
