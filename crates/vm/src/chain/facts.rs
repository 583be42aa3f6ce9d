//! What can be said of a program before it is deployed: for those who write it.

use super::VM_CYCLES;
use crate::code::{Code, Op};
use crate::{Ending, Limits, Program, Vm, compile};

/// What a program's body costs, and what can be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Cycles of the chain that the module's body takes, at each call.
    pub body_cycles: u64,
    pub methods: Vec<String>,
    /// Handlers that the jobs of other submitters may name as callback.
    pub open_handlers: Vec<String>,
    /// The class with `@actor` whose methods any account can call: permission tags do not exist here, so
    /// every such class. Current versions of `cowboy-actor-sdk` refuse strangers where it has none.
    pub open_class: Option<String>,
    /// Lines that print; a chain discards the output.
    pub prints: Vec<u32>,
}

/// Compiles a program and runs its body without a chain; what is wrong is said with its line.
pub fn facts(source: &str, file: &str) -> Result<Facts, String> {
    let program = compile(source, file).map_err(|error| error.to_string())?;
    let limits = Limits::default();
    let mut vm = Vm::new(limits);
    match vm.run_module(&program) {
        Ok(()) => {
            let body_cycles = (limits.cycles - vm.cycles_left()).div_ceil(VM_CYCLES);
            let methods = vm.methods();
            let marked = |name: &&String| vm.opens(name);
            let open_handlers = methods.iter().filter(marked).cloned().collect::<Vec<_>>();
            if let Some(name) =
                open_handlers.iter().find(|name| !program.open_handlers().contains(name))
            {
                return Err(format!(
                    "{file}: '{name}' is marked as open to others' jobs in a way that the chain cannot see; \
                     write @callback(anyone=True) above its def"
                ));
            }
            let (open_class, prints) = (vm.actor_class_name(), prints(&program));
            Ok(Facts { body_cycles, methods, open_handlers, open_class, prints })
        }
        Err(Ending::Raised(raised)) => {
            let line = raised.traceback.last().map_or(0, |(_, line)| *line);
            Err(format!("{file}:{line}: its body fails: {}: {}", raised.kind, raised.message))
        }
        Err(ending) => Err(format!("{file}: its body does not come to its end: {ending:?}")),
    }
}

/// Where a program names the builtin `print`; nowhere if it has one of its own.
fn prints(program: &Program) -> Vec<u32> {
    let named = |code: &Code, ops: &[Op]| -> Vec<u32> {
        let name = |place: u32| code.names.get(place as usize);
        let found = (0..).zip(&code.instrs).filter(|(_, instr)| {
            ops.contains(&instr.op) && name(instr.b).is_some_and(|name| name == "print")
        });
        found.map(|(at, _)| code.line(at)).collect()
    };
    let codes = || program.codes.iter();
    if codes().any(|code| !named(code, &[Op::StoreGlobal, Op::StoreName]).is_empty()) {
        return Vec::new();
    }
    let mut lines: Vec<u32> =
        codes().flat_map(|code| named(code, &[Op::LoadGlobal, Op::LoadName])).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

#[cfg(test)]
mod tests {
    use super::facts;

    #[test]
    fn lines_that_print_are_known_before_a_program_is_deployed() {
        let prints = |source: &str| facts(source, "a.py").unwrap().prints;
        let source = "\ndef f(m):\n    print(m)\n    g = lambda: [print(x)\n        for x in m]\nclass A:\n    print('body')\n";
        assert_eq!(prints(source), [3, 4, 7]);
        for quiet in [
            "def f(m):\n    return 'print'\n",
            "def print(*x): pass\ndef f(m):\n    print(m)\n",
            "def f(print):\n    print(1)\n",
        ] {
            assert!(prints(quiet).is_empty(), "{quiet}");
        }
    }
}
