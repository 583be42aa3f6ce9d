//! Answers to a program's host calls.
//!
//! The machine stops at every call of its host and is resumed with the answer, so its owner may
//! answer from what it borrows: a block that is being executed, say.

use super::Vm;
use super::fault::{Fatal, Fault};
use super::frame::After;
use super::interp::Stop;
use super::steps::Flow;
use crate::contain::contained;
use crate::heap::object::Obj;
use crate::heap::value::Value;
use crate::host::{Host, HostError, HostErrorKind, HostReply, HostValue};

/// A call of the host.
#[derive(Debug)]
pub struct Ask<'a> {
    pub name: &'a str,
    pub args: &'a [HostValue],
    /// Cycles that are left; the answerer charges them before it acts.
    pub cycles: &'a mut u64,
    /// Bytes of heap that the program uses.
    pub heap_bytes: usize,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// The program gets an exception.
    Error(HostError),
    /// The run ends; no program can catch it.
    Stop(Fatal),
}

pub trait World {
    fn ask(&mut self, ask: Ask<'_>) -> Result<HostReply, Unanswered>;
}

/// Adapts a [`Host`]: charges its price, then calls it.
struct Priced<'a>(&'a mut dyn Host);

impl World for Priced<'_> {
    fn ask(&mut self, ask: Ask<'_>) -> Result<HostReply, Unanswered> {
        let price = self.0.price(ask.name, ask.args);
        let Some(left) = ask.cycles.checked_sub(price) else {
            *ask.cycles = 0;
            return Err(Unanswered::Stop(Fatal::Cycles));
        };
        *ask.cycles = left;
        self.0.call(ask.name, ask.args).map_err(Unanswered::Error)
    }
}

struct Nobody;

impl World for Nobody {
    fn ask(&mut self, ask: Ask<'_>) -> Result<HostReply, Unanswered> {
        let message = format!("there is no host to ask for '{}'", ask.name);
        Err(Unanswered::Error(HostError::new(HostErrorKind::Unsupported, message)))
    }
}

impl Vm {
    /// Does something with the machine's own host as the world.
    pub(crate) fn hosted<T>(&mut self, run: impl FnOnce(&mut Self, &mut dyn World) -> T) -> T {
        let Some(mut host) = self.host.take() else { return run(self, &mut Nobody) };
        let result = run(self, &mut Priced(&mut *host));
        self.host = Some(host);
        result
    }

    /// Runs what was begun to its end, and answers its calls.
    pub(crate) fn attend(
        &mut self,
        started: Result<Flow, Fault>,
        world: &mut dyn World,
    ) -> Result<Value, Stop> {
        let mut result = self.guarded(|vm| vm.begun(started));
        while let Err(Stop::Asked) = result {
            let Some(asking) = self.asking.take() else {
                return Err(Stop::Fatal(Fatal::Internal));
            };
            let (name, args) = (&asking.name[..], &asking.args[..]);
            let heap_bytes = self.heap.bytes();
            let answer = world.ask(Ask { name, args, cycles: self.cycles.get_mut(), heap_bytes });
            result = match answer {
                Ok(reply) => self.guarded(|vm| vm.hand_in(Ok(reply), asking.after)),
                Err(Unanswered::Error(error)) => {
                    self.guarded(|vm| vm.hand_in(Err(error), asking.after))
                }
                Err(Unanswered::Stop(fatal)) => Err(Stop::Fatal(fatal)),
            };
        }
        result
    }

    /// Runs to the next call of the world or to the end. A panic on the way is a fault of ours: this run
    /// ends there.
    pub(crate) fn guarded(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<Value, Stop>,
    ) -> Result<Value, Stop> {
        contained(|| run(self)).unwrap_or(Err(Stop::Fatal(Fatal::Internal)))
    }

    fn begun(&mut self, started: Result<Flow, Fault>) -> Result<Value, Stop> {
        match started {
            Ok(_) => self.run(),
            Err(fault) => match self.recover(fault)? {
                Some(value) => Ok(value),
                None => self.run(),
            },
        }
    }

    /// Hands the answer to the code that asked.
    fn hand_in(
        &mut self,
        reply: Result<HostReply, HostError>,
        after: After,
    ) -> Result<Value, Stop> {
        let value = match reply {
            Ok(HostReply::Value(value)) => self.value_of_host(&value),
            Ok(HostReply::Pending(token)) => self.alloc(Obj::Pending(token)),
            Err(error) => Err(self.host_fault(&error)),
        };
        let flow = value.and_then(|value| {
            let flow = self.complete(after, value)?;
            if self.heap.wants_collection() {
                self.collect_garbage()?;
            }
            Ok(flow)
        });
        self.begun(flow)
    }
}
