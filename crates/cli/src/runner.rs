//! `remuda runner`: who does the work.

mod list;
mod offer;
mod presence;
mod show;

use crate::account::Whose;
use crate::amount::parse_amount;
use crate::send::{SendArgs, send};
use crate::session::{NodeArgs, run};
use clap::Subcommand;
use offer::RunnerFile;
use remuda_protocol::primitives::Amount;
use remuda_protocol::transaction::Instruction;
use std::path::PathBuf;
use std::process::ExitCode;

/// Look at runners, or manage one's own.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ remuda runner list
  $ remuda runner presence
  $ remuda runner register runner.json --key runner.key
  $ remuda runner pause --key runner.key

This release has no program for a runner yet. Registering makes one known to the chain, with a stake and
prices; it can be drawn, but somebody has to do the work and send the results, and to say that it is
alive: `remuda runner heartbeat`, again and again. Registering and any result count as such a sign too.

  active   it can be drawn
  silent   no sign of life for system:cip2:heartbeat_timeout_blocks blocks (100 unless the chain was made
           with --param): it is not drawn until its next heartbeat
  present  more than half of the validators that are asked about it have a connection with it and say so
           in their votes. A heartbeat does not make a runner present, and without a program that
           connects none is. Under the policy `prefer` present runners are drawn first and others fill
           up; under `require` only present ones are drawn. `remuda status` shows the policy.")]
pub struct Args {
    #[command(flatten)]
    node: NodeArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// List all runners.
    #[command(after_help = "Example:\n  $ remuda runner list --json | jq '.runners | length'")]
    List,
    /// Show one runner.
    #[command(after_help = "Examples:
  $ remuda runner show 0x52908400098527886e0f7030069857d2e4169ee7
  $ remuda runner show --key runner.key")]
    Show(Whose),
    /// Join as a runner.
    #[command(after_help = offer::EXAMPLE)]
    Register {
        /// What the runner offers, and its stake; `-` for standard input.
        file: PathBuf,
        #[command(flatten)]
        send: SendArgs,
    },
    /// Change what the runner offers.
    ///
    /// Takes the same file as register. Its stake is left alone: see stake and unstake.
    #[command(after_help = offer::EXAMPLE)]
    Update {
        /// What the runner offers from now on; `-` for standard input.
        file: PathBuf,
        #[command(flatten)]
        send: SendArgs,
    },
    #[command(flatten)]
    Manage(Manage),
    /// Show which validators attest which runners.
    #[command(after_help = presence::LEGEND)]
    Presence,
}

/// What needs no more than a signature.
#[derive(Subcommand, Debug)]
enum Manage {
    /// Raise the runner's stake.
    #[command(after_help = "Example:\n  $ remuda runner stake 5000cby --key runner.key")]
    Stake {
        /// By how much: 5000cby, or base units.
        #[arg(value_parser = parse_amount)]
        amount: Amount,
        #[command(flatten)]
        send: SendArgs,
    },
    /// Lower the runner's stake; it is paid out after the unbonding time.
    #[command(after_help = "Example:\n  $ remuda runner unstake 5000cby --key runner.key")]
    Unstake {
        /// By how much: 5000cby, or base units.
        #[arg(value_parser = parse_amount)]
        amount: Amount,
        #[command(flatten)]
        send: SendArgs,
    },
    /// Take no new jobs. Jobs that it sits on go on.
    #[command(after_help = "Example:\n  $ remuda runner pause --key runner.key")]
    Pause(SendArgs),
    /// Take jobs again.
    #[command(after_help = "Example:\n  $ remuda runner resume --key runner.key")]
    Resume(SendArgs),
    /// Say that the runner is alive, once.
    ///
    /// It counts as alive for system:cip2:heartbeat_timeout_blocks blocks, and is silent after that.
    #[command(after_help = "Examples:
  $ remuda runner heartbeat --key runner.key
  $ while remuda runner heartbeat --key runner.key; do sleep 20; done")]
    Heartbeat(SendArgs),
    /// Leave. All stake is paid out after the unbonding time.
    #[command(after_help = "Example:\n  $ remuda runner deregister --key runner.key")]
    Deregister(SendArgs),
}

/// Runs the command.
pub fn main(args: &Args) -> ExitCode {
    run(&args.node, async |session| match &args.command {
        Command::List => list::list(session).await,
        Command::Show(whose) => {
            let runner = session.client.runner(whose.address()?).await?;
            session.out.show(&runner, show::words)
        }
        Command::Presence => presence::presence(session).await,
        Command::Register { file, send: args } => {
            let file = RunnerFile::read(file)?;
            let (stake, offer) = (file.stake()?, file.offer()?);
            send(session, args, Instruction::RegisterRunner { stake, offer }).await
        }
        Command::Update { file, send: args } => {
            let offer = RunnerFile::read(file)?.offer()?;
            send(session, args, Instruction::UpdateRunner { offer }).await
        }
        Command::Manage(manage) => {
            let (args, instruction) = manage.instruction();
            send(session, args, instruction).await
        }
    })
}

impl Manage {
    fn instruction(&self) -> (&SendArgs, Instruction) {
        match self {
            Self::Stake { amount, send } => (send, Instruction::Stake { amount: *amount }),
            Self::Unstake { amount, send } => (send, Instruction::Unstake { amount: *amount }),
            Self::Pause(send) => (send, Instruction::PauseRunner),
            Self::Resume(send) => (send, Instruction::ResumeRunner),
            Self::Heartbeat(send) => (send, Instruction::Heartbeat),
            Self::Deregister(send) => (send, Instruction::DeregisterRunner),
        }
    }
}
