//! The daemon: keeps sessions with the runner's validators, takes jobs, does them, and sees every
//! result through to the end.
//!
//! ```text
//!  validators ⇄ links ─ news ─▶ ┌───────┐ ─ actions ─▶ drive ─▶ validators, nodes, executors, journal
//!  nodes, executors ─── notes ▶ │ desk  │
//!                               └───────┘  owns: open jobs, the nonce
//! ```
//! - [`settings`], [`template()`]: `runner.toml`
//! - `desk` decides everything, without I/O: [`intake`] what to answer to an assignment, `open` one
//!   job, [`sender`] the runner's transactions, `purse` what they may cost
//! - `drive` carries it out: `links` (QUIC), `nodes` (HTTP), `work` (the [backend](crate::backend)
//!   and the journal)
//! - [`abilities`], `dependencies`, `faults`, [`unable`]: what it cannot do, now or at all
//! - `genesis`, `registration`: whether nodes and chain are those that the operator means
//! - [`seal`], [`handover`]: results for aggregators
//! - [`status`], `page`: what an operator sees
//!
//! A validator is believed nothing: what it pushes is compared with the state that the operator's
//! nodes show, the heights that count are theirs, and what it is given to forward goes to others,
//! too, after two blocks.

pub mod abilities;
mod conduct;
mod dependencies;
mod desk;
mod drive;
mod faults;
mod genesis;
pub mod handover;
pub mod intake;
mod links;
mod nodes;
mod open;
mod page;
pub mod pins;
mod purse;
mod registration;
pub mod remote;
pub mod seal;
pub mod sender;
pub mod settings;
pub mod status;
pub mod template;
pub mod unable;
mod work;

pub use conduct::Conduct;
pub use settings::{OfferSettings, Settings, SettingsError};
pub use status::{RunState, StatusView};
pub use template::{Template, template};

use crate::backend::{Backend, LocalBackend};
use crate::executor::ExecutorError;
use crate::fleet::{FleetBackend, TokenError};
use crate::journal::{Journal, JournalError};
use crate::private::{self, PrivateError};
use abilities::Abilities;
use dependencies::{Dependencies, Dependency};
use desk::{Desk, Note, Rules};
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
use std::fs::{File, TryLockError};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tracing::error;
use work::TaskRunner;

/// Notes that wait for the desk.
const NOTES: usize = 1_024;

/// Why a runner cannot start.
#[derive(Debug, Error)]
pub enum StartError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Key(#[from] WalletError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Others can read what is the runner's own.
    #[error(transparent)]
    Private(#[from] PrivateError),
    /// The secret of the status page cannot be written.
    #[error("{}: {error}; the runner writes the token for `remuda runner drain` there", path.display())]
    Token { path: PathBuf, error: std::io::Error },
    #[error("another runner uses {0}; each needs a data directory of its own")]
    InUse(PathBuf),
    /// Which chain the data directory is of.
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
    #[error("the status page cannot be at {0}: {1}; is something else there?")]
    Status(SocketAddr, std::io::Error),
}

pub struct Daemon;

impl Daemon {
    /// Starts a runner. What is wrong on this machine is said here; nodes and validators that cannot
    /// be reached are tried for ever.
    pub async fn start(settings: &Settings) -> Result<Handle, StartError> {
        let key = wallet::read(&settings.key)?;
        Self::start_with(settings, key).await
    }

    /// The same, with a key that is no file.
    pub async fn start_with(settings: &Settings, key: SecretKey) -> Result<Handle, StartError> {
        Self::start_as(settings, key, Conduct::honest()).await
    }

    /// The same, with a conduct that may be other than honest.
    pub async fn start_as(
        settings: &Settings,
        key: SecretKey,
        conduct: Conduct,
    ) -> Result<Handle, StartError> {
        settings.check()?;
        // They may hold keys of providers.
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
        let desk = Desk::new(key.clone(), rules, known, entries, unreadable);
        let runner = key.address();
        let (notes_in, notes) = mpsc::channel(NOTES);
        let (stop, stopped) = watch::channel(false);
        let (status_in, status) = watch::channel(desk.status());
        let page = match settings.status {
            None => None,
            Some(listen) => {
                let failed = |error| StartError::Status(listen, error);
                let token = page::token(&settings.data);
                let path = page::token_file(&settings.data);
                let token = token.map_err(|error| StartError::Token { path, error })?;
                let page = page::serve(listen, token, status.clone(), notes_in.clone());
                Some(page.await.map_err(failed)?)
            }
        };
        let notes_of_work = notes_in.clone();
        let tasks =
            TaskRunner { backend, journal, key: key.clone(), conduct, notes: notes_of_work };
        let parts = Parts {
            desk,
            key,
            nodes,
            tasks,
            dependencies,
            connector,
            notes_in: notes_in.clone(),
            status: status_in,
            lock,
        };
        let task = tokio::spawn(Driver::run(parts, notes, stopped));
        let task = Some(task);
        Ok(Handle { runner, notes: notes_in, status, stop, task, failed: false, page })
    }
}

/// Who executes the jobs, as the settings say.
async fn backend(settings: &Settings) -> Result<Arc<dyn Backend>, StartError> {
    Ok(match &settings.fleet {
        Some(fleet) => Arc::new(FleetBackend::connect(fleet).await?),
        None => Arc::new(LocalBackend::new(&settings.executors(), settings.slots)?),
    })
}

/// Two runners with one journal would each remove what the other needs.
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

/// A runner that runs. It stops when this is dropped.
pub struct Handle {
    runner: Address,
    notes: mpsc::Sender<Note>,
    status: watch::Receiver<StatusView>,
    stop: watch::Sender<bool>,
    /// None once it has ended.
    task: Option<JoinHandle<()>>,
    failed: bool,
    page: Option<page::Page>,
}

impl Handle {
    pub fn runner(&self) -> Address {
        self.runner
    }

    /// Where the status page is, if there is one.
    pub fn status_address(&self) -> Option<SocketAddr> {
        self.page.as_ref().map(|page| page.address)
    }

    /// How it is, not older than a quarter of a second or the last thing that happened.
    pub fn status(&self) -> StatusView {
        self.status.borrow().clone()
    }

    /// Takes no new jobs, pauses on chain, and finishes what is open. Ends when that is done and
    /// goodbyes are said; that may take as long as the open jobs have time. May be given up: it
    /// goes on anyway.
    pub async fn drain(&mut self) {
        let _ = self.notes.send(Note::Drain).await;
        self.finished().await;
    }

    /// Until the runner has ended by itself: drained, by [`Handle::drain`] or through its page.
    pub async fn finished(&mut self) {
        let Some(task) = &mut self.task else { return };
        let ended = task.await;
        self.task = None;
        if let Err(error) = ended {
            self.failed = true;
            error!(%error, "the runner broke down; what is open is in the journal");
        }
    }

    /// Whether it has ended because of a bug, and not because it was told to. Known after
    /// [`Handle::finished`].
    pub fn failed(&self) -> bool {
        self.failed
    }

    /// Stops at once, with goodbyes. Open jobs stay in the journal, for the next start.
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
    async fn a_runner_that_broke_down_has_not_just_ended() {
        let data = std::env::temp_dir().join(format!("remuda-broken-{}", std::process::id()));
        let settings = Settings { data: data.clone(), ..crate::testing::settings("[http]") };
        let mut runner =
            Daemon::start_with(&settings, SecretKey::from_label("runner")).await.unwrap();
        assert!(!runner.failed());
        let broken = tokio::spawn(async { panic!("a bug") });
        runner.task.replace(broken).unwrap().abort();
        runner.finished().await;
        assert!(runner.failed());
        runner.finished().await;
        std::fs::remove_dir_all(&data).unwrap();
    }
}
