//! `remuda node`: set a validator up, and run it.

mod grants;
mod network;

pub use network::NetworkArgs;
pub(crate) use network::random_chain_id;

use crate::exit_with_parent::ExitWithParent;
use clap::Subcommand;
use remuda_node::config::{Addresses, Faucet, FileError, InitError, Initialised, Settings, init};
use remuda_node::process::{self, NodeError};
use remuda_protocol::params::ParamError;
use serde_json::json;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use thiserror::Error;

/// Set a validator up, and run it.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Init(Box<Init>),
    Run(Run),
}

/// Make a network: deal keys for its validators, and write a genesis and everybody's settings.
///
/// One program holds all secrets for a moment: its user could sign for every validator. The directory
/// gets genesis.json and a directory for each validator with node.toml and node.key (readable by its
/// owner only).
///
/// Without --production it is a development network with a faucet: an account with a billion CBY that
/// receives the validators' tips and may cancel any timer. Its key is in faucet.key. With --production
/// only the accounts that you name have money and rights.
///
/// Example: remuda node init net --validators 4 && remuda node run net/validator-0
#[derive(clap::Args)]
pub struct Init {
    /// Where to; must not hold a network already.
    directory: PathBuf,
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    grants: grants::GrantArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Run a validator until Ctrl-C or SIGTERM. It may be killed at any moment: it goes on from its
/// last final block.
///
/// Logs go to standard error; RUST_LOG chooses them (default: info), RUST_LOG=debug shows more.
#[derive(clap::Args)]
pub struct Run {
    /// Directory with node.toml, or the file itself.
    path: PathBuf,
    /// Logs as JSON lines.
    #[arg(long)]
    json_logs: bool,
    #[command(flatten)]
    exit_with_parent: ExitWithParent,
}

#[derive(Debug, Error)]
enum NodeFailure {
    /// A flag asks for a chain that cannot be.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// Accounts that it starts with.
    #[error(transparent)]
    Grants(#[from] grants::GrantError),
    /// The network cannot be made.
    #[error(transparent)]
    Init(#[from] InitError),
    #[error(transparent)]
    File(#[from] FileError),
    /// The validators are one level down.
    #[error(
        "{} is the directory of a whole network. Run one of its validators, each in a terminal or \
         on a machine of its own: {}; or all of them here: remuda dev --dir {}",
        directory.display(), validators.join(", "), directory.display()
    )]
    WholeNetwork { directory: PathBuf, validators: Vec<String> },
    /// The validator does not run.
    #[error(transparent)]
    Run(#[from] NodeError),
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
}

/// Whether it is the flags' fault that there is no network.
pub(crate) fn is_wrong_use(error: &InitError) -> bool {
    !matches!(error, InitError::File(_))
}

impl NodeFailure {
    /// The exit status: 2 for wrong use, 1 for all else.
    fn status(&self) -> ExitCode {
        match self {
            Self::Param(_) | Self::Grants(_) | Self::WholeNetwork { .. } => ExitCode::from(2),
            Self::Init(error) if is_wrong_use(error) => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        }
    }
}

pub fn main(args: &Args) -> ExitCode {
    let (name, result) = match &args.command {
        Command::Init(args) => ("init", make(args)),
        Command::Run(args) => ("run", run(args)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If this cannot be written either, the status says enough.
            let _ = writeln!(io::stderr(), "remuda node {name}: {error}");
            error.status()
        }
    }
}

fn make(args: &Init) -> Result<(), NodeFailure> {
    let mut options = args.network.options()?;
    args.grants.apply(&mut options)?;
    let made = init(&args.directory, options, crate::rng::from_os())?;
    let api = |at: &Addresses| format!("http://{}", at.api);
    let mut text = String::new();
    if args.json {
        let object = json!({
            "genesis_hash": made.genesis_hash.to_string(),
            "settings": made.settings,
            "apis": made.addresses.iter().map(api).collect::<Vec<_>>(),
            "faucet": made.faucet.as_ref().map(|faucet| json!({
                "address": faucet.address.to_string(), "key": faucet.key,
            })),
        });
        text = format!("{object}\n");
    } else {
        text += &format!("genesis  {}\n", made.genesis_hash);
        if let Some(Faucet { address, key }) = &made.faucet {
            text += &format!("faucet   {address} in {}\n", key.display());
        }
        for (settings, at) in made.settings.iter().zip(&made.addresses) {
            text += &format!("run      {}   # API {}\n", run_command(settings), api(at));
        }
    }
    match io::stdout().write_all(text.as_bytes()) {
        // Nobody reads any more: no failure of ours.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

fn run_command(settings: &Path) -> String {
    format!("remuda node run {}", settings.display())
}

fn run(args: &Run) -> Result<(), NodeFailure> {
    let mut path = args.path.clone();
    if path.is_dir() {
        path.push("node.toml");
        if !path.exists() && args.path.join("genesis.json").exists() {
            return Err(whole_network(&args.path)?);
        }
    }
    let settings = Settings::read(&path)?;
    log(args.json_logs);
    args.exit_with_parent.watch();
    Ok(process::run(settings)?)
}

fn whole_network(directory: &Path) -> Result<NodeFailure, FileError> {
    let found = Initialised::find(directory)?;
    let home = |settings: &PathBuf| run_command(settings.parent().unwrap_or(settings));
    let validators = found.settings.iter().map(home).collect();
    Ok(NodeFailure::WholeNetwork { directory: directory.to_owned(), validators })
}

/// Logs to standard error. The engine's own are for its makers: warnings are enough.
pub(crate) fn log(json: bool) {
    let chosen = std::env::var("RUST_LOG").unwrap_or_else(|_| "info".to_owned());
    let filter = tracing_subscriber::EnvFilter::new(format!(
        "commonware_p2p=warn,commonware_consensus=warn,commonware_glue=warn,\
         commonware_storage=error,commonware_runtime=warn,commonware_resolver=warn,{chosen}"
    ));
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_target(false)
        .with_ansi(io::stderr().is_terminal())
        // Nobody reads any more: it would panic when it says so.
        .log_internal_errors(false)
        .with_writer(io::stderr);
    if json { logs.json().init() } else { logs.init() }
}
