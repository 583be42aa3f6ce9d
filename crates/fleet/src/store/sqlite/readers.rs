//! A second copy of the rows, as the disk has them, for read requests. The writer decides on rows of its own, so reads
//! never delay a decision.
//!
//! After each batch the writer sends the rows that changed, and a task applies them here. A read request waits until
//! everything that was written before it has been applied. Large parts of rows (orders, answers) are shared with the
//! writer's copy. Logs are read from the file, through separate connections.

use super::super::journal::Changes;
use super::{StoreError, Tables, rows};
use crate::id::{Fence, JobId, KeyId, LeaseId, RunId, RunnerId};
use crate::lease::{
    Gate, JobRecord, LabelRecord, LeaseClock, LeaseRecord, Place, Reached, RunRecord, WorkerRecord,
    grantable,
};
use crate::message::{Label, Tag};
use crate::store::{Counts, JobRows, RunCursor, RunRows};
use crate::time::{LeaseTime, Millis};
use sqlx::SqlitePool;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use tokio::sync::{mpsc, watch};

/// Batches that may be on their way here. Each is applied in less time than its write took.
const UPDATES_MAX: usize = 64;

/// Rows as the disk has them.
#[derive(Debug, Default)]
pub(super) struct Update {
    /// Everything, and not what changed.
    anew: bool,
    forgotten: Vec<RunId>,
    runs: Vec<RunRecord>,
    jobs: Vec<JobRecord>,
    leases: Vec<LeaseRecord>,
    labels: Vec<LabelRecord>,
    workers: Vec<WorkerRecord>,
}

impl Update {
    /// What changed, as it is now.
    pub(super) fn of(tables: &Tables, changes: &Changes) -> Self {
        use crate::lease::Rows as _;
        Self {
            anew: false,
            forgotten: changes.forgotten.iter().map(|(run, _)| run.clone()).collect(),
            runs: changes.runs.iter().filter_map(|id| tables.run(id)).collect(),
            jobs: changes.jobs.keys().filter_map(|id| tables.job(id)).collect(),
            leases: changes.leases.iter().filter_map(|id| tables.lease(id)).collect(),
            labels: changes.labels.iter().map(|label| tables.label(label)).collect(),
            workers: changes.workers.iter().filter_map(|id| tables.worker(id)).collect(),
        }
    }

    pub(super) fn all(tables: &Tables) -> Self {
        Self {
            anew: true,
            forgotten: vec![],
            runs: tables.runs().cloned().collect(),
            jobs: tables.jobs().cloned().collect(),
            leases: tables.leases().cloned().collect(),
            labels: tables.labels().cloned().collect(),
            workers: tables.workers().cloned().collect(),
        }
    }
}

/// Jobs that wait under the same limits.
type LaneKey = (RunId, BTreeSet<Label>);

#[derive(Debug)]
struct Run {
    record: RunRecord,
    /// In the order of their submission.
    jobs: BTreeMap<u64, JobId>,
}

#[derive(Debug)]
struct Job {
    record: JobRecord,
    /// The newest.
    lease: Option<Arc<LeaseRecord>>,
}

/// What readers ask for, and no more.
#[derive(Debug, Default)]
struct Rows {
    runs: HashMap<RunId, Run>,
    jobs: HashMap<JobId, Job>,
    labels: BTreeMap<Label, LabelRecord>,
    workers: BTreeMap<KeyId, WorkerRecord>,
    newest: BTreeSet<(Millis, RunId)>,
    /// Jobs that a runner holds, and the lease.
    held: BTreeMap<RunnerId, (LeaseId, JobId)>,
    /// Jobs that no runner holds and that wait for no other job, the next first.
    waiting: BTreeMap<Place, JobId>,
    lanes: BTreeMap<LaneKey, BTreeMap<Place, JobId>>,
}

fn place(job: &JobRecord) -> Place {
    Place::new(job.order.priority, job.seq)
}

fn lane(job: &JobRecord) -> LaneKey {
    (job.run_id.clone(), job.order.labels.clone())
}

fn gates((run, labels): &LaneKey) -> Vec<Gate> {
    let labels = labels.iter().cloned().map(Gate::Label);
    std::iter::once(Gate::Run(run.clone())).chain(labels).collect()
}

impl Rows {
    fn apply(&mut self, update: Update) {
        if update.anew {
            *self = Self::default();
        }
        // First: one that came again under the same name stays.
        update.forgotten.iter().for_each(|run| self.forget(run));
        for record in update.runs {
            self.newest.insert((record.created_at, record.run_id.clone()));
            match self.runs.get_mut(&record.run_id) {
                Some(run) => run.record = record,
                None => {
                    let run = Run { record, jobs: BTreeMap::new() };
                    self.runs.insert(run.record.run_id.clone(), run);
                }
            }
        }
        update.jobs.into_iter().for_each(|job| self.put_job(job));
        update.leases.into_iter().for_each(|lease| self.put_lease(lease));
        for label in update.labels {
            match label.is_plain() {
                true => drop(self.labels.remove(&label.label)),
                false => drop(self.labels.insert(label.label.clone(), label)),
            }
        }
        self.workers.extend(update.workers.into_iter().map(|worker| (worker.key.id(), worker)));
    }

    fn put_job(&mut self, record: JobRecord) {
        let was_waiting = self.jobs.get(&record.job_id).is_some_and(|job| job.record.waiting());
        match (was_waiting, record.waiting()) {
            (true, false) => self.stop_waiting(&record),
            (false, true) => {
                let (id, place) = (&record.job_id, place(&record));
                self.waiting.insert(place, id.clone());
                self.lanes.entry(lane(&record)).or_default().insert(place, id.clone());
            }
            _ => {}
        }
        match self.jobs.get_mut(&record.job_id) {
            Some(job) => job.record = record,
            None => {
                if let Some(run) = self.runs.get_mut(&record.run_id) {
                    run.jobs.insert(record.seq, record.job_id.clone());
                }
                self.jobs.insert(record.job_id.clone(), Job { record, lease: None });
            }
        }
    }

    fn stop_waiting(&mut self, job: &JobRecord) {
        let (key, place) = (lane(job), place(job));
        self.waiting.remove(&place);
        if let Some(lane) = self.lanes.get_mut(&key) {
            lane.remove(&place);
            if lane.is_empty() {
                self.lanes.remove(&key);
            }
        }
    }

    fn put_lease(&mut self, lease: LeaseRecord) {
        // Leases come in no order: one that ended may come after the next of the same runner, or of the same job.
        let held = self.held.get(&lease.runner_id).map(|(id, _)| id);
        if lease.state.live() {
            let held = (lease.lease_id.clone(), lease.job_id.clone());
            self.held.insert(lease.runner_id.clone(), held);
        } else if held == Some(&lease.lease_id) {
            self.held.remove(&lease.runner_id);
        }
        if self.is_newest(&lease)
            && let Some(job) = self.jobs.get_mut(&lease.job_id)
        {
            job.lease = Some(Arc::new(lease));
        }
    }

    /// Whether no later grant of its job is known.
    fn is_newest(&self, lease: &LeaseRecord) -> bool {
        let known = self.jobs.get(&lease.job_id).and_then(|job| job.lease.as_ref());
        known.is_none_or(|known| known.fence <= lease.fence)
    }

    fn forget(&mut self, id: &RunId) {
        let Some(run) = self.runs.remove(id) else { return };
        self.newest.remove(&(run.record.created_at, id.clone()));
        for id in run.jobs.values() {
            if let Some(job) = self.jobs.remove(id) {
                self.stop_waiting(&job.record);
            }
        }
    }

    fn job(&self, id: &JobId) -> Option<JobRows> {
        let Job { record, lease } = self.jobs.get(id)?;
        let (job, lease) = (record.clone(), lease.clone());
        Some(JobRows { reached: self.reached(record), job, lease })
    }

    /// The limit that keeps a job from running, if it waits for nothing else.
    fn reached(&self, job: &JobRecord) -> Option<Reached> {
        let labels = job.order.labels.iter().filter_map(|label| self.labels.get(label));
        let run = self.runs.get(&job.run_id).map(|run| &run.record);
        Reached::first(run, labels).filter(|_| job.waiting())
    }

    fn run(&self, id: &RunId) -> Option<RunRows> {
        let Run { record, jobs } = self.runs.get(id)?;
        let jobs = jobs.values().filter_map(|id| self.job(id)).collect();
        Some(RunRows { run: record.clone(), jobs })
    }

    fn newest(&self, before: Option<&RunCursor>, most: usize) -> Vec<RunRecord> {
        let end = before.map_or(Bound::Unbounded, Bound::Excluded);
        let runs = self.newest.range((Bound::Unbounded, end)).rev().take(most);
        runs.filter_map(|(_, id)| Some(self.runs.get(id)?.record.clone())).collect()
    }

    fn open(&self, most: usize) -> Vec<JobRows> {
        let held = self.held.values().map(|(_, job)| job).take(most);
        held.chain(self.waiting.values().take(most)).filter_map(|id| self.job(id)).collect()
    }

    fn grantable(&self, now: LeaseTime, most: usize) -> Vec<(JobId, BTreeSet<Tag>)> {
        let free =
            |key: &LaneKey| gates(key).iter().all(|gate| self.room(gate).is_none_or(|it| it > 0));
        let lanes = self.lanes.iter().filter(|(key, _)| free(key)).map(|(_, lane)| lane);
        let jobs = lanes.flat_map(BTreeMap::values).filter_map(|id| self.jobs.get(id));
        let ready = jobs.map(|job| &job.record).filter(|job| job.not_before <= now).take(most);
        ready.map(|job| (job.job_id.clone(), job.order.tags.clone())).collect()
    }

    fn counts(&self) -> Counts {
        let lots = self.lanes.iter().map(|(key, lane)| (gates(key), lane.len() as u64));
        Counts {
            waiting: self.waiting.len() as u64,
            held: self.held.len() as u64,
            ready: grantable(lots, |gate| self.room(gate)),
        }
    }

    /// How many more jobs a limit allows.
    fn room(&self, gate: &Gate) -> Option<u64> {
        let (limit, in_use) = match gate {
            Gate::Run(id) => {
                self.runs.get(id).map(|run| (run.record.max_parallel, run.record.in_use))?
            }
            Gate::Label(label) => self.labels.get(label).map(|it| (it.limit, it.in_use))?,
        };
        limit.map(|limit| limit.saturating_sub(in_use).into())
    }
}

#[derive(Debug)]
pub(super) struct Teller {
    clock: watch::Sender<LeaseClock>,
    told: Arc<AtomicU64>,
    updates: mpsc::Sender<(u64, Update)>,
}

impl Teller {
    /// Everything that was decided until now is on the disk, if there was anything.
    pub(super) fn tell_clock(&self, clock: LeaseClock) {
        self.clock.send_replace(clock);
    }

    /// Sends rows that are on the disk now. Call it before the batch is answered, so that a read that follows an answer
    /// sees them.
    pub(super) async fn tell(&self, update: Update) {
        let number = self.told.load(Ordering::SeqCst) + 1;
        // An error means that the readers have stopped and need no update.
        if self.updates.send((number, update)).await.is_ok() {
            self.told.store(number, Ordering::SeqCst);
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Readers {
    clock: watch::Receiver<LeaseClock>,
    told: Arc<AtomicU64>,
    applied: watch::Receiver<u64>,
    rows: Arc<RwLock<Rows>>,
    logs: SqlitePool,
}

impl Readers {
    /// Ends when the writer does.
    pub(super) fn start(logs: SqlitePool) -> (Teller, Self) {
        let (updates, mut coming) = mpsc::channel::<(u64, Update)>(UPDATES_MAX);
        let (done, applied) = watch::channel(0);
        let (tell_clock, clock) = watch::channel(LeaseClock::default());
        let (told, rows) = (Arc::new(AtomicU64::new(0)), Arc::new(RwLock::new(Rows::default())));
        let into = rows.clone();
        tokio::spawn(async move {
            while let Some((number, update)) = coming.recv().await {
                into.write().unwrap_or_else(PoisonError::into_inner).apply(update);
                done.send_replace(number);
            }
        });
        let teller = Teller { clock: tell_clock, told: told.clone(), updates };
        (teller, Self { clock, told, applied, rows, logs })
    }

    async fn read<T>(&self, read: impl FnOnce(&Rows) -> T) -> Result<T, StoreError> {
        let told = self.told.load(Ordering::SeqCst);
        let mut applied = self.applied.clone();
        applied.wait_for(|applied| *applied >= told).await.map_err(|_| StoreError::Closed)?;
        let rows = self.rows.read().map_err(|_| StoreError::Closed)?;
        Ok(read(&rows))
    }

    pub(super) async fn run(&self, id: &RunId) -> Result<Option<RunRows>, StoreError> {
        self.read(|rows| rows.run(id)).await
    }

    pub(super) async fn runs(
        &self,
        before: Option<RunCursor>,
        most: usize,
    ) -> Result<Vec<RunRecord>, StoreError> {
        self.read(|rows| rows.newest(before.as_ref(), most)).await
    }

    pub(super) async fn job(&self, id: &JobId) -> Result<Option<JobRows>, StoreError> {
        self.read(|rows| rows.job(id)).await
    }

    pub(super) async fn worker(&self, id: &KeyId) -> Result<Option<WorkerRecord>, StoreError> {
        self.read(|rows| rows.workers.get(id).cloned()).await
    }

    pub(super) async fn machines(&self, most: usize) -> Result<Vec<WorkerRecord>, StoreError> {
        self.read(|rows| rows.workers.values().take(most).cloned().collect()).await
    }

    pub(super) async fn labels(&self, most: usize) -> Result<Vec<LabelRecord>, StoreError> {
        self.read(|rows| rows.labels.values().take(most).cloned().collect()).await
    }

    pub(super) async fn open_jobs(&self, most: usize) -> Result<Vec<JobRows>, StoreError> {
        self.read(|rows| rows.open(most)).await
    }

    pub(super) fn clock(&self) -> LeaseClock {
        *self.clock.borrow()
    }

    pub(super) async fn waiting(
        &self,
        now: LeaseTime,
        most: usize,
    ) -> Result<Vec<(JobId, BTreeSet<Tag>)>, StoreError> {
        self.read(|rows| rows.grantable(now, most)).await
    }

    pub(super) async fn counts(&self) -> Result<Counts, StoreError> {
        self.read(Rows::counts).await
    }

    pub(super) async fn log(
        &self,
        job: &JobId,
        fence: Fence,
        offset: u64,
        bytes: usize,
    ) -> Result<Vec<u8>, StoreError> {
        let seq = self.read(|rows| rows.jobs.get(job).map(|job| job.record.seq)).await?;
        let Some(seq) = seq else { return Ok(vec![]) };
        rows::log(&mut *self.logs.acquire().await?, seq, fence, offset, bytes).await
    }

    /// Every row, as the disk has it.
    pub(super) async fn snapshot(&self) -> Result<Tables, StoreError> {
        let mut at_one_moment = self.logs.begin().await?;
        rows::load(&mut at_one_moment).await
    }

    /// Lets go of the file.
    pub(super) async fn close(&self) {
        self.logs.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::{AttemptState, LeaseState, LogRecord};

    fn lease(name: &str, runner: &str, job: &str, fence: u64, live: bool) -> LeaseRecord {
        let run = "run_a";
        LeaseRecord {
            lease_id: LeaseId::new(&format!("lease_{name}")).expect("an id"),
            job_id: JobId::new(&format!("job_{job}")).expect("an id"),
            run_id: RunId::new(run).expect("an id"),
            runner_id: RunnerId::new(&format!("runner_{runner}")).expect("an id"),
            attempt: crate::id::Attempt(1),
            fence: Fence(fence),
            state: if live { LeaseState::Active } else { LeaseState::Expired },
            attempt_state: AttemptState::Running,
            cancel_token: None,
            cache_scope: None,
            ttl_seconds: 120,
            granted_at: Millis(1),
            expires: crate::lease::Deadline::after(LeaseTime(1), 120),
            runtime: None,
            cancel: None,
            seq: None,
            progress: None,
            log: LogRecord::default(),
            uploads: 0,
            upload_bytes: 0,
            last_upload: None,
            answer: None,
            ended_at: None,
        }
    }

    /// A job went from one runner to another, and the first one to another job, all in one batch.
    #[test]
    fn who_has_what_does_not_depend_on_the_order_of_leases() {
        let before = || lease("1", "r", "x", 1, true);
        let batch = [
            lease("1", "r", "x", 1, false),
            lease("2", "s", "x", 2, true),
            lease("3", "r", "y", 1, true),
        ];
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        for order in orders {
            for leave_out in [None, Some(2)] {
                let mut rows = Rows::default();
                rows.put_lease(before());
                let now = order.into_iter().filter(|n| Some(*n) != leave_out);
                now.for_each(|n| rows.put_lease(batch[n].clone()));
                let held: Vec<_> = rows.held.values().map(|(lease, _)| lease.as_str()).collect();
                let wanted: &[&str] =
                    if leave_out.is_some() { &["lease_2"] } else { &["lease_3", "lease_2"] };
                assert_eq!(held, wanted, "{order:?} without {leave_out:?}");
            }
        }
    }
}
