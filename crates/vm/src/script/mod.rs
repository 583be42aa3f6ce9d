//! Plain scripts: output, ending, cost and profile of a run.
//!
//! Local: a change here needs no agreement among validators.

pub(crate) mod prelude;
mod profile;
mod traceback;

pub(crate) use profile::Profiler;
pub use profile::{FunctionCost, LineCost, Profile};

use crate::front::{self, CompileError};
use crate::limits::Limits;
use crate::run::Vm;
use crate::run::embed::Ending;
use crate::run::interp::Stop;

/// How to run a script.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub limits: Limits,
    /// Whether to see where the cycles go. It costs time, not cycles.
    pub profile: bool,
}

#[derive(Clone, Debug)]
pub struct Report {
    pub stdout: String,
    /// What CPython would print to stderr: what the script wrote there, then a traceback, a syntax
    /// error, the message of an exit; or why the machine stopped it.
    pub stderr: String,
    /// As a process would end: 0 after a good end, 1 after an exception, what `sys.exit` said; 2 if it
    /// was refused or stopped at a limit.
    pub exit_code: i32,
    pub cycles: u64,
    /// Bytes of heap in use at its end.
    pub heap_bytes: usize,
    pub ending: Ending,
    /// Where the cycles went, if that was asked for.
    pub profile: Option<Profile>,
}

/// Runs a script from its source. `file` is only a name, for messages.
pub fn run(source: &str, file: &str, options: Options) -> Report {
    let program = match front::compile_script(source, file) {
        Ok(program) => program,
        Err(error) => return refused(source, error),
    };
    let mut vm = Vm::for_script(options.limits);
    vm.frame_depth = crate::limits::SCRIPT_FRAME_DEPTH;
    if options.profile {
        vm.profiler = Some(Box::new(Profiler::new(options.limits.cycles)));
    }
    let stop = vm.run_main(&program).err();
    let profiler = vm.profiler.take();
    let cycles = options.limits.cycles - vm.cycles_left();
    let heap_bytes = vm.heap_bytes();
    let (ending, stderr, exit_code) = match stop {
        None => (Ending::Done, String::new(), 0),
        Some(Stop::Raised(exception)) => vm.explain(exception, source, file),
        Some(stop) => {
            let ending = vm.ending(stop);
            let stderr =
                format!("stopped after {cycles} cycles: {}\n", why(&ending, &options.limits));
            (ending, stderr, 2)
        }
    };
    let profile = profiler.map(|profiler| profiler.finish(&vm, cycles));
    let stdout = vm.output().to_owned();
    let stderr = std::mem::take(&mut vm.errors) + &stderr;
    Report { stdout, stderr, exit_code, cycles, heap_bytes, ending, profile }
}

fn why(ending: &Ending, limits: &Limits) -> String {
    use crate::run::fault::Fatal;
    match ending {
        Ending::Stopped(Fatal::Cycles) => {
            format!("the cycles are used up; it may take {}", limits.cycles)
        }
        Ending::Stopped(Fatal::Memory) => format!(
            "a cap is reached: {} bytes of heap, {} values on the stack, {} bytes of output",
            limits.heap_bytes,
            crate::limits::STACK_VALUES_MAX,
            limits.output_bytes
        ),
        _ => "the interpreter broke one of its own rules".to_owned(),
    }
}

fn refused(source: &str, error: CompileError) -> Report {
    let line = crate::unicode::trim(source.lines().nth(error.line.saturating_sub(1)).unwrap_or(""));
    let advice = match error.advice.is_empty() {
        true => String::new(),
        false => format!(" ({})", error.advice),
    };
    let stderr = format!(
        "  File \"{}\", line {}\n    {line}\nSyntaxError: {}{advice}\n",
        error.file, error.line, error.message
    );
    Report {
        stdout: String::new(),
        stderr,
        exit_code: 2,
        cycles: 0,
        heap_bytes: 0,
        ending: Ending::Refused(error),
        profile: None,
    }
}
