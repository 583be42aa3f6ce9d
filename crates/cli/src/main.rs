//! `remuda`: the command line.

use clap::{Parser, Subcommand};
use remuda::{audit, bench, demo, dev, node, sim};
use std::process::ExitCode;

/// Remuda: a network for verifiable off-chain computation.
#[derive(Parser)]
#[command(name = "remuda", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Audit(audit::Args),
    Bench(bench::Args),
    Demo(demo::Args),
    Dev(dev::Args),
    Node(node::Args),
    Sim(sim::Args),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Audit(args) => audit::main(&args),
        Command::Bench(args) => bench::main(&args),
        Command::Demo(args) => demo::main(&args),
        Command::Dev(args) => dev::main(&args),
        Command::Node(args) => node::main(&args),
        Command::Sim(args) => sim::main(&args),
    }
}
