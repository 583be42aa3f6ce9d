//! Deferred calls: what runs in a later block than its cause.
//!
//! Consensus: a change here forks the chain.
//!
//! A call is prepaid and runs from the runner lane. It pays the cycle basefee out of its deposit, and the
//! rest is refunded. Its cells are paid in cycles, at the ratio of the basefees, so one deposit covers both,
//! and what records hold after the call (`execute/deposit`). The payer's own code also pays from its
//! balance.
//! A job's callback names the submitter itself, or a handler that another actor's code has opened to
//! others. That is checked at submission, and again when the call runs: code may have changed since.
//! Settlement of a job never depends on its callback; a failing one only counts on the submitter.

use crate::base::error::Refusal;
use crate::base::primitives::{Address, Amount, B256};
use crate::base::system::RESULT_VERIFIER;
use crate::chain::actors::host::Running;
use crate::chain::actors::wait::Method;
use crate::chain::actors::{Argument, Call};
use crate::chain::execute::deposit::Purse;
use crate::chain::execute::{Exec, Meter};
use crate::rules::actors::price;
use crate::rules::actors::record::{Answer, Frame};
use crate::rules::callback::{
    Deferred, DeferredCall, call_cells, call_id, calls_limit, cells_limit,
};
use crate::rules::event::Event;
use crate::rules::fees::{Lane, cost};
use crate::rules::key::{AccountKey, CallKey, FrameBytesKey, FrameKey};

/// Deferred calls that one block runs at most.
const CALLS_PER_BLOCK: u64 = 10_000;

impl Exec<'_> {
    /// Puts a call at the end of the queue; its id.
    pub(crate) fn defer(&mut self, call: &DeferredCall) -> B256 {
        let index = self.chain.calls_tail;
        self.state.put(&CallKey { index }, call);
        self.chain.calls_tail += 1;
        call_id(self.params.chain_id, index)
    }

    /// Runs the calls that earlier blocks queued, in order, as far as their share of the lane goes.
    pub(crate) fn run_calls(&mut self) {
        let end = self.chain.calls_tail.min(self.chain.calls_head.saturating_add(CALLS_PER_BLOCK));
        let (mut cycles, mut cells) = (0, 0);
        while self.chain.calls_head < end {
            let room = cycles < calls_limit(self.params)
                && cells + call_cells(self.params) <= cells_limit(self.params);
            if !room {
                return;
            }
            let index = self.chain.calls_head;
            self.chain.calls_head += 1;
            let key = CallKey { index };
            let Some(call) = self.state.get(&key) else { continue };
            self.state.remove(&key);
            let used = self.run_deferred(call_id(self.params.chain_id, index), &call);
            (cycles, cells) = (cycles + used.0, cells + used.1);
        }
    }

    /// Runs one; the cycles and cells it took.
    fn run_deferred(&mut self, id: B256, call: &DeferredCall) -> (u64, u64) {
        if !self.actors.has_code(&self.state, call.actor) {
            self.credit(call.payer, call.deposit);
            self.deferred_failed(call, Refusal::NoCode, String::new());
            return (0, 0);
        }
        let basefee = self.basefees.cycle.max(1);
        let affordable = u64::try_from(call.deposit.get() / basefee).unwrap_or(u64::MAX);
        let cycles = call.cycles_limit.min(affordable);
        let cell_cycles = u64::try_from(self.basefees.cell.div_ceil(basefee)).unwrap_or(u64::MAX);
        let cells = call_cells(self.params);
        self.begin_cause();
        let meter = Meter { cycles, cells, cell_cycles };
        let payer = call.payer;
        let fee = |used| cost(used, basefee).unwrap_or(call.deposit).min(call.deposit);
        let rest = |used| Amount(call.deposit.get() - fee(used).get());
        let (result, left) = self.metered(meter, |exec| {
            exec.perform_deferred(id, call)?;
            let limit = rest(cycles - exec.meter.cycles);
            exec.credit(payer, limit);
            exec.settle_dues(Purse { payer, limit, own_counts: payer != call.actor })
        });
        let (cycles, cells) = (cycles - left.0, cells - left.1);
        let fee = fee(cycles);
        self.burn(fee);
        if result.is_err() {
            self.credit(payer, rest(cycles));
        }
        self.count_usage(Lane::Runner, cycles, cells);
        let code = result.err().map_or(0, Refusal::code);
        let actor = call.actor;
        self.emit(Event::CallRan { call: id, actor, code, cycles, cells, fee });
        if let Err(refusal) = result {
            let why = self.fault.as_ref().map(|fault| fault.error.clone());
            self.emit_fault();
            self.deferred_failed(call, refusal, why.unwrap_or_else(|| refusal.to_string()));
        }
        (cycles, cells)
    }

    /// Whether the results of a submitter's jobs may be brought to a handler. Otherwise any
    /// submitter could have the Result Verifier call any handler with forged results.
    pub(crate) fn may_call_back(
        &self,
        submitter: Address,
        actor: Address,
        handler: &str,
    ) -> Result<(), Refusal> {
        let may = submitter == actor || self.is_open_handler(actor, handler);
        if may { Ok(()) } else { Err(Refusal::HandlerNotOpen) }
    }

    fn perform_deferred(&mut self, id: B256, call: &DeferredCall) -> Result<(), Refusal> {
        let actor = call.actor;
        match &call.what {
            Deferred::Job { job, handler } => {
                self.charge(price::READ_CYCLES, 0)?;
                self.may_call_back(call.payer, actor, handler)?;
                let end = self.job_end(*job, call.payer)?;
                let running = Running {
                    origin: call.payer,
                    payer: None,
                    ..Running::of(actor, RESULT_VERIFIER, id)
                };
                let argument = Argument::Job(&end);
                let call = Call { method: handler, argument, optional: false };
                self.run_method(running, &call, None).map(|_| ())
            }
            Deferred::Message { from, origin, method, payload, value, reply } => {
                self.credit(actor, *value);
                let running = Running {
                    origin: *origin,
                    payer: None,
                    value: *value,
                    ..Running::of(actor, *from, id)
                };
                let argument = Argument::Payload(payload);
                let call = Call { method, argument, optional: false };
                self.run_method(running, &call, *reply).map(|_| ())
            }
            Deferred::Resume { frame, token, answer } => {
                let key = FrameKey { actor, frame: *frame };
                let kept = self.state.get(&key).ok_or(Refusal::NotWaitedFor)?;
                let Frame { method, sender, origin, reply, open, resume_cycles, .. } = kept;
                let frames = self.state.get(&FrameBytesKey { actor, frame: *frame });
                let frames = frames.ok_or(Refusal::NotWaitedFor)?;
                let running = Running {
                    origin,
                    payer: None,
                    frame: Some(*frame),
                    open,
                    resume_cycles,
                    ..Running::of(actor, sender, id)
                };
                let answer = self.spell_out(actor, answer.clone());
                let name = method.clone();
                let method = Method { name: method, reply };
                let answer = (*token, &answer);
                let returned = self.resume_method(running, method, &frames, answer)?;
                // A call that waits gets the value; a transaction's sender has only the events.
                let nobody_asked = reply.is_none();
                self.emit_return(actor, &name, returned.filter(|_| nobody_asked))
            }
        }
    }

    /// A deferred call came to nothing.
    fn deferred_failed(&mut self, call: &DeferredCall, refusal: Refusal, why: String) {
        match &call.what {
            Deferred::Job { job, .. } => {
                let mut payer = self.account(call.payer);
                payer.failed_callbacks += 1;
                self.state.put(&AccountKey { address: call.payer }, &payer);
                self.emit(Event::CallbackFailed { job: *job, actor: call.actor });
            }
            Deferred::Message { from, value, reply, .. } => {
                self.credit(*from, *value);
                if let Some((asker, token)) = *reply {
                    let why = if why.is_empty() { refusal.to_string() } else { why };
                    let answer = Answer::Failed { code: refusal.code(), message: why };
                    self.answer(asker, token, answer);
                }
            }
            Deferred::Resume { frame, .. } => self.fail_frame(call.actor, *frame, refusal, &why),
        }
    }
}
