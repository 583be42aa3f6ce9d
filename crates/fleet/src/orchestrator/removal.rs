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
/// Runs whose objects are removed at the same time: most of it is waiting for a bucket's answers.
const AT_ONCE: usize = 8;
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
    /// These, and those whose turn it is.
    all: BTreeSet<RunId>,
}

impl Removals {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// These were forgotten, and may have left objects.
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
            if let Some(run) = self.take() {
                return run;
            }
            self.more.notified().await;
        }
    }

    fn take(&self) -> Option<RunId> {
        let mut waiting = self.waiting();
        let run = waiting.next.pop_front();
        // However many were added, one was woken: it wakes the next.
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
    /// Removes objects of runs that were forgotten, of a few at a time. Never returns.
    pub(super) async fn remove_objects(self) {
        let removing = (0..AT_ONCE).map(|_| self.remove_one_by_one());
        futures::future::join(self.left_behind(), futures::future::join_all(removing)).await;
    }

    /// Adds runs that were forgotten by an orchestrator which ended before their objects were removed. Only what is
    /// older than runs are kept: rows may have been restored from a copy that does not know the newest runs.
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
                    tracing::warn!(error, %run, "objects of a run are not removed; they are tried again");
                    // It waits here: one that always fails does not keep all from the others.
                    tokio::time::sleep(PAUSE).await;
                    removals.again(run);
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
