//! The machine of a chain: runs actors' code for `remuda-protocol`, which knows the rules.
//!
//! Consensus: a change here forks the chain.
//!
//! A call makes a machine, runs the module's body and the method, and throws the machine away; what a
//! call leaves is what it asked of its host. The price of all of it is counted in the machine's cycles,
//! ten of which are one of the chain's: five nanoseconds against fifty.

mod bid;
mod calls;
pub(crate) mod convert;
mod entitle;
mod errors;
mod facts;
mod print_sink;
mod programs;

pub use facts::{Facts, facts};
pub(crate) use print_sink::PrintSink;

use std::sync::Arc;

use remuda_protocol::actors::host::Host;
use remuda_protocol::actors::{Actors, Answered, Argument, BODY, Call, Ended};
use remuda_protocol::error::Refusal;
use remuda_protocol::primitives::Address;
use remuda_protocol::state::View;
use remuda_protocol::timers::agents::{BidAnswer, GbaContext};

use crate::contain::contained;
use crate::{Ending, FROZEN_BYTES_MAX, Fatal, FreezeError, Limits, Program, ThawError, Vm};
use calls::Asked;
use errors::{host_error, raised};
use programs::Programs;

/// Cycles of the machine in one of the chain's.
pub const VM_CYCLES: u64 = 10;
const HEAP_BYTES: usize = 10 * 1024 * 1024;
/// Heap of all the machines that call each other.
const ALL_HEAPS_BYTES: usize = 16 * 1024 * 1024;
/// What a call may print. Only tests of actors show it.
const OUTPUT_BYTES: usize = 64 * 1024;
/// Cycles of the machine for a byte of frames that are written and thrown away.
const FROZEN_BYTE_CYCLES: u64 = 4;

#[derive(Debug)]
pub struct Machine {
    programs: Programs,
    /// Collects what actors print.
    print_sink: Option<PrintSink>,
}

/// The machine of this process; all chains of a process may share it.
pub fn machine() -> &'static Machine {
    static MACHINE: Machine = Machine { programs: Programs::new(), print_sink: None };
    &MACHINE
}

impl Machine {
    /// A machine that keeps compiled programs of this many bytes of source. That changes how long calls
    /// take and nothing else.
    pub const fn with_room(bytes: usize) -> Self {
        Self { programs: Programs::with_room(bytes), print_sink: None }
    }

    /// A machine that collects what actors print. That changes nothing else.
    pub(crate) const fn printing_to(sink: PrintSink) -> Self {
        Self { programs: Programs::new(), print_sink: Some(sink) }
    }

    fn program(&self, host: &Host<'_, '_>) -> Result<Arc<Program>, Refusal> {
        let hash = host.code_hash().ok_or(Refusal::NoCode)?;
        self.programs.get(hash, || host.code().map(|(_, source)| source)).ok_or(Refusal::NoCode)
    }

    /// Runs a part of a call to where it ends or waits.
    fn finish(
        &self,
        vm: &mut Vm,
        world: &mut Asked<'_, '_, '_>,
        mut result: Result<Vec<u8>, Ending>,
    ) -> Result<Ended, Refusal> {
        let ended = loop {
            match result {
                Ok(value) => break Ok(Ended::Returned(value)),
                Err(Ending::Suspended(tokens)) => match freeze_call(vm, world, &tokens) {
                    Ok(frames) => break Ok(Ended::Waits { tokens, frames }),
                    // The await raises. The attempt is charged, or the program could repeat it
                    // for free.
                    Err((refusal, written)) => {
                        if vm.charge(written as u64 * FROZEN_BYTE_CYCLES).is_err() {
                            break Err(self.refusal(world, Ending::Stopped(Fatal::Cycles)));
                        }
                        let token = world.first_unknown(&tokens);
                        let answer = Err(host_error(refusal, refusal.to_string()));
                        result = vm.resume_method_in(world, token, answer);
                    }
                },
                Err(ending) => break Err(self.refusal(world, ending)),
            }
        };
        world.host.leave_cycles(vm.cycles_left() / VM_CYCLES);
        ended
    }

    fn refusal(&self, world: &mut Asked<'_, '_, '_>, ending: Ending) -> Refusal {
        match ending {
            Ending::Raised(exception) => {
                world.host.explain(&raised(&exception));
                Refusal::ExceptionRaised
            }
            Ending::Stopped(Fatal::Cycles) => world.stopped.unwrap_or(Refusal::OutOfCycles),
            Ending::Stopped(Fatal::Memory) => Refusal::OutOfMemory,
            Ending::NoMethod(name) => {
                world.host.explain(&format!("there is no method '{name}'"));
                Refusal::UnknownMethod
            }
            Ending::Refused(_) | Ending::Done => Refusal::NotAProgram,
            Ending::Stopped(Fatal::Internal) | Ending::Suspended(_) => {
                world.host.explain("the machine stopped at a rule of its own");
                Refusal::ExceptionRaised
            }
        }
    }
}

/// The frames of a call that is about to wait, if it may; otherwise why not, and how many bytes were
/// written in vain.
fn freeze_call(
    vm: &Vm,
    world: &mut Asked<'_, '_, '_>,
    tokens: &[u64],
) -> Result<Vec<u8>, (Refusal, usize)> {
    let first = tokens.first().copied().ok_or((Refusal::NotWaitedFor, 0))?;
    let frozen = contained(|| vm.freeze(first)).unwrap_or(Err(FreezeError::NotAlone));
    let frames = frozen.map_err(|error| match error {
        FreezeError::TooLarge => (Refusal::FramesTooLarge, FROZEN_BYTES_MAX),
        FreezeError::NotWaiting | FreezeError::NotAlone => (Refusal::FramesUnreadable, 0),
    })?;
    world.host.may_wait(tokens, frames.len()).map_err(|refusal| (refusal, frames.len()))?;
    Ok(frames)
}

fn limits(host: &Host<'_, '_>) -> Limits {
    Limits {
        cycles: host.cycles_left().saturating_mul(VM_CYCLES),
        heap_bytes: ALL_HEAPS_BYTES.saturating_sub(host.memory_around()).min(HEAP_BYTES),
        output_bytes: OUTPUT_BYTES,
    }
}

/// Whether a call carries the result of a job that the actor has not submitted itself.
fn of_another(call: &Call<'_>, actor: Address) -> bool {
    matches!(call.argument, Argument::Job(end) if end.submitter != actor)
}

/// The method that is meant, and its payload.
fn method_and_payload<'c>(call: &Call<'c>) -> (std::borrow::Cow<'c, str>, Vec<u8>) {
    match call.argument {
        Argument::Payload(payload) => (call.method.into(), payload.to_vec()),
        Argument::Job(end) => (call.method.into(), convert::payload(&convert::job_end(end))),
        Argument::Timer(timer) => {
            let method = convert::named_method(&timer.payload);
            let payload = convert::payload(&convert::timer(timer));
            (method.map_or_else(|| call.method.into(), Into::into), payload)
        }
    }
}

impl Actors for Machine {
    fn check(&self, source: &str) -> Result<Vec<String>, Refusal> {
        self.programs.check(source).map_err(|_| Refusal::NotAProgram)
    }

    fn call(&self, host: &mut Host<'_, '_>, call: &Call<'_>) -> Result<Ended, Refusal> {
        let program = self.program(host)?;
        let (method, payload) = method_and_payload(call);
        let mut vm = Vm::new(limits(host));
        vm.echo = self.print_sink.as_ref().map(|sink| sink.printer(host.actor()));
        let mut world = Asked::new(host);
        let mut result = vm.run_module_in(&mut world, &program).map(|()| Vec::new());
        if result.is_ok() && of_another(call, world.host.actor()) && !vm.opens(&method) {
            world.host.leave_cycles(vm.cycles_left() / VM_CYCLES);
            return Err(Refusal::HandlerNotOpen);
        }
        if result.is_ok() && call.method != BODY {
            result = match call.optional {
                true => vm.deploy_in(&mut world, &payload),
                false => vm.call_method_in(&mut world, &method, &payload),
            };
        }
        self.finish(&mut vm, &mut world, result)
    }

    fn resume(
        &self,
        host: &mut Host<'_, '_>,
        frames: &[u8],
        token: u64,
        answer: &Answered,
    ) -> Result<Ended, Refusal> {
        let program = self.program(host)?;
        let limits = limits(host);
        let thawed = contained(|| Vm::thaw(&program, frames, limits));
        let mut vm = match thawed.unwrap_or(Err(ThawError::Malformed("reading them failed"))) {
            Ok(vm) => vm,
            Err(error) => {
                host.explain(&error.to_string());
                return Err(Refusal::FramesUnreadable);
            }
        };
        vm.echo = self.print_sink.as_ref().map(|sink| sink.printer(host.actor()));
        let mut world = Asked::new(host);
        let result = vm.resume_method_in(&mut world, token, errors::answer(answer));
        self.finish(&mut vm, &mut world, result)
    }

    fn gas_bid(&self, view: &dyn View, agent: Address, context: &GbaContext) -> BidAnswer {
        self.bid(view, agent, context)
    }
}
