//! Jobs: what is done about them, and how they end. How they come is in `claims`.

use super::{Action, DONE_MAX, Desk, Earned};
use crate::backend::Job;
use crate::case::{End, Step, alone};
use crate::daemon::intake::MARGIN_BLOCKS;
use crate::daemon::nodes::Reading;
use crate::daemon::open::Open;
use crate::daemon::sender::{Deed, Purpose};
use crate::daemon::status::{FinishedView, REMEMBERED};
use crate::daemon::work::{Miss, Task};
use crate::journal::{Outcome, Stage};
use remuda_client::types::{BigUint, HexHash, Uint};
use remuda_link::frame::Handover;
use remuda_protocol::primitives::{Address, JobId};
use remuda_protocol::transaction::Instruction;
use std::time::Duration;
use tracing::{debug, info, warn};

/// Blocks between two looks at a job whose work goes on, or that has none.
const LOOK_BLOCKS: u64 = 5;
/// Blocks after which a result is given to the aggregator again.
const HAND_OVER_BLOCKS: u64 = 3;

impl Desk {
    pub(super) fn busy(&self) -> usize {
        self.jobs.values().filter(|open| open.busy()).count()
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
        if self.passed_over(job, reading.as_ref()) {
            return;
        }
        let Some(reading) = reading else { return };
        let Some(open) = self.jobs.get_mut(&job) else { return };
        if open.checked {
            open.learn(&self.identity, reading);
        } else if !self.check(job, reading) {
            return;
        }
        self.step(job);
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
        let gathers = matches!(step, Step::RevealAll(_));
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
                } else if let Some(open) = self.jobs.get_mut(&job).filter(|_| gathers) {
                    open.doing = "leaves it to the others to open their results".to_owned();
                }
            }
        }
    }

    /// An aggregator that cannot pay for all results, or is not paid for that, opens its own: the
    /// others open theirs. What it needs for its other jobs it does not spend on them, and what is open needs no opening.
    fn payable(&self, job: JobId, deed: Deed, all: Instruction) -> Option<(Deed, Instruction)> {
        let Some(open) = self.jobs.get(&job).filter(|_| deed == Deed::RevealAll) else {
            return Some((deed, all));
        };
        let kept = self.kept_for_others(job);
        let on_its_way = self.outbox.has(&Purpose::Job(job, open.attempt, deed));
        let paid = self.chain.money.as_ref().is_some_and(|(_, purse)| open.bonus_covers(purse));
        if on_its_way || (paid && self.outbox.covers(&all, open.spare(&all), kept)) {
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
        if let Some(why) = self.fault_at(job) {
            let open = self.jobs.get_mut(&job).into_iter();
            return open.for_each(|open| open.doing = format!("waits for a failed part: {why}"));
        }
        let working = self.jobs.values().filter(|open| open.working).count();
        let (at, slots, most) = (self.at(), self.rules.slots as usize, self.most(job));
        let Some(open) = self.jobs.get_mut(&job) else { return };
        if working >= slots {
            open.doing = "waits for a place".to_owned();
            return;
        }
        let (Some(spec), Some(deadline)) = (open.spec.clone(), open.deadline()) else { return };
        let Some(most) = most else { return };
        let blocks = deadline.saturating_sub(at.saturating_add(MARGIN_BLOCKS));
        let left = self.chain.block_time.saturating_mul(u32::try_from(blocks).unwrap_or(u32::MAX));
        let wall = Duration::from_secs(u64::from(spec.bounds.max_wall_time_seconds.max(1)));
        let time_limit = wall.min(left);
        // An excuse needs no time, but a block. A single runner would be paid for it as for work.
        let late = at.saturating_add(1) > deadline;
        if time_limit.is_zero() && (late || alone(spec.verification.mode)) {
            open.stage = Stage::Failed("there was no time left for it".to_owned());
            return self.step(job);
        }
        (open.working, open.most) = (true, Some(most));
        let (chain_id, attempt, pinned) = (self.identity.chain_id, open.attempt, open.pinned);
        let job = Job { job_id: job, spec, time_limit, expires_in: left, pinned };
        let task = Task { chain_id, attempt, job, most };
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
        result: Result<(Outcome, Option<String>), Miss>,
    ) {
        if let Some(open) = self.jobs.get_mut(&job).filter(|open| open.attempt == attempt) {
            open.working = false;
            let mut delivered = false;
            let fault = match result {
                Ok((outcome, why)) => {
                    delivered = outcome.delivery.excuse().is_none();
                    if let (Some(code), Some(reason)) = (outcome.delivery.excuse(), &why) {
                        warn!(%job, code = code.name(), %reason, "job excused");
                    }
                    (open.why, open.stage) = (why, Stage::Done(outcome));
                    None
                }
                Err(Miss { why, fault }) => {
                    warn!(%job, reason = %why, ?fault, "job failed");
                    (open.why, open.stage) = (Some(why.clone()), Stage::Failed(why.clone()));
                    Some((why, fault))
                }
            };
            match fault {
                // An excuse may need no part at all: it proves nothing of one that is out of order.
                None if delivered => self.part_works(job),
                None => {}
                Some((why, Some(doubt))) => self.interrupted(job, &why, doubt),
                Some((_, None)) => {}
            }
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
        let why = open.failure();
        if end == End::Missed && early && why.is_some() {
            return;
        }
        self.close(job, end, why);
    }

    pub(super) fn close(&mut self, job: JobId, end: End, why: Option<String>) {
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
            End::Settled => &mut self.history.totals.settled,
            End::Failed(_) | End::Cancelled => &mut self.history.totals.failed,
            End::Unseated | End::Missed => &mut self.history.totals.missed,
        };
        count.0 += 1;
        let end_text = match end {
            End::Settled => "settled".to_owned(),
            End::Failed(reason) => format!("failed: {reason:?}"),
            End::Cancelled => "cancelled".to_owned(),
            End::Unseated => "lost its seat".to_owned(),
            End::Missed => "missed".to_owned(),
        };
        self.history.finished.push_front(FinishedView {
            job: HexHash(job),
            attempt: open.attempt,
            kind: open.spec.as_ref().map(|spec| format!("{:?}", spec.job_type.kind())),
            end: end_text,
            why,
            height: Uint(self.at()),
            paid: None,
        });
        self.history.finished.truncate(REMEMBERED);
        self.act(Action::Earned(job, open.attempt));
        self.judge_drained();
    }

    fn remember(&mut self, job: JobId, attempt: u32) {
        if self.history.done.insert((job, attempt)) {
            self.history.done_order.push_back((job, attempt));
        }
        if self.history.done_order.len() > DONE_MAX {
            self.history
                .done_order
                .pop_front()
                .inspect(|oldest| _ = self.history.done.remove(oldest));
        }
    }

    /// What became of a finished job, says its history. Who is outvoted is scored for it.
    pub(super) fn earned(&mut self, job: JobId, attempt: u32, earned: Earned) {
        let Earned { amount, why, outvoted } = earned;
        self.history.totals.paid = BigUint(self.history.totals.paid.0.saturating_add(amount));
        self.history.totals.outvoted.0 += u64::from(outvoted);
        let mut finished = self.history.finished.iter_mut();
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
