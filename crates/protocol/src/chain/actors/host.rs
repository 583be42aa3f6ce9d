//! What a running call may ask of the chain (the calls of the machine's `HOST.md`).
//!
//! Every call is charged before it acts, and takes back its writes if it fails.

use super::call::{CallFault, check_call};
use super::storage::{self, Scan};
use super::wait::{CALL_CYCLES_DEFAULT, check_cycles};
use super::{Argument, Call};
use crate::base::codec::Bytes;
use crate::base::error::Refusal;
use crate::base::primitives::{Address, Amount, B256, Height, keccak256};
use crate::base::state::View;
use crate::chain::execute::Exec;
use crate::rules::actors::price;
use crate::rules::callback::{Deferred, DeferredCall};
use crate::rules::cost::intrinsic;
use crate::rules::event::Event;
use crate::rules::key::{ActorKey, CodeKey};
use crate::rules::timers::host::{CHANGE_CYCLES, SCHEDULE_CELLS, SCHEDULE_CYCLES, ScheduleTimer};
use crate::rules::transaction::Instruction;

/// Bytes of an event's topic.
const TOPIC_BYTES_MAX: usize = 64;
/// Bytes of an event's data.
const EVENT_BYTES_MAX: usize = 16_384;

#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) actor: Address,
    pub(crate) sender: Address,
    /// Who began it all: a transaction's sender, or who pays for a timer or a queued call.
    pub(crate) origin: Address,
    /// The transaction, the timer or the queued call.
    pub(crate) cause: B256,
    /// Money that came with the call.
    pub(crate) value: Amount,
    /// The transaction's sender, if the call is the transaction's own: may pay for timers of an actor
    /// that it owns.
    pub(crate) payer: Option<Address>,
    /// Its number among the actor's waiting calls, once it has asked for something.
    pub(crate) frame: Option<u64>,
    /// What it asked for and has no answer to yet.
    pub(crate) open: Vec<u64>,
    /// It gave the actor other code, and so cannot wait: its frames are of the code before.
    pub(crate) upgraded: bool,
    /// Cycles that it wants for going on after each wait, besides loading its code.
    pub(crate) resume_cycles: u64,
}

impl Running {
    /// A call that an account causes.
    pub(crate) fn of(actor: Address, sender: Address, cause: B256) -> Self {
        Self {
            actor,
            sender,
            origin: sender,
            cause,
            value: Amount::ZERO,
            payer: Some(sender),
            frame: None,
            open: Vec::new(),
            resume_cycles: CALL_CYCLES_DEFAULT,
            upgraded: false,
        }
    }
}

/// What a call may know of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// The transaction, the timer or the queued call.
    pub cause: B256,
    pub sender: Address,
    pub origin: Address,
    pub actor: Address,
    pub height: Height,
    pub chain_id: u64,
    pub timestamp_ms: u64,
    /// Money that came with the call.
    pub value: Amount,
    /// What is left of the cycles.
    pub cycles_left: u64,
}

/// A call of another actor.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'c> {
    pub to: Address,
    pub method: &'c str,
    pub payload: &'c [u8],
    /// Cycles for it: all that are left, or the default of queued calls, if none are named.
    pub cycles: Option<u64>,
    /// Money that goes with it.
    pub value: Amount,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub refusal: Refusal,
    pub message: String,
}

/// What a running handler may ask of the chain.
pub struct Host<'h, 'a> {
    pub(crate) exec: &'h mut Exec<'a>,
    pub(crate) running: Running,
}

impl<'h, 'a> Host<'h, 'a> {
    pub(crate) fn new(exec: &'h mut Exec<'a>, running: Running) -> Self {
        Self { exec, running }
    }

    /// Runs `part`; if it fails, takes back what it wrote. A program may catch the error and go on.
    pub(super) fn atomically<T>(
        &mut self,
        part: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let (savepoint, frame) = (self.exec.savepoint(), self.running.frame);
        let open = self.running.open.len();
        let result = part(self);
        if result.is_err() {
            self.exec.rollback_to(savepoint);
            self.running.frame = frame;
            self.running.open.truncate(open);
        }
        result
    }

    /// Consumes from the call's limits.
    pub fn charge(&mut self, cycles: u64, cells: u64) -> Result<(), Refusal> {
        self.exec.charge(cycles, cells)
    }

    /// What is left of the cycles.
    pub fn cycles_left(&self) -> u64 {
        self.exec.meter.cycles
    }

    /// Consumes cycles down to `left`; for machines that count while they run.
    pub fn leave_cycles(&mut self, left: u64) {
        self.exec.meter.cycles = self.exec.meter.cycles.min(left);
    }

    /// Memory that the machines of the calls around this one use.
    pub fn memory_around(&self) -> usize {
        self.exec.machine_memory
    }

    pub fn actor(&self) -> Address {
        self.running.actor
    }

    /// The height of the block.
    pub fn height(&self) -> Height {
        self.exec.env.height
    }

    /// The state as it is now.
    pub fn view(&self) -> &dyn View {
        &self.exec.state
    }

    /// The actor's code and its hash. The caller pays.
    pub fn code(&self) -> Option<(B256, String)> {
        let actor = self.running.actor;
        let record = self.exec.state.get(&ActorKey { actor })?;
        Some((record.code_hash, self.exec.state.get(&CodeKey { actor })?))
    }

    /// The hash of the actor's code.
    pub fn code_hash(&self) -> Option<B256> {
        let record = self.exec.state.get(&ActorKey { actor: self.running.actor })?;
        Some(record.code_hash)
    }

    /// What the call may know of itself.
    pub fn context(&mut self) -> Result<Context, Refusal> {
        self.charge(price::CONTEXT_CYCLES, 0)?;
        let Running { actor, sender, origin, cause, value, .. } = self.running;
        Ok(Context {
            cause,
            sender,
            origin,
            actor,
            height: self.exec.env.height,
            chain_id: self.exec.params.chain_id,
            timestamp_ms: self.exec.chain.timestamp_ms,
            value,
            cycles_left: self.cycles_left(),
        })
    }

    /// The value under a key.
    pub fn storage_get(&mut self, key: &[u8]) -> Result<Option<Bytes>, Refusal> {
        self.exec.storage_get(self.running.actor, key)
    }

    pub fn storage_set(&mut self, key: &[u8], value: &[u8]) -> Result<(), Refusal> {
        self.atomically(|host| host.exec.storage_set(host.running.actor, key, value))
    }

    /// Removes a value. Whether there was one.
    pub fn storage_delete(&mut self, key: &[u8]) -> Result<bool, Refusal> {
        self.exec.storage_delete(self.running.actor, key)
    }

    /// Keys and values in the order of the keys.
    pub fn storage_scan(&mut self, scan: Scan<'_>) -> Result<Vec<(Bytes, Bytes)>, Refusal> {
        let Exec { state, meter, .. } = &mut *self.exec;
        storage::scan(state, self.running.actor, scan, &mut meter.cycles)
    }

    pub fn emit(&mut self, topic: &str, data: &[u8]) -> Result<(), Refusal> {
        if topic.len() > TOPIC_BYTES_MAX || data.len() > EVENT_BYTES_MAX {
            return Err(Refusal::EventTooLarge);
        }
        let cells = price::EVENT_CELLS + (topic.len() + data.len()) as u64;
        self.charge(price::event(topic.len() + data.len()), cells)?;
        let (actor, topic, data) = (self.running.actor, topic.to_owned(), data.into());
        self.exec.emit(Event::ActorEvent { actor, topic, data });
        Ok(())
    }

    pub fn balance(&mut self, of: Address) -> Result<Amount, Refusal> {
        self.charge(price::READ_CYCLES, 0)?;
        Ok(self.exec.account(of).balance)
    }

    pub fn transfer(&mut self, to: Address, amount: Amount) -> Result<(), Refusal> {
        self.charge(price::TRANSFER_CYCLES, price::EVENT_CELLS)?;
        self.atomically(|host| host.exec.transfer(host.running.actor, to, amount))
    }

    /// `keccak256("cowboy-random-v1:" ‖ newest beacon on chain ‖ actor ‖ cause ‖ keccak256(label))`.
    /// Unknown when the transaction was signed, unless that was just before the block; known to the
    /// proposer. Code that plays for money commits first and asks in a later block.
    pub fn randomness(&mut self, label: &[u8]) -> Result<B256, Refusal> {
        self.charge(price::RANDOM_CYCLES + label.len() as u64 / price::WRITE_BYTES_PER_CYCLE, 0)?;
        let mut bytes = b"cowboy-random-v1:".to_vec();
        bytes.extend_from_slice(self.exec.env.parent_beacon.as_slice());
        bytes.extend_from_slice(self.running.actor.as_slice());
        bytes.extend_from_slice(self.running.cause.as_slice());
        bytes.extend_from_slice(keccak256(label).as_slice());
        Ok(keccak256(bytes))
    }

    /// Calls another actor synchronously. The inner error is that actor's: its writes are taken back, its
    /// consumption is not. `memory` is what this call's machine uses.
    pub fn call(
        &mut self,
        out: &Outgoing<'_>,
        memory: usize,
    ) -> Result<Result<Vec<u8>, Failure>, Refusal> {
        check_call(out.method, out.payload)?;
        self.charge(price::READ_CYCLES, 0)?;
        if !out.value.is_zero() {
            self.charge(price::TRANSFER_CYCLES, price::EVENT_CELLS)?;
        }
        let all = self.cycles_left();
        let cycles = out.cycles.unwrap_or(all).min(all);
        let Running { actor: sender, origin, cause, .. } = self.running;
        let running =
            Running { origin, value: out.value, payer: None, ..Running::of(out.to, sender, cause) };
        let call =
            Call { method: out.method, argument: Argument::Payload(out.payload), optional: false };
        self.exec.meter.cycles = cycles;
        self.exec.machine_memory += memory;
        self.exec.fault = None;
        let result = self.exec.nested(|exec| {
            if !exec.actors.has_code(&exec.state, out.to) {
                return Err(Refusal::NoCode);
            }
            if !out.value.is_zero() {
                exec.transfer(sender, out.to, out.value)?;
            }
            exec.run_method(running, &call, None)?.ok_or(Refusal::CalleeWaits)
        });
        self.exec.machine_memory -= memory;
        self.exec.meter.cycles += all - cycles;
        let fault = self.exec.fault.take();
        Ok(result.map_err(|refusal| Failure { refusal, message: told(fault, refusal) }))
    }

    /// Calls another actor in a later block, whatever comes of it. Prepaid by the actor.
    pub fn send(&mut self, out: &Outgoing<'_>) -> Result<(), Refusal> {
        self.atomically(|host| host.queue_message(out, None))
    }

    pub(super) fn queue_message(
        &mut self,
        out: &Outgoing<'_>,
        reply: Option<(Address, u64)>,
    ) -> Result<(), Refusal> {
        check_call(out.method, out.payload)?;
        let cells = price::DEFER_CELLS + out.payload.len() as u64;
        self.charge(price::DEFER_CYCLES + price::write(out.payload.len()), cells)?;
        let cycles_limit = match out.cycles {
            Some(cycles) => check_cycles(cycles, self.exec.params).map(|()| cycles)?,
            None => CALL_CYCLES_DEFAULT + self.exec.load_cycles(out.to),
        };
        let actor = self.running.actor;
        let deposit = self.exec.prepay(actor, cycles_limit)?;
        self.exec.debit(actor, out.value)?;
        let what = Deferred::Message {
            from: actor,
            origin: self.running.origin,
            method: out.method.to_owned(),
            payload: out.payload.into(),
            value: out.value,
            reply,
        };
        let deferred = DeferredCall { actor: out.to, payer: actor, deposit, cycles_limit, what };
        let call = self.exec.defer(&deferred);
        let (to, method) = (out.to, out.method.to_owned());
        self.exec.emit(Event::CallQueued { call, from: actor, to, method });
        Ok(())
    }

    /// `schedule_timer(height, payload)`: everything else as the chain sees fit.
    pub fn schedule_timer(&mut self, height: Height, payload: &[u8]) -> Result<B256, Refusal> {
        self.schedule_timer_ex(&ScheduleTimer {
            height,
            payload: payload.into(),
            ..ScheduleTimer::default()
        })
    }

    /// `schedule_timer_ex`: with all its arguments. A transaction's sender can be made to pay only if
    /// the actor is the sender's own: others have agreed to the transaction's fee and to nothing more.
    pub fn schedule_timer_ex(&mut self, timer: &ScheduleTimer) -> Result<B256, Refusal> {
        self.charge(SCHEDULE_CYCLES, SCHEDULE_CELLS + timer.payload.len() as u64)?;
        let actor = self.running.actor;
        let owner = self.exec.state.get(&ActorKey { actor }).map(|record| record.owner);
        let payer = self.running.payer.filter(|payer| owner == Some(*payer)).unwrap_or(actor);
        self.atomically(|host| host.exec.schedule_timer(actor, payer, timer))
    }

    pub fn cancel_timer(&mut self, id: B256) -> Result<(), Refusal> {
        self.charge(CHANGE_CYCLES, 0)?;
        self.exec.cancel_timer(self.running.actor, id)
    }

    pub fn extend_timer(&mut self, id: B256, expires_at: Height) -> Result<(), Refusal> {
        self.charge(CHANGE_CYCLES, 0)?;
        self.exec.extend_timer(self.running.actor, id, expires_at)
    }

    /// Gives the actor other code from the next call on; its owner must be the one who called.
    pub fn upgrade(&mut self, code: &str) -> Result<(), Refusal> {
        let price = intrinsic(
            &Instruction::UpgradeActor { actor: self.running.actor, code: code.to_owned() },
            code.len(),
        );
        self.charge(price.cycles, price.cells)?;
        // Its frames would be of the code that it began with.
        if !self.running.open.is_empty() {
            return Err(Refusal::CallsWaiting);
        }
        self.atomically(|host| host.exec.upgrade(host.running.sender, host.running.actor, code))?;
        self.running.upgraded = true;
        Ok(())
    }
}

fn told(fault: Option<CallFault>, refusal: Refusal) -> String {
    fault.map_or_else(|| refusal.to_string(), |fault| fault.error)
}
