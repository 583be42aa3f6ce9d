//! Tests of actors, written in Python, on a chain in this process.
//!
//! Local: a change here needs no agreement among validators.
//!
//! A test file is a module; each of its functions `test_…` without parameters is a test. It runs in a
//! machine of its own and drives a chain of its own through the global `chain` (`harness.py`): real
//! blocks, signed transactions, timers that fire, runners with stake. Only the work of the runners is
//! left out: the test says what they deliver. Everything follows from the files and the test's name, so a
//! test that passed once passes always.
//!
//! - `stage`: the chain, its people, and what happened on it
//! - `jobs`, `spec`: work that the test does
//! - `calls`: what `chain` can ask for; `fault`: how calls on the chain failed
//! - `report`: the outcome of a test

mod calls;
mod fault;
mod jobs;
mod report;
mod spec;
mod stage;

pub use report::{Failure, Outcome, Place, Unready};

use crate::front::{self, Program};
use crate::{Ending, Fatal, Limits, Raised, Vm};
use calls::Player;
use stage::Stage;

/// What stands behind the test's own lines.
const HARNESS: &str = include_str!("harness.py");
/// How the names of tests begin.
const PREFIX: &str = "test_";
/// Heap of a test; the actors have theirs.
const HEAP_BYTES: usize = 64 * 1024 * 1024;
/// What a test may print.
const OUTPUT_BYTES: usize = 1024 * 1024;

/// Finds an actor's source by the name that the test gives it, or says why there is none.
pub type Load<'l> = &'l dyn Fn(&str) -> Result<String, String>;

/// What a test may use.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Cycles of the machine: the test's own, its actors', and 20,000 for every block.
    pub cycles: u64,
    /// Blocks that one call of `chain` may take.
    pub blocks_per_call: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { cycles: 1_000_000_000, blocks_per_call: 10_000 }
    }
}

/// Runs the tests of a file, or those whose names contain `only`, in the order in which they stand.
pub fn run(
    source: &str,
    file: &str,
    load: Load<'_>,
    only: Option<&str>,
) -> Result<Vec<Outcome>, Unready> {
    run_within(source, file, load, only, Bounds::default())
}

/// [`run`] with other bounds.
pub fn run_within(
    source: &str,
    file: &str,
    load: Load<'_>,
    only: Option<&str>,
    bounds: Bounds,
) -> Result<Vec<Outcome>, Unready> {
    let script = Script::compile(source, file)?;
    let stage = Stage::open().map_err(Unready::Chain)?;
    let tests = script.tests(&stage, load, bounds)?;
    if tests.is_empty() {
        return Err(Unready::NoTests { file: file.to_owned() });
    }
    let wanted = |name: &str| only.is_none_or(|only| name.contains(only));
    let mut outcomes = Vec::new();
    for (name, takes_argument) in tests.iter().filter(|(name, _)| wanted(name)) {
        let player = Player { stage: stage.of_test(name), load, bounds, last: None };
        outcomes.push(match takes_argument {
            true => Outcome::refused(name, file),
            false => script.play(name, player),
        });
    }
    match (outcomes.is_empty(), only) {
        (true, Some(only)) => {
            Err(Unready::NotFound { file: file.to_owned(), only: only.to_owned() })
        }
        _ => Ok(outcomes),
    }
}

/// A test file with the harness behind it.
struct Script<'s> {
    source: &'s str,
    file: &'s str,
    /// Lines of the file itself.
    lines: u32,
    program: Program,
}

impl<'s> Script<'s> {
    fn compile(source: &'s str, file: &'s str) -> Result<Self, Unready> {
        // Alone first: what it leaves open is its own mistake, at its own line.
        front::compile(source, file).map_err(Unready::Refused)?;
        let program =
            front::compile(&format!("{source}\n{HARNESS}"), file).map_err(Unready::Refused)?;
        let lines = u32::try_from(source.lines().count()).unwrap_or(u32::MAX);
        Ok(Self { source, file, lines, program })
    }

    /// Names of the tests, and which of them take an argument.
    fn tests(
        &self,
        stage: &Stage,
        load: Load<'_>,
        bounds: Bounds,
    ) -> Result<Vec<(String, bool)>, Unready> {
        let mut player = Player { stage: stage.clone(), load, bounds, last: None };
        let mut vm = machine(bounds);
        match vm.run_module_in(&mut player, &self.program) {
            Ok(()) => Ok(vm.functions(PREFIX)),
            Err(ending) => Err(Unready::Failed(self.failure(ending, &player))),
        }
    }

    fn play(&self, name: &str, mut player: Player<'_>) -> Outcome {
        let mut vm = machine(player.bounds);
        let ran = vm.run_module_in(&mut player, &self.program);
        let ran = ran.and_then(|()| vm.call_method_in(&mut player, name, b""));
        let error = ran.err().map(|ending| self.failure(ending, &player));
        let faults = player.stage.faults.iter();
        Outcome {
            name: name.to_owned(),
            passed: error.is_none(),
            error,
            printed: vm.output().to_owned(),
            unseen: faults.map(|fault| fault.text(&player.stage.sources).text()).collect(),
            cycles: player.stage.cycles,
            blocks: player.stage.blocks,
        }
    }

    fn failure(&self, ending: Ending, player: &Player<'_>) -> Failure {
        let stopped = |message: String| Failure {
            kind: "Stopped".to_owned(),
            message,
            traceback: Vec::new(),
        };
        match ending {
            Ending::Raised(raised) => self.raised(raised, player),
            Ending::Stopped(Fatal::Cycles) => stopped(format!(
                "the test used up its {} cycles after {} blocks; does it come to an end?",
                player.bounds.cycles, player.stage.blocks
            )),
            Ending::Stopped(Fatal::Memory) => stopped(format!(
                "the test needs more than {HEAP_BYTES} bytes of memory or prints more than {OUTPUT_BYTES}"
            )),
            Ending::Suspended(_) => stopped("a test has nothing to wait for".to_owned()),
            _ => stopped("the machine broke one of its own rules".to_owned()),
        }
    }

    fn raised(&self, raised: Raised, player: &Player<'_>) -> Failure {
        let Raised { kind, message, traceback } = raised;
        let own = traceback.into_iter().filter(|(_, line)| *line <= self.lines);
        let mut traceback: Vec<Place> =
            own.map(|(function, line)| Place::of(self.file, self.source, line, function)).collect();
        // What an actor raised ends at the actor's line.
        let told =
            player.last.as_ref().filter(|told| kind == "ActorError" && told.text() == message);
        traceback.extend(told.and_then(|told| told.place.clone()));
        Failure { kind, message, traceback }
    }
}

fn machine(bounds: Bounds) -> Vm {
    let (heap_bytes, output_bytes) = (HEAP_BYTES, OUTPUT_BYTES);
    Vm::new(Limits { cycles: bounds.cycles, heap_bytes, output_bytes })
}
