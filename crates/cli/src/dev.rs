//! `remuda dev`: a network on this machine, one process for each validator.

use crate::node::NetworkArgs;
use remuda_client::Client;
use remuda_node::config::{Initialised, init};
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;
use tokio::process::{Child, Command};

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
/// How long validators may take to stop.
const STOP: Duration = Duration::from_secs(5);

/// Runs the command.
pub fn main(args: &Args) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(keep(args)),
        Err(error) => Err(error.to_string()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("remuda dev: {error}");
            ExitCode::FAILURE
        }
    }
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

async fn keep(args: &Args) -> Result<(), String> {
    let temporary = args.dir.is_none();
    let path = args
        .dir
        .clone()
        .unwrap_or_else(|| std::env::temp_dir().join(format!("remuda-dev-{}", std::process::id())));
    let home = Home { path, temporary };
    let network = open(&home.path, &args.network)?;
    let mut validators: Vec<Kept> = Vec::new();
    for settings in &network.settings {
        validators.push(Kept::start(settings, args.logs)?);
    }
    tokio::select! {
        () = stop_asked() => return stop(validators).await,
        up = first_block(&network, FIRST_BLOCK) => up?,
        died = any_death(&mut validators) => return Err(died),
    }
    announce(args, &home, &network);
    loop {
        tokio::select! {
            () = stop_asked() => break,
            () = tokio::time::sleep(Duration::from_millis(500)) => {
                for kept in &mut validators {
                    kept.revive(args.logs)?;
                }
            }
        }
    }
    if !args.json {
        eprintln!("stopping");
    }
    stop(validators).await
}

/// Makes the network, or finds the one that is there.
fn open(path: &Path, args: &NetworkArgs) -> Result<Initialised, String> {
    if !path.join("genesis.json").exists() {
        return init(path, args.options()?, crate::entropy::rng()).map_err(|e| e.to_string());
    }
    Initialised::find(path).map_err(|e| e.to_string())
}

fn announce(args: &Args, home: &Home, network: &Initialised) {
    let apis: Vec<String> = network.apis.iter().map(|api| format!("http://{api}")).collect();
    let mut stdout = std::io::stdout();
    let written = if args.json {
        let object = json!({
            "ok": true,
            "directory": home.path,
            "genesis_hash": network.genesis_hash.to_string(),
            "apis": apis,
            "faucet": {
                "address": network.faucet_address.to_string(),
                "key": network.faucet,
            },
        });
        writeln!(stdout, "{object}")
    } else {
        let mut text = format!("{} validators make blocks\n\n", network.apis.len());
        for (i, api) in apis.iter().enumerate() {
            text += &format!("  validator {i}   {api}   ({api}/openapi.json)\n");
        }
        text += &format!("  genesis       {}\n", network.genesis_hash);
        text += &format!("  money         {}\n", network.faucet_address);
        text += &format!("  its key       {}\n", network.faucet.display());
        text += &format!("  files, logs   {}\n\n", home.path.display());
        text += &format!("try  curl {}/block/latest\n     Ctrl-C stops everything\n", apis[0]);
        write!(stdout, "{text}")
    };
    // Whoever started this may not read what it prints.
    let _ = written.and_then(|()| stdout.flush());
}

/// A validator that is kept up.
struct Kept {
    settings: PathBuf,
    child: Child,
}

impl Kept {
    fn start(settings: &Path, logs: bool) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|e| e.to_string())?;
        let mut command = Command::new(program);
        command.args(["node", "run"]).arg(settings).stdin(Stdio::null()).stdout(Stdio::null());
        if !logs {
            let path = settings.with_file_name("log");
            let log = std::fs::OpenOptions::new().create(true).append(true).open(&path);
            command.stderr(log.map_err(|e| format!("{}: {e}", path.display()))?);
        }
        // A group of its own: Ctrl-C is for this process, which stops the others in its own way.
        let child = command.process_group(0).kill_on_drop(true).spawn();
        let child = child.map_err(|e| format!("cannot start a validator: {e}"))?;
        Ok(Self { settings: settings.to_owned(), child })
    }

    fn revive(&mut self, logs: bool) -> Result<(), String> {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            eprintln!("{} has died; starting it again", self.settings.display());
            *self = Self::start(&self.settings, logs)?;
        }
        Ok(())
    }
}

/// Resolves when a validator ends before the first block: something is wrong with the set-up.
async fn any_death(validators: &mut [Kept]) -> String {
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        for kept in validators.iter_mut() {
            if let Ok(Some(status)) = kept.child.try_wait() {
                let log = kept.settings.with_file_name("log");
                let text = std::fs::read_to_string(&log).unwrap_or_default();
                let last = text.lines().last().unwrap_or_default();
                return format!("a validator ended ({status}): {last}");
            }
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

async fn stop(validators: Vec<Kept>) -> Result<(), String> {
    for kept in &validators {
        if let Some(id) = kept.child.id() {
            let _ = std::process::Command::new("kill").arg(id.to_string()).status();
        }
    }
    for mut kept in validators {
        // What does not stop in time is killed when it is dropped; nothing final is lost by that.
        let _ = tokio::time::timeout(STOP, kept.child.wait()).await;
    }
    Ok(())
}

/// Waits until every validator has a block.
async fn first_block(network: &Initialised, within: Duration) -> Result<(), String> {
    let all = async {
        for api in &network.apis {
            let client = Client::new(format!("http://{api}")).map_err(|e| e.to_string())?;
            loop {
                match client.status().await {
                    Ok(status) if status.height.0 >= 1 => break,
                    _ => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            }
        }
        Ok(())
    };
    tokio::time::timeout(within, all)
        .await
        .unwrap_or_else(|_| Err(format!("no block within {} s", within.as_secs())))
}
