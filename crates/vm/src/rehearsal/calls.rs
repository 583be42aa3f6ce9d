//! What a test can ask for: the calls behind `chain` in `harness.py`. Actors do not see them.

use remuda_protocol::actors::actor_address;
use remuda_protocol::actors::record::Actor;
use remuda_protocol::actors::storage::{SCAN_ENTRIES_MAX, Scan, scan};
use remuda_protocol::codec::Bytes;
use remuda_protocol::event::Event;
use remuda_protocol::key::{ActorKey, StorageKey};
use remuda_protocol::primitives::{Address, B256, keccak256};
use remuda_protocol::registry::runner::Offer;
use remuda_protocol::state::read;
use remuda_protocol::transaction::Instruction;

use super::fault::{Fault, FaultText};
use super::jobs::Results;
use super::stage::{Source, Stage, refused};
use super::{Bounds, Load};
use crate::chain::VM_CYCLES;
use crate::chain::convert::{as_address, as_amount, as_hash, as_u64, bytes, dict, number, text};
use crate::run::attend::{Ask, Unanswered, World};
use crate::{Fatal, HostError, HostErrorKind, HostReply, HostValue as V};

/// Cycles of any call, and of a block: about what they take.
const CALL_CYCLES: u64 = 2_000;
const BLOCK_CYCLES: u64 = 20_000;

/// The world of a test.
pub(super) struct Player<'l> {
    pub(super) stage: Stage,
    pub(super) load: Load<'l>,
    pub(super) bounds: Bounds,
    /// The last failure that the test was told of.
    pub(super) last: Option<FaultText>,
}

type Answer = Result<V, HostError>;

impl World for Player<'_> {
    fn ask(&mut self, ask: Ask<'_>) -> Result<HostReply, Unanswered> {
        let before = (self.stage.blocks, self.stage.cycles);
        self.stage.room = self.bounds.blocks_per_call;
        let answer = self.answer(ask.name, ask.args);
        let blocks = (self.stage.blocks - before.0).saturating_mul(BLOCK_CYCLES);
        let actors = (self.stage.cycles - before.1).saturating_mul(VM_CYCLES);
        let price = CALL_CYCLES.saturating_add(blocks).saturating_add(actors);
        *ask.cycles = ask.cycles.saturating_sub(price);
        if *ask.cycles == 0 {
            return Err(Unanswered::Stop(Fatal::Cycles));
        }
        answer.map(HostReply::Value).map_err(Unanswered::Error)
    }
}

/// An address, or all of them for None.
fn one_or_all(value: &V) -> Option<Option<Address>> {
    match value {
        V::None => Some(None),
        value => as_address(value).map(Some),
    }
}

fn limit(value: &V) -> Option<Option<u64>> {
    match value {
        V::None => Some(None),
        value => as_u64(value).map(Some),
    }
}

fn form(name: &str) -> HostError {
    let name = name.strip_prefix("test_").unwrap_or(name);
    refused(format!(
        "chain.{name} does not take such arguments: actors, accounts and senders are what chain gave or \
         names, keys and methods are text, amounts and heights whole numbers"
    ))
}

impl Player<'_> {
    fn answer(&mut self, name: &str, args: &[V]) -> Answer {
        let wrong = || form(name);
        match (name, args) {
            ("test_account", [V::Str(name)]) => Ok(bytes(self.stage.account(name)?.as_slice())),
            ("test_deploy", [V::Str(file), V::Bytes(payload), value, sender, cycles]) => {
                let value = as_amount(value).ok_or_else(wrong)?;
                let sender = as_address(sender).ok_or_else(wrong)?;
                let cycles = limit(cycles).ok_or_else(wrong)?;
                let payload = Bytes(payload.clone());
                let salt = keccak256(self.stage.sources.len().to_be_bytes());
                let deploy = |code: String| Instruction::DeployActor { salt, code, payload, value };
                self.deploy(file, sender, salt, cycles, deploy)
            }
            ("test_call", [actor, V::Str(method), V::Bytes(payload), value, sender, cycles]) => {
                let actor = as_address(actor).ok_or_else(wrong)?;
                let value = as_amount(value).ok_or_else(wrong)?;
                let sender = as_address(sender).ok_or_else(wrong)?;
                let cycles = limit(cycles).ok_or_else(wrong)?;
                let (method, payload) = (method.clone(), Bytes(payload.clone()));
                let call = Instruction::CallActor { actor, method, payload, value };
                self.call(actor, sender, call, cycles)
            }
            ("test_transfer", [to, amount, sender]) => {
                let to = as_address(to).ok_or_else(wrong)?;
                let amount = as_amount(amount).ok_or_else(wrong)?;
                let sender = as_address(sender).ok_or_else(wrong)?;
                let transfer = Instruction::Transfer { to, amount };
                let receipt = self.stage.run(sender, transfer, None)?;
                match Fault::of_receipt(&receipt, to, "transfer") {
                    None => Ok(V::None),
                    Some(fault) => Err(refused(fault.text(&self.stage.sources).text())),
                }
            }
            ("test_state", [actor, V::Bytes(key)]) => {
                let actor = as_address(actor).ok_or_else(wrong)?;
                let found: Option<Bytes> =
                    read(&self.stage.chain.state, &StorageKey { actor, key });
                Ok(found.map_or(V::None, |found| V::Bytes(found.0)))
            }
            ("test_storage", [actor]) => self.storage(as_address(actor).ok_or_else(wrong)?),
            ("test_waiting", [actor]) => {
                let actor = as_address(actor).ok_or_else(wrong)?;
                let record: Option<Actor> = read(&self.stage.chain.state, &ActorKey { actor });
                Ok(number(record.map_or(0, |record| record.suspended.into())))
            }
            ("test_events", [of]) => {
                let of = one_or_all(of).ok_or_else(wrong)?;
                let events = self.stage.events.iter();
                let wanted = events.filter(|(actor, ..)| of.is_none_or(|of| of == *actor));
                let pair = |(_, topic, data): &(Address, String, Vec<u8>)| {
                    V::List(vec![text(topic), bytes(data)])
                };
                Ok(V::List(wanted.map(pair).collect()))
            }
            ("test_printed", []) => Ok(self.printed()),
            ("test_failures", [of]) => {
                let of = one_or_all(of).ok_or_else(wrong)?;
                let faults = self.stage.faults.iter();
                let wanted = faults.filter(|fault| of.is_none_or(|of| of == fault.actor));
                let told = wanted.map(|fault| fault.text(&self.stage.sources).value());
                Ok(V::List(told.collect()))
            }
            ("test_balance", [who]) => {
                let who = as_address(who).ok_or_else(wrong)?;
                Ok(number(self.stage.chain.balance(who).get()))
            }
            ("test_height", []) => Ok(number(self.stage.chain.height().get().into())),
            ("test_blocks", [n]) => {
                self.stage.steps(as_u64(n).ok_or_else(wrong)?)?;
                Ok(V::None)
            }
            ("test_jobs", [of]) => Ok(self.stage.open_jobs(one_or_all(of).ok_or_else(wrong)?)),
            ("test_answer", [job, V::List(results), V::Bool(each)]) => {
                let job = as_hash(job).ok_or_else(wrong)?;
                let results = delivered(results, *each).ok_or_else(wrong)?;
                Ok(text(self.stage.answer(job, results)?))
            }
            ("test_fail", [job]) => Ok(text(self.stage.fail(as_hash(job).ok_or_else(wrong)?)?)),
            ("test_runners", []) => {
                let runners = self.stage.runners.iter();
                Ok(V::List(runners.map(|key| bytes(key.address().as_slice())).collect()))
            }
            ("test_offer", [V::List(models), V::List(executors), V::List(chains)]) => {
                let name = |name: &V| match name {
                    V::Str(name) => Some(name.clone()),
                    _ => None,
                };
                let models = models.iter().map(name).collect::<Option<_>>().ok_or_else(wrong)?;
                let executors = executors.iter().map(hash).collect::<Option<_>>();
                let eth_chains = chains.iter().map(as_u64).collect::<Option<_>>();
                let executors = executors.ok_or_else(wrong)?;
                let eth_chains = eth_chains.ok_or_else(wrong)?;
                let offer = self.stage.offer.clone();
                self.stage.offer(Offer { models, executors, eth_chains, ..offer })?;
                Ok(V::None)
            }
            _ if name.starts_with("test_") => Err(form(name)),
            _ => {
                let message = format!(
                    "'{name}' is for actors; a test asks the chain: chain.state, chain.balance, …"
                );
                Err(HostError::new(HostErrorKind::Unsupported, message))
            }
        }
    }

    fn deploy(
        &mut self,
        file: &str,
        sender: Address,
        salt: B256,
        cycles: Option<u64>,
        deploy: impl FnOnce(String) -> Instruction,
    ) -> Answer {
        let not_found = |why| HostError::new(HostErrorKind::NotFound, why);
        let code = (self.load)(file).map_err(not_found)?;
        if let Err(error) = crate::compile(&code, file) {
            return Ok(self.tell(FaultText::syntax(&error, &code)));
        }
        let actor = actor_address(sender, salt, &code);
        let source = Source { file: file.to_owned(), text: code.clone() };
        self.stage.sources.insert(actor, source);
        let receipt = self.stage.run(sender, deploy(code), cycles)?;
        match Fault::of_receipt(&receipt, actor, "init") {
            Some(fault) => Ok(self.tell(fault.text(&self.stage.sources))),
            None => Ok(dict([("actor", bytes(actor.as_slice()))])),
        }
    }

    fn call(
        &mut self,
        actor: Address,
        sender: Address,
        call: Instruction,
        cycles: Option<u64>,
    ) -> Answer {
        let Instruction::CallActor { method, .. } = &call else { return Err(form("test_call")) };
        let method = method.clone();
        let receipt = self.stage.run(sender, call, cycles)?;
        if let Some(fault) = Fault::of_receipt(&receipt, actor, &method) {
            return Ok(self.tell(fault.text(&self.stage.sources)));
        }
        let returned = receipt.events.iter().find_map(|event| match event {
            Event::ActorReturned { value, .. } => Some(bytes(value)),
            _ => None,
        });
        Ok(dict([("value", returned.unwrap_or(V::None))]))
    }

    /// What actors printed since the test asked last: pairs of a file and its text.
    fn printed(&self) -> V {
        let pair = |(actor, printed): (Address, String)| {
            let file = self.stage.sources.get(&actor).map(|source| source.file.clone());
            V::List(vec![V::Str(file.unwrap_or_else(|| actor.to_string())), V::Str(printed)])
        };
        V::List(self.stage.prints.take().into_iter().map(pair).collect())
    }

    fn tell(&mut self, told: FaultText) -> V {
        let value = told.value();
        self.last = Some(told);
        value
    }

    /// All that an actor keeps; keys as text where they are.
    fn storage(&self, actor: Address) -> Answer {
        let mut found: Vec<V> = Vec::new();
        let mut after: Option<Bytes> = None;
        loop {
            let part = Scan { prefix: b"", after: after.as_deref(), limit: SCAN_ENTRIES_MAX };
            let mut cycles = u64::MAX;
            let entries =
                scan(&self.stage.chain.state, actor, part, &mut cycles).unwrap_or_default();
            let Some((last, _)) = entries.last() else { return Ok(V::List(found)) };
            after = Some(last.clone());
            found.extend(entries.into_iter().map(|(key, value)| {
                let key = match String::from_utf8(key.0) {
                    Ok(key) => V::Str(key),
                    Err(error) => V::Bytes(error.into_bytes()),
                };
                V::List(vec![key, V::Bytes(value.0)])
            }));
        }
    }
}

/// 32 bytes, or their digits.
fn hash(value: &V) -> Option<B256> {
    match value {
        V::Str(digits) => digits.parse().ok(),
        value => as_hash(value),
    }
}

fn delivered(results: &[V], each: bool) -> Option<Results> {
    let one = |result: &V| match result {
        V::None => Some(None),
        V::Bytes(result) => Some(Some(result.clone())),
        _ => None,
    };
    let mut results = results.iter().map(one).collect::<Option<Vec<_>>>()?;
    match each {
        true => Some(Results::Each(results)),
        false => results.pop().flatten().map(Results::Same),
    }
}
