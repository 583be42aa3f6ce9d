//! `remuda dev`: a network on this machine, one process for each validator.

mod announce;
mod error;
mod kept;
mod ports;

use crate::node::NetworkArgs;
use error::DevError;
pub(crate) use kept::{Kept, Logs, stop};
use remuda_client::Client;
use remuda_node::config::{GenesisFile, Initialised, init};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

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

/// Writes to standard error and ignores failures: a closed pipe must not stop the network.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The directory of the network, removed afterwards if nobody asked for it.
pub(crate) struct Home {
    pub(crate) path: PathBuf,
    pub(crate) temporary: bool,
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
        // First, so that the signal handlers are installed before any validator starts.
        biased;
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
    Ok(init(path, options, crate::rng::from_os())?)
}

/// Runs validators until something goes wrong that starting one again does not mend.
async fn run(
    args: &Args,
    home: &Path,
    network: &Initialised,
    validators: &mut Vec<Kept>,
) -> Result<(), DevError> {
    for settings in &network.settings {
        let logs = if args.logs { Logs::Shown } else { Logs::File(None) };
        validators.push(Kept::start(settings, logs)?);
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

/// Resolves at Ctrl-C, at the signal that service managers send, and when the terminal is closed:
/// the validators are in groups of their own and would outlive this process.
pub(crate) async fn stop_asked() {
    let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if !ignores_hangup(&status) {
        kinds.push(SignalKind::hangup());
    }
    futures::future::select_all(kinds.into_iter().map(|kind| Box::pin(told(kind)))).await;
}

async fn told(kind: SignalKind) {
    match signal(kind) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    }
}

/// Whether a process was started to outlive its terminal, as `nohup` does; from its status in
/// /proc. Listening to the signal would undo that.
fn ignores_hangup(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_closed_terminal_stops_the_network_as_other_signals_do() {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        for name in ["-INT", "-TERM", "-HUP"] {
            if name == "-HUP" && ignores_hangup(&status) {
                continue;
            }
            let mut asked = std::pin::pin!(stop_asked());
            assert!(futures::poll!(&mut asked).is_pending());
            let own = std::process::id().to_string();
            assert!(
                std::process::Command::new("kill").args([name, &own]).status().unwrap().success()
            );
            let asked = tokio::time::timeout(Duration::from_secs(10), asked).await;
            asked.unwrap_or_else(|_| panic!("{name} does not stop the network"));
        }
    }

    #[test]
    fn sighup_is_ignored_under_nohup() {
        assert!(ignores_hangup("Name:\tremuda\nSigIgn:\t0000000000001001\n"));
        assert!(!ignores_hangup("Name:\tremuda\nSigIgn:\t0000000000001000\n"));
        assert!(!ignores_hangup(""), "nobody tells");
    }
}
