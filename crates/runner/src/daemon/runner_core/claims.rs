//! Claims of validators and nodes about jobs, and whether the chain agrees.
//!
//! ```text
//! assignment ─ accept ─▶ Pending ─ chain agrees ──────────▶ Passed
//!            │                   └ enough nodes disagree ─▶ next validator's claim, or dropped
//!            └ refuse ─▶ ProbeOnly ─ committed on chain ──▶ Pending
//!                                  └ otherwise ───────────▶ forgotten
//! ```
//! A refused job is probed once because a runner that lost its journal may be committed to it, and then has
//! to attest the crash, whether or not it has a slot, time or money.

use super::{Action, RunnerCore};
use crate::case::End;
use crate::daemon::intake::{Claim, Known, Load, Verdict, answer, verdict};
use crate::daemon::nodes::JobSnapshot;
use crate::daemon::open_job::{ChainCheck, OpenJob, Work};
use crate::daemon::unsupported::UnsupportedJob;
use remuda_link::frame::{AckStatus, JobAssignment, JobCancel};
use remuda_link::sign::ValidatorKey;
use remuda_protocol::codec::Decode as _;
use remuda_protocol::dispatcher::job::{Job, SeatState, Status};
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::primitives::JobId;
use tracing::{debug, error, warn};

/// A node may be this many blocks behind an assignment.
const BEHIND_BLOCKS: u64 = 8;
/// Answers of nodes that must contradict a claim.
const REFUTATIONS: usize = 2;
/// Blocks until a result is given up whose job no node knows.
const UNKNOWN_JOB_BLOCKS: u64 = 100_000;
/// Characters of an answer to a validator. The names in a job may be long.
const ANSWER_CHARS_MAX: usize = 200;

fn is_over(job: &Job) -> bool {
    matches!(job.status, Status::Settled | Status::Failed { .. } | Status::Cancelled)
}

impl RunnerCore {
    pub(super) fn assigned(&mut self, validator: ValidatorKey, assignment: &JobAssignment) {
        let (job, attempt) = (assignment.job_id, assignment.attempt);
        let known = match self.jobs.get(&job).filter(|open| !open.probe_only()) {
            Some(open) if open.attempt == attempt => Known::Same,
            Some(_) => Known::OtherAttempt,
            None if self.history.is_done(job, attempt) => Known::Same,
            None => Known::No,
        };
        let spec = JobSpec::from_bytes(&assignment.job_spec).ok();
        let covered = |spec| self.funds().is_some_and(|funds| funds.cover_new(spec));
        let load = Load {
            busy: self.busy(),
            unchecked: self.unchecked(validator, ChainCheck::Pending),
            slots: self.rules.slots as usize,
            draining: self.draining(),
            broke: spec.as_ref().is_some_and(|spec| !covered(spec)),
        };
        let deadline = assignment.deadline_block;
        let able = |spec: &JobSpec| self.able(spec);
        let answered = answer(known, spec.as_ref(), deadline, self.at(), load, able);
        debug!(%job, attempt, ?answered, "assignment received");
        match answered {
            Ok(status) => {
                self.act(Action::Ack(validator, job, status, None));
                self.accept(validator, assignment, spec, status);
            }
            Err(refused) => {
                let why = refused.text();
                if self.history.refused((job, attempt), spec.as_ref(), why.clone(), self.at()) {
                    warn!(%job, reason = why, "job refused");
                }
                let status = AckStatus::Reject(refused.reason);
                let words = refused.words.chars().take(ANSWER_CHARS_MAX).collect();
                self.act(Action::Ack(validator, job, status, Some(words)));
                if known == Known::No {
                    self.probe(validator, assignment);
                }
            }
        }
    }

    fn unchecked(&self, validator: ValidatorKey, check: ChainCheck) -> usize {
        let counts = |open: &&OpenJob| open.check == check && open.pushed_by == Some(validator);
        self.jobs.values().filter(counts).count()
    }

    /// Looks up a refused job, a few of each validator at a time. Others are pushed again.
    fn probe(&mut self, validator: ValidatorKey, assignment: &JobAssignment) {
        let probes = self.unchecked(validator, ChainCheck::ProbeOnly);
        if probes < self.rules.slots as usize && !self.jobs.contains_key(&assignment.job_id) {
            let mut open = OpenJob::pushed(validator, assignment, None, self.at());
            open.check = ChainCheck::ProbeOnly;
            self.open(open);
        }
    }

    /// Handles the answer to a probe. Returns whether the job was forgotten: if it is pushed again, there
    /// may be a slot for it.
    pub(super) fn drop_probe(&mut self, job: JobId, snapshot: Option<&JobSnapshot>) -> bool {
        let Some(open) = self.jobs.get_mut(&job).filter(|open| open.probe_only()) else {
            return false;
        };
        let job_now = snapshot.and_then(|it| it.job.as_ref()).filter(|job| !is_over(job));
        let me = self.identity.me;
        let mine = job_now.and_then(|job| job.taking_part().find(|seat| seat.runner == me));
        if mine.is_some_and(|seat| matches!(seat.progress, SeatState::Committed { .. })) {
            warn!(%job, "committed job has no journal entry, attesting crash");
            open.check = ChainCheck::Pending;
            return false;
        }
        self.jobs.remove(&job);
        self.check_drained();
        true
    }

    fn accept(
        &mut self,
        validator: ValidatorKey,
        assignment: &JobAssignment,
        spec: Option<JobSpec>,
        status: AckStatus,
    ) {
        let job = assignment.job_id;
        match status {
            AckStatus::Accepted => {
                let mut open = OpenJob::pushed(validator, assignment, spec, self.at());
                open.join(validator, assignment.block_height);
                self.open(open);
                super::trace_learned(job);
            }
            AckStatus::Duplicate => match self.jobs.get_mut(&job) {
                Some(open) => open.join(validator, assignment.block_height),
                None => self.act(Action::FinishStream(validator, job)),
            },
            AckStatus::Reject(_) => {}
        }
    }

    /// Whether the job can be done at present, as far as that is known without the chain.
    fn able(&self, spec: &JobSpec) -> Result<(), UnsupportedJob> {
        self.rules.abilities.check(spec, None)?;
        self.dependencies.check(spec)?;
        self.fault_of(spec).map_or(Ok(()), |why| Err(UnsupportedJob::Faulty(why.to_owned())))
    }

    /// A validator claims that a job is over. Work stops only if the chain agrees.
    pub(super) fn cancelled(&mut self, validator: ValidatorKey, cancel: &JobCancel) {
        if let Some(open) = self.jobs.get_mut(&cancel.job_id) {
            open.streams.retain(|stream| *stream != validator);
            self.ask_for(cancel.job_id);
        }
    }

    /// Compares a claim with the chain. Returns whether the job is this runner's.
    pub(super) fn check_claim(&mut self, job: JobId, snapshot: JobSnapshot) -> bool {
        let at = self.at();
        let Some(open) = self.jobs.get_mut(&job) else { return false };
        let claim = Claim {
            attempt: open.attempt,
            assigned_at: open.assigned_at,
            spec: open.spec.as_ref(),
        };
        let (job_now, spec_now) = (snapshot.job.as_ref(), snapshot.spec.as_ref());
        match verdict(self.identity.me, claim, snapshot.height, job_now, spec_now) {
            Verdict::Ours(attempt, false_claim) => {
                // An entry of the journal is for one selection only.
                let recalled = open.pushed_by.is_none() && open.spec.is_some();
                if recalled && attempt != open.attempt {
                    self.close(job, End::Unseated, None);
                    return false;
                }
                let pinned = snapshot.pinned;
                (open.attempt, open.check) = (attempt, ChainCheck::Passed { pinned });
                open.spec = snapshot.spec.clone();
                open.update(&self.identity, snapshot);
                // Lost dependencies do not count: they may be back in time.
                let abilities = &self.rules.abilities;
                let able =
                    open.spec.as_ref().map_or(Ok(()), |it| abilities.check(it, Some(pinned)));
                if let (Err(unsupported), Work::Waiting) = (able, &open.work) {
                    let reason = format!("{}; {}", unsupported.words(), unsupported.advice());
                    warn!(%job, %reason, "job unsupported");
                    open.work = Work::Failed(reason);
                }
                if let (Some(reason), Some(validator)) = (false_claim, open.pushed_by) {
                    self.blame(validator, job, reason);
                }
                true
            }
            Verdict::Behind if at < open.claimed_at.saturating_add(BEHIND_BLOCKS) => false,
            // A node that knows less than the journal is no reason to drop a result that may be committed
            // to: without salt and result the stake is lost.
            _ if matches!(open.work, Work::Done(_))
                && !job_now.is_some_and(is_over)
                && at < open.claimed_at.saturating_add(UNKNOWN_JOB_BLOCKS) =>
            {
                self.rounds.request();
                false
            }
            verdict => {
                open.refuted_by += 1;
                let enough = open.refuted_by >= REFUTATIONS.max(self.rules.nodes);
                match verdict {
                    Verdict::NotOurs(reason) if enough => self.drop_claim(job, reason),
                    Verdict::NotOurs(_) | Verdict::Ours(..) => self.rounds.request(),
                    Verdict::Behind => self.drop_claim(job, "the chain never reached that block"),
                }
                false
            }
        }
    }

    fn drop_claim(&mut self, job: JobId, reason: &'static str) {
        let Some(open) = self.jobs.get(&job) else { return };
        match open.pushed_by {
            // From a poll: the next one may name it again.
            None if open.spec.is_none() => {
                self.jobs.remove(&job);
            }
            None => self.close(job, End::Unseated, Some(reason.to_owned())),
            Some(validator) => {
                self.blame(validator, job, reason);
                self.act(Action::FinishStream(validator, job));
                let at = self.at();
                if self.jobs.get_mut(&job).is_some_and(|open| open.next_claim(validator, at)) {
                    self.ask_for(job);
                } else {
                    self.jobs.remove(&job);
                    self.check_drained();
                }
            }
        }
    }

    fn blame(&mut self, validator: ValidatorKey, job: JobId, reason: &str) {
        let index = self.sessions.all.get(&validator).map(|session| session.index);
        error!(validator = ?index, %job, reason, "validator sent a false assignment");
        self.history.false_assignment(validator, job, reason, self.at());
    }
}
