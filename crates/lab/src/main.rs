//! `remuda-lab`: benchmarks and simulations, for developers of Remuda.

use clap::{Parser, Subcommand};
use remuda_lab::{bench, sim};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Benchmarks and whole-network simulations of Remuda.
#[derive(Parser)]
#[command(name = "remuda-lab", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Bench(bench::Args),
    Sim(sim::Args),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Bench(args) => bench::main(&args),
        Command::Sim(args) => sim::main(&args),
    }
}
