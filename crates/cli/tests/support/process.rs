//! Processes of the program that a test leaves running.

use super::{Run, remuda};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take that should take seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that is asked to end with its test.
pub(crate) struct Running(pub(crate) Child);

impl Running {
    pub(crate) fn signal(&self, name: &str) {
        let _ = Command::new("kill").args([name, &self.0.id().to_string()]).status();
    }

    /// Waits for its end. Returns its status.
    pub(crate) fn end(&mut self) -> i32 {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.0.try_wait().expect("a child") {
                return status.code().unwrap_or(-1);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("it does not end");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            self.signal("-TERM");
            let until = Instant::now() + Duration::from_secs(15);
            while matches!(self.0.try_wait(), Ok(None)) && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = self.0.kill();
        }
        let _ = self.0.wait();
    }
}

/// Makes an orchestrator in a new directory and runs it. Returns its URL, too.
pub(crate) fn new_orchestrator(home: &str) -> (Running, String) {
    Run::of(remuda().args(["orchestrator", "init", home, "--listen", "127.0.0.1:0"])).ok();
    orchestrator(home)
}

/// Runs the orchestrator of a directory.
pub(crate) fn orchestrator(home: &str) -> (Running, String) {
    let mut child = remuda()
        .args(["orchestrator", "run", home, "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("output")).read_line(&mut line).expect("a line");
    let said: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
    (Running(child), said["url"].as_str().expect("its address").to_owned())
}
