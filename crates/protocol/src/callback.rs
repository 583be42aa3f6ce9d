//! Deferred calls: what runs in a later block than its cause.
//!
//! A call is prepaid and runs from the runner lane. It pays the cycle basefee out of its deposit, and the
//! rest is refunded. Its cells are paid in cycles, at the ratio of the basefees, so one deposit covers both,
//! and what records [hold](crate::deposit) after the call. The payer's own code also pays from its balance.
//! A job's callback names the submitter itself, or a handler that another actor's code has opened to
//! others. That is checked at submission, and again when the call runs: code may have changed since.
//! Settlement of a job never depends on its callback; a failing one only counts on the submitter.

use crate::actors::host::Running;
use crate::actors::record::{Answer, Frame};
use crate::actors::wait::Method;
use crate::actors::{Argument, Call, price};
use crate::codec::{Bytes, codec_enum, codec_struct};
use crate::deposit::Purse;
use crate::error::Refusal;
use crate::event::Event;
use crate::execute::{Exec, Meter};
use crate::fees::{Lane, cost};
use crate::key::{AccountKey, CallKey, FrameBytesKey, FrameKey};
use crate::params::ChainParams;
use crate::primitives::{Address, Amount, B256, JobId, keccak256};
use crate::system::RESULT_VERIFIER;

/// Deferred calls that one block runs at most.
const CALLS_PER_BLOCK: u64 = 10_000;

/// Cycles of deferred calls in one block: half of the runner lane, so that they cannot keep runners from
/// committing.
pub fn calls_limit(params: &ChainParams) -> u64 {
    Lane::Runner.limit(params) / 2
}

/// Cycles of one deferred call at most. Calls are begun until their share is used, whatever limits
/// they have, so that limits that nobody uses hold nobody up; this bounds what the last one adds.
pub fn call_limit(params: &ChainParams) -> u64 {
    calls_limit(params) / 2
}

/// Cells of deferred calls in one block: half of the block's.
fn cells_limit(params: &ChainParams) -> u64 {
    params.cells_target
}

/// Cells of one deferred call: always the same, so that no call fails for what others have used.
fn call_cells(params: &ChainParams) -> u64 {
    cells_limit(params) / 2
}

/// A call that waits for a later block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeferredCall {
    /// Whom to call.
    pub actor: Address,
    /// Who prepaid.
    pub payer: Address,
    /// How much.
    pub deposit: Amount,
    /// Cycles that were prepaid.
    pub cycles_limit: u64,
    /// What to call.
    pub what: Deferred,
}
codec_struct!(DeferredCall { actor, payer, deposit, cycles_limit, what });

/// What is deferred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deferred {
    /// A job's callback.
    Job {
        /// The job whose result it carries.
        job: JobId,
        /// Which handler.
        handler: String,
    },
    /// What an actor sent to another, or asks it.
    Message {
        /// Who sent it.
        from: Address,
        /// Who began it all.
        origin: Address,
        /// Which method.
        method: String,
        /// What it gets.
        payload: Bytes,
        /// Money that goes with it.
        value: Amount,
        /// The call that waits for what the method returns: whose, and its token.
        reply: Option<(Address, u64)>,
    },
    /// The answer that a call waits for.
    Resume {
        /// Which call.
        frame: u64,
        /// What it waits for.
        token: u64,
        /// The answer.
        answer: Answer,
    },
}
codec_enum!(Deferred {
    1 => Job { job, handler },
    2 => Message { from, origin, method, payload, value, reply },
    3 => Resume { frame, token, answer },
});

impl DeferredCall {
    /// Money that goes with it, besides the deposit.
    pub fn value(&self) -> Amount {
        match self.what {
            Deferred::Message { value, .. } => value,
            _ => Amount::ZERO,
        }
    }
}

/// `keccak256("cowboy-call-v1:" ‖ chain_id_be8 ‖ index_be8)`: a call's place in the queue is its own for
/// all times.
pub fn call_id(chain_id: u64, index: u64) -> B256 {
    let mut bytes = b"cowboy-call-v1:".to_vec();
    bytes.extend_from_slice(&chain_id.to_be_bytes());
    bytes.extend_from_slice(&index.to_be_bytes());
    keccak256(bytes)
}

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
        let (result, left) = self.limited(meter, |exec| {
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
            self.tell_fault();
            self.deferred_failed(call, refusal, why.unwrap_or_else(|| refusal.to_string()));
        }
        (cycles, cells)
    }

    /// Whether the results of a submitter's jobs may be brought to a handler. Otherwise anybody could
    /// have any handler called by the Result Verifier, with results of their own making.
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
                // Whoever asked has the value; whoever called has only the events.
                let nobody_asked = reply.is_none();
                self.tell_returned(actor, &name, returned.filter(|_| nobody_asked))
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
