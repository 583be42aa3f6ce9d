//! `remuda`: the command line.

use clap::{Parser, Subcommand};
use remuda::{
    account, actor, audit, block, demo, dev, fleet, job, key, node, orchestrator, pool, run,
    runner, status, timer, tx, vm, worker,
};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Remuda: a network for verifiable off-chain computation.
#[derive(Parser)]
#[command(name = "remuda", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Account(account::Args),
    Actor(actor::Args),
    Audit(audit::Args),
    Block(block::Args),
    Demo(demo::Args),
    Dev(dev::Args),
    Fleet(fleet::Args),
    Job(job::Args),
    Key(key::Args),
    Node(node::Args),
    Orchestrator(orchestrator::Args),
    Pool(pool::Args),
    Run(run::Args),
    Runner(runner::Args),
    Status(status::Args),
    Timer(timer::Args),
    Tx(tx::Args),
    Vm(vm::Args),
    Worker(worker::Args),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Account(args) => account::main(&args),
        Command::Actor(args) => actor::main(&args),
        Command::Audit(args) => audit::main(&args),
        Command::Block(args) => block::main(&args),
        Command::Demo(args) => demo::main(&args),
        Command::Dev(args) => dev::main(&args),
        Command::Fleet(args) => fleet::main(&args),
        Command::Job(args) => job::main(&args),
        Command::Key(args) => key::main(&args),
        Command::Node(args) => node::main(&args),
        Command::Orchestrator(args) => orchestrator::main(&args),
        Command::Pool(args) => pool::main(&args),
        Command::Run(args) => run::main(&args),
        Command::Runner(args) => runner::main(&args),
        Command::Status(args) => status::main(&args),
        Command::Timer(args) => timer::main(&args),
        Command::Tx(args) => tx::main(&args),
        Command::Vm(args) => vm::main(&args),
        Command::Worker(args) => worker::main(&args),
    }
}
