//! An orchestrator inside another program: the same rules and handlers, no socket and no tokens, since
//! only this process can reach it. What others learn by watching, whoever shares the process is told.

use super::app::App;
use super::config::Config;
use super::router::router;
use super::server::ServeError;
use crate::auth::random_id;
use crate::id::{JobId, RunId};
use crate::lease::{Event, Refusal, Reply};
use crate::message::{Body as _, MessageError, RunSubmission};
use crate::store::{JobRows, Store as _, StoreError};
use crate::worker::Link;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Why something is not done.
#[derive(Debug, thiserror::Error)]
pub enum WithinError {
    /// What was submitted cannot be.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// The rules.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The rows.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Those who wait in this process for jobs to end. Every job ends, so nobody is forgotten.
#[derive(Debug, Default)]
pub(super) struct Ends(Mutex<BTreeMap<JobId, oneshot::Sender<()>>>);

impl Ends {
    fn wait(&self, job: JobId) -> oneshot::Receiver<()> {
        let (end, ended) = oneshot::channel();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(job, end);
        ended
    }

    /// Somebody may wait for this; usually nobody does.
    pub(super) fn tell(&self, job: &JobId) {
        let end = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(job);
        // Whoever does not wait any more need not know.
        end.map(|end| end.send(()));
    }
}

/// A job that was submitted.
#[derive(Debug)]
pub struct Placed {
    /// Its run.
    pub run_id: RunId,
    /// It.
    pub job_id: JobId,
    /// Resolves when it has ended.
    pub ended: oneshot::Receiver<()>,
}

/// See the module. It ends when this is dropped.
pub struct Within {
    app: App,
    link: Link,
    sweeping: JoinHandle<()>,
}

impl Within {
    /// Starts one.
    pub async fn start(config: Config) -> Result<Self, ServeError> {
        let app = App::open(config).await?;
        let link = Link::within(app.clone(), router(app.clone()));
        let (sweep, remove) = (app.clone().sweep(), app.clone().remove_objects());
        let sweeping = tokio::spawn(async { tokio::join!(sweep, remove).0 });
        Ok(Self { app, link, sweeping })
    }

    /// A worker's way to it.
    pub fn link(&self) -> Link {
        self.link.clone()
    }

    /// Submits a run, and waits for the first of its jobs.
    pub async fn submit(&self, submission: RunSubmission) -> Result<Placed, WithinError> {
        submission.check().map_err(MessageError::from)?;
        let run_id = random_id(RunId::PREFIX, RunId::new);
        let job_id = JobId::of(&run_id, 0);
        // Before anybody can do it.
        let ended = self.app.0.ends.wait(job_id.clone());
        let event = Event::Submit { run_id: run_id.clone(), key: None, submission };
        match self.ask(event).await {
            Ok(_) => Ok(Placed { run_id, job_id, ended }),
            Err(error) => {
                self.app.0.ends.tell(&job_id);
                Err(error)
            }
        }
    }

    /// Stops a run.
    pub async fn cancel(&self, run_id: RunId) -> Result<(), WithinError> {
        self.ask(Event::CancelRun { run_id }).await.map(drop)
    }

    /// A job and the newest of its leases.
    pub async fn job(&self, job: &JobId) -> Result<Option<JobRows>, WithinError> {
        Ok(self.app.store().job(job).await?)
    }

    async fn ask(&self, event: Event) -> Result<Reply, WithinError> {
        Ok(self.app.handle(event).await??)
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        self.sweeping.abort();
        self.app.stop();
    }
}
