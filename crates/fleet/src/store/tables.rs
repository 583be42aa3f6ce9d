//! Rows in memory, with the indices that decisions need.

use super::keyed::Keyed;
use super::sets::Sets;
use super::size::{self, Bytes, Sizes};
use super::{Counts, JobRows, RunCursor, RunRows};
use crate::id::{Fence, JobId, KeyId, LeaseId, RunId, RunnerId};
use crate::lease::{
    Gate, JobRecord, LabelRecord, LeaseClock, LeaseRecord, Place, Queue, Reached, Rows, RunRecord,
    Waiting, WorkerRecord, grantable,
};
use crate::message::{Label, LogChunk, Tag};
use crate::time::{LeaseTime, Millis};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

/// Every row, and where to find it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tables {
    clock: LeaseClock,
    seq: u64,
    runs: Keyed<RunId, RunRecord>,
    jobs: Keyed<JobId, JobRecord>,
    leases: Keyed<LeaseId, LeaseRecord>,
    labels: BTreeMap<Label, LabelRecord>,
    workers: BTreeMap<KeyId, WorkerRecord>,
    logs: BTreeMap<(JobId, Fence), Vec<u8>>,

    run_keys: BTreeMap<String, RunId>,
    run_jobs: Keyed<RunId, Vec<JobId>>,
    run_times: BTreeSet<(Millis, RunId)>,
    ended: BTreeSet<(Millis, RunId)>,
    /// The leases of each job.
    grants: Keyed<JobId, BTreeMap<Fence, LeaseId>>,
    dependents: Keyed<JobId, Vec<JobId>>,
    live: BTreeMap<RunnerId, LeaseId>,
    due: BTreeSet<(LeaseTime, LeaseId)>,
    /// When it is too late for jobs that nobody has.
    late: BTreeSet<(Millis, JobId)>,
    queue: Queue,
    waiting: u64,
    sizes: Sizes,
    sets: Sets,
}

impl Tables {
    pub fn runs(&self) -> impl Iterator<Item = &RunRecord> {
        self.runs.values()
    }

    pub fn jobs(&self) -> impl Iterator<Item = &JobRecord> {
        self.jobs.values()
    }

    pub fn leases(&self) -> impl Iterator<Item = &LeaseRecord> {
        self.leases.values()
    }

    /// Every label that has a limit, or a job that somebody has.
    pub fn labels(&self) -> impl Iterator<Item = &LabelRecord> {
        self.labels.values()
    }

    /// Every machine that was let in.
    pub fn workers(&self) -> impl Iterator<Item = &WorkerRecord> {
        self.workers.values()
    }

    /// A run and its jobs, each with the newest of its leases.
    pub fn run_rows(&self, id: &RunId) -> Option<RunRows> {
        let jobs = self.jobs_of(id).iter().filter_map(|id| self.job_rows(id)).collect();
        self.run(id).map(|run| RunRows { run, jobs })
    }

    /// A job and the newest of its leases.
    pub fn job_rows(&self, id: &JobId) -> Option<JobRows> {
        let newest = self.grants.get(id).and_then(|grants| grants.values().next_back());
        let lease = newest.and_then(|id| self.lease(id)).map(Arc::new);
        self.job(id).map(|job| JobRows { reached: self.reached(&job), job, lease })
    }

    /// The newest runs that are older than `before`, the newest first.
    pub fn newest_runs(&self, before: Option<&RunCursor>, most: usize) -> Vec<RunRecord> {
        let end = before.map_or(Bound::Unbounded, Bound::Excluded);
        let runs = self.run_times.range((Bound::Unbounded, end)).rev().take(most);
        runs.filter_map(|(_, id)| self.run(id)).collect()
    }

    /// Jobs that a runner could have at this time, and what it must have.
    pub fn waiting_jobs(&self, now: LeaseTime, most: usize) -> Vec<(JobId, BTreeSet<Tag>)> {
        self.queue.open(now, most)
    }

    /// The limit that holds a job back which waits for nothing else.
    fn reached(&self, job: &JobRecord) -> Option<Reached> {
        let labels = job.order.labels.iter().filter_map(|label| self.labels.get(label));
        Reached::first(self.runs.get(&job.run_id), labels).filter(|_| job.waiting())
    }

    /// How much waits and how much is being done.
    pub fn counts(&self) -> Counts {
        let ready = grantable(self.queue.lots(), |gate| self.room(gate));
        Counts { waiting: self.waiting, held: self.live.len() as u64, ready }
    }

    /// How many more jobs a limit allows.
    fn room(&self, gate: &Gate) -> Option<u64> {
        let (limit, in_use) = match gate {
            Gate::Run(id) => self.runs.get(id).map(|run| (run.max_parallel, run.in_use))?,
            Gate::Label(label) => self.labels.get(label).map(|it| (it.limit, it.in_use))?,
        };
        limit.map(|limit| limit.saturating_sub(in_use).into())
    }

    /// Jobs that somebody has, then those that wait, who is next first; at most so many of each.
    pub fn open_jobs(&self, most: usize) -> Vec<JobRows> {
        let held = self.live.values().filter_map(|id| self.lease(id)).map(|lease| lease.job_id);
        let mut open: Vec<JobId> = held.take(most).collect();
        // The largest of the smallest goes first, so that no more are kept than are wanted.
        let mut next: BTreeMap<Place, &JobId> = BTreeMap::new();
        for (place, job) in self.queue.waiting() {
            next.insert(place, job);
            if next.len() > most {
                next.pop_last();
            }
        }
        open.extend(next.into_values().cloned());
        open.iter().filter_map(|id| self.job_rows(id)).collect()
    }

    /// A run, not copied.
    pub(super) fn run_row(&self, id: &RunId) -> Option<&RunRecord> {
        self.runs.get(id)
    }

    /// A job, not copied.
    pub(super) fn job_row(&self, id: &JobId) -> Option<&JobRecord> {
        self.jobs.get(id)
    }

    /// A lease, not copied.
    pub(super) fn lease_row(&self, id: &LeaseId) -> Option<&LeaseRecord> {
        self.leases.get(id)
    }

    /// The first job of a run.
    pub(super) fn first_job(&self, run: &RunId) -> Option<&JobRecord> {
        self.run_jobs.get(run).and_then(|jobs| self.jobs.get(jobs.first()?))
    }

    /// Numbers of new jobs begin after this.
    pub(super) fn set_seq(&mut self, seq: u64) {
        self.seq = seq;
    }

    /// The log of a grant, if this store keeps logs with the rows.
    pub fn log(&self, job: &JobId, fence: Fence) -> &[u8] {
        self.logs.get(&(job.clone(), fence)).map_or(&[], |log| log)
    }

    /// When something happens next by itself.
    pub fn next_due(&self) -> Option<LeaseTime> {
        let first = self.due.first().map(|(at, _)| *at);
        first.into_iter().chain(self.queue.next_pause_end()).min()
    }
}

fn waiting(job: &JobRecord) -> Option<Waiting> {
    job.waiting().then(|| Waiting {
        job_id: job.job_id.clone(),
        place: Place::new(job.order.priority, job.seq),
        tags: Arc::new(job.order.tags.clone()),
        labels: Arc::new(job.order.labels.clone()),
        run: job.run_id.clone(),
        not_before: job.not_before,
    })
}

impl Rows for Tables {
    fn clock(&self) -> LeaseClock {
        self.clock
    }

    fn set_clock(&mut self, clock: LeaseClock) {
        let started = clock.resumed != self.clock.resumed;
        self.clock = clock;
        if started {
            // Each live lease has the grace of this start.
            let live = self.live.values().filter_map(|id| self.leases.get(id));
            let due = live.filter_map(|it| it.due_at(&clock).map(|at| (at, it.lease_id.clone())));
            self.due = due.collect();
        }
    }

    fn next_seq(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    fn run(&self, id: &RunId) -> Option<RunRecord> {
        self.runs.get(id).cloned()
    }

    fn put_run(&mut self, run: RunRecord) {
        self.queue.set_gate(&Gate::Run(run.run_id.clone()), run.has_room());
        self.ended.extend(run.ended_at.map(|at| (at, run.run_id.clone())));
        self.sizes.put_run(&run);
        if let Some(old) = self.runs.get_mut(&run.run_id) {
            // When it came, and under which key, never changes.
            *old = run;
            return;
        }
        if let Some(idempotency) = &run.idempotency {
            self.run_keys.insert(idempotency.key.clone(), run.run_id.clone());
        }
        self.run_times.insert((run.created_at, run.run_id.clone()));
        self.runs.insert(run.run_id.clone(), run);
    }

    fn ended_before(&self, before: Millis, most: usize) -> Vec<RunId> {
        let ended = self.ended.iter().take_while(|(at, _)| *at < before);
        ended.take(most).map(|(_, id)| id.clone()).collect()
    }

    fn beyond(&self, bytes: u64, before: Millis, most: usize) -> Vec<RunId> {
        let ended = self.ended.iter().take_while(|(at, _)| *at < before);
        self.sizes.beyond(bytes, ended.map(|(_, id)| id).take(most))
    }

    fn bytes(&self) -> u64 {
        self.sizes.total()
    }

    fn open_bytes_of(&self, submitter: &str) -> u64 {
        self.sizes.open_of(submitter)
    }

    fn tag_sets_of(&self, submitter: &str) -> usize {
        self.sets.of(submitter)
    }

    fn log_bytes(&self) -> u64 {
        self.sizes.logs()
    }

    fn log_bytes_of(&self, run: &RunId) -> u64 {
        self.sizes.logs_of(run)
    }

    fn kept_bytes_of(&self, submitter: &str) -> (u64, u64) {
        self.sizes.kept_of(submitter)
    }

    fn uploaded(&self, run: &RunId) -> bool {
        let jobs = self.run_jobs.get(run).into_iter().flatten();
        let leases = jobs.filter_map(|job| self.grants.get(job)).flat_map(BTreeMap::values);
        leases.filter_map(|id| self.leases.get(id)).any(|lease| lease.uploads > 0)
    }

    fn remove_run(&mut self, id: &RunId) {
        let Some(run) = self.runs.remove(id) else { return };
        self.sizes.remove(id);
        run.ended_at.map(|at| self.ended.remove(&(at, id.clone())));
        self.run_times.remove(&(run.created_at, id.clone()));
        run.idempotency.map(|idempotency| self.run_keys.remove(&idempotency.key));
        self.queue.set_gate(&Gate::Run(id.clone()), true);
        for job in self.run_jobs.remove(id).unwrap_or_default() {
            self.jobs.remove(&job);
            self.dependents.remove(&job);
            for (fence, lease) in self.grants.remove(&job).unwrap_or_default() {
                self.leases.remove(&lease);
                self.logs.remove(&(job.clone(), fence));
            }
        }
    }

    fn run_by_key(&self, key: &str) -> Option<RunRecord> {
        self.run_keys.get(key).and_then(|id| self.run(id))
    }

    fn job(&self, id: &JobId) -> Option<JobRecord> {
        self.jobs.get(id).cloned()
    }

    fn put_job(&mut self, job: JobRecord) {
        self.seq = self.seq.max(job.seq);
        let old = self.jobs.get(&job.job_id);
        if old.is_none() {
            self.sizes.change(&job.run_id, Bytes::default(), size::job(&job));
            self.run_jobs.at(job.run_id.clone()).push(job.job_id.clone());
            for need in &job.needs {
                self.dependents.at(need.clone()).push(job.job_id.clone());
            }
        }
        if let Some(submitter) = self.runs.get(&job.run_id).and_then(RunRecord::submitter) {
            self.sets.change(submitter, old, &job);
        }
        if let Some(end) = old.and_then(JobRecord::queued_until) {
            self.late.remove(&(end, job.job_id.clone()));
        }
        self.late.extend(job.queued_until().map(|end| (end, job.job_id.clone())));
        let (old, new) = (old.and_then(waiting), waiting(&job));
        if old != new {
            self.waiting = self.waiting + u64::from(new.is_some()) - u64::from(old.is_some());
            old.iter().for_each(|old| self.queue.remove(old));
            new.into_iter().for_each(|new| self.queue.insert(new));
        }
        self.jobs.insert(job.job_id.clone(), job);
    }

    fn jobs_of(&self, run: &RunId) -> Vec<JobId> {
        self.run_jobs.get(run).cloned().unwrap_or_default()
    }

    fn dependents(&self, job: &JobId) -> Vec<JobId> {
        self.dependents.get(job).cloned().unwrap_or_default()
    }

    fn late(&self, now: Millis, most: usize) -> Vec<JobId> {
        let late = self.late.iter().take_while(|(at, _)| *at <= now);
        late.take(most).map(|(_, id)| id.clone()).collect()
    }

    fn pick(&mut self, now: LeaseTime, capabilities: &BTreeSet<Tag>) -> Option<JobId> {
        self.queue.pick(now, capabilities)
    }

    fn lease(&self, id: &LeaseId) -> Option<LeaseRecord> {
        self.leases.get(id).cloned()
    }

    fn put_lease(&mut self, lease: LeaseRecord) {
        let clock = self.clock;
        let (id, due, new) = (lease.lease_id.clone(), lease.due_at(&clock), size::lease(&lease));
        let known = self.leases.get_mut(&id);
        let (old_due, old) = known
            .as_ref()
            .map_or((None, Bytes::default()), |old| (old.due_at(&clock), size::lease(old)));
        self.sizes.change(&lease.run_id, old, new);
        if old_due != due {
            old_due.map(|due| self.due.remove(&(due, id.clone())));
            self.due.extend(due.map(|due| (due, id.clone())));
        }
        let live = self.live.get(&lease.runner_id) == Some(&id);
        match due {
            Some(_) if !live => {
                self.live.insert(lease.runner_id.clone(), id.clone());
            }
            None if live => {
                self.live.remove(&lease.runner_id);
            }
            _ => {}
        }
        if let Some(old) = known {
            *old = lease;
        } else {
            self.grants.at(lease.job_id.clone()).insert(lease.fence, id.clone());
            self.leases.insert(id, lease);
        }
    }

    fn live_lease_of(&self, runner: &RunnerId) -> Option<LeaseRecord> {
        self.live.get(runner).and_then(|id| self.lease(id))
    }

    fn due(&self, now: LeaseTime, most: usize) -> Vec<LeaseId> {
        let due = self.due.iter().take_while(|(at, _)| *at <= now);
        due.take(most).map(|(_, id)| id.clone()).collect()
    }

    fn label(&self, label: &Label) -> LabelRecord {
        let new = || LabelRecord { label: label.clone(), limit: None, in_use: 0 };
        self.labels.get(label).cloned().unwrap_or_else(new)
    }

    fn put_label(&mut self, label: LabelRecord) {
        self.queue.set_gate(&Gate::Label(label.label.clone()), label.has_room());
        // Submitters choose labels freely, so a label without limit or use is dropped to bound the table.
        if label.is_plain() {
            self.labels.remove(&label.label);
        } else {
            self.labels.insert(label.label.clone(), label);
        }
    }

    fn worker(&self, id: &KeyId) -> Option<WorkerRecord> {
        self.workers.get(id).cloned()
    }

    fn put_worker(&mut self, worker: WorkerRecord) {
        self.workers.insert(worker.key.id(), worker);
    }

    fn append_log(&mut self, lease: &LeaseRecord, chunk: &LogChunk) {
        let log = self.logs.entry((lease.job_id.clone(), lease.fence)).or_default();
        log.extend_from_slice(&chunk.data);
    }
}
