//! `GET /api/v1/workers`, `/queue`, `/machines` and `/limits`.

use super::answer::{Failure, json};
use super::app::App;
use super::roster::Heard;
use super::views::FRESH;
use crate::auth::Scope;
use crate::id::RunnerId;
use crate::lease::{AttemptState, JobRecord, LeaseClock, Standing, wait};
use crate::message::Tag;
use crate::store::{JobRows, Store};
use crate::time::LeaseTime;
use crate::view::{
    LimitList, LimitView, MachineList, MachineView, OpenJob, QueueView, WaitView, WorkerList,
    WorkerView,
};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use std::collections::BTreeMap;

/// Waiting jobs, and held jobs, in one answer.
const JOBS_MAX: usize = 200;
const WORKERS_MAX: usize = 1_000;
/// Most bytes of tags in one list. It ends at the first row that does not fit.
const TAG_BYTES_MAX: usize = 1024 * 1024;
/// Machines or labels in one answer.
const ROWS_MAX: usize = 10_000;

impl App {
    /// Workers known to this orchestrator.
    pub(super) async fn worker_list(&self) -> Result<WorkerList, Failure> {
        let jobs = self.0.store.open_jobs(WORKERS_MAX).await?;
        let now = self.store_time().await?;
        let heard = self.0.roster.recent(self.now());
        let mut workers: BTreeMap<RunnerId, (Option<Heard>, Option<OpenJob>)> =
            heard.into_iter().map(|(runner, heard)| (runner, (Some(heard), None))).collect();
        for rows in &jobs {
            if let (Standing::Held(_), Some(lease)) = (&rows.job.standing, &rows.lease) {
                workers.entry(lease.runner_id.clone()).or_default().1 = Some(open(&now, rows));
            }
        }
        let total = workers.len();
        // Busy workers first.
        let (busy, idle): (Vec<_>, Vec<_>) =
            workers.into_iter().partition(|(_, (_, job))| job.is_some());
        let mut left = Some(TAG_BYTES_MAX);
        let fit = |(_, (heard, job)): &(RunnerId, (Option<Heard>, Option<OpenJob>))| {
            let own = heard.iter().filter_map(|heard| heard.capabilities.as_deref()).flatten();
            left = left
                .and_then(|left| without(left, own.chain(job.iter().flat_map(|job| &job.tags))));
            left.is_some()
        };
        let shown = busy.into_iter().chain(idle).take(WORKERS_MAX).filter(fit);
        let view = |(runner_id, (heard, job)): (RunnerId, (Option<Heard>, _))| WorkerView {
            runner_id,
            seen_at: heard.as_ref().map(|heard| heard.at.timestamp()),
            // Cloned for listed workers only.
            capabilities: heard.and_then(|heard| heard.capabilities.as_deref().cloned()),
            job,
        };
        let workers = shown.map(view).collect();
        Ok(WorkerList { workers, total })
    }

    pub(super) async fn queue_view(&self) -> Result<QueueView, Failure> {
        let counts = self.0.store.counts().await?;
        let jobs = self.0.store.open_jobs(JOBS_MAX).await?;
        let now = self.store_time().await?;
        // Each list ends where its tags no longer fit: a prefix, not a selection.
        let mut left = [Some(TAG_BYTES_MAX); 2];
        let jobs = jobs.iter().filter(|rows| {
            let left = &mut left[usize::from(rows.job.standing == Standing::Queued)];
            *left = left.and_then(|left| without(left, &rows.job.order.tags));
            left.is_some()
        });
        let mut jobs: Vec<OpenJob> = jobs.map(|rows| open(&now, rows)).collect();
        let waiting = jobs.iter_mut().map(|job| (&job.tags, &mut job.waits)).collect();
        self.mark_no_worker(waiting, FRESH).await?;
        let (next, running) = jobs.into_iter().partition(|job| job.state == AttemptState::Queued);
        Ok(QueueView {
            waiting: counts.waiting,
            held: counts.held,
            desired_workers: counts.desired(),
            next,
            running,
        })
    }
}

/// The remaining bytes after a row's tags, if these fit.
fn without<'a>(left: usize, tags: impl IntoIterator<Item = &'a Tag>) -> Option<usize> {
    left.checked_sub(tags.into_iter().map(|tag| tag.as_str().len()).sum())
}

fn open(now: &LeaseClock, JobRows { job, lease, reached }: &JobRows) -> OpenJob {
    let JobRecord { job_id, run_id, order, attempt, fence, not_before, .. } = job;
    let held = lease.as_ref().filter(|_| job.standing != Standing::Queued);
    OpenJob {
        job_id: job_id.clone(),
        run_id: run_id.clone(),
        name: order.name.clone(),
        state: job.state(lease.as_deref()),
        tags: order.tags.clone(),
        priority: order.priority,
        attempt: *attempt,
        fence: *fence,
        not_before: (*not_before > LeaseTime(0)).then(|| now.wall_at(*not_before).timestamp()),
        waits: wait(now, job, reached.as_ref()).map(WaitView::from),
        runner_id: held.map(|lease| lease.runner_id.clone()),
        since: held.map(|lease| lease.granted_at.timestamp()),
    }
}

/// `GET /api/v1/workers`
pub(super) async fn workers(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    app.person(&headers, Scope::Viewer)?;
    Ok(json(&app.worker_list().await?))
}

/// `GET /api/v1/queue`
pub(super) async fn queue(State(app): State<App>, headers: HeaderMap) -> Result<Response, Failure> {
    app.person(&headers, Scope::Viewer)?;
    Ok(json(&app.queue_view().await?))
}

/// The first rows, and whether there are more.
fn some<R, V: for<'a> From<&'a R>>(rows: &[R]) -> (Vec<V>, bool) {
    (rows.iter().take(ROWS_MAX).map(V::from).collect(), rows.len() > ROWS_MAX)
}

/// `GET /api/v1/machines`
pub(super) async fn machines(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    app.person(&headers, Scope::Viewer)?;
    let (machines, more) = some::<_, MachineView>(&app.0.store.machines(ROWS_MAX + 1).await?);
    Ok(json(&MachineList { machines, more }))
}

/// `GET /api/v1/limits`
pub(super) async fn limits(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    app.person(&headers, Scope::Viewer)?;
    let (limits, more) = some::<_, LimitView>(&app.0.store.labels(ROWS_MAX + 1).await?);
    Ok(json(&LimitList { limits, more }))
}
