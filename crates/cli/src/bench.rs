//! `remuda bench`: figures, beside what a user would take instead, in the same run.

mod chain;
mod push;
mod select;
mod sessions;

use clap::Subcommand;
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
    Push(push::Args),
    Select(select::Args),
    Sessions(sessions::Args),
}

/// Runs a benchmark.
pub fn main(args: &Args) -> ExitCode {
    match &args.bench {
        Bench::Chain(args) => chain::main(args),
        Bench::Push(args) => push::main(args),
        Bench::Select(args) => select::main(args),
        Bench::Sessions(args) => sessions::main(args),
    }
}
