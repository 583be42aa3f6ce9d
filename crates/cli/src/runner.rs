//! `remuda runner`: who does the work.

mod init;
mod list;
mod local;
mod offer;
mod presence;
mod register;
mod run;
mod show;

pub(crate) use list::every_runner;
#[cfg(test)]
pub(crate) use show::tests as testing;

use crate::account::AccountArg;
use crate::exit_with_parent::ExitWithParent;
use crate::failure::Failure;
use crate::send::{SendArgs, send};
use crate::session::{self, NodeArgs};
use clap::Subcommand;
use offer::RunnerFile;
use remuda_client::amount::parse_with_unit;
use remuda_client::wallet;
use remuda_protocol::primitives::Amount;
use remuda_protocol::transaction::Instruction;
use remuda_runner::daemon::Settings;
use remuda_runner::daemon::pins::pinned;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// List runners, or run and manage one.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ remuda runner init my-runner
  $ remuda runner register my-runner/runner.toml --key my-runner/runner.key
  $ remuda runner run my-runner
  $ remuda runner status my-runner
  $ remuda runner list
  $ remuda runner presence

A runner stakes money, keeps a session with some of the validators, does the jobs that it is drawn for,
and is paid for results that hold. `init` makes its key and its settings, `register` tells the chain,
`run` does the work.

  active   it can be drawn
  silent   no sign of life for system:cip2:heartbeat_timeout_blocks blocks (100 unless the chain was made
           with --param): it is not drawn until its next heartbeat. A runner that runs sends them.
  present  more than half of the validators that are asked about it have a session with it and say so in
           their votes. Under the policy `prefer` present runners are drawn first and others fill up;
           under `require` only present ones are drawn. `remuda status` shows the policy.
  jailed   it failed too often in a row: it is not drawn for a while, and no validator takes its session.")]
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
    Show(AccountArg),
    /// Make the files of a new runner: a key, and settings with a word on each.
    #[command(after_help = "Examples:
  $ remuda runner init my-runner
  $ remuda runner init my-runner --stake 20000cby --node http://127.0.0.1:4100,http://127.0.0.1:4101")]
    Init {
        /// Where; it is made if it is not there.
        directory: PathBuf,
        /// The stake to register with.
        #[arg(long, default_value = "15000cby")]
        stake: String,
        /// Where its status page is to be; on this machine only.
        #[arg(long, default_value = "127.0.0.1:8090")]
        status: std::net::SocketAddr,
    },
    /// Run a runner until Ctrl-C, or until it is drained.
    ///
    /// It goes on where it stopped: what it has begun and not delivered is in its journal. It talks to the
    /// nodes that its settings name, whatever --node says.
    #[command(after_help = "Example:\n  $ remuda runner run my-runner")]
    Run {
        /// Its settings (runner.toml), or the directory with them.
        settings: PathBuf,
        /// Log as JSON, one object on each line.
        #[arg(long)]
        json_logs: bool,
        #[command(flatten)]
        exit_with_parent: ExitWithParent,
    },
    /// Show a runner on this machine: its sessions, its jobs, what it earned, and what went wrong.
    #[command(after_help = "Example:\n  $ remuda runner status my-runner")]
    Status {
        /// Its settings (runner.toml), or the directory with them.
        settings: PathBuf,
    },
    /// Stop a runner on this machine in order: take no jobs, finish those that are open, then end.
    #[command(
        after_help = "Example:\n  $ remuda runner drain my-runner\n\nOnly the user that the runner runs as can drain it: the command reads a token from its data directory."
    )]
    Drain {
        /// Its settings (runner.toml), or the directory with them.
        settings: PathBuf,
    },
    /// Join as a runner.
    #[command(after_help = offer::EXAMPLE)]
    Register {
        /// What the runner offers, and its stake: its settings (.toml), or an offer in JSON; `-` for
        /// JSON from standard input.
        file: PathBuf,
        #[command(flatten)]
        send: SendArgs,
    },
    /// Change what the runner offers.
    ///
    /// Takes the same file as register. Its stake is left alone: see stake and unstake.
    #[command(after_help = offer::EXAMPLE)]
    Update {
        /// What the runner offers from now on: its settings (.toml), or an offer in JSON; `-` for JSON
        /// from standard input.
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
        /// By how much: 5000cby, or base units like 250units.
        #[arg(value_parser = parse_with_unit)]
        amount: Amount,
        #[command(flatten)]
        send: SendArgs,
    },
    /// Lower the runner's stake; it is paid out after the unbonding time.
    #[command(after_help = "Example:\n  $ remuda runner unstake 5000cby --key runner.key")]
    Unstake {
        /// By how much: 5000cby, or base units like 250units.
        #[arg(value_parser = parse_with_unit)]
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

pub fn main(args: &Args) -> ExitCode {
    if let Command::Run { settings, json_logs, exit_with_parent } = &args.command {
        exit_with_parent.watch();
        return args.node.out().end(run::run(settings, *json_logs), &[]);
    }
    session::run(&args.node, async |session| match &args.command {
        Command::Init { directory, stake, status } => {
            init::init(session, directory, args.node.nodes(), *status, stake)
        }
        Command::Run { .. } => unreachable!("it runs without a session"),
        Command::Status { settings } => local::status(session, settings).await,
        Command::Drain { settings } => local::drain(session, settings).await,
        Command::List => list::list(session).await,
        Command::Show(whose) => {
            let runner = session.client.runner(whose.address()?).await?;
            session.out.show(&runner, show::render)
        }
        Command::Presence => presence::presence(session).await,
        Command::Register { file, send: args } => {
            let instruction = match is_settings(file) {
                true => {
                    let settings = run::read(file)?;
                    own_key(&settings, args)?;
                    let pinned = pinned(&session.client, &settings.pinnable()).await?;
                    settings.registration_with(&pinned)?
                }
                false => {
                    let file = RunnerFile::read(file)?;
                    let (stake, offer) = (file.stake()?, file.offer()?);
                    Instruction::RegisterRunner { stake, offer }
                }
            };
            register::check(session, args, file, &instruction).await?;
            send(session, args, instruction).await
        }
        Command::Update { file, send: args } => {
            let offer = match is_settings(file) {
                true => {
                    let settings = run::read(file)?;
                    own_key(&settings, args)?;
                    let pinned = pinned(&session.client, &settings.pinnable()).await?;
                    settings.offer_with(&pinned)?
                }
                false => RunnerFile::read(file)?.offer()?,
            };
            send(session, args, Instruction::UpdateRunner { offer }).await
        }
        Command::Manage(manage) => {
            let (args, instruction) = manage.instruction();
            send(session, args, instruction).await
        }
    })
}

/// The account that is registered must be the one that the settings run.
fn own_key(settings: &Settings, args: &SendArgs) -> Result<(), Failure> {
    let meant = wallet::read(&settings.key)?.address();
    match args.key.read()?.address() == meant {
        true => Ok(()),
        false => Err(Failure::OtherKey { meant: settings.key.clone() }),
    }
}

/// Whether a file is a runner's settings; otherwise it is an offer in JSON.
fn is_settings(path: &Path) -> bool {
    path.is_dir() || path.extension().is_some_and(|extension| extension == "toml")
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
