//! Behind a runner: the fleet that does its jobs.
//!
//! ```text
//!  desk ─ work ─▶ bench ─ errand ─▶ orchestrator ─ lease ─▶ worker ─▶ executor (http, llm, mcp, dns, eth, wasm)
//!                   ◀── finding ──  the core      ◀ complete ─┘ under its fence
//! ```
//!
//! A job that the desk wants done becomes a run of the fleet with one job, whose work is a *call*: an
//! [`Order`] as its bytes. A worker that has the job's [`tags`] leases it, does it, and completes with the
//! [`Finding`] under its fence. What reaches the desk is what the fleet's core has accepted, and nothing
//! else does: a worker whose lease was lost is refused as stale, whatever it found, so it cannot cause a
//! commit.
//!
//! - By default the fleet is *here*: orchestrator and workers are parts of this process, one worker for
//!   each of the runner's places. Rows are in memory; what must survive a restart is in the journal.
//! - With `[fleet]` in the settings it is *there*: an orchestrator somewhere, and `remuda worker`s whose
//!   own settings say where models, tools and nodes are. They are the operator's, and are trusted like
//!   the runner: what they find is signed as it comes. The runner's key stays with the runner.
//!
//! **The finding travels in `Complete`**, not as an object: it has at most 64 KiB, as the chain allows, so
//! the message that is accepted or refused carries what it is about. Sizes are looked at before anything is
//! made of them: the message's, the text's, the result's.
//!
//! **Time.** The executor has the job's own wall time; the errand as a whole has until the last block in
//! which a commit can be sent. A lease lives for a quarter of that, between 3 and 30 seconds, or as long as
//! the orchestrator's leases live if that is less: a worker that dies at once leaves another three quarters.
//!
//! **Once.** What must not be done twice (a POST, a tool) is marked so, and a lost lease ends it: the same
//! rule that the journal has for a runner that was killed.
//!
//! **What the fleet cannot do is no excuse for a job.** A job that itself is why there is no result is a
//! finding like any other. An orchestrator that is gone, or a job that no worker came to an end with, is the
//! operator's to mend: the job is missed, validators hear what cannot be done (`CapabilityDelta`), and new
//! jobs are refused.
//!
//! **Progress and cancellation** go along: executors tell their worker, its heartbeats the orchestrator, and
//! that the desk. Whoever stops waiting cancels the run; the worker hears it with its next heartbeat (within
//! the process at once) and drops the execution.

mod errand;
mod hands;
mod here;
mod means;
mod order;
mod settings;
pub mod tags;
mod there;
mod token;

pub use errand::{Errand, FleetError};
pub use hands::calls;
pub use means::Means;
pub use order::{Finding, KIND, Order, OrderError, decode_finding, encode_finding};
pub use settings::FleetSettings;
pub use token::TokenError;

use crate::daemon::Settings;
use crate::daemon::dispatch::{ExecutorError, Executors};
use crate::executor::Progress;
use here::Here;
use remuda_fleet::message::Tag;
use remuda_fleet::orchestrator::ServeError;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use there::There;
use thiserror::Error;

/// An executor may take all the time that there is; that it did so is a finding, and has to come back.
const SPARE: Duration = Duration::from_secs(1);

/// Why there is no fleet.
#[derive(Debug, Error)]
pub enum FleetStartError {
    /// An executor.
    #[error(transparent)]
    Executor(#[from] ExecutorError),
    /// The runner's own orchestrator.
    #[error("the runner's own fleet cannot start: {0}")]
    Here(#[from] ServeError),
    /// The token of a configured one.
    #[error(transparent)]
    Token(#[from] TokenError),
}

/// See the module. One that is here ends when the last of these is dropped.
#[derive(Clone)]
pub struct Fleet(Arc<Place>);

enum Place {
    Here(Here),
    There(There),
}

impl Fleet {
    /// The fleet that the settings say.
    pub async fn start(settings: &Settings) -> Result<Self, FleetStartError> {
        let place = match &settings.fleet {
            Some(fleet) => {
                let there = There::new(fleet)?;
                there.admitted().await?;
                Place::There(there)
            }
            None => {
                let executors = settings.executors();
                let means = Means::of(&executors);
                let executors = Arc::new(Executors::new(&executors)?);
                Place::Here(Here::start(&settings.data, means, executors, settings.slots).await?)
            }
        };
        Ok(Self(Arc::new(place)))
    }

    /// Has a job done. If this is dropped before it is, the fleet is told that nobody wants it any more.
    pub async fn execute(
        &self,
        errand: &Errand,
        progress: &dyn Progress,
    ) -> Result<Finding, FleetError> {
        let done = async {
            match &*self.0 {
                Place::Here(here) => here.execute(errand, progress).await,
                Place::There(there) => there.execute(errand, progress).await,
            }
        };
        let patience = errand.patience + SPARE;
        tokio::time::timeout(patience, done).await.unwrap_or(Err(FleetError::Late))
    }

    /// Whether the fleet can be reached and has a worker with each of these sets of tags, as far as it
    /// knows. One that is here has.
    pub(crate) async fn have(&self, wanted: &[BTreeSet<Tag>]) -> Vec<bool> {
        match &*self.0 {
            Place::Here(_) => vec![true; wanted.len()],
            Place::There(there) => {
                let workers = there.workers().await;
                let has = |tags| workers.as_ref().is_some_and(|list| list.may_have(tags));
                wanted.iter().map(has).collect()
            }
        }
    }

    /// Tries a part of the work out of turn. None: that cannot be told without a job, here or on other
    /// machines.
    pub(crate) async fn probe(&self, part: &str) -> Option<Result<(), String>> {
        match &*self.0 {
            Place::Here(here) => here.probe(part).await,
            Place::There(_) => None,
        }
    }

    /// Nobody waits for anything any more.
    pub(crate) async fn leave(&self) {
        if let Place::There(there) = &*self.0 {
            there.leave().await;
        }
    }
}
