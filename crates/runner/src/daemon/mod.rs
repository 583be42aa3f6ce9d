//! The daemon: keeps sessions with the runner's validators, accepts jobs, executes them, and submits their
//! results.
//!
//! ```text
//!  validators ⇄ links ─ news ─▶ drive ─ Event ──▶ RunnerCore: open jobs, nonces, what happens next
//!  nodes, backend, journal ───▶       ◀─ Action ─
//! ```
//! - [`settings`], [`template()`]: `runner.toml`
//! - `runner_core` decides everything, free of I/O: [`intake`] the answer to an assignment, `open_job` one job,
//!   [`outbox`] the runner's transactions, `fee_budget` what they may cost
//! - `drive` performs its actions: `links` (QUIC), `nodes` (HTTP), `task` (the [backend](crate::backend) and the
//!   journal)
//! - [`abilities`], `dependencies`, `faults`, [`unsupported`]: what it cannot do, now or at all
//! - `genesis`, `registration`: whether nodes and chain are those that the operator means
//! - [`seal`], [`handover`]: results for aggregators
//! - [`status`], `page`: what an operator sees
//!
//! Validators are not trusted. What they push is compared with the state of the operator's nodes, heights come from
//! those nodes, and a transaction that a validator does not forward goes to others after two blocks.

pub mod abilities;
mod dependencies;
mod drive;
mod faults;
mod fee_budget;
mod genesis;
pub mod handover;
pub mod intake;
mod links;
mod nodes;
mod open_job;
pub mod outbox;
mod page;
pub mod pins;
mod registration;
pub mod remote;
mod runner_core;
pub mod seal;
pub mod settings;
pub mod status;
mod tampering;
mod task;
pub mod template;
pub mod unsupported;

pub use settings::{OfferSettings, Settings, SettingsError};
pub use status::{RunState, StatusView};
pub use tampering::ResultTampering;
pub use template::{Template, template};

use crate::backend::{Backend, LocalBackend};
use crate::executor::ExecutorError;
use crate::fleet::{FleetBackend, TokenError};
use crate::journal::{Journal, JournalError};
use crate::private::{self, PrivateError};
use abilities::Abilities;
use dependencies::{Dependencies, Dependency};
use drive::{Driver, Parts};
use genesis::Genesis;
pub use genesis::GenesisError;
use nodes::Nodes;
use registration::Commands;
use remuda_client::ClientError;
use remuda_client::types::OfferView;
use remuda_client::wallet::{self, WalletError};
use remuda_link::quic::client::{ConnectError, Connector};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::primitives::Address;
use runner_core::{Event, Rules, RunnerCore};
use std::fs::{File, TryLockError};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use task::TaskRunner;
use thiserror::Error;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tracing::error;

/// Events queued for the core.
const EVENTS: usize = 1_024;

/// Why a runner cannot start.
#[derive(Debug, Error)]
pub enum StartError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Key(#[from] WalletError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Private(#[from] PrivateError),
    #[error("cannot write the token for `remuda runner drain` to {}: {error}", path.display())]
    Token { path: PathBuf, error: std::io::Error },
    #[error("another runner uses {0}; give each runner its own data directory")]
    InUse(PathBuf),
    #[error(transparent)]
    Genesis(#[from] GenesisError),
    #[error(transparent)]
    Executor(#[from] ExecutorError),
    #[error(transparent)]
    Fleet(#[from] TokenError),
    #[error(transparent)]
    Nodes(#[from] ClientError),
    #[error(transparent)]
    Bind(#[from] ConnectError),
    #[error(
        "cannot serve the status page at {0}: {1}; choose another address, or stop the process that uses it"
    )]
    Status(SocketAddr, std::io::Error),
}

pub struct Daemon;

impl Daemon {
    /// Starts a runner with the key of its settings. Reports problems of this machine; nodes and validators
    /// that cannot be reached are retried for ever.
    pub async fn start(settings: &Settings) -> Result<Handle, StartError> {
        let key = wallet::read(&settings.key)?;
        Self::start_with(settings, key, ResultTampering::none()).await
    }

    pub async fn start_with(
        settings: &Settings,
        key: SecretKey,
        tampering: ResultTampering,
    ) -> Result<Handle, StartError> {
        settings.check()?;
        // The settings may hold keys of providers.
        private::tighten(&settings.file)?;
        let made = private::make_folder(&settings.data);
        made.map_err(|error| JournalError::Io { path: settings.data.clone(), error })?;
        private::tighten(&settings.data)?;
        let journal = Journal::open(&settings.data.join("jobs"))?;
        let lock = lock(&settings.data)?;
        let (entries, unreadable) = journal.read()?;
        let unreadable = unreadable.iter().map(|path| path.display().to_string()).collect();
        let backend = backend(settings).await?;
        let nodes = Nodes::new(&settings.nodes, Genesis::open(&settings.data)?)?;
        let connector = Connector::new(settings.bind)?;
        let rules = Rules {
            abilities: Abilities::of(settings),
            slots: settings.slots,
            nodes: nodes.count(),
            resume: settings.resume,
            push: settings.push,
            offer: (settings.offer().as_ref())
                .map(OfferView::from)
                .map_err(SettingsError::to_string),
            pinnable: settings.pinnable(),
            commands: Commands {
                settings: settings.file.display().to_string(),
                key: settings.key.display().to_string(),
            },
        };
        let dependencies = Dependency::all(settings);
        let known = Dependencies::new(&dependencies);
        let core = RunnerCore::new(key.clone(), rules, known, entries, unreadable);
        let runner = key.address();
        let (events_in, events) = mpsc::channel(EVENTS);
        let (stop, stopped) = watch::channel(false);
        let (status_in, status) = watch::channel(core.status());
        let page = match settings.status {
            None => None,
            Some(listen) => {
                let failed = |error| StartError::Status(listen, error);
                let token = page::token(&settings.data);
                let path = page::token_file(&settings.data);
                let token = token.map_err(|error| StartError::Token { path, error })?;
                let page = page::serve(listen, token, status.clone(), events_in.clone());
                Some(page.await.map_err(failed)?)
            }
        };
        let tasks =
            TaskRunner { backend, journal, key: key.clone(), tampering, events: events_in.clone() };
        let parts = Parts {
            core,
            key,
            nodes,
            tasks,
            dependencies,
            connector,
            events_in: events_in.clone(),
            status: status_in,
            lock,
        };
        let task = tokio::spawn(Driver::run(parts, events, stopped));
        let task = Some(task);
        Ok(Handle { runner, events: events_in, status, stop, task, failed: false, page })
    }
}

async fn backend(settings: &Settings) -> Result<Arc<dyn Backend>, StartError> {
    Ok(match &settings.fleet {
        Some(fleet) => Arc::new(FleetBackend::connect(fleet).await?),
        None => Arc::new(LocalBackend::new(&settings.executors(), settings.slots)?),
    })
}

/// Two runners with one journal would remove each other's entries.
fn lock(data: &Path) -> Result<File, StartError> {
    let path = data.join("lock");
    let failed = |error| StartError::Journal(JournalError::Io { path: path.clone(), error });
    let file = private::create(&path).map_err(failed)?;
    private::tighten(&path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StartError::InUse(data.to_owned())),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// The runner stops when this is dropped.
pub struct Handle {
    runner: Address,
    events: mpsc::Sender<Event>,
    status: watch::Receiver<StatusView>,
    stop: watch::Sender<bool>,
    /// None once the runner has stopped.
    task: Option<JoinHandle<()>>,
    failed: bool,
    page: Option<page::Page>,
}

impl Handle {
    pub fn runner(&self) -> Address {
        self.runner
    }

    pub fn status_address(&self) -> Option<SocketAddr> {
        self.page.as_ref().map(|page| page.address)
    }

    /// At most a quarter of a second old.
    pub fn status(&self) -> StatusView {
        self.status.borrow().clone()
    }

    /// Accepts no new jobs, pauses on chain, finishes the open jobs, and stops. That may take until the last
    /// deadline. Draining continues if the future is dropped.
    pub async fn drain(&mut self) {
        let _ = self.events.send(Event::Drain).await;
        self.finished().await;
    }

    /// Waits until the runner is drained, by [`Handle::drain`] or through its page.
    pub async fn finished(&mut self) {
        let Some(task) = &mut self.task else { return };
        let ended = task.await;
        self.task = None;
        if let Err(error) = ended {
            self.failed = true;
            error!(%error, "runner panicked, open jobs stay in the journal");
        }
    }

    /// Whether the runner panicked. Known after [`Handle::finished`].
    pub fn failed(&self) -> bool {
        self.failed
    }

    /// Closes all sessions and stops. Open jobs stay in the journal for the next start.
    pub async fn stop(mut self) {
        let _ = self.stop.send(true);
        self.finished().await;
        if let Some(page) = self.page.take() {
            page.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn panic_of_the_runner_is_a_failure() {
        let data = std::env::temp_dir().join(format!("remuda-broken-{}", std::process::id()));
        let settings = Settings { data: data.clone(), ..crate::testing::settings("[http]") };
        let mut runner =
            Daemon::start_with(&settings, SecretKey::from_label("runner"), ResultTampering::none())
                .await
                .unwrap();
        assert!(!runner.failed());
        let broken = tokio::spawn(async { panic!("a bug") });
        runner.task.replace(broken).unwrap().abort();
        runner.finished().await;
        assert!(runner.failed());
        runner.finished().await;
        std::fs::remove_dir_all(&data).unwrap();
    }
}
