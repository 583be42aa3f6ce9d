//! Removes objects of removed runs, in a task of its own: a bucket may be slow, and leases must be swept
//! meanwhile.

use super::app::App;
use crate::id::RunId;
use crate::store::Store;
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Capacity of the queue. Objects of further runs are left behind, which is logged.
const WAITING_MAX: usize = 65_536;
/// Runs whose objects are removed concurrently. Most of the time is spent waiting for a bucket.
const AT_ONCE: usize = 8;
/// Pause after a failure, so an unavailable bucket is not flooded.
const PAUSE: Duration = Duration::from_secs(30);

/// Queue of runs whose objects must be removed.
#[derive(Default)]
pub(super) struct Removals {
    waiting: Mutex<Waiting>,
    more: Notify,
}

#[derive(Default)]
struct Waiting {
    next: VecDeque<RunId>,
    /// Queued runs and those in progress.
    all: BTreeSet<RunId>,
}

impl Removals {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues runs that were removed and may have objects.
    pub(super) fn add(&self, runs: Vec<RunId>) {
        let mut waiting = self.waiting();
        for run in runs {
            if waiting.all.len() >= WAITING_MAX {
                tracing::warn!(%run, "removal queue full, objects left behind");
            } else if waiting.all.insert(run.clone()) {
                waiting.next.push_back(run);
            }
        }
        self.more.notify_one();
    }

    /// Whether objects of an earlier run with this id remain: a new run would lose its own with them.
    pub(super) fn has(&self, run: &RunId) -> bool {
        self.waiting().all.contains(run)
    }

    async fn next(&self) -> RunId {
        loop {
            if let Some(run) = self.take() {
                return run;
            }
            self.more.notified().await;
        }
    }

    fn take(&self) -> Option<RunId> {
        let mut waiting = self.waiting();
        let run = waiting.next.pop_front();
        // `add` wakes one task, which wakes the next.
        if !waiting.next.is_empty() {
            self.more.notify_one();
        }
        run
    }

    fn again(&self, run: RunId) {
        self.waiting().next.push_back(run);
    }

    fn done(&self, run: &RunId) {
        self.waiting().all.remove(run);
    }
}

impl App {
    /// Removes objects of queued runs. Never returns.
    pub(super) async fn remove_objects(self) {
        let removing = (0..AT_ONCE).map(|_| self.remove_one_by_one());
        futures::future::join(self.left_behind(), futures::future::join_all(removing)).await;
    }

    /// Queues runs that were removed by an orchestrator which stopped before it removed their objects. Only
    /// runs past retention: a database restored from a backup does not know the newest runs.
    async fn left_behind(&self) {
        let age = Duration::from_secs(self.0.config.keep_seconds.into());
        let names = match self.0.objects.old_runs(age, WAITING_MAX).await {
            Ok(names) => names,
            Err(error) => return tracing::warn!(%error, "failed to list orphaned objects"),
        };
        for run in names.iter().filter_map(|name| RunId::new(name).ok()) {
            if matches!(self.0.store.run(&run).await, Ok(None)) {
                self.0.removals.add(vec![run]);
            }
        }
    }

    async fn remove_one_by_one(&self) {
        let removals = &self.0.removals;
        loop {
            let run = removals.next().await;
            match self.remove_objects_of(&run).await {
                Ok(()) => removals.done(&run),
                Err(error) => {
                    tracing::warn!(error, %run, "failed to remove objects, retrying");
                    // One run that always fails blocks one task only.
                    tokio::time::sleep(PAUSE).await;
                    removals.again(run);
                }
            }
        }
    }

    async fn remove_objects_of(&self, run: &RunId) -> Result<(), String> {
        // A new run may have taken the id before it was queued here.
        let again = self.0.store.run(run).await.map_err(|error| error.to_string())?;
        if again.is_some() {
            return Ok(());
        }
        self.0.objects.forget(&format!("runs/{run}")).await.map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    fn runs(count: usize) -> Vec<RunId> {
        (0..count).map(|n| RunId::new(&format!("run_{n}")).expect("an id")).collect()
    }

    #[tokio::test]
    async fn all_who_remove_are_woken_by_one_addition() {
        let removals = Removals::default();
        let added = runs(AT_ONCE);
        let taking = futures::future::join_all((0..AT_ONCE).map(|_| removals.next()));
        let adding = async {
            tokio::task::yield_now().await;
            removals.add(added.clone());
        };
        let both = futures::future::join(taking, adding);
        let (taken, ()) = tokio::time::timeout(Duration::from_secs(20), both).await.expect("woken");
        assert_eq!(taken.into_iter().collect::<BTreeSet<_>>(), added.into_iter().collect());
    }

    #[test]
    fn an_id_is_taken_until_its_objects_are_gone() {
        let removals = Removals::default();
        let [run] = &runs(1)[..] else { panic!("one") };
        removals.add(vec![run.clone()]);
        assert_eq!(removals.next().now_or_never().as_ref(), Some(run));
        assert!(removals.has(run), "they are being removed");
        removals.again(run.clone());
        assert_eq!(removals.next().now_or_never().as_ref(), Some(run), "it failed");
        assert!(removals.has(run));
        removals.done(run);
        assert!(!removals.has(run) && removals.next().now_or_never().is_none());
    }

    #[test]
    fn no_more_wait_than_may() {
        let removals = Removals::default();
        let all = runs(WAITING_MAX + 1);
        removals.add(all.clone());
        assert_eq!(removals.waiting().next.len(), WAITING_MAX);
        assert!(removals.has(&all[0]) && !removals.has(&all[WAITING_MAX]));
    }
}
