//! One run of a program.

use super::limits::{Limits, MemoryError, Meter};
use crate::executor::ExecuteError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use thiserror::Error;
use wasmtime::{Engine, Instance, Memory, Module, Store, Trap, TypedFunc, UpdateDeadline};

/// A run, ready to go.
pub(super) struct Run {
    pub module: Module,
    pub params: Vec<u8>,
    pub limits: Limits,
    /// Set when the caller has stopped waiting.
    pub stopped: Arc<AtomicBool>,
}

/// Stops a run when it is dropped.
pub(super) struct Stop {
    engine: Engine,
    flag: Arc<AtomicBool>,
}

/// Ends a run that was cancelled.
#[derive(Debug, Error)]
#[error("stopped")]
struct Stopped;

impl Stop {
    /// For a run on this engine.
    pub(super) fn new(engine: &Engine) -> Self {
        Self { engine: engine.clone(), flag: Arc::default() }
    }

    /// What the run looks at.
    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        self.flag.clone()
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.flag.store(true, Ordering::SeqCst);
        // All runs look at their flags now; the others go on.
        self.engine.increment_epoch();
    }
}

impl Run {
    /// Runs it, and takes the result out of its memory. Blocks its thread.
    pub(super) fn finish(self) -> Result<Vec<u8>, ExecuteError> {
        let mut store = Store::new(self.module.engine(), Meter::new(self.limits.memory_bytes));
        self.run(&mut store).unwrap_or_else(|error| Err(self.explain(&error)))
    }

    /// The outer errors are those of WebAssembly.
    fn run(&self, store: &mut Store<Meter>) -> wasmtime::Result<Result<Vec<u8>, ExecuteError>> {
        self.bound(store)?;
        let instance = Instance::new(&mut *store, &self.module, &[])?;
        let (memory, alloc, run) = match exports(store, &instance) {
            Ok(exports) => exports,
            Err(missing) => return Ok(Err(missing)),
        };
        let length = u32::try_from(self.params.len())?;
        let at = alloc.call(&mut *store, length)?;
        if memory.write(&mut *store, at as usize, &self.params).is_err() {
            return Ok(Err(failed("its room for the params is outside of its memory")));
        }
        let result = run.call(&mut *store, (at, length))?;
        Ok(self.result(memory.data(&*store), result))
    }

    fn bound(&self, store: &mut Store<Meter>) -> wasmtime::Result<()> {
        store.limiter(|meter| meter);
        store.set_fuel(self.limits.fuel)?;
        let stopped = self.stopped.clone();
        store.epoch_deadline_callback(move |_| match stopped.load(Ordering::SeqCst) {
            true => Err(Stopped.into()),
            false => Ok(UpdateDeadline::Continue(1)),
        });
        store.set_epoch_deadline(1);
        // A stop before this line did not interrupt the engine.
        if self.stopped.load(Ordering::SeqCst) { Err(Stopped.into()) } else { Ok(()) }
    }

    /// Reads the result at the address that `run` returned.
    fn result(&self, memory: &[u8], place: u64) -> Result<Vec<u8>, ExecuteError> {
        let (at, length) = ((place >> 32) as usize, (place & 0xffff_ffff) as usize);
        let limit = self.limits.result_bytes;
        if length > limit {
            return Err(ExecuteError::TooLarge { limit });
        }
        let bytes = memory.get(at..).and_then(|rest| rest.get(..length));
        bytes.map(<[u8]>::to_vec).ok_or_else(|| failed("its result is outside of its memory"))
    }

    fn explain(&self, error: &wasmtime::Error) -> ExecuteError {
        if let Some(error) = error.downcast_ref::<MemoryError>() {
            return match error {
                MemoryError::Exceeded(_) => failed(error),
                MemoryError::Exhausted => ExecuteError::Unreachable(error.to_string()),
            };
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => failed(format!("more than {} of fuel", self.limits.fuel)),
            Some(Trap::StackOverflow) => failed("its calls nest too deep"),
            Some(trap) => failed(trap),
            None if error.is::<Stopped>() => failed(Stopped),
            // What is wrong with a module is known before.
            None => ExecuteError::Unreachable("this machine cannot start it".into()),
        }
    }
}

type Exports = (Memory, TypedFunc<u32, u32>, TypedFunc<(u32, u32), u64>);

fn exports(store: &mut Store<Meter>, instance: &Instance) -> Result<Exports, ExecuteError> {
    let memory = instance.get_memory(&mut *store, "memory");
    let memory = memory.ok_or_else(|| failed("it exports no memory"))?;
    let alloc = instance.get_typed_func(&mut *store, "alloc");
    let alloc = alloc.map_err(|_| failed("it exports no alloc(i32) -> i32"))?;
    let run = instance.get_typed_func(&mut *store, "run");
    let run = run.map_err(|_| failed("it exports no run(i32, i32) -> i64"))?;
    Ok((memory, alloc, run))
}

fn failed(reason: impl ToString) -> ExecuteError {
    ExecuteError::Program(reason.to_string())
}
