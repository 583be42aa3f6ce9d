//! `remuda runner run`: the runner itself, until it is told to stop.

use crate::failure::Failure;
use crate::session::block_on_threads;
use remuda_client::types::HexAddress;
use remuda_runner::daemon::{Daemon, Handle, Settings};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Where the settings are: the file itself, or the one in a directory.
pub(super) fn settings(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(super::init::SETTINGS) } else { path.to_owned() }
}

pub(super) fn read(path: &Path) -> Result<Settings, Failure> {
    Ok(Settings::read(&settings(path))?)
}

pub(super) fn run(path: &Path, json_logs: bool) -> Result<(), Failure> {
    let settings = read(path)?;
    crate::node::log(json_logs);
    block_on_threads(async {
        let mut runner = Daemon::start(&settings).await?;
        announce(&runner);
        let asked = tokio::select! {
            () = runner.finished() => false,
            () = crate::dev::stop_asked() => true,
        };
        if asked {
            say("stopping; what is open is in the journal and goes on at the next start");
        }
        // A supervisor such as systemd restarts on failure, so a broken runner must exit nonzero.
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

/// Writes to standard error and ignores failures: a closed pipe must not stop the runner.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
