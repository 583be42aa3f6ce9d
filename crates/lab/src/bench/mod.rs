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

use crate::progress;
use clap::Subcommand;
use remuda::failure::Failure;
use serde::Serialize;
use std::fmt::Display;
use std::io::{Write as _, stdout};
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

/// Runs a benchmark. Its answer says whether the figures are what they must be.
pub fn main(args: &Args) -> ExitCode {
    if cfg!(debug_assertions) {
        eprintln!("remuda-lab bench: a development build; only figures of a release build count");
    }
    let ended = match &args.bench {
        Bench::Chain(args) => chain::run(args),
        Bench::Closing(args) => closing::run(args),
        Bench::Fleet(args) => block_on(fleet::run(args)),
        Bench::Push(args) => block_on(push::run(args)),
        Bench::Select(args) => select::run(args),
        Bench::Sessions(args) => block_on(sessions::run(args)),
        Bench::Start(args) => start::run(args),
        Bench::Timers(args) => timers::run(args),
        Bench::Vm(args) => vm::run(args),
    };
    progress("");
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("remuda-lab bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Standard output: text as the figures come, or one JSON object at the end.
#[derive(clap::Args)]
struct Output {
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

impl Output {
    /// Prints a line for people. A reader that has gone has seen enough.
    fn line(&self, text: impl Display) {
        if !self.json {
            progress("");
            let _ = writeln!(stdout(), "{text}");
        }
    }

    /// Prints the figures for programs.
    fn figures(&self, figures: &impl Serialize) -> Result<(), Failure> {
        if self.json {
            let text = serde_json::to_string(figures).map_err(failed)?;
            let _ = writeln!(stdout(), "{text}");
        }
        Ok(())
    }
}

fn failed(error: impl Display) -> Failure {
    Failure::Network(error.to_string())
}

/// Runs the part of a benchmark that talks to processes.
fn block_on<T>(part: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(Failure::Start)?.block_on(part)
}

/// `remuda`, which benchmarks start as validators, runners and workers. It is built beside this program.
fn program() -> Result<PathBuf, Failure> {
    let own = std::env::current_exe().map_err(Failure::Start)?;
    let found = own.ancestors().skip(1).take(2).map(|folder| folder.join("remuda"));
    found.into_iter().find(|path| path.is_file()).ok_or(Failure::Usage(
        "the program `remuda` is not beside this one; build it in the same profile: cargo build --bin remuda",
    ))
}
