//! A server that is a program: started for one job, and killed after it.

use super::budget::{Bounded, Budget};
use rmcp::RoleClient;
use rmcp::transport::async_rw::AsyncRwTransport;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

pub(super) struct Server {
    pub command: PathBuf,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
}

/// A program that runs. When this is dropped it does so no longer, nor does what it started, unless
/// that went into a group of its own.
pub(super) struct Process(Child);

/// Its standard input and output.
pub(super) type Pipes = AsyncRwTransport<RoleClient, Bounded<ChildStdout>, ChildStdin>;

/// Characters from which on a value of the environment may be a secret.
const SECRET_LENGTH: usize = 8;

impl Server {
    /// What the server said, without what must not be repeated: keys are given to programs in their
    /// environment.
    pub(super) fn without_secrets(&self, words: String) -> String {
        let secrets = self.env.values().filter(|value| value.len() >= SECRET_LENGTH);
        secrets.fold(words, |words, secret| words.replace(&secret[..], "[…]"))
    }

    /// Starts it, with nothing of ours but two pipes.
    pub(super) fn start(&self, budget: &Budget) -> io::Result<(Process, Pipes)> {
        let mut child = Command::new(&self.command)
            .args(&self.args)
            .env_clear()
            .envs(&self.env)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let stdin = child.stdin.take().expect("it is piped");
        let stdout = child.stdout.take().expect("it is piped");
        let stdout = Bounded { inner: stdout, budget: budget.clone() };
        Ok((Process(child), AsyncRwTransport::new_client(stdout, stdin)))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process was not reaped, so its id is still its own.
        let id = self.0.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        if let Some(id) = id {
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}
