//! `remuda orchestrator`: the authority of a fleet.

mod init;
mod serve;
pub(crate) mod settings;
mod token;

use crate::leash::Leash;
use crate::session::{Output, PrintArgs};
use clap::Subcommand;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

/// Run the orchestrator of a fleet: it takes runs in, and gives their jobs to workers under leases.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ remuda orchestrator init fleet
  $ remuda orchestrator run fleet
  $ remuda orchestrator token new fleet --name laptop --scope submitter
  $ remuda worker init worker-1 --token-file fleet/worker.token
  $ remuda run submit run.toml --token-file fleet/submitter.token --watch

A job is with one worker at a time, under a lease that heartbeats keep alive. A worker that dies loses its
lease, the job goes on elsewhere under a higher fence, and whatever the first one still says is refused as
stale. Everything is in a database in the directory; with --postgres several orchestrators share one.

The same address has pages for people (http://127.0.0.1:4400/), /metrics for Prometheus,
/api/v1/workers/desired for autoscalers, and /openapi.json. It speaks HTTP: put a proxy with TLS in front
where others share the network.")]
pub struct Args {
    #[command(flatten)]
    print: PrintArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Make the files of a new orchestrator: settings with a word on each, and tokens.
    ///
    /// Tokens are written to files that only their owner can read, one for each scope: operator,
    /// submitter, viewer, and worker (which enrols workers). What is there already is never overwritten.
    #[command(after_help = "Examples:
  $ remuda orchestrator init fleet
  $ remuda orchestrator init fleet --listen 0.0.0.0:4400
  $ remuda orchestrator init fleet --postgres postgres://fleet@db/fleet")]
    Init {
        /// Where; it is made if it is not there.
        directory: PathBuf,
        /// Where it listens; port 0 takes a free one.
        #[arg(long, default_value = crate::fleet::DEFAULT_LISTEN)]
        listen: SocketAddr,
        /// Keep rows in PostgreSQL instead of a file; others may share it.
        #[arg(long, value_name = "URL")]
        postgres: Option<String>,
        /// No tokens: whoever reaches it may do everything. Only on an address of this machine.
        #[arg(long)]
        open: bool,
    },
    /// Run an orchestrator until Ctrl-C or SIGTERM. It may be killed at any moment: what it answered is
    /// kept.
    ///
    /// Prints its address when it is ready. Logs go to standard error; RUST_LOG chooses them.
    #[command(after_help = "Example:\n  $ remuda orchestrator run fleet")]
    Run {
        /// Directory with orchestrator.toml, or the file itself.
        path: PathBuf,
        /// Log as JSON, one object on each line.
        #[arg(long)]
        json_logs: bool,
        #[command(flatten)]
        leash: Leash,
    },
    /// Make, list and revoke tokens. A running orchestrator knows within a second.
    Token(token::Args),
}

/// Runs the command.
pub fn main(args: &Args) -> ExitCode {
    let out = Output::new(args.print);
    let result = match &args.command {
        Command::Init { directory, listen, postgres, open } => {
            init::init(out, directory, *listen, postgres.as_deref(), *open)
        }
        Command::Run { path, json_logs, leash } => {
            leash.watch();
            serve::serve(out, path, *json_logs)
        }
        Command::Token(args) => token::token(out, args),
    };
    out.end(result, &[])
}
