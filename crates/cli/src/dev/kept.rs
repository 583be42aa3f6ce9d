//! A validator that is kept up.

use super::error::DevError;
use super::say;
use crate::exit_with_parent;
use crate::style::clean;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};

/// A validator that fails this soon after its start, this many times in a row, will not run.
const SOON: Duration = Duration::from_secs(10);
const FAILURES_MAX: u32 = 3;
/// Lines of its log that are shown then.
const LINES: usize = 3;
/// How long validators may take to stop.
const STOP: Duration = Duration::from_secs(5);
const SIGKILL: i32 = 9;

/// Where a validator's log goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Logs {
    /// To the reader of ours.
    Shown,
    /// To a file beside its settings; as JSON and of these levels, if they are named.
    File(Option<&'static str>),
}

pub(crate) struct Kept {
    program: PathBuf,
    settings: PathBuf,
    logs: Logs,
    child: Child,
    started: Instant,
    /// Where the log of this child begins; before it is that of earlier ones.
    log_start: u64,
    /// Failures soon after a start, since it last ran for longer.
    failures: u32,
}

impl Kept {
    /// Runs a validator by this very program.
    pub(crate) fn start(settings: &Path, logs: Logs) -> Result<Self, DevError> {
        let program = std::env::current_exe().map_err(DevError::Start)?;
        Self::start_with(&program, settings, logs)
    }

    /// Runs a validator by a program.
    pub(crate) fn start_with(
        program: &Path,
        settings: &Path,
        logs: Logs,
    ) -> Result<Self, DevError> {
        let mut command = Command::new(program);
        command.args(["node", "run", exit_with_parent::FLAG]).arg(settings);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut log_start = 0;
        if let Logs::File(level) = logs {
            if let Some(level) = level {
                command.arg("--json-logs").env("RUST_LOG", level);
            }
            let path = settings.with_file_name("log");
            let log = File::options().create(true).append(true).open(&path);
            let log = log.and_then(|log| Ok((log.metadata()?.len(), log)));
            let (length, log) = log.map_err(|error| DevError::Log { path, error })?;
            log_start = length;
            command.stderr(log);
        }
        // A group of its own: Ctrl-C is for this process, which stops the others in its own way.
        let child = command.process_group(0).kill_on_drop(true).spawn().map_err(DevError::Start)?;
        let (program, settings) = (program.to_owned(), settings.to_owned());
        let started = Instant::now();
        Ok(Self { program, settings, logs, child, started, log_start, failures: 0 })
    }

    /// Its process, if it runs.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    pub(crate) fn is_up(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Kills it, without a word.
    pub(crate) async fn kill(&mut self) -> Result<(), DevError> {
        self.child.kill().await.map_err(DevError::Start)
    }

    /// Starts it again after that.
    pub(crate) fn start_again(&mut self) -> Result<(), DevError> {
        *self = Self::start_with(&self.program, &self.settings, self.logs)?;
        Ok(())
    }

    /// Starts it again if it has ended; fails if that does not help.
    pub(super) fn revive(&mut self) -> Result<(), DevError> {
        let Ok(Some(status)) = self.child.try_wait() else { return Ok(()) };
        // SIGKILL is a user's fault injection: it counts as no failure, however often it is repeated.
        let failed = !status.success() && status.signal() != Some(SIGKILL);
        let failures = match failed && self.started.elapsed() < SOON {
            true => self.failures + 1,
            false => 0,
        };
        if failures == FAILURES_MAX {
            return Err(self.died(status));
        }
        say(&format!("{} has died; starting it again", self.settings.display()));
        *self = Self { failures, ..Self::start_with(&self.program, &self.settings, self.logs)? };
        Ok(())
    }

    fn died(&self, status: ExitStatus) -> DevError {
        let validator = self.settings.with_file_name("");
        DevError::Died { validator, status, last: self.last_lines() }
    }

    /// What its log says about its end.
    fn last_lines(&self) -> String {
        if matches!(self.logs, Logs::Shown) {
            return "its log is above".to_owned();
        }
        let path = self.settings.with_file_name("log");
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|mut log| {
            log.seek(SeekFrom::Start(self.log_start))?;
            log.read_to_end(&mut bytes)
        });
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<String> =
            text.lines().filter(|line| !line.trim().is_empty()).map(clean).collect();
        if read.is_err() || lines.is_empty() {
            return "its log says nothing".to_owned();
        }
        // What a panic says comes first; after it comes how it was reached.
        let panic = lines.iter().position(|line| line.contains("panicked at"));
        let from = panic.unwrap_or(lines.len().saturating_sub(LINES));
        lines[from..].iter().take(LINES).map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

/// Resolves when a validator ends before the first block: something is wrong with the set-up.
pub(super) async fn any_death(validators: &mut [Kept]) -> DevError {
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        for kept in &mut *validators {
            if let Ok(Some(status)) = kept.child.try_wait() {
                return kept.died(status);
            }
        }
    }
}

/// Asks all to stop, and waits until they have.
pub(crate) async fn stop(validators: Vec<Kept>) {
    for kept in &validators {
        if let Some(id) = kept.child.id() {
            let _ = std::process::Command::new("kill").arg(id.to_string()).status();
        }
    }
    for mut kept in validators {
        // What does not stop in time is killed when it is dropped; nothing final is lost by that.
        let _ = tokio::time::timeout(STOP, kept.child.wait()).await;
    }
}
