//! What validators and nodes claim about jobs, and whether the chain agrees.
//!
//! A job that is refused is looked up once all the same: whoever has lost its journal may be bound by
//! it, and then has to say so, whether or not there is a place for it, or time, or money.

use super::{Action, Desk};
use crate::case::End;
use crate::daemon::intake::{Claim, Known, Load, Verdict, answer, verdict};
use crate::daemon::nodes::Reading;
use crate::daemon::open::Open;
use crate::daemon::status::{FalseAssignmentView, FinishedView, REMEMBERED};
use crate::daemon::unable::Unable;
use crate::journal::Stage;
use remuda_client::types::{HexHash, Uint};
use remuda_link::frame::{AckStatus, JobAssignment, JobCancel};
use remuda_link::sign::ValidatorKey;
use remuda_protocol::codec::Decode as _;
use remuda_protocol::dispatcher::job::{Job, SeatState, Status};
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::primitives::JobId;
use tracing::{debug, error, warn};

/// Blocks for which a node may not know the block of an assignment.
const BEHIND_BLOCKS: u64 = 8;
/// Nodes, or answers of one node, that must say that a job is not ours.
const DOUBTS: usize = 2;
/// Blocks after which a result is given up that no node knows a job for.
const FORGOTTEN_BLOCKS: u64 = 100_000;

/// How a job ends that was not taken, and how many of those are remembered.
const REFUSED: &str = "refused";
const REFUSED_MAX: usize = 10;
/// Characters of an answer to a validator; a job's names may be long.
const WORDS_MAX: usize = 200;

/// Whether a job has ended.
fn over(job: &Job) -> bool {
    matches!(job.status, Status::Settled | Status::Failed { .. } | Status::Cancelled)
}

impl Desk {
    pub(super) fn assigned(&mut self, validator: ValidatorKey, assignment: &JobAssignment) {
        let (job, attempt) = (assignment.job_id, assignment.attempt);
        let known = match self.jobs.get(&job).filter(|open| !open.glance) {
            Some(open) if open.attempt == attempt => Known::Same,
            Some(_) => Known::OtherAttempt,
            None if self.history.done.contains(&(job, attempt)) => Known::Same,
            None => Known::No,
        };
        let spec = JobSpec::from_bytes(&assignment.job_spec).ok();
        let load = Load {
            busy: self.busy(),
            unchecked: self.unchecked(validator, false),
            slots: self.rules.slots as usize,
            draining: self.draining(),
            broke: spec.as_ref().is_some_and(|spec| !self.affords(spec)),
        };
        let deadline = assignment.deadline_block;
        let able = |spec: &JobSpec| self.able(spec);
        let answered = answer(known, spec.as_ref(), deadline, self.at(), load, able);
        debug!(%job, attempt, ?answered, "an assignment");
        match answered {
            Ok(status) => {
                self.act(Action::Ack(validator, job, status, None));
                self.take(validator, assignment, spec, status);
            }
            Err(refused) => {
                let status = AckStatus::Reject(refused.reason);
                self.note_refusal(job, attempt, spec.as_ref(), refused.text());
                let words = refused.words.chars().take(WORDS_MAX).collect();
                self.act(Action::Ack(validator, job, status, Some(words)));
                if known == Known::No {
                    self.glance(validator, assignment);
                }
            }
        }
    }

    /// Jobs that a validator sent and that are not checked yet: those taken, or those refused.
    fn unchecked(&self, validator: ValidatorKey, refused: bool) -> usize {
        let its = |open: &&Open| {
            !open.checked
                && open.glance == refused
                && open.from.is_some_and(|from| from == validator)
        };
        self.jobs.values().filter(its).count()
    }

    /// Looks up a job that was refused. A few of each validator at a time; it is told again.
    fn glance(&mut self, validator: ValidatorKey, assignment: &JobAssignment) {
        let (job, attempt) = (assignment.job_id, assignment.attempt);
        let many = self.unchecked(validator, true) >= self.rules.slots as usize;
        if many || self.jobs.contains_key(&job) {
            return;
        }
        let mut open = Open::new(job, attempt, None, self.at());
        (open.glance, open.from) = (true, Some(validator));
        open.assigned_at = assignment.block_height;
        self.jobs.insert(job, open);
        self.ask_for(job);
    }

    /// Whether a job is only looked at, and not this runner's to answer for, says the chain. Then
    /// it is forgotten: if it is pushed again, there may be a place for it.
    pub(super) fn passed_over(&mut self, job: JobId, reading: Option<&Reading>) -> bool {
        let Some(open) = self.jobs.get_mut(&job).filter(|open| open.glance) else { return false };
        let job_now = reading.and_then(|reading| reading.job.as_ref()).filter(|job| !over(job));
        let mine = job_now.and_then(|job| {
            job.taking_part().find(|seat| seat.runner == self.identity.me).map(|seat| seat.progress)
        });
        open.glance = !matches!(mine, Some(SeatState::Committed { .. }));
        if !open.glance {
            warn!(%job, "a job that was refused is committed to, and its result is lost");
            return false;
        }
        self.jobs.remove(&job);
        self.judge_drained();
        true
    }

    fn take(
        &mut self,
        validator: ValidatorKey,
        assignment: &JobAssignment,
        spec: Option<JobSpec>,
        status: AckStatus,
    ) {
        let (job, attempt) = (assignment.job_id, assignment.attempt);
        match status {
            AckStatus::Accepted => {
                let mut open = Open::new(job, attempt, spec, self.at());
                open.from = Some(validator);
                open.join(validator, assignment.block_height);
                open.assigned_at = assignment.block_height;
                self.jobs.insert(job, open);
                super::learned(job);
                self.ask_for(job);
            }
            AckStatus::Duplicate => match self.jobs.get_mut(&job) {
                Some(open) => open.join(validator, assignment.block_height),
                None => self.act(Action::Finish(validator, job)),
            },
            AckStatus::Reject(_) => {}
        }
    }

    /// Whether a job can be done here and now, as far as that is known without the chain.
    fn able(&self, spec: &JobSpec) -> Result<(), Unable> {
        self.rules.abilities.check(spec, None)?;
        self.dependencies.check(spec)?;
        self.fault_of(spec).map_or(Ok(()), |why| Err(Unable::Broken(why.to_owned())))
    }

    /// Shows the operator what was refused and why; once, however many validators push it.
    fn note_refusal(&mut self, job: JobId, attempt: u32, spec: Option<&JobSpec>, why: String) {
        let same = |view: &FinishedView| {
            (view.job.0, view.attempt, view.end.as_str()) == (job, attempt, REFUSED)
        };
        if self.history.finished.iter().any(same) {
            return;
        }
        warn!(%job, %why, "a job is refused");
        // Validators can make up any number of them: what was done stays in sight.
        let mut older = (0..self.history.finished.len())
            .rev()
            .filter(|at| self.history.finished[*at].end == REFUSED);
        if older.clone().count() >= REFUSED_MAX
            && let Some(oldest) = older.next()
        {
            self.history.finished.remove(oldest);
        }
        self.history.finished.push_front(FinishedView {
            job: HexHash(job),
            attempt,
            kind: spec.map(|spec| format!("{:?}", spec.job_type.kind())),
            end: REFUSED.to_owned(),
            why: Some(why),
            height: Uint(self.at()),
            paid: None,
        });
        self.history.finished.truncate(REMEMBERED);
    }

    /// A validator says that a job is over. The chain is asked; work stops when it agrees.
    pub(super) fn cancelled(&mut self, validator: ValidatorKey, cancel: &JobCancel) {
        if let Some(open) = self.jobs.get_mut(&cancel.job_id) {
            open.streams.retain(|stream| *stream != validator);
            self.ask_for(cancel.job_id);
        }
    }

    /// Whether the chain agrees that a job is ours.
    pub(super) fn check(&mut self, job: JobId, reading: Reading) -> bool {
        let at = self.at();
        let Some(open) = self.jobs.get_mut(&job) else { return false };
        let claim = Claim {
            attempt: open.attempt,
            assigned_at: open.assigned_at,
            spec: open.spec.as_ref(),
        };
        let (job_now, spec_now) = (reading.job.as_ref(), reading.spec.as_ref());
        match verdict(self.identity.me, claim, reading.height, job_now, spec_now) {
            Verdict::Ours(attempt, lie) => {
                // What the journal holds is of one selection only.
                let recalled = open.from.is_none() && open.spec.is_some();
                if recalled && attempt != open.attempt {
                    self.close(job, End::Unseated, None);
                    return false;
                }
                (open.attempt, open.checked) = (attempt, true);
                (open.spec, open.pinned) = (reading.spec.clone(), reading.pinned);
                open.learn(&self.identity, reading);
                // A backend that is gone may be back in time.
                let abilities = &self.rules.abilities;
                let able = (open.spec.as_ref())
                    .map_or(Ok(()), |spec| abilities.check(spec, Some(open.pinned)));
                if let (Err(unable), Stage::Taken) = (able, &open.stage) {
                    let reason = format!("{}; {}", unable.words(), unable.advice());
                    warn!(%job, %reason, "a job cannot be done here");
                    open.stage = Stage::Failed(reason);
                }
                let from = open.from;
                if let (Some(reason), Some(from)) = (lie, from) {
                    self.blame(from, job, reason);
                }
                true
            }
            Verdict::Behind if at < open.since.saturating_add(BEHIND_BLOCKS) => false,
            // A result that may be committed to is not given up because a node knows less than the
            // journal: salt and result would be gone, and the stake with them.
            _ if matches!(open.stage, Stage::Done(_))
                && !job_now.is_some_and(over)
                && at < open.since.saturating_add(FORGOTTEN_BLOCKS) =>
            {
                self.rounds.due = true;
                false
            }
            verdict => {
                open.doubts += 1;
                if open.doubts >= DOUBTS.max(self.rules.nodes) || verdict == Verdict::Behind {
                    let reason = match verdict {
                        Verdict::NotOurs(reason) => reason,
                        _ => "the chain never reached that block",
                    };
                    self.drop_false(job, reason);
                } else {
                    // Another node, and then another block.
                    self.rounds.due = true;
                }
                false
            }
        }
    }

    /// Not ours after all. If a validator said so, it is to blame.
    fn drop_false(&mut self, job: JobId, reason: &'static str) {
        let Some(open) = self.jobs.get(&job) else { return };
        match open.from {
            // Polled for: whoever said so may say it again.
            None if open.spec.is_none() => {
                self.jobs.remove(&job);
            }
            None => self.close(job, End::Unseated, Some(reason.to_owned())),
            Some(from) => {
                self.blame(from, job, reason);
                self.act(Action::Finish(from, job));
                let at = self.at();
                // Others may say so with more right: theirs is checked as if it were the first.
                if self.jobs.get_mut(&job).is_some_and(|open| open.ask_next(from, at)) {
                    self.ask_for(job);
                } else {
                    self.jobs.remove(&job);
                    self.judge_drained();
                }
            }
        }
    }

    fn blame(&mut self, validator: ValidatorKey, job: JobId, reason: &str) {
        let session = self.sessions.all.get(&validator);
        let index = session.map(|session| session.index);
        error!(?index, %job, reason, "a validator sent a false assignment");
        self.history.lies.push_front(FalseAssignmentView {
            validator: HexHash(validator.into()),
            job: HexHash(job),
            reason: reason.to_owned(),
            height: Uint(self.at()),
        });
        self.history.lies.truncate(REMEMBERED);
    }
}
