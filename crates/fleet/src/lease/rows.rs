//! Where the rows are.

use super::clock::LeaseClock;
use super::record::{JobRecord, LabelRecord, LeaseRecord, RunRecord, WorkerRecord};
use crate::id::{JobId, KeyId, LeaseId, RunId, RunnerId};
use crate::message::{Label, LogChunk, Tag};
use crate::time::{LeaseTime, Millis};
use std::collections::BTreeSet;

/// What a decision can ask a store for.
///
/// It is synchronous on purpose: a store either has its live rows in memory, or loads what an event
/// can touch before it decides (a lease, its job, run, labels, and what needs the job), under locks,
/// and writes back what was put. Either way an event is handled in one transaction, whole or not.
pub trait Rows {
    /// The lease clock as of the last event.
    fn clock(&self) -> LeaseClock;
    fn set_clock(&mut self, clock: LeaseClock);
    /// A number higher than every one before it.
    fn next_seq(&mut self) -> u64;

    fn run(&self, id: &RunId) -> Option<RunRecord>;
    fn put_run(&mut self, run: RunRecord);
    /// The run that was submitted with this key.
    fn run_by_key(&self, key: &str) -> Option<RunRecord>;

    /// Runs whose last job ended before a time, the earliest first, at most so many.
    fn ended_before(&self, before: Millis, most: usize) -> Vec<RunId>;
    /// Runs that ended before a time, the earliest first, at most so many, until what is left takes no more
    /// than so many bytes of memory. None, if the store does not keep them there.
    fn beyond(&self, bytes: u64, before: Millis, most: usize) -> Vec<RunId>;
    /// About how much memory the rows of runs take. Zero, if the store does not keep them there.
    fn bytes(&self) -> u64;
    /// About how much of it a submitter's open runs take.
    fn open_bytes_of(&self, submitter: &str) -> u64;
    /// How many different sets of tags a submitter's open jobs want, if the store counts them.
    fn tag_sets_of(&self, submitter: &str) -> usize;
    /// Bytes of all logs. Zero, if the store does not count them.
    fn log_bytes(&self) -> u64;
    /// Bytes of all logs of a run, likewise.
    fn log_bytes_of(&self, run: &RunId) -> u64;
    /// Bytes of logs and of announced objects of all runs of a submitter, if the store counts them.
    fn kept_bytes_of(&self, submitter: &str) -> (u64, u64);
    /// Whether a lease of a run was allowed to write an object, if the store has them.
    fn uploaded(&self, run: &RunId) -> bool;
    /// Removes a run that ended, and all that is its own: jobs, leases, logs.
    fn remove_run(&mut self, id: &RunId);

    fn job(&self, id: &JobId) -> Option<JobRecord>;
    fn put_job(&mut self, job: JobRecord);
    /// A run's jobs, in the order of their submission.
    fn jobs_of(&self, run: &RunId) -> Vec<JobId>;
    /// Jobs that need this one.
    fn dependents(&self, job: &JobId) -> Vec<JobId>;
    /// Jobs that nobody has and that it is too late for ([`JobRecord::too_late`]), at most so many.
    fn late(&self, now: Millis, most: usize) -> Vec<JobId>;
    /// The job that is next for a runner with these tags: see [`super::Queue`].
    fn pick(&mut self, now: LeaseTime, capabilities: &BTreeSet<Tag>) -> Option<JobId>;

    fn lease(&self, id: &LeaseId) -> Option<LeaseRecord>;
    fn put_lease(&mut self, lease: LeaseRecord);
    /// The live lease of a runner. It has one at most.
    fn live_lease_of(&self, runner: &RunnerId) -> Option<LeaseRecord>;
    /// Leases that are due ([`LeaseRecord::due_at`]), the earliest first, at most so many.
    fn due(&self, now: LeaseTime, most: usize) -> Vec<LeaseId>;

    /// A label; one that nobody set has no limit.
    fn label(&self, label: &Label) -> LabelRecord;
    fn put_label(&mut self, label: LabelRecord);

    fn worker(&self, id: &KeyId) -> Option<WorkerRecord>;
    fn put_worker(&mut self, worker: WorkerRecord);

    /// Keeps a piece of log.
    fn append_log(&mut self, lease: &LeaseRecord, chunk: &LogChunk);
}
