//! How a call begins and ends: from a transaction, a timer, the queue, or another actor.

use super::host::{Host, Running};
use super::wait::Method;
use super::{Actors, Answered, Argument, Call, Ended};
use crate::base::codec::Bytes;
use crate::base::error::Refusal;
use crate::base::primitives::{Address, Amount, TxHash};
use crate::chain::execute::Exec;
use crate::rules::actors::price;
use crate::rules::event::Event;
use crate::rules::key::ActorKey;
use crate::rules::timers::agents::TimerCall;

/// Actors that call each other, at most.
pub const CALL_DEPTH_MAX: usize = 32;
/// Bytes of a payload, and of what a method returns.
pub const PAYLOAD_BYTES_MAX: usize = 65_536;
/// Bytes of a method's name.
pub const METHOD_BYTES_MAX: usize = 64;
/// Bytes of the text of a failure.
pub const FAULT_BYTES_MAX: usize = 512;
pub const ON_TIMER: &str = "on_timer";

/// Why a call failed: what a receipt can tell besides its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallFault {
    pub(crate) actor: Address,
    pub(crate) method: String,
    pub(crate) code: u16,
    pub(crate) error: String,
}

/// Checks what every call has.
pub(crate) fn check_call(method: &str, payload: &[u8]) -> Result<(), Refusal> {
    if !(1..=METHOD_BYTES_MAX).contains(&method.len()) {
        return Err(Refusal::MethodTooLong);
    }
    if payload.len() > PAYLOAD_BYTES_MAX { Err(Refusal::PayloadTooLong) } else { Ok(()) }
}

impl Exec<'_> {
    pub(crate) fn call_actor(
        &mut self,
        who: Address,
        hash: TxHash,
        actor: Address,
        method: &str,
        payload: &[u8],
        value: Amount,
    ) -> Result<(), Refusal> {
        check_call(method, payload)?;
        if !self.actors.has_code(&self.state, actor) {
            return Err(Refusal::NoCode);
        }
        if !value.is_zero() {
            self.transfer(who, actor, value)?;
        }
        self.begin_cause();
        let running = Running { value, ..Running::of(actor, who, hash) };
        let call = Call { method, argument: Argument::Payload(payload), optional: false };
        let returned = self.run_method(running, &call, None)?;
        self.emit_return(actor, method, returned)
    }

    /// Emits the return value of a call that ended and that no other call waits for.
    pub(crate) fn emit_return(
        &mut self,
        actor: Address,
        method: &str,
        returned: Option<Vec<u8>>,
    ) -> Result<(), Refusal> {
        let Some(value) = returned else { return Ok(()) };
        self.charge(price::event(value.len()), value.len() as u64)?;
        let method = method.to_owned();
        self.emit(Event::ActorReturned { actor, method, value: Bytes(value) });
        Ok(())
    }

    pub(crate) fn call_timer(&mut self, payer: Address, call: &TimerCall) -> Result<(), Refusal> {
        self.begin_cause();
        // The machine looks for a method's name in it before it runs anything.
        self.charge(price::carried(call.payload.len()), 0)?;
        // The payer has agreed to this timer, not to timers that its handler schedules.
        let running = Running {
            sender: call.actor,
            payer: None,
            ..Running::of(call.actor, payer, call.timer)
        };
        let call = Call { method: ON_TIMER, argument: Argument::Timer(call), optional: false };
        self.run_method(running, &call, None).map(|_| ())
    }

    /// Starts a new cause: jobs are numbered per cause, from zero.
    pub(crate) fn begin_cause(&mut self) {
        self.jobs_of_cause = 0;
        self.fault = None;
    }

    /// Runs a method until it ends or waits; what it returned, if it ended. `reply` is the call that
    /// wants to know.
    pub(crate) fn run_method(
        &mut self,
        running: Running,
        call: &Call<'_>,
        reply: Option<(Address, u64)>,
    ) -> Result<Option<Vec<u8>>, Refusal> {
        let method = Method { name: call.method.to_owned(), reply };
        let (ended, running) = self.enter(running, call.method, |actors, host| {
            host.exec.load_code(host.running.actor)?;
            actors.call(host, call)
        })?;
        self.settle_call(running, method, ended)
    }

    /// Goes on with a waiting call.
    pub(crate) fn resume_method(
        &mut self,
        running: Running,
        method: Method,
        frames: &[u8],
        (token, answer): (u64, &Answered),
    ) -> Result<Option<Vec<u8>>, Refusal> {
        let cycles = frames.len() as u64 / price::FRAME_BYTES_PER_CYCLE;
        let (ended, running) = self.enter(running, &method.name, |actors, host| {
            host.exec.load_code(host.running.actor)?;
            host.charge(cycles, 0)?;
            actors.resume(host, frames, token, answer)
        })?;
        self.settle_call(running, method, ended)
    }

    /// Takes the price of an actor's code. The first call of a block pays for compiling it, whatever
    /// this machine has kept; from then on it is at hand.
    fn load_code(&mut self, actor: Address) -> Result<(), Refusal> {
        let Some(record) = self.state.get(&ActorKey { actor }) else {
            return self.charge(price::CALL_CYCLES, 0);
        };
        let price = match self.compiled.contains(&record.code_hash) {
            true => price::call(record.code_bytes.into()),
            false => price::first_call(record.code_bytes.into()),
        };
        self.charge(price, 0)?;
        self.compiled.insert(record.code_hash);
        Ok(())
    }

    /// The most that [`load_code`](Self::load_code) takes.
    pub(super) fn load_cycles(&self, actor: Address) -> u64 {
        let record = self.state.get(&ActorKey { actor });
        price::first_call(record.map_or(0, |record| record.code_bytes.into()))
    }

    fn enter(
        &mut self,
        running: Running,
        method: &str,
        run: impl FnOnce(&dyn Actors, &mut Host<'_, '_>) -> Result<Ended, Refusal>,
    ) -> Result<(Ended, Running), Refusal> {
        let actor = running.actor;
        let result = if self.calling.len() >= CALL_DEPTH_MAX {
            Err(Refusal::TooDeep)
        } else if self.calling.contains(&actor) {
            Err(Refusal::Reentrant)
        } else {
            self.calling.push(actor);
            let actors = self.actors;
            let mut host = Host::new(self, running);
            let ended = run(actors, &mut host);
            let running = host.running;
            self.calling.pop();
            ended.map(|ended| (ended, running))
        };
        if let Err(refusal) = &result {
            self.note_fault(actor, method, *refusal);
        }
        result
    }

    /// Keeps the innermost failure for the event.
    fn note_fault(&mut self, actor: Address, method: &str, refusal: Refusal) {
        let known = self.fault.take_if(|fault| fault.actor == actor && fault.method.is_empty());
        let error = known.map_or_else(|| refusal.to_string(), |fault| fault.error);
        let (method, code) = (method.to_owned(), refusal.code());
        self.fault = Some(CallFault { actor, method, code, error });
    }

    /// [`Self::emit_fault`] with the text cut to `cells`; returns the cells used.
    pub(crate) fn emit_fault_bounded(&mut self, cells: u64) -> u64 {
        let Some(fault) = &mut self.fault else { return 0 };
        let room = usize::try_from(cells).unwrap_or(usize::MAX);
        fault.error.truncate(fault.error.floor_char_boundary(room));
        let took = fault.error.len() as u64;
        self.emit_fault();
        took
    }

    /// Emits why a call failed, after its writes were rolled back.
    pub(crate) fn emit_fault(&mut self) {
        if let Some(CallFault { actor, method, code, error }) = self.fault.take() {
            self.emit(Event::CallFailed { actor, method, code, error });
        }
    }
}

impl Host<'_, '_> {
    /// What the machine has to say about the error that it is about to return.
    pub fn explain(&mut self, text: &str) {
        let error = text[..text.floor_char_boundary(FAULT_BYTES_MAX)].to_owned();
        let (actor, method) = (self.running.actor, String::new());
        self.exec.fault = Some(CallFault { actor, method, code: 0, error });
    }
}
