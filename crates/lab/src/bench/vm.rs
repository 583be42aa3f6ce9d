//! `remuda-lab bench vm`: what it takes to run Python, beside other interpreters.

use super::{Output, failed, progress};
use remuda::failure::Failure;
use remuda_vm::{Host, HostError, HostErrorKind, HostReply, HostValue, Limits, Vm, compile};
use serde::Serialize;
use std::collections::BTreeMap;
use std::process::Command;
use std::time::Instant;

/// Batches of a measurement; the best one counts, so that other work on the machine does not.
const BATCHES: u32 = 10;

/// Keeps something between two calls, and nothing else: what a call costs at least.
const HANDLER: &str = "n = 0\ndef handler(x):\n    global n\n    n += x\n    return n\n";
/// An actor as people write them.
const ACTOR: &str = "import cowboy\ndef go(p):\n    cowboy.storage['n'] = p\n    return p\n";
/// 1,000,000 rounds.
const LOOP: &str = "def run():\n    total = 0\n    for i in range(1000000):\n        \
                    total += i & 7\n    return total\n";
/// 1,000 reads and writes.
const STORAGE: &str = "import cowboy\ndef go(p):\n    for i in range(1000):\n        \
                       key = 'k' + str(i % 100)\n        cowboy.storage[key] = (cowboy.storage.get(key) or 0) + i\n    \
                       return cowboy.storage['k7']\n";

/// The same for an interpreter without a chain: storage is a dict. Prints nanoseconds.
const BESIDE: &str = r#"
import time
def best(each, run):
    found = []
    for _ in range(10):
        start = time.perf_counter_ns()
        for _ in range(each):
            run()
        found.append((time.perf_counter_ns() - start) // each)
    return min(found)
n = 0
def handler(x):
    global n
    n += x
    return n
def loop():
    total = 0
    for i in range(1000000):
        total += i & 7
    return total
store = {}
def storage():
    for i in range(1000):
        key = 'k' + str(i % 100)
        store[key] = (store.get(key) or 0) + i
    return store['k7']
print(best(50000, lambda: handler(1)), best(1, loop), best(20, storage))
"#;

/// What it takes to run Python: a trivial call, a whole call of an actor, a loop of a million rounds, storage.
///
/// PeerResult it, in the same run, other interpreters, as far as they are on the PATH. They count nothing and keep
/// nothing; an actor's every step is counted, and its storage goes through the host.
///
/// Example: remuda-lab bench vm --beside python3,scripts/peers/monty --json
#[derive(clap::Args)]
pub(super) struct Args {
    /// Programs that run a Python script; those that are not there are left out.
    #[arg(long, value_delimiter = ',', default_values_t = ["python3".to_owned(), "rustpython".to_owned()])]
    beside: Vec<String>,
    #[command(flatten)]
    out: Output,
}

#[derive(Serialize)]
struct Report {
    /// A call of a function whose code is loaded.
    handler_ns: u64,
    /// A call as the chain makes it: a new machine, the module's body, the method.
    actor_call_ns: u64,
    actor_call_cycles: u64,
    loop_ns: u64,
    loop_cycles: u64,
    storage_ns: u64,
    storage_cycles: u64,
    beside: Vec<PeerResult>,
}

/// Another interpreter. Ratios are its time to ours: more than 1, and ours is faster.
#[derive(Serialize)]
struct PeerResult {
    program: String,
    version: String,
    handler_ns: u64,
    loop_ns: u64,
    storage_ns: u64,
    handler_ratio: f64,
    loop_ratio: f64,
    storage_ratio: f64,
}

#[derive(Default)]
struct Shelf(BTreeMap<Vec<u8>, Vec<u8>>);

impl Host for Shelf {
    fn price(&self, _: &str, _: &[HostValue]) -> u64 {
        1_000
    }

    fn call(&mut self, name: &str, args: &[HostValue]) -> Result<HostReply, HostError> {
        let value = match (name, args) {
            ("storage_get", [HostValue::Bytes(key)]) => {
                self.0.get(key).map_or(HostValue::None, |value| HostValue::Bytes(value.clone()))
            }
            ("storage_set", [HostValue::Bytes(key), HostValue::Bytes(value)]) => {
                self.0.insert(key.clone(), value.clone());
                HostValue::None
            }
            _ => return Err(HostError::new(HostErrorKind::Unsupported, name)),
        };
        Ok(HostReply::Value(value))
    }
}

pub(super) fn run(args: &Args) -> Result<bool, Failure> {
    let report = measure(args).map_err(failed)?;
    args.out.line(render(&report).trim_end());
    args.out.figures(&report)?;
    Ok(true)
}

/// Nanoseconds of one run, in the best batch.
fn best(each: u32, mut run: impl FnMut() -> Result<(), String>) -> Result<u64, String> {
    let mut found = u64::MAX;
    for _ in 0..BATCHES {
        let start = Instant::now();
        for _ in 0..each {
            run()?;
        }
        found = found.min(start.elapsed().as_nanos() as u64 / u64::from(each));
    }
    Ok(found)
}

fn measure(args: &Args) -> Result<Report, String> {
    progress("a trivial call");
    let mut vm = loaded(HANDLER)?;
    let handler_ns = best(50_000, || vm.call_ints("handler", &[1]).map(drop).map_err(shown))?;
    progress("a million rounds");
    let mut vm = loaded(LOOP)?;
    let before = vm.cycles_left();
    vm.call_ints("run", &[]).map_err(shown)?;
    let loop_cycles = before - vm.cycles_left();
    let loop_ns = best(1, || vm.call_ints("run", &[]).map(drop).map_err(shown))?;
    progress("calls of actors");
    let (actor_call_ns, actor_call_cycles) = whole_call(ACTOR, 500)?;
    let (storage_ns, storage_cycles) = whole_call(STORAGE, 20)?;
    let mut report = Report {
        handler_ns,
        actor_call_ns,
        actor_call_cycles,
        loop_ns,
        loop_cycles,
        storage_ns,
        storage_cycles,
        beside: Vec::new(),
    };
    for program in &args.beside {
        progress(program);
        let other = beside(program, &report)?;
        report.beside.extend(other);
    }
    Ok(report)
}

fn shown(ending: remuda_vm::Ending) -> String {
    format!("{ending:?}")
}

/// A machine whose program has run.
fn loaded(source: &str) -> Result<Vm, String> {
    let program = compile(source, "bench.py").map_err(|error| error.to_string())?;
    let mut vm = Vm::new(Limits::with_cycles(u64::MAX / 2));
    vm.run_module(&program).map_err(shown)?;
    Ok(vm)
}

/// A call of an actor with everything that belongs to it but compiling: time and cycles.
fn whole_call(source: &str, each: u32) -> Result<(u64, u64), String> {
    let program = compile(source, "actor.py").map_err(|error| error.to_string())?;
    let mut cycles = 0;
    let ns = best(each, || {
        let mut vm = Vm::new(Limits::default());
        vm.set_host(Box::new(Shelf::default()));
        let before = vm.cycles_left();
        vm.run_module(&program).map_err(shown)?;
        vm.call_method("go", &[5]).map_err(shown)?;
        cycles = before - vm.cycles_left();
        Ok(())
    })?;
    Ok((ns, cycles))
}

/// Another interpreter's figures; nothing if it is not there.
fn beside(program: &str, ours: &Report) -> Result<Option<PeerResult>, String> {
    let Ok(version) = Command::new(program).arg("--version").output() else { return Ok(None) };
    let run = Command::new(program).args(["-c", BESIDE]).output();
    let run = run.map_err(|error| format!("{program}: {error}"))?;
    let text = String::from_utf8_lossy(&run.stdout);
    let figures: Vec<u64> = text.split_whitespace().filter_map(|it| it.parse().ok()).collect();
    let [handler_ns, loop_ns, storage_ns] = figures[..] else {
        return Err(format!("{program} did not run it: {}", String::from_utf8_lossy(&run.stderr)));
    };
    let ratio = |other: u64, own: u64| (other as f64 / own.max(1) as f64 * 100.0).round() / 100.0;
    Ok(Some(PeerResult {
        program: program.to_owned(),
        version: String::from_utf8_lossy(&version.stdout).trim().to_owned(),
        handler_ns,
        loop_ns,
        storage_ns,
        handler_ratio: ratio(handler_ns, ours.handler_ns),
        loop_ratio: ratio(loop_ns, ours.loop_ns),
        storage_ratio: ratio(storage_ns, ours.storage_ns),
    }))
}

fn render(report: &Report) -> String {
    let mut text =
        format!("{:<24}{:>14}{:>16}{:>16}\n", "nanoseconds", "call", "10^6 rounds", "storage");
    let mut row = |name: &str, call: u64, rounds: u64, storage: u64| {
        text += &format!("{name:<24}{call:>14}{rounds:>16}{storage:>16}\n");
    };
    row("this machine", report.handler_ns, report.loop_ns, report.storage_ns);
    for other in &report.beside {
        row(&other.version, other.handler_ns, other.loop_ns, other.storage_ns);
    }
    text += &format!(
        "a whole call of an actor: {} ns, {} cycles; 10^6 rounds: {} cycles; 1,000 reads and writes: {} cycles\n",
        report.actor_call_ns, report.actor_call_cycles, report.loop_cycles, report.storage_cycles
    );
    text
}
