//! Calls that wait over several blocks.
//!
//! Each request of a call gets a token and prepays the delivery of its answer, which no later lack of money
//! can stop. When the call waits, its frames are written into the state; when an answer comes, the call
//! resumes from the queue of a later block. An answer that arrives before the call waits for it is kept.
//! The end of a call refunds unused prepayments.
//!
//! Frames and kept answers stay in the state while the call waits, against a deposit. The waiting actor
//! pays deposit and prepayment and gets them back: its code decides how long it waits, not its caller.

use super::call::PAYLOAD_BYTES_MAX;
use super::host::{Host, Outgoing, Running};
use super::{Answered, Ended, JobEnd};
use crate::base::error::Refusal;
use crate::base::primitives::{Address, Amount, Height, JobId};
use crate::chain::execute::Exec;
use crate::rules::actors::price;
use crate::rules::actors::record::{Answer, Frame, Wait, WaitOn};
use crate::rules::agenda::{Task, WORK_PER_BLOCK};
use crate::rules::callback::{Deferred, DeferredCall, call_limit};
use crate::rules::deposit::RECORD_BYTES;
use crate::rules::dispatcher::job::Status;
use crate::rules::event::Event;
use crate::rules::fees::cost;
use crate::rules::key::{
    ActorKey, AgendaLengthKey, FrameBytesKey, FrameKey, JobKey, JobWaitKey, ResultKey, WaitKey,
};
use crate::rules::params::ChainParams;

/// Bytes of a waiting call.
pub const FRAME_BYTES_MAX: usize = 65_536;
/// Things that a call may have asked for without an answer.
pub const OPEN_MAX: usize = 64;
/// Cycles of a queued call that names none, and of going on after a wait, besides loading the code.
pub const CALL_CYCLES_DEFAULT: u64 = 200_000;
/// Blocks that a call waits for another actor's answer if it does not say how long.
pub const ASK_BLOCKS_DEFAULT: u64 = 3_600;
/// Heights that are looked at for room when the time limit of a question is set.
const ASK_HEIGHTS: u64 = 16;
/// The least a queued call can be given.
const CALL_CYCLES_MIN: u64 = 1_000;
/// Units of work of waking a call: the task, and noting the answer.
const WAKE_WORK: u64 = 2;
/// Calls that may be woken at one height: half of what a block does of its promises, so that
/// sleepers cannot put off deadlines.
const WAKES_PER_HEIGHT: u64 = WORK_PER_BLOCK / 2 / WAKE_WORK;

/// The method of a call, and the call that waits for its return value.
#[derive(Clone, Debug)]
pub(crate) struct Method {
    pub(crate) name: String,
    pub(crate) reply: Option<(Address, u64)>,
}

/// Whether a queued call may have this many cycles.
pub(crate) fn check_cycles(cycles: u64, params: &ChainParams) -> Result<(), Refusal> {
    let fits = (CALL_CYCLES_MIN..=call_limit(params)).contains(&cycles);
    if fits { Ok(()) } else { Err(Refusal::CallCyclesOutOfRange) }
}

impl Host<'_, '_> {
    /// Asks for something. The token is what the call can wait for.
    fn open(&mut self, on: WaitOn) -> Result<u64, Refusal> {
        if self.running.open.len() >= OPEN_MAX {
            return Err(Refusal::TooManyOpen);
        }
        if self.running.upgraded {
            return Err(Refusal::UpgradedCannotWait);
        }
        self.charge(price::DEFER_CYCLES, price::DEFER_CELLS)?;
        let actor = self.running.actor;
        let cycles_limit = self.running.resume_cycles + self.exec.load_cycles(actor);
        let deposit = self.exec.prepay(actor, cycles_limit)?;
        let held = self.exec.hold_own(actor, RECORD_BYTES)?;
        let mut record = self.exec.state.get(&ActorKey { actor }).ok_or(Refusal::NoCode)?;
        let frame = *self.running.frame.get_or_insert_with(|| {
            record.next_frame += 1;
            record.next_frame
        });
        record.next_token += 1;
        let token = record.next_token;
        self.exec.state.put(&ActorKey { actor }, &record);
        let wait = Wait { frame, on, deposit, cycles_limit, held, answer: None };
        self.exec.state.put(&WaitKey { actor, token }, &wait);
        self.running.open.push(token);
        Ok(token)
    }

    /// Says how many cycles the call wants for going on after each wait that it asks for from now on.
    pub fn resume_cycles(&mut self, cycles: u64) -> Result<(), Refusal> {
        self.charge(price::CONTEXT_CYCLES, 0)?;
        check_cycles(cycles, self.exec.params)?;
        self.running.resume_cycles = cycles;
        Ok(())
    }

    /// Asks another actor, in a later block. Without an answer after this many blocks it has failed: the
    /// other's code may wait for something that never comes.
    pub fn ask(&mut self, out: &Outgoing<'_>, blocks: Option<u64>) -> Result<u64, Refusal> {
        let now = self.exec.env.height;
        let until = now.plus(blocks.unwrap_or(ASK_BLOCKS_DEFAULT));
        self.check_promise(until)?;
        self.charge(price::PROMISE_CYCLES, 0)?;
        // Nobody minds a few blocks more.
        let until = (0..ASK_HEIGHTS).map(|more| until.plus(more)).find(|at| self.has_room(*at));
        let until = until.ok_or(Refusal::HeightCrowded)?;
        self.atomically(|host| {
            let token = host.open(WaitOn::Method { actor: out.to })?;
            let actor = host.running.actor;
            host.exec.schedule(until, &Task::Wake { actor, token });
            host.queue_message(out, Some((actor, token)))?;
            Ok(token)
        })
    }

    /// Asks to be told when a height has come.
    pub fn sleep_until(&mut self, height: Height) -> Result<u64, Refusal> {
        self.check_promise(height)?;
        self.charge(price::PROMISE_CYCLES, 0)?;
        if !self.has_room(height) {
            return Err(Refusal::HeightCrowded);
        }
        let token = self.open(WaitOn::Height { height })?;
        let actor = self.running.actor;
        self.exec.schedule(height, &Task::Wake { actor, token });
        Ok(token)
    }

    /// Whether something can be promised for a height.
    fn check_promise(&self, height: Height) -> Result<(), Refusal> {
        let now = self.exec.env.height;
        if height <= now {
            return Err(Refusal::TimerInPast);
        }
        let longest = self.exec.timer_config().ttl_blocks_max;
        if height > now.plus(longest) { Err(Refusal::WaitTooLong) } else { Ok(()) }
    }

    fn has_room(&self, height: Height) -> bool {
        let length = self.exec.state.get(&AgendaLengthKey { height }).unwrap_or(0);
        u64::from(length) < WAKES_PER_HEIGHT
    }

    /// Asks to be told how a job of the actor's own ends.
    pub fn await_job(&mut self, job: JobId) -> Result<u64, Refusal> {
        self.charge(2 * price::READ_CYCLES, 0)?;
        let actor = self.running.actor;
        let record = self.exec.state.get(&JobKey { job }).ok_or(Refusal::UnknownJob)?;
        if record.submitter != actor {
            return Err(Refusal::NotYourJob);
        }
        if self.exec.state.get(&JobWaitKey { job }).is_some() {
            return Err(Refusal::AnotherWaits);
        }
        let token = self.open(WaitOn::Job { job })?;
        self.exec.state.put(&JobWaitKey { job }, &(actor, token));
        if over(&record.status) {
            self.exec.job_ended(&job);
        }
        Ok(token)
    }

    /// Whether the call asked for this and has no answer yet.
    pub fn is_open(&self, token: u64) -> bool {
        self.running.open.contains(&token)
    }

    /// Whether the call can wait for these tokens with frames of this many bytes. What it says is the
    /// exception that the program gets at its `await`.
    pub fn may_wait(&mut self, tokens: &[u64], frame_bytes: usize) -> Result<(), Refusal> {
        if frame_bytes > FRAME_BYTES_MAX {
            return Err(Refusal::FramesTooLarge);
        }
        if tokens.is_empty() || tokens.iter().any(|token| !self.is_open(*token)) {
            return Err(Refusal::NotWaitedFor);
        }
        let actor = self.running.actor;
        let frame = self.running.frame;
        let kept = frame.and_then(|frame| self.exec.state.get(&FrameKey { actor, frame }));
        let waits_already = kept.is_some();
        let needed = self.exec.deposit_for(RECORD_BYTES + frame_bytes as u64);
        let there = self.exec.account(actor).balance.plus(kept.map_or(Amount::ZERO, |it| it.held));
        if there.is_none_or(|there| there < needed) {
            return Err(Refusal::DepositNotCovered);
        }
        let record = self.exec.state.get(&ActorKey { actor }).ok_or(Refusal::NoCode)?;
        if !waits_already && u64::from(record.suspended) >= self.exec.params.actor_waiting_max {
            return Err(Refusal::TooManyWaiting);
        }
        Ok(())
    }
}

/// Whether a job has ended.
fn over(status: &Status) -> bool {
    matches!(status, Status::Settled | Status::Failed { .. } | Status::Cancelled)
}

impl Exec<'_> {
    /// Takes the price of this many cycles of a later block, with room for a basefee that rises.
    pub(crate) fn prepay(&mut self, payer: Address, cycles: u64) -> Result<Amount, Refusal> {
        let deposit = cost(cycles, self.basefees.cycle.saturating_mul(2));
        let deposit = deposit.ok_or(Refusal::AmountOverflow)?;
        self.debit(payer, deposit)?;
        Ok(deposit)
    }

    /// Stores the frames of a call that waits, or closes one that ended. Returns what an ended call returned.
    pub(super) fn settle_call(
        &mut self,
        running: Running,
        method: Method,
        ended: Ended,
    ) -> Result<Option<Vec<u8>>, Refusal> {
        match ended {
            Ended::Returned(value) => {
                if value.len() > PAYLOAD_BYTES_MAX {
                    return Err(Refusal::PayloadTooLong);
                }
                self.close_frame(running.actor, running.frame, &running.open, 0);
                if let Some((asker, token)) = method.reply {
                    let cells = value.len() as u64;
                    self.charge(price::write(value.len()), cells)?;
                    self.answer(asker, token, Answer::Returned { value: value.clone().into() });
                }
                Ok(Some(value))
            }
            Ended::Waits { tokens, frames } => {
                self.suspend(running, method, tokens, frames).map(|()| None)
            }
        }
    }

    fn suspend(
        &mut self,
        running: Running,
        method: Method,
        awaits: Vec<u64>,
        frames: Vec<u8>,
    ) -> Result<(), Refusal> {
        let cycles = price::WRITE_CYCLES + frames.len() as u64 / price::FRAME_BYTES_PER_CYCLE;
        self.charge(cycles, frames.len() as u64)?;
        Host::new(self, running.clone()).may_wait(&awaits, frames.len())?;
        let Running { actor, sender, origin, open, resume_cycles, .. } = running;
        let frame = running.frame.ok_or(Refusal::NotWaitedFor)?;
        let before = self.state.get(&FrameKey { actor, frame });
        self.credit(actor, before.as_ref().map_or(Amount::ZERO, |before| before.held));
        let held = self.hold_own(actor, RECORD_BYTES + frames.len() as u64)?;
        if before.is_none() {
            let mut record = self.state.get(&ActorKey { actor }).ok_or(Refusal::NoCode)?;
            record.suspended += 1;
            self.state.put(&ActorKey { actor }, &record);
            let method = method.name.clone();
            self.emit(Event::CallSuspended { actor, frame, method });
        }
        let answered = awaits.iter().copied().find_map(|token| {
            let answer = self.state.get(&WaitKey { actor, token })?.answer?;
            Some((token, answer))
        });
        let Method { name: method, reply } = method;
        let since = self.env.height;
        let kept =
            Frame { method, sender, origin, reply, since, open, awaits, resume_cycles, held };
        self.state.put(&FrameKey { actor, frame }, &kept);
        self.state.put(&FrameBytesKey { actor, frame }, &frames.into());
        if let Some((token, answer)) = answered {
            self.hand_over(actor, token, answer);
        }
        Ok(())
    }

    pub(crate) fn answer(&mut self, actor: Address, token: u64, answer: Answer) {
        // Nobody waits any more.
        let Some(mut wait) = self.state.get(&WaitKey { actor, token }) else { return };
        // The first answer counts; an actor may answer after its time.
        if wait.answer.is_some() {
            return;
        }
        let frame = self.state.get(&FrameKey { actor, frame: wait.frame });
        if frame.is_some_and(|frame| frame.awaits.contains(&token)) {
            self.hand_over(actor, token, answer);
        } else {
            wait.answer = Some(self.kept_answer(actor, &mut wait.held, answer));
            self.state.put(&WaitKey { actor, token }, &wait);
        }
    }

    /// An answer that has to wait for its call. One that the actor cannot hold has failed.
    fn kept_answer(&mut self, actor: Address, held: &mut Amount, answer: Answer) -> Answer {
        let Answer::Returned { value } = &answer else { return answer };
        match self.hold_own(actor, value.len() as u64) {
            Ok(more) => {
                *held = Amount(held.get() + more.get());
                answer
            }
            Err(refusal) => Answer::Failed { code: refusal.code(), message: refusal.to_string() },
        }
    }

    /// Takes the deposit for records of a waiting call from the actor itself.
    fn hold_own(&mut self, actor: Address, bytes: u64) -> Result<Amount, Refusal> {
        let held = self.deposit_for(bytes);
        self.debit(actor, held).map_err(|_| Refusal::DepositNotCovered)?;
        Ok(held)
    }

    /// Queues the rest of a call that waits for this.
    fn hand_over(&mut self, actor: Address, token: u64, answer: Answer) {
        let Some(wait) = self.state.get(&WaitKey { actor, token }) else { return };
        let key = FrameKey { actor, frame: wait.frame };
        let Some(mut frame) = self.state.get(&key) else { return };
        self.state.remove(&WaitKey { actor, token });
        self.credit(actor, wait.held);
        frame.awaits.clear();
        frame.open.retain(|open| *open != token);
        self.state.put(&key, &frame);
        let Wait { frame, deposit, cycles_limit, .. } = wait;
        let what = Deferred::Resume { frame, token, answer };
        self.defer(&DeferredCall { actor, payer: actor, deposit, cycles_limit, what });
    }

    /// A height has come that a call waits for, or until which another actor could answer. Returns the
    /// work it took besides.
    pub(crate) fn wake(&mut self, actor: Address, token: u64) -> u64 {
        let answer = match self.state.get(&WaitKey { actor, token }).map(|wait| wait.on) {
            Some(WaitOn::Method { .. }) => {
                let refusal = Refusal::AskTimedOut;
                Answer::Failed { code: refusal.code(), message: refusal.to_string() }
            }
            _ => Answer::Slept,
        };
        self.answer(actor, token, answer);
        WAKE_WORK - 1
    }

    /// A job has ended: wakes the call that waits for it.
    pub(crate) fn job_ended(&mut self, job: &JobId) {
        let key = JobWaitKey { job: *job };
        let Some((actor, token)) = self.state.get(&key) else { return };
        self.state.remove(&key);
        self.answer(actor, token, Answer::Job { job: *job });
    }

    /// An answer in the form that the machine takes.
    pub(crate) fn spell_out(&self, actor: Address, answer: Answer) -> Answered {
        match answer {
            Answer::Slept => Answered::Slept,
            Answer::Returned { value } => Answered::Returned(value.0),
            Answer::Failed { code, message } => Answered::Failed { code, message },
            Answer::Job { job } => match self.job_end(job, actor) {
                Ok(end) => Answered::Job(end),
                Err(gone) => Answered::Failed { code: gone.code(), message: gone.to_string() },
            },
        }
    }

    /// How a job ended, unless that was so long ago that it has left the state.
    pub(crate) fn job_end(&self, job: JobId, submitter: Address) -> Result<JobEnd, Refusal> {
        let record = self.state.get(&JobKey { job }).ok_or(Refusal::UnknownJob)?;
        let result = self.state.get(&ResultKey { job });
        Ok(JobEnd { job, submitter, status: record.status, result })
    }

    /// Closes a call: drops its open requests and refunds their prepayments.
    pub(super) fn close_frame(
        &mut self,
        actor: Address,
        frame: Option<u64>,
        open: &[u64],
        code: u16,
    ) {
        for token in open {
            let key = WaitKey { actor, token: *token };
            let Some(wait) = self.state.get(&key) else { continue };
            self.state.remove(&key);
            self.credit(actor, Amount(wait.deposit.get() + wait.held.get()));
            if let (WaitOn::Job { job }, None) = (wait.on, wait.answer) {
                self.state.remove(&JobWaitKey { job });
            }
        }
        let Some(frame) = frame else { return };
        let key = FrameKey { actor, frame };
        let Some(kept) = self.state.get(&key) else { return };
        self.state.remove(&key);
        self.state.remove(&FrameBytesKey { actor, frame });
        self.credit(actor, kept.held);
        if let Some(mut record) = self.state.get(&ActorKey { actor }) {
            record.suspended -= 1;
            self.state.put(&ActorKey { actor }, &record);
        }
        self.emit(Event::CallFinished { actor, frame, code });
    }

    /// A waiting call has failed; everything that its last part did is gone already.
    pub(crate) fn fail_frame(&mut self, actor: Address, frame: u64, refusal: Refusal, why: &str) {
        let Some(kept) = self.state.get(&FrameKey { actor, frame }) else { return };
        self.close_frame(actor, Some(frame), &kept.open, refusal.code());
        if let Some((asker, token)) = kept.reply {
            let (code, message) = (refusal.code(), why.to_owned());
            self.answer(asker, token, Answer::Failed { code, message });
        }
    }
}
