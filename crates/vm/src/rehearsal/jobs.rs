//! Jobs: runners deliver what the test says.

use remuda_protocol::dispatcher::job::{Failure, Job, SeatState, Status};
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::error::Refusal;
use remuda_protocol::key::JobSpecKey;
use remuda_protocol::primitives::{Address, JobId};
use remuda_protocol::state::read;

use super::spec::described;
use super::stage::{Stage, refused};
use crate::chain::convert::{bytes, dict, text};
use crate::{HostError, HostErrorKind, HostValue};

/// What the runners of a job deliver.
pub(super) enum Results {
    Same(Vec<u8>),
    /// In the order of their seats, each its own; nothing means silence.
    Each(Vec<Option<Vec<u8>>>),
}

fn ended(status: &Status) -> bool {
    matches!(status, Status::Settled | Status::Failed { .. } | Status::Cancelled)
}

/// How a job stands, in a word or two.
fn named(status: &Status) -> &'static str {
    match status {
        Status::Pending { .. } => "pending",
        Status::Assigned => "assigned",
        Status::Committed => "committed",
        Status::Settled => "settled",
        Status::Failed { reason: Failure::InsufficientRunners } => "failed: too few runners",
        Status::Failed { reason: Failure::NoRunners } => "failed: nobody delivered",
        Status::Failed { reason: Failure::NoAgreement } => "failed: no agreement",
        Status::Failed { reason: Failure::Excused } => "failed: cannot be done",
        Status::Failed { reason: Failure::NoSeed } => "failed: no seed",
        Status::Cancelled => "cancelled",
    }
}

/// Seats from which something is still expected.
fn silent(job: &Job) -> Vec<Address> {
    let waits = job.seats.iter().filter(|seat| matches!(seat.progress, SeatState::Waiting));
    waits.map(|seat| seat.runner).collect()
}

impl Stage {
    fn known(&self, job: JobId) -> Result<Job, HostError> {
        let message = "there is no such job; chain.jobs() has those that are open";
        self.chain.job(job).ok_or_else(|| HostError::new(HostErrorKind::NotFound, message))
    }

    /// Jobs that are not done, of one actor or of all.
    pub(super) fn open_jobs(&self, of: Option<Address>) -> HostValue {
        let jobs = self.jobs.iter().filter_map(|id| {
            let job = self.chain.job(*id)?;
            let wanted = !ended(&job.status) && of.is_none_or(|of| of == job.submitter);
            wanted.then(|| self.job_value(*id, &job))
        });
        HostValue::List(jobs.collect())
    }

    fn job_value(&self, id: JobId, job: &Job) -> HostValue {
        let spec: Option<JobSpec> = read(&self.chain.state, &JobSpecKey { job: id });
        let runners = job.taking_part().map(|seat| bytes(seat.runner.as_slice())).collect();
        dict([
            ("id", bytes(id.as_slice())),
            ("actor", bytes(job.submitter.as_slice())),
            ("kind", text(&format!("{:?}", job.kind))),
            ("status", text(named(&job.status))),
            ("runners", HostValue::List(runners)),
            ("spec", spec.as_ref().map_or(HostValue::None, described)),
        ])
    }

    /// Makes blocks until a job has its runners, or has ended.
    fn drawn(&mut self, id: JobId) -> Result<Job, HostError> {
        loop {
            let job = self.known(id)?;
            if !matches!(job.status, Status::Pending { .. }) {
                return Ok(job);
            }
            self.step(None)?;
        }
    }

    /// Runners deliver. Makes blocks until the job has ended and its callback has run, or
    /// until it waits for runners that were drawn instead of silent ones.
    pub(super) fn answer(
        &mut self,
        id: JobId,
        results: Results,
    ) -> Result<&'static str, HostError> {
        if ended(&self.known(id)?.status) {
            return Err(refused("the job is done already"));
        }
        let job = self.drawn(id)?;
        let asked = silent(&job);
        let results = match results {
            Results::Same(result) => vec![Some(result); asked.len()],
            Results::Each(results) if results.len() == asked.len() => results,
            Results::Each(results) => {
                return Err(refused(format!(
                    "the job waits for {} runners, and there are {} results",
                    asked.len(),
                    results.len()
                )));
            }
        };
        let mut sent = Vec::new();
        for (runner, result) in asked.iter().zip(results) {
            let Some((key, result)) = self.runner_key(*runner).zip(result) else { continue };
            let hash = if job.committee > 1 {
                let hash = self.chain.send_commit(&key, id, &result);
                self.bound.insert((id, *runner), result);
                hash
            } else {
                self.chain.send_result(&key, id, &result)
            };
            sent.extend(hash);
        }
        self.step(None)?;
        for hash in sent {
            if let Some(why) = self.chain.left_out(hash) {
                return Err(refused(format!("a runner's transaction is not taken: {why}")));
            }
            let code = self.chain.receipt(hash).map_or(0, |receipt| receipt.code);
            if code != 0 {
                let why = Refusal::from_code(code).map_or(String::new(), |why| why.to_string());
                return Err(refused(format!("the chain does not take such a result: {why}")));
            }
        }
        loop {
            let job = self.known(id)?;
            if ended(&job.status) {
                return self.told(&job);
            }
            let others = silent(&job).iter().any(|runner| !asked.contains(runner));
            if others {
                return Ok(named(&job.status));
            }
            self.step(None)?;
        }
    }

    pub(super) fn fail(&mut self, id: JobId) -> Result<&'static str, HostError> {
        loop {
            let job = self.known(id)?;
            if ended(&job.status) {
                return self.told(&job);
            }
            self.step(None)?;
        }
    }

    /// One more block, in which the submitter goes on.
    fn told(&mut self, job: &Job) -> Result<&'static str, HostError> {
        self.step(None)?;
        Ok(named(&job.status))
    }
}
