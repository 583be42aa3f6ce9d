//! Views of runs and jobs: rows, the store's time, and known workers, which are in no row.

use super::answer::Failure;
use super::app::App;
use crate::id::{JobId, RunId};
use crate::lease::LeaseClock;
use crate::message::Tag;
use crate::store::Store;
use crate::view::{JobView, RunSummary, RunView, WaitReason, WaitView, WorkerList};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Age of the worker list in event streams.
pub(super) const WATCHED_AGE_MAX: Duration = Duration::from_secs(1);
/// No cached worker list.
pub(super) const FRESH: Duration = Duration::ZERO;
/// Runs of a list that are examined for why they are stalled: each may have a thousand jobs.
const STILL_MAX: usize = 20;

/// The last worker list and its age.
#[derive(Default)]
pub(super) struct WorkerListCache(Mutex<Option<(Instant, Arc<WorkerList>)>>);

impl App {
    /// A run. The worker list may be `old`.
    pub(super) async fn run_view(
        &self,
        id: &RunId,
        old: Duration,
    ) -> Result<Option<RunView>, Failure> {
        let Some(rows) = self.0.store.run(id).await? else { return Ok(None) };
        let mut view = RunView::at(&self.store_time().await?, &self.0.config.policy, &rows);
        let jobs = view.jobs.iter_mut().map(|job| (&job.tags, &mut job.waits)).collect();
        self.mark_no_worker(jobs, old).await?;
        Ok(Some(view))
    }

    pub(super) async fn job_view(&self, id: &JobId) -> Result<Option<JobView>, Failure> {
        let Some(rows) = self.0.store.job(id).await? else { return Ok(None) };
        let mut view = JobView::whole(&self.store_time().await?, &self.0.config.policy, &rows);
        self.mark_no_worker(vec![(&view.tags, &mut view.waits)], FRESH).await?;
        Ok(Some(view))
    }

    /// Adds to stalled runs what their first startable job waits for.
    pub(super) async fn explain_stalled(&self, runs: &mut [RunSummary]) -> Result<(), Failure> {
        let still = runs.iter_mut().filter(|run| run.open > 0 && run.running == 0);
        for run in still.take(STILL_MAX) {
            // Removed since the list was made.
            let Some(view) = self.run_view(&run.run_id, WATCHED_AGE_MAX).await? else { continue };
            let mut waits = view.jobs.into_iter().filter_map(|job| job.waits);
            run.waits = waits.find(|waits| waits.reason != WaitReason::Needs);
        }
        Ok(())
    }

    /// The clock by which leases are judged.
    pub(super) async fn store_time(&self) -> Result<LeaseClock, Failure> {
        Ok(self.0.store.time(self.now()).await?)
    }

    /// Marks jobs that wait for a worker if no known worker has their tags.
    pub(super) async fn mark_no_worker(
        &self,
        jobs: Vec<(&BTreeSet<Tag>, &mut Option<WaitView>)>,
        old: Duration,
    ) -> Result<(), Failure> {
        let turn = |waits: &Option<WaitView>| {
            waits.as_ref().is_some_and(|waits| waits.reason == WaitReason::Turn)
        };
        if !jobs.iter().any(|(_, waits)| turn(waits)) {
            return Ok(());
        }
        let workers = self.worker_list_cached(old).await?;
        for (tags, waits) in jobs {
            if turn(waits) && !workers.may_have(tags) {
                *waits = Some(WaitView::no_worker());
            }
        }
        Ok(())
    }

    async fn worker_list_cached(&self, old: Duration) -> Result<Arc<WorkerList>, Failure> {
        let known = self.0.worker_cache.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((at, workers)) = known
            && at.elapsed() < old
        {
            return Ok(workers);
        }
        let workers = Arc::new(self.worker_list().await?);
        let known = (Instant::now(), workers.clone());
        *self.0.worker_cache.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
        Ok(workers)
    }
}
