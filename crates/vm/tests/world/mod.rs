//! A chain in memory that answers every call of `HOST.md`: actors with storage and balances, calls of
//! each other, timers, jobs. Calls that wait are frozen to bytes and go on from them.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use remuda_vm::HostErrorKind as Kind;
use remuda_vm::{Ending, Host, HostError, HostReply, HostValue, Limits, Program, Vm, compile};
use sha2::{Digest, Sha256};

pub(crate) const CYCLES: u64 = 50_000_000;
pub(crate) const DEPTH_MAX: usize = 32;
pub(crate) const USER: [u8; 20] = [0x11; 20];
pub(crate) const ACTOR: [u8; 20] = [0x22; 20];

pub(crate) type Bytes = Vec<u8>;

#[derive(Default)]
pub(crate) struct Actor {
    pub(crate) program: Option<Arc<Program>>,
    pub(crate) storage: BTreeMap<Bytes, Bytes>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wait {
    Job(Bytes),
    Height(i64),
    Answer(Bytes, String, Bytes),
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) height: i64,
    pub(crate) actors: BTreeMap<Bytes, Actor>,
    pub(crate) balances: BTreeMap<Bytes, i64>,
    pub(crate) events: Vec<(String, Bytes)>,
    pub(crate) sent: Vec<(Bytes, String, Bytes)>,
    pub(crate) timers: BTreeMap<Bytes, (i64, Bytes, HostValue)>,
    pub(crate) jobs: Vec<(HostValue, HostValue)>,
    pub(crate) waits: BTreeMap<u64, Wait>,
    pub(crate) frozen: BTreeMap<u64, (Bytes, Bytes)>,
    pub(crate) read_only: bool,
    pub(crate) depth: usize,
    pub(crate) serial: u64,
}

#[derive(Clone, Default)]
pub(crate) struct World(pub(crate) Arc<Mutex<State>>);

pub(crate) fn text(text: &str) -> HostValue {
    HostValue::Str(text.to_owned())
}

pub(crate) fn cbor(value: &HostValue) -> Bytes {
    remuda_vm::cbor::encode(value).unwrap()
}

/// A dict with text for keys.
pub(crate) fn dict(pairs: &[(&str, HostValue)]) -> HostValue {
    HostValue::Dict(pairs.iter().map(|(key, value)| (text(key), value.clone())).collect())
}

pub(crate) fn sha256(bytes: &[u8]) -> Bytes {
    Sha256::digest(bytes).to_vec()
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self::default();
        world.state().height = 1000;
        world
    }

    pub(crate) fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Deploys a program at an address; what `init` returned.
    pub(crate) fn deploy(&self, at: &[u8], source: &str, payload: &[u8]) -> Result<Bytes, Ending> {
        let program = Arc::new(compile(source, "actor.py").map_err(Ending::Refused)?);
        self.state().actors.entry(at.to_vec()).or_default().program = Some(program);
        let mut vm = self.machine(at, &USER)?;
        let result = vm.deploy(payload);
        self.keep(at, &vm, &result);
        result
    }

    /// Calls a method from outside.
    pub(crate) fn call(&self, at: &[u8], method: &str, payload: &[u8]) -> Result<Bytes, Ending> {
        self.call_from(&USER, at, method, payload)
    }

    pub(crate) fn call_from(
        &self,
        from: &[u8],
        at: &[u8],
        method: &str,
        payload: &[u8],
    ) -> Result<Bytes, Ending> {
        let mut vm = self.machine(at, from)?;
        let result = vm.call_method(method, payload);
        self.keep(at, &vm, &result);
        result
    }

    /// Resumes the call that awaits this token, in a machine that is thawed from bytes.
    pub(crate) fn answer(
        &self,
        token: u64,
        answer: Result<HostValue, HostError>,
    ) -> Result<Bytes, Ending> {
        let (at, frozen) = self.state().frozen.remove(&token).expect("nobody waits for it");
        let program = self.program(&at).unwrap();
        let mut vm = Vm::thaw(&program, &frozen, Limits::with_cycles(CYCLES)).unwrap();
        vm.set_host(Box::new(Seat { world: self.clone(), at: at.clone(), from: USER.to_vec() }));
        let result = vm.resume_method(token, answer);
        self.state().waits.remove(&token);
        self.state().frozen.retain(|_, (_, other)| *other != frozen);
        self.keep(&at, &vm, &result);
        result
    }

    /// Runs a program's body as an actor; what it printed.
    pub(crate) fn run(&self, at: &[u8], source: &str) -> (String, Result<(), Ending>) {
        let program = compile(source, "actor.py").map_err(Ending::Refused);
        let mut vm = Vm::new(Limits::with_cycles(CYCLES));
        let seat = Seat { world: self.clone(), at: at.to_vec(), from: USER.to_vec() };
        vm.set_host(Box::new(seat));
        let result = program.and_then(|program| vm.run_module(&program));
        (vm.output().to_owned(), result)
    }

    /// The answer to a job, in the form of `await_job`.
    pub(crate) fn job_done(&self, token: u64, result: &[u8]) -> Result<Bytes, Ending> {
        let id = match self.state().waits.get(&token) {
            Some(Wait::Job(id)) => id.clone(),
            other => panic!("{other:?} is no job"),
        };
        let answer = dict(&[
            ("status", text("completed")),
            ("result", HostValue::Bytes(result.to_vec())),
            ("job_id", HostValue::Bytes(id)),
        ]);
        self.answer(token, Ok(answer))
    }

    pub(crate) fn stored(&self, at: &[u8], key: &str) -> Option<HostValue> {
        let raw = self.state().actors.get(at)?.storage.get(key.as_bytes())?.clone();
        Some(remuda_vm::cbor::decode(&raw).unwrap())
    }

    fn program(&self, at: &[u8]) -> Option<Arc<Program>> {
        self.state().actors.get(at).and_then(|actor| actor.program.clone())
    }

    fn machine(&self, at: &[u8], from: &[u8]) -> Result<Vm, Ending> {
        let program = self.program(at).expect("nothing is deployed there");
        let mut vm = Vm::new(Limits::with_cycles(CYCLES));
        let seat = Seat { world: self.clone(), at: at.to_vec(), from: from.to_vec() };
        vm.set_host(Box::new(seat));
        vm.run_module(&program)?;
        Ok(vm)
    }

    fn keep(&self, at: &[u8], vm: &Vm, result: &Result<Bytes, Ending>) {
        if let Err(Ending::Suspended(tokens)) = result {
            let bytes = vm.freeze(tokens[0]).unwrap();
            let mut state = self.state();
            for token in tokens {
                state.frozen.insert(*token, (at.to_vec(), bytes.clone()));
            }
        }
    }
}

/// The world as one actor sees it in one call.
struct Seat {
    world: World,
    at: Bytes,
    from: Bytes,
}

fn refuse<T>(kind: Kind, message: impl Into<String>) -> Result<T, HostError> {
    Err(HostError::new(kind, message))
}

fn int(number: usize) -> HostValue {
    HostValue::Int(number as i64)
}

impl Host for Seat {
    fn price(&self, _: &str, _: &[HostValue]) -> u64 {
        100
    }

    fn call(&mut self, name: &str, args: &[HostValue]) -> Result<HostReply, HostError> {
        use HostValue::{Bytes as B, Int, List, None as Nothing, Str};
        let mut state = self.world.state();
        let writes = !matches!(
            name,
            "context" | "storage_get" | "storage_scan" | "balance" | "randomness" | "entitled"
        );
        if state.read_only && writes {
            return refuse(Kind::ReadOnly, format!("'{name}' would change something"));
        }
        state.serial += 1;
        let id = sha256(&state.serial.to_le_bytes());
        let height = state.height;
        let storage = &mut state.actors.entry(self.at.clone()).or_default().storage;
        let value = match (name, args) {
            ("context", []) => dict(&[
                ("tx_hash", B(vec![0xab; 32])),
                ("sender", B(self.from.clone())),
                ("origin", B(USER.to_vec())),
                ("actor_addr", B(self.at.clone())),
                ("block_height", Int(height)),
                ("chain_id", Int(1)),
                ("timestamp_ms", Int(1_700_000_000_000)),
                ("value", Int(0)),
                ("cycles_left", Int(CYCLES as i64)),
            ]),
            ("storage_get", [B(key)]) => storage.get(key).cloned().map_or(Nothing, B),
            ("storage_set", [B(key), B(value)]) => {
                storage.insert(key.clone(), value.clone());
                Nothing
            }
            ("storage_delete", [B(key)]) => HostValue::Bool(storage.remove(key).is_some()),
            ("storage_scan", [B(prefix), after, Int(limit)]) => {
                let after = if let B(after) = after { Some(after) } else { None };
                let found = storage
                    .iter()
                    .filter(|(key, _)| key.starts_with(prefix))
                    .filter(|(key, _)| after.is_none_or(|after| *key > after))
                    .take(*limit as usize)
                    .map(|(key, value)| List(vec![B(key.clone()), B(value.clone())]));
                List(found.collect())
            }
            ("emit", [Str(topic), B(data)]) => {
                state.events.push((topic.clone(), data.clone()));
                Nothing
            }
            ("balance", [B(of)]) => Int(state.balances.get(of).copied().unwrap_or(0)),
            ("transfer", [B(to), Int(amount)]) => {
                let mine = state.balances.entry(self.at.clone()).or_default();
                if *mine < *amount {
                    return refuse(Kind::Funds, format!("{mine} is less than {amount}"));
                }
                *mine -= amount;
                *state.balances.entry(to.clone()).or_default() += amount;
                Nothing
            }
            ("randomness", [B(label)]) => B(sha256(label)),
            ("call", [B(to), Str(method), B(payload), Nothing | Int(_), Int(_)]) => {
                if state.actors.get(to).is_none_or(|actor| actor.program.is_none()) {
                    return refuse(Kind::NotFound, "there is no such actor");
                }
                if state.depth >= DEPTH_MAX {
                    return refuse(Kind::Depth, "too many calls inside each other");
                }
                state.depth += 1;
                drop(state);
                let result = self.world.call_from(&self.at, to, method, payload);
                self.world.state().depth -= 1;
                return match result {
                    Ok(answer) => Ok(HostReply::Value(B(answer))),
                    Err(Ending::NoMethod(method)) => refuse(Kind::NotFound, method),
                    Err(other) => refuse(Kind::Failed, format!("{other:?}")),
                };
            }
            ("send", [B(to), Str(method), B(payload), Nothing | Int(_), Int(_)]) => {
                state.sent.push((to.clone(), method.clone(), payload.clone()));
                Nothing
            }
            ("schedule_timer", [Int(at), B(payload), options @ HostValue::Dict(_)]) => {
                state.timers.insert(id.clone(), (*at, payload.clone(), options.clone()));
                B(id)
            }
            ("cancel_timer", [B(timer)]) => match state.timers.remove(timer) {
                Some(_) => Nothing,
                None => return refuse(Kind::NotFound, "there is no such timer"),
            },
            ("extend_timer", [B(timer), Int(at)]) => match state.timers.get_mut(timer) {
                Some(known) => {
                    known.0 = *at;
                    Nothing
                }
                None => return refuse(Kind::NotFound, "there is no such timer"),
            },
            ("submit_job", [spec @ HostValue::Dict(_), callback @ (Nothing | Str(_))]) => {
                state.jobs.push((spec.clone(), callback.clone()));
                B(sha256(&state.jobs.len().to_le_bytes()))
            }
            ("entitled", [Str(action), Str(_), Nothing]) => HostValue::Bool(action == "read"),
            ("upgrade", [Str(source)]) => match compile(source, "actor.py") {
                Ok(program) => {
                    let actor = state.actors.entry(self.at.clone()).or_default();
                    actor.program = Some(Arc::new(program));
                    Nothing
                }
                Err(error) => return refuse(Kind::Refused, error.to_string()),
            },
            ("await_job", [B(job)]) => return pending(&mut state, Wait::Job(job.clone())),
            ("sleep_until", [Int(height)]) => return pending(&mut state, Wait::Height(*height)),
            ("ask", [B(to), Str(method), B(payload), Nothing | Int(_), Int(_), ..]) => {
                let wait = Wait::Answer(to.clone(), method.clone(), payload.clone());
                return pending(&mut state, wait);
            }
            _ => return refuse(Kind::Refused, format!("no call '{name}' takes {args:?}")),
        };
        Ok(HostReply::Value(value))
    }
}

fn pending(state: &mut State, wait: Wait) -> Result<HostReply, HostError> {
    let token = state.serial;
    state.waits.insert(token, wait);
    Ok(HostReply::Pending(token))
}

/// The tokens of a call that waits.
pub(crate) fn waits(result: Result<Bytes, Ending>) -> Vec<u64> {
    match result {
        Err(Ending::Suspended(tokens)) => tokens,
        other => panic!("it does not wait: {other:?}"),
    }
}

/// The exception that ended a call: its class and message.
pub(crate) fn raised(result: Result<Bytes, Ending>) -> (String, String) {
    match result {
        Err(Ending::Raised(raised)) => (raised.kind, raised.message),
        other => panic!("nothing was raised: {other:?}"),
    }
}

pub(crate) fn numbers(count: usize) -> HostValue {
    HostValue::List((0..count).map(int).collect())
}
