//! `remuda runner run`: the runner itself, until it is told to stop.

use crate::failure::Failure;
use remuda_client::types::HexAddress;
use remuda_runner::daemon::{Daemon, Handle, Settings};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use tokio::signal::unix::{SignalKind, signal};

/// Where the settings are: the file itself, or the one in a directory.
pub(super) fn settings(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(super::init::SETTINGS) } else { path.to_owned() }
}

/// Reads them.
pub(super) fn read(path: &Path) -> Result<Settings, Failure> {
    Ok(Settings::read(&settings(path))?)
}

pub(super) fn run(path: &Path, json_logs: bool) -> Result<(), Failure> {
    let settings = read(path)?;
    crate::node::log(json_logs);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(Failure::Start)?.block_on(async {
        let mut runner = Daemon::start(&settings).await?;
        announce(&runner);
        let asked = tokio::select! {
            () = runner.finished() => false,
            () = told_to_stop() => true,
        };
        if asked {
            say("stopping; what is open is in the journal and goes on at the next start");
        }
        // Whoever restarts what fails must see that it did.
        let failed = runner.failed();
        runner.stop().await;
        match failed {
            true => Err(Failure::Broken("the runner has broken down; its log says where")),
            false => Ok(()),
        }
    })
}

fn announce(runner: &Handle) {
    say(&format!("runner {}", HexAddress(runner.runner())));
    if let Some(address) = runner.status_address() {
        say(&format!("status http://{address}/"));
    }
}

/// To whoever still reads: a runner does not end because nobody does.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

async fn told_to_stop() {
    let told = |kind| async move {
        match signal(kind) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = told(SignalKind::interrupt()) => {}
        () = told(SignalKind::terminate()) => {}
    }
}
