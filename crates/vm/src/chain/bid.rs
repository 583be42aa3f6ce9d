//! `getGasBid`: an agent's method that may look and not change.

use remuda_protocol::account::Account;
use remuda_protocol::actors::price;
use remuda_protocol::actors::record::Actor;
use remuda_protocol::actors::storage;
use remuda_protocol::chain::ChainState;
use remuda_protocol::error::Refusal;
use remuda_protocol::key::{AccountKey, ActorKey, ChainKey, CodeKey};
use remuda_protocol::primitives::{Address, Amount, B256, Height};
use remuda_protocol::state::{View, read};
use remuda_protocol::timers::agents::{AgentFault, BidAnswer, GBA_CYCLES, GbaContext, TxFeeParams};

use super::calls::{CallError, form, found, scan};
use super::convert::{self, as_address, as_u128, number};
use super::errors::host_error;
use super::{HEAP_BYTES, Machine, OUTPUT_BYTES, VM_CYCLES};
use crate::cbor;
use crate::run::attend::{Ask, Unanswered, World};
use crate::{Ending, Fatal, HostReply, HostValue as V, Limits, Vm};

/// What an agent is called by.
const METHOD: &str = "getGasBid";

/// The world of a call that reads.
struct Reading<'v> {
    view: &'v dyn View,
    agent: Address,
    height: u64,
    chain_id: u64,
    wrote: bool,
}

impl Machine {
    pub(super) fn bid(&self, view: &dyn View, agent: Address, context: &GbaContext) -> BidAnswer {
        let Some(record): Option<Actor> = read(view, &ActorKey { actor: agent }) else {
            return BidAnswer { cycles: 0, bid: Err(AgentFault::NoCode) };
        };
        // Nobody counts which agents a block has asked, so each question pays for compiling; that also
        // bounds how long an agent's code can be. Longer code is not compiled, and not paid for.
        let price = price::first_call(record.code_bytes.into());
        let Some(cycles) = GBA_CYCLES.checked_sub(price) else {
            return BidAnswer { cycles: 0, bid: Err(AgentFault::OutOfCycles) };
        };
        let source = || read(view, &CodeKey { actor: agent });
        let Some(program) = self.programs.get(record.code_hash, source) else {
            return BidAnswer { cycles: 0, bid: Err(AgentFault::NoCode) };
        };
        let (heap_bytes, output_bytes) = (HEAP_BYTES, OUTPUT_BYTES);
        let mut vm = Vm::new(Limits { cycles: cycles * VM_CYCLES, heap_bytes, output_bytes });
        let (height, chain_id) = (context.current_block_height, context.chain_id);
        let mut world = Reading { view, agent, height, chain_id, wrote: false };
        let payload = convert::payload(&convert::gas_context(context));
        let result = match vm.run_module_in(&mut world, &program) {
            Ok(()) => vm.call_method_in(&mut world, METHOD, &payload),
            Err(ending) => Err(ending),
        };
        let bid = match result {
            _ if world.wrote => Err(AgentFault::Wrote),
            Ok(bytes) => offer(&bytes).ok_or(AgentFault::BadBid),
            Err(Ending::Stopped(Fatal::Cycles)) => Err(AgentFault::OutOfCycles),
            Err(Ending::NoMethod(_)) => Err(AgentFault::NoCode),
            Err(_) => Err(AgentFault::Failed),
        };
        BidAnswer { cycles: GBA_CYCLES - vm.cycles_left() / VM_CYCLES, bid }
    }
}

/// The fees that an agent names.
fn offer(bytes: &[u8]) -> Option<TxFeeParams> {
    let V::Dict(pairs) = cbor::decode(bytes).ok()? else { return None };
    let fee = |wanted: &str| {
        let named = |(name, _): &&(V, V)| matches!(name, V::Str(name) if name == wanted);
        pairs.iter().find(named).and_then(|(_, value)| as_u128(value))
    };
    Some(TxFeeParams {
        max_fee_per_cycle: fee("max_fee_per_cycle")?,
        max_priority_fee_per_cycle: fee("max_priority_fee_per_cycle")?,
    })
}

/// Takes a price in the chain's cycles.
fn charge(cycles: &mut u64, price: u64) -> Result<(), CallError> {
    let left = cycles.checked_sub(price.saturating_mul(VM_CYCLES));
    *cycles = left.unwrap_or(0);
    left.map(|_| ()).ok_or(CallError::Refused(Refusal::OutOfCycles))
}

/// Reads with what is left, in the chain's cycles.
fn reading<T>(
    cycles: &mut u64,
    read: impl FnOnce(&mut u64) -> Result<T, CallError>,
) -> Result<T, CallError> {
    let mut left = *cycles / VM_CYCLES;
    let found = read(&mut left);
    *cycles = left * VM_CYCLES + *cycles % VM_CYCLES;
    found
}

impl World for Reading<'_> {
    fn ask(&mut self, ask: Ask<'_>) -> Result<HostReply, Unanswered> {
        let (view, agent) = (self.view, self.agent);
        let cycles = ask.cycles;
        let answer = match (ask.name, ask.args) {
            ("context", []) => charge(cycles, price::CONTEXT_CYCLES).map(|()| self.context()),
            ("storage_get", [V::Bytes(key)]) => {
                reading(cycles, |left| Ok(storage::get(view, agent, key, left)?))
                    .map(|found| found.map_or(V::None, |value| V::Bytes(value.0)))
            }
            ("storage_scan", [V::Bytes(prefix), after, limit]) => reading(cycles, |left| {
                Ok(found(storage::scan(view, agent, scan(prefix, after, limit)?, left)?))
            }),
            ("balance", [of]) => charge(cycles, price::READ_CYCLES).and_then(|()| {
                let address = as_address(of).ok_or_else(|| form("balance"))?;
                let account: Account = read(view, &AccountKey { address }).unwrap_or_default();
                Ok(number(account.balance.get()))
            }),
            _ => {
                self.wrote = true;
                Err(CallError::Refused(Refusal::ReadOnly))
            }
        };
        match answer {
            Ok(value) => Ok(HostReply::Value(value)),
            Err(CallError::Refused(Refusal::OutOfCycles)) => Err(Unanswered::Stop(Fatal::Cycles)),
            Err(CallError::Refused(refusal)) => {
                Err(Unanswered::Error(host_error(refusal, refusal.to_string())))
            }
            Err(CallError::Explained(refusal, message)) => {
                Err(Unanswered::Error(host_error(refusal, message)))
            }
        }
    }
}

impl Reading<'_> {
    fn context(&self) -> V {
        let chain: Option<ChainState> = read(self.view, &ChainKey {});
        convert::context(&remuda_protocol::actors::host::Context {
            cause: B256::ZERO,
            sender: self.agent,
            origin: self.agent,
            actor: self.agent,
            height: Height(self.height),
            chain_id: self.chain_id,
            timestamp_ms: chain.map_or(0, |chain| chain.timestamp_ms),
            value: Amount::ZERO,
            cycles_left: 0,
        })
    }
}
