//! `remuda orchestrator`: the authority of a fleet.

mod bucket;
mod certificate;
mod init;
mod serve;
pub(crate) mod settings;
mod template;
mod token;

use crate::exit_with_parent::ExitWithParent;
use crate::session::{Output, PrintArgs};
use clap::Subcommand;
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
stale. Everything is in a database in the directory; with --postgres several orchestrators share one. With
--nats work is announced and cancellations are told at once, instead of when workers ask. Objects (what jobs
leave behind) are in a folder of bounded size, or in a bucket.

The same address has pages for people (http://127.0.0.1:4400/), /metrics for Prometheus,
/api/v1/workers/desired for autoscalers, and /openapi.json. It speaks TLS with a certificate of yours
(--tls-certificate, --tls-key) or one that it makes (--tls-name); without, it serves this machine only.")]
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
  $ remuda orchestrator init fleet --listen 0.0.0.0:4400 --tls-name fleet.example.com
  $ remuda orchestrator init fleet --listen 0.0.0.0:4400 --tls-certificate fullchain.pem --tls-key privkey.pem
  $ remuda orchestrator init fleet --postgres postgres://fleet@db/fleet --nats tls://broker:4222
  $ remuda orchestrator init fleet --objects-mib-max 10240
  $ remuda orchestrator init fleet --s3-endpoint http://store:9000 --s3-bucket ci --s3-keys-file bucket.keys

Flags only write orchestrator.toml, which has a word on each setting; edit it and start again. What is
secret is in files or in the environment, and never on a command line.")]
    Init {
        /// Where; it is made if it is not there.
        directory: PathBuf,
        #[command(flatten)]
        options: Box<template::InitOptions>,
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
        /// Allow plain HTTP for other machines: anyone on the network path can read tokens, leases and job variables.
        #[arg(long)]
        insecure: bool,
        #[command(flatten)]
        exit_with_parent: ExitWithParent,
    },
    /// Make, list and revoke tokens. A running orchestrator knows within a second.
    Token(token::Args),
}

pub fn main(args: &Args) -> ExitCode {
    let out = Output::new(args.print);
    let result = match &args.command {
        Command::Init { directory, options } => init::init(out, directory, options),
        Command::Run { path, json_logs, insecure, exit_with_parent } => {
            exit_with_parent.watch();
            serve::serve(out, path, *json_logs, *insecure)
        }
        Command::Token(args) => token::token(out, args),
    };
    out.end(result, &[])
}
