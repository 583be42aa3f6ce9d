//! The next step of each job, and its end. [`super::claims`] opens jobs.

use super::{Action, RunnerCore};
use crate::backend::Job;
use crate::case::{End, Step, alone};
use crate::daemon::intake::MARGIN_BLOCKS;
use crate::daemon::nodes::JobSnapshot;
use crate::daemon::open_job::{ChainCheck, OpenJob, Work};
use crate::daemon::outbox::{Purpose, TxKind};
use crate::daemon::task::{Task, TaskError};
use crate::journal::Outcome;
use remuda_link::frame::Handover;
use remuda_protocol::primitives::{Address, JobId};
use remuda_protocol::transaction::Instruction;
use std::time::Duration;
use tracing::{debug, info, warn};

impl RunnerCore {
    pub(super) fn busy(&self) -> usize {
        self.jobs.values().filter(|open| open.busy()).count()
    }

    pub(super) fn open(&mut self, open: OpenJob) {
        let job = open.job_id;
        self.jobs.insert(job, open);
        self.ask_for(job);
    }

    pub(super) fn handover(&mut self, frame: Handover) {
        let job = frame.job_id;
        let Some(open) = self.jobs.get_mut(&job) else { return };
        if open.handover(&self.identity, frame) {
            self.step(job);
        }
    }

    pub(super) fn ask_for(&mut self, job: JobId) {
        let Some(open) = self.jobs.get_mut(&job).filter(|open| !open.reading) else { return };
        open.reading = true;
        let checked = open.checked();
        let pushed_by = open.pushed_by.and_then(|validator| self.sessions.all.get(&validator));
        // A claim is not checked at the node of the validator that made it.
        let avoid = pushed_by.and_then(|session| session.api.clone()).filter(|_| !checked);
        let turn = open.refuted_by;
        self.act(Action::GetJob { job, with_spec: !checked, avoid, turn });
    }

    pub(super) fn job_answer(&mut self, job: JobId, snapshot: Option<JobSnapshot>) {
        let Some(open) = self.jobs.get_mut(&job) else { return };
        open.reading = false;
        if self.drop_probe(job, snapshot.as_ref()) {
            return;
        }
        let (Some(snapshot), Some(open)) = (snapshot, self.jobs.get_mut(&job)) else { return };
        if open.checked() {
            open.update(&self.identity, snapshot);
        } else if !self.check_claim(job, snapshot) {
            return;
        }
        self.step(job);
    }

    /// Takes the next step of a job.
    pub(super) fn step(&mut self, job: JobId) {
        let Some(open) = self.jobs.get_mut(&job) else { return };
        let Some((height, step)) = open.step(&self.identity) else { return };
        open.activity = match &step {
            Step::Execute => "working".to_owned(),
            Step::Wait => "waiting for the other runners".to_owned(),
            Step::Submit => "submitting the result".to_owned(),
            Step::Commit => "committing to the result".to_owned(),
            Step::HandOver(_) => "handing the result to the aggregator".to_owned(),
            Step::RevealAll(from) => format!("revealing {} results", from.len()),
            Step::RevealOwn => "revealing the result".to_owned(),
            Step::AttestCrash => "attesting that the result is lost".to_owned(),
            Step::Close(_) => "has no result".to_owned(),
        };
        match step {
            Step::Execute => self.begin_work(job),
            Step::HandOver(aggregator) => self.hand_over(job, aggregator, height),
            Step::Close(end) => self.end(job, end, height),
            Step::Wait => {}
            Step::Commit | Step::Submit
                if !self.funds().is_some_and(|funds| funds.cover_commit(job)) =>
            {
                self.wait_for(job, "money for fees");
            }
            step => self.send(job, &step, height),
        }
    }

    fn wait_for(&mut self, job: JobId, what: &str) {
        if let Some(open) = self.jobs.get_mut(&job) {
            open.activity = format!("waiting for {what}");
        }
    }

    /// Queues the transaction of a step.
    fn send(&mut self, job: JobId, step: &Step, height: u64) {
        let Some(open) = self.jobs.get(&job) else { return };
        let tx = open.transaction(&self.identity, step);
        if let Some((kind, instruction)) = tx.and_then(|(kind, all)| self.payable(open, kind, all))
        {
            let spare = open.spare(&instruction);
            let purpose = Purpose::Job(job, open.attempt, kind);
            self.outbox.want_with(purpose, instruction, spare, height);
        } else if matches!(step, Step::RevealAll(_)) {
            self.wait_for(job, "the other runners to reveal their own results");
        }
    }

    /// An aggregator that cannot pay for all reveals, or is not paid for them, reveals its own result if that
    /// is still due; the others reveal theirs.
    fn payable(
        &self,
        open: &OpenJob,
        kind: TxKind,
        all: Instruction,
    ) -> Option<(TxKind, Instruction)> {
        let in_flight = || self.outbox.has(&Purpose::Job(open.job_id, open.attempt, kind));
        let covered = || {
            let funds = self.funds()?;
            let kept = funds.kept_for_others(open.job_id);
            Some(funds.bonus_covers(open) && self.outbox.covers(&all, open.spare(&all), kept))
        };
        if kind != TxKind::RevealAll || in_flight() || covered().unwrap_or(false) {
            return Some((kind, all));
        }
        let owed = open.bound(&self.identity);
        open.transaction(&self.identity, &Step::RevealOwn).filter(|_| owed)
    }

    fn begin_work(&mut self, job: JobId) {
        if self.jobs.get(&job).is_none_or(OpenJob::running) {
            return;
        }
        let Some(funds) = self.funds().filter(|funds| funds.cover_work(job)) else {
            return self.wait_for(job, "money for fees");
        };
        let limit = funds.result_limit(job, self.rules.slots as usize);
        if let Some(why) = self.fault_at(job) {
            return self.wait_for(job, &format!("a faulty part: {why}"));
        }
        let running = self.jobs.values().filter(|open| open.running()).count();
        if running >= self.rules.slots as usize {
            return self.wait_for(job, "a slot");
        }
        let at = self.at();
        let Some(open) = self.jobs.get_mut(&job) else { return };
        let (Some(spec), Some(deadline)) = (open.spec.clone(), open.deadline()) else { return };
        let (Some(limit), ChainCheck::Passed { pinned }) = (limit, open.check) else { return };
        let blocks = deadline.saturating_sub(at.saturating_add(MARGIN_BLOCKS));
        let left = self.chain.block_time.saturating_mul(u32::try_from(blocks).unwrap_or(u32::MAX));
        let wall = Duration::from_secs(u64::from(spec.bounds.max_wall_time_seconds.max(1)));
        let time_limit = wall.min(left);
        // An excuse needs a block, but no time. A single runner would be paid for it as for work.
        let late = at.saturating_add(1) > deadline;
        if time_limit.is_zero() && (late || alone(spec.verification.mode)) {
            open.work = Work::Failed("no time left for the work".to_owned());
            return self.step(job);
        }
        (open.work, open.result_limit) = (Work::Running, Some(limit));
        let (chain_id, attempt) = (self.identity.chain_id, open.attempt);
        let job = Job { job_id: job, spec, time_limit, expires_in: left, pinned };
        self.act(Action::StartWork(Box::new(Task { chain_id, attempt, job, limit })));
    }

    pub(super) fn progress(&mut self, job: JobId, attempt: u32, percent: u8, detail: String) {
        let open = self.jobs.get_mut(&job).filter(|open| open.attempt == attempt);
        let Some(open) = open else { return };
        let before = std::mem::replace(&mut open.percent, percent);
        // In tenths: a talkative model must not use up the session's budget.
        if let Some(first) = open.streams.first().copied().filter(|_| percent / 10 > before / 10) {
            self.act(Action::Progress(first, job, percent, detail));
        }
    }

    pub(super) fn work_done(
        &mut self,
        job: JobId,
        attempt: u32,
        result: Result<(Outcome, Option<String>), TaskError>,
    ) {
        if let Some(open) = self.jobs.get_mut(&job).filter(|open| open.attempt == attempt) {
            match result {
                Ok((outcome, reason)) => {
                    let excuse = outcome.delivery.excuse();
                    (open.work, open.reason) = (Work::Done(outcome), reason);
                    match excuse {
                        Some(code) => {
                            let reason = open.reason.as_deref();
                            warn!(%job, code = code.name(), reason, "job excused");
                        }
                        // An excuse proves nothing about a faulty part: it may have needed none.
                        None => self.part_works(job),
                    }
                }
                Err(TaskError { why, fault }) => {
                    warn!(%job, reason = %why, ?fault, "job failed");
                    (open.work, open.reason) = (Work::Failed(why.clone()), Some(why.clone()));
                    if let Some(certainty) = fault {
                        self.interrupted(job, &why, certainty);
                    }
                }
            }
            self.step(job);
            self.check_drained();
        }
        // The slot may be free for another job.
        let next = self.jobs.values().find(|open| open.waiting()).map(|open| open.job_id);
        if let Some(next) = next {
            self.step(next);
        }
    }

    fn hand_over(&mut self, job: JobId, aggregator: Address, height: u64) {
        let Some(open) = self.jobs.get_mut(&job) else { return };
        let Some(reveal) = open.reveal(&self.identity) else { return };
        if let Some(turn) = open.deliveries.begin(height) {
            let chain_id = self.identity.chain_id;
            self.act(Action::HandOver { chain_id, job, aggregator, reveal, turn });
        }
    }

    pub(super) fn handed_over(&mut self, job: JobId, result: Result<(), String>) {
        let Some(open) = self.jobs.get_mut(&job) else { return };
        open.deliveries.end();
        match result {
            Ok(()) => open.activity = "the aggregator has the result".to_owned(),
            Err(error) => debug!(%job, error, "aggregator unreachable"),
        }
    }

    fn end(&mut self, job: JobId, end: End, height: u64) {
        let Some(open) = self.jobs.get(&job) else { return };
        // Validators push the job again while its seat is open, and after a restart it would look new. So a
        // failed job stays in the journal until its deadline.
        let early = open.deadline().is_some_and(|deadline| height < deadline);
        let why = open.failure();
        if end == End::Missed && early && why.is_some() {
            return;
        }
        self.close(job, end, why);
    }

    pub(super) fn close(&mut self, job: JobId, end: End, why: Option<String>) {
        let Some(open) = self.jobs.remove(&job) else { return };
        info!(%job, ?end, why, "job closed");
        if open.running() {
            self.act(Action::StopWork(job));
        }
        for stream in &open.streams {
            self.act(Action::FinishStream(*stream, job));
        }
        self.act(Action::RemoveFromJournal(job, open.attempt));
        self.outbox.forget(job);
        self.history.closed((job, open.attempt), open.spec.as_ref(), end, why, self.at());
        self.act(Action::GetPayout(job, open.attempt));
        self.check_drained();
    }
}
