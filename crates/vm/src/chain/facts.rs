//! What can be said of a program before it is deployed: for those who write it.

use super::VM_CYCLES;
use crate::{Ending, Limits, Vm, compile};

/// What a program's body costs, and what can be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Cycles of the chain that the module's body takes, at each call.
    pub body_cycles: u64,
    /// Names of the methods.
    pub methods: Vec<String>,
}

/// Compiles a program and runs its body without a chain; what is wrong is said with its line.
pub fn facts(source: &str, file: &str) -> Result<Facts, String> {
    let program = compile(source, file).map_err(|error| error.to_string())?;
    let limits = Limits::default();
    let mut vm = Vm::new(limits);
    match vm.run_module(&program) {
        Ok(()) => {
            let body_cycles = (limits.cycles - vm.cycles_left()).div_ceil(VM_CYCLES);
            Ok(Facts { body_cycles, methods: vm.methods() })
        }
        Err(Ending::Raised(raised)) => {
            let line = raised.traceback.last().map_or(0, |(_, line)| *line);
            Err(format!("{file}:{line}: its body fails: {}: {}", raised.kind, raised.message))
        }
        Err(ending) => Err(format!("{file}: its body does not come to its end: {ending:?}")),
    }
}
