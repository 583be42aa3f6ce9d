//! `remuda dev`: a network on this machine, one process for each validator.

mod announce;
mod error;
mod kept;
mod ports;

use crate::node::NetworkArgs;
use error::DevError;
use kept::Kept;
use remuda_client::Client;
use remuda_node::config::{GenesisFile, Initialised, init};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Keep a network up on this machine: n validators, a funded key and a faucet, until Ctrl-C.
///
/// Each validator is a process of its own. One that dies is started again; kill one to see. Without
/// --dir the network lives in a temporary directory and is gone afterwards.
///
/// Example: remuda dev --validators 7 --block-time 250ms
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    network: NetworkArgs,
    /// Keep everything here; a network that is already there goes on.
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Print one JSON object when blocks flow, instead of the table.
    #[arg(long)]
    json: bool,
    /// Show the validators' logs; otherwise they are in the directory only.
    #[arg(long)]
    logs: bool,
}

/// How long the first block may take.
const FIRST_BLOCK: Duration = Duration::from_secs(60);

/// Runs the command.
pub fn main(args: &Args) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(keep(args)),
        Err(error) => Err(DevError::Start(error)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("remuda dev: {error}"));
            error.status()
        }
    }
}

/// Tells whoever still reads: a network goes on when its terminal or pipe is gone.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The directory of the network, removed afterwards if nobody asked for it.
struct Home {
    path: PathBuf,
    temporary: bool,
}

impl Drop for Home {
    fn drop(&mut self) {
        if self.temporary {
            // What cannot be removed is in the temporary directory anyway.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

async fn keep(args: &Args) -> Result<(), DevError> {
    let temporary = args.dir.is_none();
    let path = args
        .dir
        .clone()
        .unwrap_or_else(|| std::env::temp_dir().join(format!("remuda-dev-{}", std::process::id())));
    let home = Home { path, temporary };
    let network = open(&home.path, &args.network)?;
    let mut validators = Vec::new();
    let result = tokio::select! {
        () = stop_asked() => Ok(()),
        result = run(args, &home.path, &network, &mut validators) => result,
    };
    if result.is_ok() && !args.json {
        say("stopping");
    }
    kept::stop(validators).await;
    result
}

/// Makes the network, or finds the one that is there. Whatever it is, its ports are free: another
/// node that answers there would be taken for one of ours.
fn open(path: &Path, args: &NetworkArgs) -> Result<Initialised, DevError> {
    let genesis = path.join("genesis.json");
    if genesis.exists() {
        let network = Initialised::find(path)?;
        let flags = args.contradictions(&GenesisFile::read(&genesis)?, &network.addresses);
        if !flags.is_empty() {
            return Err(DevError::OtherNetwork { directory: path.to_owned(), flags });
        }
        ports::check(&network.addresses, Some(path))?;
        return Ok(network);
    }
    let options = args.options()?;
    ports::check(&options.addresses()?, None)?;
    Ok(init(path, options, crate::entropy::rng())?)
}

/// Runs validators until something goes wrong that starting one again does not mend.
async fn run(
    args: &Args,
    home: &Path,
    network: &Initialised,
    validators: &mut Vec<Kept>,
) -> Result<(), DevError> {
    for settings in &network.settings {
        validators.push(Kept::start(settings, args.logs)?);
    }
    tokio::select! {
        up = first_block(network) => up?,
        died = kept::any_death(validators) => return Err(died),
    }
    announce::announce(args.json, home, network);
    loop {
        tokio::time::sleep(Duration::from_millis(500)).await;
        for kept in &mut *validators {
            kept.revive()?;
        }
    }
}

async fn stop_asked() {
    let terminate = async {
        let kind = tokio::signal::unix::SignalKind::terminate();
        match tokio::signal::unix::signal(kind) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminate => {}
    }
}

/// Waits until every validator has a block of this network.
async fn first_block(network: &Initialised) -> Result<(), DevError> {
    let all = async {
        for at in &network.addresses {
            let client = Client::new(format!("http://{}", at.api)).map_err(DevError::Client)?;
            loop {
                match client.status().await {
                    Ok(status) if status.genesis_hash.0 != network.genesis_hash => {
                        let found = status.genesis_hash.0;
                        return Err(DevError::OtherChain { api: at.api, found });
                    }
                    Ok(status) if status.height.0 >= 1 => break,
                    _ => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            }
        }
        Ok(())
    };
    tokio::time::timeout(FIRST_BLOCK, all).await.unwrap_or(Err(DevError::NoBlock))
}
