//! Who works, what waits, and what an operator allows: `GET /api/v1/workers`, `/queue`, `/machines` and
//! `/limits`.

use super::answer::{Failure, shown};
use super::app::App;
use super::sight::NOW;
use crate::auth::Scope;
use crate::id::RunnerId;
use crate::lease::{AttemptState, JobRecord, Standing, wait};
use crate::store::{JobRows, Store};
use crate::time::Millis;
use crate::view::{
    LimitList, LimitView, MachineList, MachineView, OpenJob, QueueView, WaitView, WorkerList,
    WorkerView,
};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use std::collections::BTreeMap;

/// Jobs of each kind in one answer.
const JOBS_MAX: usize = 200;
/// Workers in one answer.
const WORKERS_MAX: usize = 1_000;
/// Machines or labels in one answer.
const ROWS_MAX: usize = 10_000;

impl App {
    /// Who works or wants to, as far as this orchestrator heard of it.
    pub(super) async fn worker_list(&self) -> Result<WorkerList, Failure> {
        let jobs = self.0.store.open_jobs(WORKERS_MAX).await?;
        let now = self.store_time().await?;
        let heard = self.0.roster.recent(self.now());
        let mut workers: BTreeMap<RunnerId, WorkerView> = heard
            .into_iter()
            .map(|(runner_id, heard)| {
                let view = WorkerView {
                    runner_id: runner_id.clone(),
                    capabilities: heard.capabilities,
                    seen_at: Some(heard.at.timestamp()),
                    job: None,
                };
                (runner_id, view)
            })
            .collect();
        for rows in &jobs {
            let (Standing::Held(_), Some(lease)) = (&rows.job.standing, &rows.lease) else {
                continue;
            };
            let runner_id = lease.runner_id.clone();
            let silent = WorkerView {
                runner_id: runner_id.clone(),
                capabilities: None,
                seen_at: None,
                job: None,
            };
            workers.entry(runner_id).or_insert(silent).job = Some(open(now, rows));
        }
        let total = workers.len();
        // Those that have work first: they are what somebody looks for.
        let (busy, idle): (Vec<_>, Vec<_>) =
            workers.into_values().partition(|worker| worker.job.is_some());
        let workers = busy.into_iter().chain(idle).take(WORKERS_MAX).collect();
        Ok(WorkerList { workers, total })
    }

    /// What waits and what is being done.
    pub(super) async fn queue_view(&self) -> Result<QueueView, Failure> {
        let counts = self.0.store.counts().await?;
        let jobs = self.0.store.open_jobs(JOBS_MAX).await?;
        let now = self.store_time().await?;
        let mut jobs: Vec<OpenJob> = jobs.iter().map(|rows| open(now, rows)).collect();
        let waiting = jobs.iter_mut().map(|job| (&job.tags, &mut job.waits)).collect();
        self.who_could(waiting, NOW).await?;
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

fn open(now: Millis, JobRows { job, lease, reached }: &JobRows) -> OpenJob {
    let JobRecord { job_id, run_id, order, attempt, fence, not_before, .. } = job;
    let held = lease.as_ref().filter(|_| job.standing != Standing::Queued);
    OpenJob {
        job_id: job_id.clone(),
        run_id: run_id.clone(),
        name: order.name.clone(),
        state: job.state(lease.as_ref()),
        tags: order.tags.clone(),
        priority: order.priority,
        attempt: *attempt,
        fence: *fence,
        not_before: (*not_before > Millis(0)).then(|| not_before.timestamp()),
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
    Ok(shown(&app.worker_list().await?))
}

/// `GET /api/v1/queue`
pub(super) async fn queue(State(app): State<App>, headers: HeaderMap) -> Result<Response, Failure> {
    app.person(&headers, Scope::Viewer)?;
    Ok(shown(&app.queue_view().await?))
}

/// The first of more rows than are shown, and whether there are more.
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
    Ok(shown(&MachineList { machines, more }))
}

/// `GET /api/v1/limits`
pub(super) async fn limits(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    app.person(&headers, Scope::Viewer)?;
    let (limits, more) = some::<_, LimitView>(&app.0.store.labels(ROWS_MAX + 1).await?);
    Ok(shown(&LimitList { limits, more }))
}
