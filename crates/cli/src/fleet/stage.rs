//! An orchestrator and workers as processes on this machine, for the demonstration and for figures.

use super::{FleetFailure, read_token};
use crate::dev::Home;
use crate::exit_with_parent;
use crate::failure::Failure;
use crate::poll::{self, PATIENCE};
use remuda_fleet::client::Client;
use remuda_fleet::http::{Endpoint, Trust};
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// How often it is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long a process may take to stop in order.
const STOP: Duration = Duration::from_secs(10);

/// A failure in the words of something else.
pub fn failed(error: impl std::fmt::Display) -> Failure {
    FleetFailure::Demo(error.to_string()).into()
}

/// A part of the fleet.
pub struct Part {
    child: Child,
}

impl Part {
    pub fn id(&self) -> u32 {
        self.child.id().unwrap_or(0)
    }

    /// Ends it at once, without a word.
    pub async fn kill(&mut self) {
        let _ = self.child.kill().await;
    }

    fn ask_to_stop(&self) {
        if let Some(id) = self.child.id() {
            let _ = std::process::Command::new("kill").arg(id.to_string()).status();
        }
    }
}

pub struct Stage {
    pub url: String,
    /// Asks it, and may do everything that people may.
    pub client: Client,
    /// The orchestrator first.
    pub parts: Vec<Part>,
    program: PathBuf,
    // The last: files go when nobody uses them any more.
    home: Home,
}

/// A way to an orchestrator of this machine.
pub fn local(url: &str) -> Result<Endpoint, Failure> {
    Ok(Endpoint::new(url, &Trust::default()).map_err(FleetFailure::from)?)
}

impl Stage {
    /// An orchestrator in a directory that is gone afterwards. `program` is `remuda`; `settings` changes its
    /// settings.
    pub async fn start(
        program: PathBuf,
        prefix: &str,
        settings: impl FnOnce(String) -> String,
    ) -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("{prefix}{}", std::process::id()));
        // Of an earlier process with this number, which was killed.
        let _ = fs::remove_dir_all(&path);
        let home = Home { path, temporary: true };
        let place = home.path.join("orchestrator");
        let init = ["orchestrator", "init", "--listen", "127.0.0.1:0", "--json"];
        call(&program, &init, &place).await?;
        change(&place.join("orchestrator.toml"), settings)?;
        let mut orchestrator = spawn(&program, &["orchestrator", "run", "--json"], &place)?;
        let out = orchestrator.child.stdout.take().ok_or_else(|| failed("it has no output"))?;
        let mut line = String::new();
        let read = timeout(PATIENCE, BufReader::new(out).read_line(&mut line)).await;
        let said: Value = match read {
            Ok(Ok(_)) => serde_json::from_str(&line).unwrap_or_default(),
            _ => Value::Null,
        };
        let url = said["url"].as_str().ok_or_else(|| {
            let log = fs::read_to_string(place.join("log")).unwrap_or_default();
            failed(format!("the orchestrator does not start: {}", log.trim()))
        })?;
        let token = read_token(&place.join("operator.token"))?;
        let client = Client::new(local(url)?, Some(token));
        let url = url.to_owned();
        let stage = Self { url, client, parts: vec![orchestrator], program, home };
        stage.wait("the orchestrator", async || stage.client.queue().await.ok()).await?;
        Ok(stage)
    }

    /// Waits for something.
    pub async fn wait<T>(
        &self,
        what: &str,
        look: impl AsyncFn() -> Option<T>,
    ) -> Result<T, Failure> {
        let found = poll::until(LOOK_EVERY, look).await;
        found.ok_or_else(|| failed(format!("{what} did not come in time")))
    }

    /// A file of the orchestrator's.
    pub fn file(&self, name: &str) -> PathBuf {
        self.home.path.join("orchestrator").join(name)
    }

    /// Makes a worker's directory, and enrols its key. Returns the directory and the key's name.
    pub async fn equip(&self, name: &str, url: &str) -> Result<(PathBuf, String), Failure> {
        let place = self.home.path.join(name);
        let token = self.file("worker.token");
        let token = token.to_str().ok_or_else(|| failed("the temporary directory is no text"))?;
        let args = ["worker", "init", "--orchestrator", url, "--token-file", token];
        let args = [&args[..], &["--sandbox", "plain", "--json"]].concat();
        let said = call(&self.program, &args, &place).await?;
        change(&place.join("worker.toml"), |text| {
            text.replace("drain_seconds = 60", "drain_seconds = 1")
        })?;
        let key = said["key"].as_str().ok_or_else(|| failed("a worker has no key"))?;
        Ok((place, key.to_owned()))
    }

    /// Runs a worker. Returns its number among the parts.
    pub fn run(&mut self, place: &Path) -> Result<usize, Failure> {
        self.parts.push(spawn(&self.program, &["worker", "run"], place)?);
        Ok(self.parts.len() - 1)
    }

    /// Stops everything in order, workers first.
    pub async fn stop(&mut self) {
        let mut parts = std::mem::take(&mut self.parts);
        let orchestrator = (!parts.is_empty()).then(|| parts.remove(0));
        parts.iter().for_each(Part::ask_to_stop);
        for mut part in parts {
            let _ = timeout(STOP, part.child.wait()).await;
        }
        if let Some(mut part) = orchestrator {
            part.ask_to_stop();
            let _ = timeout(STOP, part.child.wait()).await;
        }
    }
}

fn change(path: &Path, with: impl FnOnce(String) -> String) -> Result<(), Failure> {
    let failed = |source| Failure::File { path: path.to_owned(), source };
    let text = fs::read_to_string(path).map_err(failed)?;
    fs::write(path, with(text)).map_err(failed)
}

/// The program, with nothing of the user's own settings.
fn command(program: &Path, args: &[&str], place: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(args).arg(place).kill_on_drop(true);
    for name in ["REMUDA_ORCHESTRATOR", "REMUDA_TOKEN_FILE"] {
        command.env_remove(name);
    }
    command
}

/// Runs a command to its end, and reads the object that it prints.
async fn call(program: &Path, args: &[&str], place: &Path) -> Result<Value, Failure> {
    let run = command(program, args, place).stdin(Stdio::null()).output();
    let run = run.await.map_err(Failure::Start)?;
    match run.status.success() {
        true => serde_json::from_slice(&run.stdout).map_err(failed),
        false => Err(failed(String::from_utf8_lossy(&run.stderr).trim())),
    }
}

/// Starts a process that ends with this one. Its log is in its place.
fn spawn(program: &Path, args: &[&str], place: &Path) -> Result<Part, Failure> {
    let log = File::options()
        .create(true)
        .append(true)
        .open(place.join("log"))
        .map_err(Failure::Start)?;
    let mut command = command(program, args, place);
    command.arg(exit_with_parent::FLAG).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
    // A group of its own: Ctrl-C is for this process, which stops the others in its own way.
    let child = command.process_group(0).spawn().map_err(Failure::Start)?;
    Ok(Part { child })
}
