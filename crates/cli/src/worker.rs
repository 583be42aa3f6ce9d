//! `remuda worker`: who does the jobs of a fleet.

mod init;
mod serve;
pub(crate) mod settings;
mod template;

use crate::exit_with_parent::ExitWithParent;
use crate::fleet::FleetArgs;
use clap::Subcommand;
use std::path::PathBuf;
use std::process::ExitCode;

/// Run workers of a fleet: they ask an orchestrator for jobs, do them, and say how it went.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ remuda worker init worker-1 --token-file fleet/worker.token --tag gpu
  $ remuda worker run worker-1

A worker makes its own key and signs what it sends; the token is needed once, to enrol that key. It does one
job at a time; with --concurrency several of them run side by side in one process. A job's steps run in a
sandbox (bubblewrap) unless plain processes are chosen, in a folder of their own that is gone afterwards. With
--images runc, jobs that name an image run in a container of it.
With [executors.…] in worker.toml it also does jobs of a chain's runner: see `[fleet]` in runner.toml.

On SIGTERM it takes no more jobs and lets those that it has end within drain_seconds; what does not end is
given back. If it is killed instead, its leases run out and other workers go on; what its jobs left running
is ended when it starts again.")]
pub struct Args {
    #[command(flatten)]
    fleet: FleetArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Make the files of a new worker, and enrol its key.
    ///
    /// In a directory with a worker.key but no settings, that key is enrolled.
    #[command(after_help = "Examples:
  $ remuda worker init worker-1 --token-file fleet/worker.token
  $ remuda worker init big --token-file worker.token --concurrency 4 --tag ram:64g --tag gpu
  $ remuda worker init models --token-file worker.token --executors
  $ remuda worker init boxes --token-file worker.token --images runc --images-folder /srv/images
  $ remuda worker init far --token-file worker.token --nats tls://broker:4222 --cache-mib-max 2048

Flags only write worker.toml, which has a word on each setting; edit it and start again.")]
    Init {
        /// Where; it is made if it is not there.
        directory: PathBuf,
        #[command(flatten)]
        options: template::InitOptions,
    },
    /// Run a worker until Ctrl-C or SIGTERM.
    #[command(after_help = "Examples:
  $ remuda worker run worker-1
  $ remuda worker run worker-1 --one-shot")]
    Run {
        /// Directory with worker.toml, or the file itself.
        path: PathBuf,
        /// End after one job, for machines that are made for each.
        #[arg(long)]
        one_shot: bool,
        /// Log as JSON, one object on each line.
        #[arg(long)]
        json_logs: bool,
        #[command(flatten)]
        exit_with_parent: ExitWithParent,
    },
}

pub fn main(args: &Args) -> ExitCode {
    let result = match &args.command {
        Command::Init { directory, options } => init::init(&args.fleet, directory, options),
        Command::Run { path, one_shot, json_logs, exit_with_parent } => {
            exit_with_parent.watch();
            serve::serve(&args.fleet, path, *one_shot, *json_logs)
        }
    };
    args.fleet.out().end(result, &[])
}
