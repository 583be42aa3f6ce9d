//! `remuda-lab bench`: figures, beside what a user would take instead, in the same run.

mod chain;
mod closing;
mod fleet;
mod push;
mod select;
mod sessions;
mod start;
mod timers;
mod vm;
mod world;

use clap::Subcommand;
use remuda::failure::Failure;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

/// Measure this machine: figures beside the plain way of doing the same, in one run.
///
/// Use a release build (`cargo run --release`, or `make bench`): the development profile checks
/// every assertion on the way.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    Chain(chain::Args),
    Closing(closing::Args),
    Fleet(fleet::Args),
    Push(push::Args),
    Select(select::Args),
    Sessions(sessions::Args),
    Start(start::Args),
    Timers(timers::Args),
    Vm(vm::Args),
}

/// Runs a benchmark.
pub fn main(args: &Args) -> ExitCode {
    match &args.bench {
        Bench::Chain(args) => chain::main(args),
        Bench::Closing(args) => closing::main(args),
        Bench::Fleet(args) => fleet::main(args),
        Bench::Push(args) => push::main(args),
        Bench::Select(args) => select::main(args),
        Bench::Sessions(args) => sessions::main(args),
        Bench::Start(args) => start::main(args),
        Bench::Timers(args) => timers::main(args),
        Bench::Vm(args) => vm::main(args),
    }
}

/// `remuda`, which benchmarks start as validators, runners and workers. It is built beside this program.
fn program() -> Result<PathBuf, Failure> {
    let own = std::env::current_exe().map_err(Failure::Start)?;
    let found = own.ancestors().skip(1).take(2).map(|folder| folder.join("remuda"));
    found.into_iter().find(|path| path.is_file()).ok_or(Failure::Usage(
        "the program `remuda` is not beside this one; build it in the same profile: cargo build --bin remuda",
    ))
}

/// One line that is overwritten, where somebody watches.
fn progress(text: &str) {
    let mut stderr = std::io::stderr();
    if stderr.is_terminal() {
        // Nobody minds a progress line that cannot be written.
        let _ = write!(stderr, "\r{text:60}\r");
        let _ = stderr.flush();
    }
}

/// Runs a benchmark that talks to processes, to its end.
fn run_to_end(name: &str, bench: impl Future<Output = Result<(), Failure>>) -> ExitCode {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(bench),
        Err(error) => Err(Failure::Start(error)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("remuda-lab bench {name}: {error}");
            ExitCode::FAILURE
        }
    }
}
