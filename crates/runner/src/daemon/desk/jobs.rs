//! Jobs: how they come, what is done about them, how they end.

use super::{Action, DONE_MAX, Desk, Earned};
use crate::case::{End, Step};
use crate::daemon::intake::{Claim, Known, Load, MARGIN_BLOCKS, Verdict, answer, verdict};
use crate::daemon::nodes::Reading;
use crate::daemon::open::Open;
use crate::daemon::sender::{Deed, Purpose};
use crate::daemon::status::{FalseAssignmentView, FinishedView, REMEMBERED};
use crate::daemon::unable::Unable;
use crate::daemon::work::Task;
use crate::journal::{Outcome, Stage};
use remuda_client::types::{BigUint, HexHash, Uint};
use remuda_link::frame::{AckStatus, Handover, JobAssignment, JobCancel};
use remuda_link::sign::ValidatorKey;
use remuda_protocol::codec::Decode as _;
use remuda_protocol::dispatcher::job::{Job, Status};
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::primitives::{Address, JobId};
use remuda_protocol::transaction::Instruction;
use std::time::Duration;
use tracing::{debug, error, info, warn};

/// Blocks for which a node may not know the block of an assignment.
const BEHIND_BLOCKS: u64 = 8;
/// Nodes, or answers of one node, that must say that a job is not ours.
const DOUBTS: usize = 2;
/// Blocks after which a result is given up that no node knows a job for.
const FORGOTTEN_BLOCKS: u64 = 100_000;
/// Blocks between two looks at a job whose work goes on, or that has none.
const LOOK_BLOCKS: u64 = 5;
/// Blocks after which a result is given to the aggregator again.
const HAND_OVER_BLOCKS: u64 = 3;

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
    pub(super) fn busy(&self) -> usize {
        self.jobs.values().filter(|open| open.busy()).count()
    }

    pub(super) fn assigned(&mut self, validator: ValidatorKey, assignment: &JobAssignment) {
        let (job, attempt) = (assignment.job_id, assignment.attempt);
        let known = match self.jobs.get(&job) {
            Some(open) if open.attempt == attempt => Known::Same,
            Some(_) => Known::OtherAttempt,
            None if self.done.contains(&(job, attempt)) => Known::Same,
            None => Known::No,
        };
        let spec = JobSpec::from_bytes(&assignment.job_spec).ok();
        let unchecked =
            |open: &&Open| !open.checked && open.from.is_some_and(|from| from == validator);
        let load = Load {
            busy: self.busy(),
            unchecked: self.jobs.values().filter(unchecked).count(),
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
            }
        }
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
                open.streams.push(validator);
                open.assigned_at = assignment.block_height;
                self.jobs.insert(job, open);
                super::learned(job);
                self.ask_for(job);
            }
            AckStatus::Duplicate => match self.jobs.get_mut(&job) {
                Some(open) if !open.streams.contains(&validator) => open.streams.push(validator),
                Some(_) => {}
                None => self.act(Action::Finish(validator, job)),
            },
            AckStatus::Reject(_) => {}
        }
    }

    /// Whether a job can be done here and now, as far as that is known without the chain.
    fn able(&self, spec: &JobSpec) -> Result<(), Unable> {
        self.rules.abilities.check(spec, None)?;
        self.backends.check(spec)
    }

    /// Shows the operator what was refused and why; once, however many validators push it.
    fn note_refusal(&mut self, job: JobId, attempt: u32, spec: Option<&JobSpec>, why: String) {
        let same = |view: &FinishedView| {
            (view.job.0, view.attempt, view.end.as_str()) == (job, attempt, REFUSED)
        };
        if self.finished.iter().any(same) {
            return;
        }
        warn!(%job, %why, "a job is refused");
        // Validators can make up any number of them: what was done stays in sight.
        let mut older =
            (0..self.finished.len()).rev().filter(|at| self.finished[*at].end == REFUSED);
        if older.clone().count() >= REFUSED_MAX
            && let Some(oldest) = older.next()
        {
            self.finished.remove(oldest);
        }
        self.finished.push_front(FinishedView {
            job: HexHash(job),
            attempt,
            kind: spec.map(|spec| format!("{:?}", spec.job_type.kind())),
            end: REFUSED.to_owned(),
            why: Some(why),
            height: Uint(self.at()),
            paid: None,
        });
        self.finished.truncate(REMEMBERED);
    }

    /// A validator says that a job is over. The chain is asked; work stops when it agrees.
    pub(super) fn cancelled(&mut self, validator: ValidatorKey, cancel: &JobCancel) {
        if let Some(open) = self.jobs.get_mut(&cancel.job_id) {
            open.streams.retain(|stream| *stream != validator);
            self.ask_for(cancel.job_id);
        }
    }

    pub(super) fn handover(&mut self, frame: Handover) {
        let job = frame.job_id;
        let Some(open) = self.jobs.get_mut(&job) else { return };
        if open.handover(&self.identity, frame) {
            self.step(job);
        }
    }

    /// Whether a job should be looked up in this round.
    pub(super) fn due(&self, open: &Open) -> bool {
        let seen = open.view.as_ref().map_or(0, |(height, _)| *height);
        let idle = open.working || (open.checked && matches!(open.stage, Stage::Failed(_)));
        !open.reading && (!idle || self.at() >= seen.saturating_add(LOOK_BLOCKS))
    }

    pub(super) fn ask_for(&mut self, job: JobId) {
        let Some(open) = self.jobs.get_mut(&job).filter(|open| !open.reading) else { return };
        open.reading = true;
        let from = open.from.and_then(|from| self.sessions.all.get(&from));
        let avoid = from.and_then(|session| session.api.clone()).filter(|_| !open.checked);
        let (with_spec, turn) = (!open.checked, open.doubts);
        self.act(Action::Read { job, with_spec, avoid, turn });
    }

    pub(super) fn read(&mut self, job: JobId, reading: Option<Reading>) {
        let Some(open) = self.jobs.get_mut(&job) else { return };
        open.reading = false;
        let Some(reading) = reading else { return };
        if open.checked {
            open.learn(&self.identity, reading);
        } else if !self.check(job, reading) {
            return;
        }
        self.step(job);
    }

    /// Whether the chain agrees that a job is ours.
    fn check(&mut self, job: JobId, reading: Reading) -> bool {
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
                self.wanted = true;
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
                    self.wanted = true;
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
                let Some(open) = self.jobs.remove(&job) else { return };
                for stream in open.streams {
                    self.act(Action::Finish(stream, job));
                }
            }
        }
    }

    fn blame(&mut self, validator: ValidatorKey, job: JobId, reason: &str) {
        let session = self.sessions.all.get(&validator);
        let index = session.map(|session| session.index);
        error!(?index, %job, reason, "a validator sent a false assignment");
        self.lies.push_front(FalseAssignmentView {
            validator: HexHash(validator.into()),
            job: HexHash(job),
            reason: reason.to_owned(),
            height: Uint(self.at()),
        });
        self.lies.truncate(REMEMBERED);
    }

    /// Does what is next about a job.
    pub(super) fn step(&mut self, job: JobId) {
        let Some(open) = self.jobs.get(&job) else { return };
        let Some((height, step)) = open.step(&self.identity) else { return };
        let deed = open.deed(&self.identity, &step);
        let doing = match &step {
            Step::Execute => "works on it".to_owned(),
            Step::Wait => "waits for the others".to_owned(),
            Step::Submit => "delivers the result".to_owned(),
            Step::Commit => "commits to the result".to_owned(),
            Step::HandOver(_) => "gives the result to the aggregator".to_owned(),
            Step::RevealAll(from) => format!("opens {} results", from.len()),
            Step::RevealOwn => "opens the result".to_owned(),
            Step::AttestCrash => "says that the result is lost".to_owned(),
            Step::Close(_) => "has no result".to_owned(),
        };
        if let Some(open) = self.jobs.get_mut(&job) {
            open.doing = doing;
        }
        let binds = matches!(step, Step::Commit | Step::Submit);
        match step {
            _ if binds && !self.affords_commit(job) => self.wait_for_money(job),
            Step::Execute => self.begin_work(job),
            Step::HandOver(aggregator) => self.hand_over(job, aggregator, height),
            Step::Close(end) => self.end(job, end, height),
            _ => {
                let attempt = self.jobs.get(&job).map_or(0, |open| open.attempt);
                let deed = deed.and_then(|(deed, all)| self.payable(job, deed, all));
                if let Some((deed, instruction)) = deed {
                    let spare = self.jobs.get(&job).and_then(|open| open.spare(&instruction));
                    let purpose = Purpose::Job(job, attempt, deed);
                    self.outbox.want_with(purpose, instruction, spare, height);
                }
            }
        }
    }

    /// An aggregator that cannot pay for all results opens its own: the others open theirs. What it
    /// needs for its other jobs it does not spend on them, and what is open needs no opening.
    fn payable(&self, job: JobId, deed: Deed, all: Instruction) -> Option<(Deed, Instruction)> {
        let Some(open) = self.jobs.get(&job).filter(|_| deed == Deed::RevealAll) else {
            return Some((deed, all));
        };
        let kept = self.kept_for_others(job);
        let on_its_way = self.outbox.has(&Purpose::Job(job, open.attempt, deed));
        if on_its_way || self.outbox.covers(&all, open.spare(&all), kept) {
            return Some((deed, all));
        }
        let owed = open.bound(&self.identity);
        open.deed(&self.identity, &Step::RevealOwn).filter(|_| owed)
    }

    fn wait_for_money(&mut self, job: JobId) {
        if let Some(open) = self.jobs.get_mut(&job) {
            open.doing = "waits for money for fees".to_owned();
        }
    }

    fn begin_work(&mut self, job: JobId) {
        if self.jobs.get(&job).is_none_or(|open| open.working) {
            return;
        }
        if !self.affords_work(job) {
            return self.wait_for_money(job);
        }
        let working = self.jobs.values().filter(|open| open.working).count();
        let (at, slots) = (self.at(), self.rules.slots as usize);
        let Some(open) = self.jobs.get_mut(&job) else { return };
        if working >= slots {
            open.doing = "waits for a place".to_owned();
            return;
        }
        let (Some(spec), Some(deadline)) = (open.spec.clone(), open.deadline()) else { return };
        let blocks = deadline.saturating_sub(at.saturating_add(MARGIN_BLOCKS));
        let left = self.block_time.saturating_mul(u32::try_from(blocks).unwrap_or(u32::MAX));
        let wall = Duration::from_secs(u64::from(spec.bounds.max_wall_time_seconds.max(1)));
        let within = wall.min(left);
        // An excuse needs no time, but a block.
        if within.is_zero() && at.saturating_add(1) > deadline {
            open.stage = Stage::Failed("there was no time left for it".to_owned());
            return self.step(job);
        }
        open.working = true;
        let (chain_id, attempt, pinned) = (self.identity.chain_id, open.attempt, open.pinned);
        let task = Task { chain_id, job_id: job, attempt, spec, within, pinned };
        self.act(Action::Work(Box::new(task)));
    }

    pub(super) fn progress(&mut self, job: JobId, attempt: u32, percent: u8, detail: String) {
        let Some(open) = self.jobs.get_mut(&job).filter(|open| open.attempt == attempt) else {
            return;
        };
        let told = open.progress.0;
        open.progress = (percent, detail.clone());
        let first = open.streams.first().copied();
        // In steps, so that a talkative model does not fill a validator's ears.
        if let Some(first) = first.filter(|_| percent / 10 > told / 10) {
            self.act(Action::Progress(first, job, percent, detail));
        }
    }

    pub(super) fn worked(
        &mut self,
        job: JobId,
        attempt: u32,
        result: Result<(Outcome, Option<String>), String>,
    ) {
        if let Some(open) = self.jobs.get_mut(&job).filter(|open| open.attempt == attempt) {
            open.working = false;
            open.stage = match result {
                Ok((outcome, excuse)) => {
                    if let Some(reason) = &excuse {
                        warn!(%job, %reason, "a job cannot be done, and is answered so");
                    }
                    open.excuse = excuse;
                    Stage::Done(outcome)
                }
                Err(reason) => {
                    warn!(%job, %reason, "a job has no result");
                    Stage::Failed(reason)
                }
            };
            self.step(job);
            self.judge_drained();
        }
        // Somebody may wait for the place.
        let waiting = |open: &&Open| open.checked && !open.working && open.stage == Stage::Taken;
        let waiting = self.jobs.values().find(waiting).map(|open| open.job_id);
        if let Some(next) = waiting {
            self.step(next);
        }
    }

    fn hand_over(&mut self, job: JobId, aggregator: Address, height: u64) {
        let Some(open) = self.jobs.get_mut(&job) else { return };
        let soon = |handed: u64| height < handed.saturating_add(HAND_OVER_BLOCKS);
        // One at a time: a validator may take as long as it likes.
        if open.handing || open.handed.is_some_and(soon) {
            return;
        }
        let Some(reveal) = open.reveal(&self.identity) else { return };
        (open.handed, open.handing) = (Some(height), true);
        let (chain_id, turn) = (self.identity.chain_id, open.handings);
        open.handings = open.handings.wrapping_add(1);
        self.act(Action::HandOver { chain_id, job, aggregator, reveal, turn });
    }

    pub(super) fn handed_over(&mut self, job: JobId, result: Result<(), String>) {
        let Some(open) = self.jobs.get_mut(&job) else { return };
        open.handing = false;
        match result {
            Ok(()) => open.doing = "the aggregator has the result".to_owned(),
            Err(reason) => debug!(%job, %reason, "the aggregator cannot be reached"),
        }
    }

    fn end(&mut self, job: JobId, end: End, height: u64) {
        let Some(open) = self.jobs.get(&job) else { return };
        // While its seat is open others push it again, and after a restart it would look new: so
        // it stays in the journal until the chain is done with it.
        let early = open.deadline().is_some_and(|deadline| height < deadline);
        let why = open.failure(&self.identity);
        if end == End::Missed && early && why.is_some() {
            return;
        }
        self.close(job, end, why);
    }

    fn close(&mut self, job: JobId, end: End, why: Option<String>) {
        let Some(open) = self.jobs.remove(&job) else { return };
        info!(%job, ?end, why, "a job is over");
        if open.working {
            self.act(Action::StopWork(job));
        }
        for stream in &open.streams {
            self.act(Action::Finish(*stream, job));
        }
        self.act(Action::Forget(job, open.attempt));
        self.outbox.forget(job);
        self.remember(job, open.attempt);
        let count = match end {
            End::Settled => &mut self.totals.settled,
            End::Failed(_) | End::Cancelled => &mut self.totals.failed,
            End::Unseated | End::Missed => &mut self.totals.missed,
        };
        count.0 += 1;
        let end_text = match end {
            End::Settled => "settled".to_owned(),
            End::Failed(reason) => format!("failed: {reason:?}"),
            End::Cancelled => "cancelled".to_owned(),
            End::Unseated => "lost its seat".to_owned(),
            End::Missed => "missed".to_owned(),
        };
        self.finished.push_front(FinishedView {
            job: HexHash(job),
            attempt: open.attempt,
            kind: open.spec.as_ref().map(|spec| format!("{:?}", spec.job_type.kind())),
            end: end_text,
            why,
            height: Uint(self.at()),
            paid: None,
        });
        self.finished.truncate(REMEMBERED);
        self.act(Action::Earned(job, open.attempt));
        self.judge_drained();
    }

    fn remember(&mut self, job: JobId, attempt: u32) {
        if self.done.insert((job, attempt)) {
            self.done_order.push_back((job, attempt));
        }
        if self.done_order.len() > DONE_MAX {
            self.done_order.pop_front().inspect(|oldest| _ = self.done.remove(oldest));
        }
    }

    /// What became of a finished job, says its history. Who is outvoted is scored for it.
    pub(super) fn earned(&mut self, job: JobId, attempt: u32, earned: Earned) {
        let Earned { amount, why, outvoted } = earned;
        self.totals.paid = BigUint(self.totals.paid.0.saturating_add(amount));
        self.totals.outvoted.0 += u64::from(outvoted);
        let mut finished = self.finished.iter_mut();
        let of = finished.find(|view| view.job.0 == job && view.attempt == attempt);
        if let Some(view) = of {
            view.paid = Some(BigUint(amount));
            if outvoted {
                view.end = format!("{}, outvoted", view.end);
            }
            // What the chain made of it, and what the runner knew before.
            view.why = match (why, view.why.take()) {
                (Some(why), Some(known)) => Some(format!("{why}; {known}")),
                (why, known) => why.or(known),
            };
        }
    }
}
