//! `remuda job`: work.

mod answers;
mod example;
mod history;
mod shortage;
mod show;
mod submit;
mod watch;

pub(crate) use watch::ended;

use crate::send::{SendArgs, send};
use crate::session::{NodeArgs, run};
use clap::Subcommand;
use remuda_client::types::HexHash;
use remuda_protocol::transaction::Instruction;
use std::process::ExitCode;

/// Submit and follow jobs.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ remuda job example http > job.json
  $ remuda job submit job.json --key my.key --wait
  $ remuda job history 0x…
  $ remuda job watch 0x…

Jobs are done by runners: a job on a chain without any fails at once with InsufficientRunners. See `remuda
runner --help`.")]
pub struct Args {
    #[command(flatten)]
    node: NodeArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Submit a job that a JSON file describes.
    ///
    /// Prints the job's id once it is in a block; the exit status is 1 if that block ended the job
    /// already, for lack of runners. With --wait, stays until the job is over and prints its
    /// result; the exit status is 1 if it has none.
    #[command(after_help = submit::EXAMPLE)]
    Submit(submit::Args),
    /// Print an example job of a kind, in JSON.
    ///
    /// On a terminal it says what its results look like and which checks fit which mode; in a file it
    /// is the job alone. No node is asked, and nothing is sent.
    #[command(after_help = example::HELP)]
    Example {
        /// The kind of work.
        kind: example::Kind,
    },
    /// Show where a job stands, and its result.
    #[command(after_help = "Example:\n  $ remuda job show 0x… --json | jq .status")]
    Show {
        /// Job id.
        id: HexHash,
    },
    /// Show the history of a job: submission, draw, commits, reveals, verdict, payments.
    #[command(after_help = "Example:\n  $ remuda job history 0x…")]
    History {
        /// Job id.
        id: HexHash,
    },
    /// Follow a job until it is over.
    ///
    /// The exit status is 1 if it ends without a result.
    #[command(after_help = "Example:\n  $ remuda job watch 0x…")]
    Watch {
        /// Job id.
        id: HexHash,
    },
    /// Cancel a job before the first commit.
    #[command(after_help = "Example:\n  $ remuda job cancel 0x… --key my.key")]
    Cancel {
        /// Job id.
        id: HexHash,
        #[command(flatten)]
        send: SendArgs,
    },
}

pub fn main(args: &Args) -> ExitCode {
    run(&args.node, async |session| match &args.command {
        Command::Submit(args) => submit::submit(session, args).await,
        Command::Example { kind } => example::example(session, *kind),
        Command::Show { id } => show::show(session, *id).await,
        Command::History { id } => history::history(session, *id).await,
        Command::Watch { id } => watch::watch(session, *id).await,
        Command::Cancel { id, send: args } => {
            send(session, args, Instruction::CancelJob { job: id.0 }).await
        }
    })
}
