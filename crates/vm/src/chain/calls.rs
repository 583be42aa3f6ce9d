//! The host's calls (`HOST.md`), answered by the chain.

use remuda_protocol::actors::host::{Host, Outgoing};
use remuda_protocol::actors::price;
use remuda_protocol::actors::storage::Scan;
use remuda_protocol::error::Refusal;
use remuda_protocol::primitives::Height;

use super::convert::{self, as_address, as_amount, as_hash, as_u64, bytes, number};
use super::errors::host_error;
use super::{VM_CYCLES, entitle};
use crate::HostValue as V;
use crate::run::attend::{Ask, Unanswered, World};
use crate::{Fatal, HostReply};

/// Why a call has no answer.
pub(super) enum CallError {
    /// A rule of the chain.
    Refused(Refusal),
    /// A rule of the chain, with a message of its own.
    Explained(Refusal, String),
}

impl From<Refusal> for CallError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

pub(super) type Answer = Result<HostReply, CallError>;

pub(super) struct Asked<'w, 'h, 'a> {
    pub(super) host: &'w mut Host<'h, 'a>,
    /// Why the run was stopped, if it was not for want of cycles.
    pub(super) stopped: Option<Refusal>,
}

impl<'w, 'h, 'a> Asked<'w, 'h, 'a> {
    pub(super) fn new(host: &'w mut Host<'h, 'a>) -> Self {
        Self { host, stopped: None }
    }

    /// The token to tell an error about: one that cannot be waited for, or the first.
    pub(super) fn first_unknown(&mut self, tokens: &[u64]) -> u64 {
        let unknown = tokens.iter().copied().find(|token| !self.host.is_open(*token));
        unknown.or(tokens.first().copied()).unwrap_or_default()
    }
}

impl World for Asked<'_, '_, '_> {
    fn ask(&mut self, ask: Ask<'_>) -> Result<HostReply, Unanswered> {
        let rest = *ask.cycles % VM_CYCLES;
        self.host.leave_cycles(*ask.cycles / VM_CYCLES);
        let answer = answer(self.host, ask.name, ask.args, ask.heap_bytes);
        *ask.cycles = self.host.cycles_left().saturating_mul(VM_CYCLES).saturating_add(rest);
        let (refusal, message) = match answer {
            Ok(reply) => return Ok(reply),
            Err(CallError::Refused(refusal)) => (refusal, refusal.to_string()),
            Err(CallError::Explained(refusal, message)) => {
                return Err(Unanswered::Error(host_error(refusal, message)));
            }
        };
        if matches!(refusal, Refusal::OutOfCycles | Refusal::OutOfCells) {
            self.stopped = Some(refusal);
            if refusal == Refusal::OutOfCycles {
                *ask.cycles = 0;
            }
            return Err(Unanswered::Stop(Fatal::Cycles));
        }
        Err(Unanswered::Error(host_error(refusal, message)))
    }
}

pub(super) fn none(done: Result<(), Refusal>) -> Answer {
    done?;
    Ok(HostReply::Value(V::None))
}

pub(super) fn value(value: V) -> Answer {
    Ok(HostReply::Value(value))
}

fn answer(host: &mut Host<'_, '_>, name: &str, args: &[V], heap_bytes: usize) -> Answer {
    match (name, args) {
        ("context", []) => value(convert::context(&host.context()?)),
        ("storage_get", [V::Bytes(key)]) => {
            value(host.storage_get(key)?.map_or(V::None, |found| V::Bytes(found.0)))
        }
        ("storage_set", [V::Bytes(key), V::Bytes(data)]) => none(host.storage_set(key, data)),
        ("storage_delete", [V::Bytes(key)]) => value(V::Bool(host.storage_delete(key)?)),
        ("storage_scan", [V::Bytes(prefix), after, limit]) => {
            let scan = scan(prefix, after, limit)?;
            value(found(host.storage_scan(scan)?))
        }
        ("emit", [V::Str(topic), V::Bytes(data)]) => none(host.emit(topic, data)),
        ("balance", [of]) => {
            let of = as_address(of).ok_or_else(|| form(name))?;
            value(number(host.balance(of)?.get()))
        }
        ("transfer", [to, amount]) => {
            let (to, amount) = as_address(to).zip(as_amount(amount)).ok_or_else(|| form(name))?;
            none(host.transfer(to, amount))
        }
        ("randomness", [V::Bytes(label)]) => value(bytes(host.randomness(label)?.as_slice())),
        ("call", args) => {
            let out = outgoing(name, args)?;
            match host.call(&out, heap_bytes)? {
                Ok(returned) => value(V::Bytes(returned)),
                Err(failure) => Err(CallError::Explained(failure.refusal, failure.message)),
            }
        }
        ("send", args) => none(host.send(&outgoing(name, args)?)),
        ("ask", [out @ .., blocks]) if out.len() == 5 => {
            let blocks = match blocks {
                V::None => None,
                blocks => Some(as_u64(blocks).ok_or_else(|| form(name))?),
            };
            Ok(HostReply::Pending(host.ask(&outgoing(name, out)?, blocks)?))
        }
        ("ask", args) => Ok(HostReply::Pending(host.ask(&outgoing(name, args)?, None)?)),
        ("resume_cycles", [cycles]) => {
            none(host.resume_cycles(as_u64(cycles).ok_or_else(|| form(name))?))
        }
        ("schedule_timer", [height, V::Bytes(payload), V::Dict(options)]) => {
            let height = as_u64(height).ok_or_else(|| form(name))?;
            let timer = convert::schedule(height, payload, options).map_err(|option| {
                let told = format!("schedule_timer has no option '{option}' with such a value");
                CallError::Explained(Refusal::BadHostCall, told)
            })?;
            value(bytes(host.schedule_timer_ex(&timer)?.as_slice()))
        }
        ("cancel_timer", [id]) => none(host.cancel_timer(as_hash(id).ok_or_else(|| form(name))?)),
        ("extend_timer", [id, height]) => {
            let (id, height) = as_hash(id).zip(as_u64(height)).ok_or_else(|| form(name))?;
            none(host.extend_timer(id, Height(height)))
        }
        ("sleep_until", [height]) => {
            let height = as_u64(height).ok_or_else(|| form(name))?;
            Ok(HostReply::Pending(host.sleep_until(Height(height))?))
        }
        ("submit_job", [file, callback]) => submit_job(host, file, callback),
        ("await_job", [job]) => {
            let job = as_hash(job).ok_or_else(|| form(name))?;
            Ok(HostReply::Pending(host.await_job(job)?))
        }
        (
            "entitled" | "use_entitlement" | "create_scope" | "grant" | "delegate" | "revoke",
            args,
        ) => entitle::answer(host, name, args),
        ("upgrade", [V::Str(source)]) => none(host.upgrade(source)),
        _ => Err(form(name)),
    }
}

/// Arguments of another form than the call has, or a call that there is not.
pub(super) fn form(name: &str) -> CallError {
    let message = format!("the host has no call '{name}' with such arguments");
    CallError::Explained(Refusal::BadHostCall, message)
}

pub(super) fn scan<'s>(prefix: &'s [u8], after: &'s V, limit: &V) -> Result<Scan<'s>, CallError> {
    let after = match after {
        V::None => None,
        V::Bytes(key) => Some(&key[..]),
        _ => return Err(form("storage_scan")),
    };
    let limit = as_u64(limit).ok_or_else(|| form("storage_scan"))?;
    Ok(Scan { prefix, after, limit: usize::try_from(limit).unwrap_or(usize::MAX) })
}

pub(super) fn found(
    found: Vec<(remuda_protocol::codec::Bytes, remuda_protocol::codec::Bytes)>,
) -> V {
    let pair = |(key, value): (remuda_protocol::codec::Bytes, remuda_protocol::codec::Bytes)| {
        V::List(vec![V::Bytes(key.0), V::Bytes(value.0)])
    };
    V::List(found.into_iter().map(pair).collect())
}

fn outgoing<'c>(name: &str, args: &'c [V]) -> Result<Outgoing<'c>, CallError> {
    let [to, V::Str(method), V::Bytes(payload), cycles, value] = args else {
        return Err(form(name));
    };
    let cycles = match cycles {
        V::None => None,
        cycles => Some(as_u64(cycles).ok_or_else(|| form(name))?),
    };
    let (to, value) = as_address(to).zip(as_amount(value)).ok_or_else(|| form(name))?;
    Ok(Outgoing { to, method, payload, cycles, value })
}

fn submit_job(host: &mut Host<'_, '_>, file: &V, callback: &V) -> Answer {
    let handler = match callback {
        V::None => None,
        V::Str(method) => Some(&method[..]),
        _ => return Err(form("submit_job")),
    };
    let (values, text_bytes) = convert::size(file);
    host.charge(price::document(values, text_bytes), 0)?;
    let file = convert::json(file, 0).ok_or_else(|| {
        let message = "a job's specification has dicts with text for keys, lists, texts, bytes, \
                       whole numbers and truth values";
        CallError::Explained(Refusal::BadJob, message.to_owned())
    })?;
    match host.submit_job(&file, handler)? {
        Ok(job) => value(bytes(job.as_slice())),
        Err(error) => Err(CallError::Explained(Refusal::BadJob, error.to_string())),
    }
}
