//! Rows in memory that remember which of them were written since somebody last looked.

use super::Tables;
use crate::id::{Fence, JobId, KeyId, LeaseId, RunId, RunnerId};
use crate::lease::{
    JobRecord, LabelRecord, LeaseClock, LeaseRecord, Rows, RunRecord, WorkerRecord,
};
use crate::message::{Label, LogChunk, Tag};
use crate::time::{LeaseTime, Millis};
use std::collections::{BTreeMap, BTreeSet};

/// Keys of rows that were written. Their values are in the tables, so a row that was written often
/// is kept once.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) runs: BTreeSet<RunId>,
    /// And whether the job is new.
    pub(super) jobs: BTreeMap<JobId, bool>,
    pub(super) leases: BTreeSet<LeaseId>,
    pub(super) labels: BTreeSet<Label>,
    pub(super) workers: BTreeSet<KeyId>,
    pub(super) logs: Vec<(JobId, Fence, LogChunk)>,
    /// Runs that were removed, and the places of their jobs.
    pub(super) forgotten: Vec<(RunId, Vec<u64>)>,
}

impl Changes {
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
            && self.jobs.is_empty()
            && self.leases.is_empty()
            && self.labels.is_empty()
            && self.workers.is_empty()
            && self.logs.is_empty()
            && self.forgotten.is_empty()
    }
}

pub(super) struct Journal<'a> {
    pub(super) tables: &'a mut Tables,
    pub(super) changes: &'a mut Changes,
}

impl Rows for Journal<'_> {
    fn clock(&self) -> LeaseClock {
        self.tables.clock()
    }

    fn set_clock(&mut self, clock: LeaseClock) {
        self.tables.set_clock(clock);
    }

    fn next_seq(&mut self) -> u64 {
        self.tables.next_seq()
    }

    fn run(&self, id: &RunId) -> Option<RunRecord> {
        self.tables.run(id)
    }

    fn put_run(&mut self, run: RunRecord) {
        self.changes.runs.insert(run.run_id.clone());
        self.tables.put_run(run);
    }

    fn ended_before(&self, before: Millis, most: usize) -> Vec<RunId> {
        self.tables.ended_before(before, most)
    }

    fn beyond(&self, bytes: u64, before: Millis, most: usize) -> Vec<RunId> {
        self.tables.beyond(bytes, before, most)
    }

    fn open_bytes_of(&self, submitter: &str) -> u64 {
        self.tables.open_bytes_of(submitter)
    }

    fn tag_sets_of(&self, submitter: &str) -> usize {
        self.tables.tag_sets_of(submitter)
    }

    fn log_bytes(&self) -> u64 {
        self.tables.log_bytes()
    }

    fn log_bytes_of(&self, run: &RunId) -> u64 {
        self.tables.log_bytes_of(run)
    }

    fn kept_bytes_of(&self, submitter: &str) -> (u64, u64) {
        self.tables.kept_bytes_of(submitter)
    }

    fn bytes(&self) -> u64 {
        self.tables.bytes()
    }

    fn uploaded(&self, run: &RunId) -> bool {
        self.tables.uploaded(run)
    }

    fn remove_run(&mut self, id: &RunId) {
        let jobs = self.tables.jobs_of(id);
        let places = jobs.iter().filter_map(|id| self.tables.job(id)).map(|job| job.seq).collect();
        self.changes.forgotten.push((id.clone(), places));
        // A later run with the same id must not inherit pending changes.
        for job in &jobs {
            self.changes.jobs.remove(job);
        }
        if !self.changes.logs.is_empty() {
            let jobs: BTreeSet<&JobId> = jobs.iter().collect();
            self.changes.logs.retain(|(job, _, _)| !jobs.contains(job));
        }
        self.tables.remove_run(id);
    }

    fn run_by_key(&self, key: &str) -> Option<RunRecord> {
        self.tables.run_by_key(key)
    }

    fn job(&self, id: &JobId) -> Option<JobRecord> {
        self.tables.job(id)
    }

    fn put_job(&mut self, job: JobRecord) {
        let tables = &self.tables;
        let new = || tables.job(&job.job_id).is_none();
        self.changes.jobs.entry(job.job_id.clone()).or_insert_with(new);
        self.tables.put_job(job);
    }

    fn jobs_of(&self, run: &RunId) -> Vec<JobId> {
        self.tables.jobs_of(run)
    }

    fn dependents(&self, job: &JobId) -> Vec<JobId> {
        self.tables.dependents(job)
    }

    fn late(&self, now: Millis, most: usize) -> Vec<JobId> {
        self.tables.late(now, most)
    }

    fn pick(&mut self, now: LeaseTime, capabilities: &BTreeSet<Tag>) -> Option<JobId> {
        self.tables.pick(now, capabilities)
    }

    fn lease(&self, id: &LeaseId) -> Option<LeaseRecord> {
        self.tables.lease(id)
    }

    fn put_lease(&mut self, lease: LeaseRecord) {
        self.changes.leases.insert(lease.lease_id.clone());
        self.tables.put_lease(lease);
    }

    fn live_lease_of(&self, runner: &RunnerId) -> Option<LeaseRecord> {
        self.tables.live_lease_of(runner)
    }

    fn due(&self, now: LeaseTime, most: usize) -> Vec<LeaseId> {
        self.tables.due(now, most)
    }

    fn label(&self, label: &Label) -> LabelRecord {
        self.tables.label(label)
    }

    fn put_label(&mut self, label: LabelRecord) {
        self.changes.labels.insert(label.label.clone());
        self.tables.put_label(label);
    }

    fn worker(&self, id: &KeyId) -> Option<WorkerRecord> {
        self.tables.worker(id)
    }

    fn put_worker(&mut self, worker: WorkerRecord) {
        self.changes.workers.insert(worker.key.id());
        self.tables.put_worker(worker);
    }

    fn append_log(&mut self, lease: &LeaseRecord, chunk: &LogChunk) {
        // Not into the tables: nothing is decided by what a log says, and there is much of it.
        self.changes.logs.push((lease.job_id.clone(), lease.fence, chunk.clone()));
    }
}
