//! Objects of runs that are forgotten. A task of its own removes them: a bucket may take any time for it, and
//! leases are looked after meanwhile.

use super::app::App;
use crate::id::RunId;
use crate::store::Store;
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Runs whose objects wait to be removed. Those of others are left behind, which their owner is told.
const WAITING_MAX: usize = 65_536;
/// After one that failed: a bucket that is away is not asked all the time.
const PAUSE: Duration = Duration::from_secs(30);

/// Runs whose objects are to go.
#[derive(Default)]
pub(super) struct Removals {
    waiting: Mutex<Waiting>,
    more: Notify,
}

#[derive(Default)]
struct Waiting {
    next: VecDeque<RunId>,
    /// These, and the one whose turn it is.
    all: BTreeSet<RunId>,
}

impl Removals {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// These were forgotten.
    pub(super) fn add(&self, runs: Vec<RunId>) {
        let mut waiting = self.waiting();
        for run in runs {
            if waiting.all.len() >= WAITING_MAX {
                tracing::warn!(%run, "objects of a run are left behind");
            } else if waiting.all.insert(run.clone()) {
                waiting.next.push_back(run);
            }
        }
        self.more.notify_one();
    }

    /// Whether objects of a run that had this id are still to go: a new one would lose its own with them.
    pub(super) fn has(&self, run: &RunId) -> bool {
        self.waiting().all.contains(run)
    }

    async fn next(&self) -> RunId {
        loop {
            let next = self.waiting().next.pop_front();
            match next {
                Some(run) => return run,
                None => self.more.notified().await,
            }
        }
    }
}

impl App {
    /// Removes objects of runs that were forgotten. Never returns.
    pub(super) async fn remove_objects(self) {
        let removals = &self.0.removals;
        loop {
            let run = removals.next().await;
            match self.remove_objects_of(&run).await {
                Ok(()) => {
                    removals.waiting().all.remove(&run);
                }
                Err(error) => {
                    tracing::warn!(error, %run, "objects of a run are not removed; they are tried again");
                    removals.waiting().next.push_back(run);
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    async fn remove_objects_of(&self, run: &RunId) -> Result<(), String> {
        // Another one may have come under its name before it was known that this one's objects go.
        let again = self.0.store.run(run).await.map_err(|error| error.to_string())?;
        if again.is_some() {
            return Ok(());
        }
        self.0.objects.forget(&format!("runs/{run}")).await.map_err(|error| error.to_string())
    }
}
