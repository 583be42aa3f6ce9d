//! The real program, and real networks for it to talk to. No test needs all of it.
#![allow(dead_code, reason = "each file of tests takes what it needs")]

pub(crate) mod process;
pub(crate) mod ranch;
pub(crate) mod web;
pub(crate) mod worker;

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a network may take to stop before it is killed.
const STOP: Duration = Duration::from_secs(10);

/// The program, with nothing of the tester's own environment in it.
pub(crate) fn remuda() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_remuda"));
    for name in
        ["REMUDA_NODE", "REMUDA_KEY", "REMUDA_ORCHESTRATOR", "REMUDA_TOKEN_FILE", "NO_COLOR"]
    {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

/// What the program does with these arguments.
pub(crate) fn run(args: &[&str]) -> Run {
    Run::of(remuda().args(args))
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// A runner's offer and stake.
pub(crate) const RUNNER: &str = r#"{"stake": "15000000000000", "offer": {"kinds": ["Http"],
    "rates": {"base": "1000000", "per_second": "0", "per_1k_in": "0", "per_1k_out": "0"},
    "max_concurrent_jobs": 8, "declared_max_job_value": "1000000000000"}}"#;

/// What a run of the program left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().expect("the program starts");
        Self {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }

    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.status, 0, "{self:?}");
        self
    }

    pub(crate) fn failed(self, with: i32) -> Self {
        assert_eq!(self.status, with, "{self:?}");
        assert!(!self.stderr.contains("panicked"), "{self:?}");
        self
    }

    /// The objects on its lines.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{self:?}"));
        self.stdout.lines().map(parse).collect()
    }

    /// The one object that it printed.
    pub(crate) fn json(&self) -> Value {
        let mut lines = self.lines();
        assert_eq!(lines.len(), 1, "{self:?}");
        lines.remove(0)
    }
}

/// A folder of its own for each test, gone with it.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("remuda-cli-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a plain path").to_owned()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.0.join(name), text).expect("a file");
        self.file(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// One network at a time, so that blocks come on time on two cores.
static ALONE: Mutex<()> = Mutex::new(());

/// `remuda dev`, with one validator unless a test asks for more.
pub(crate) struct Network {
    child: Child,
    pub(crate) api: String,
    pub(crate) apis: Vec<String>,
    pub(crate) faucet_key: String,
    pub(crate) folder: Folder,
    _alone: MutexGuard<'static, ()>,
}

impl Network {
    pub(crate) fn start(name: &str) -> Self {
        Self::of(name, 1, "100ms")
    }

    /// So many validators, with so much time between blocks.
    pub(crate) fn of(name: &str, validators: u16, block_time: &str) -> Self {
        // A test that failed has stopped its network like any other.
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = Folder::new(name);
        let port = free_port(validators).to_string();
        let mut child = remuda()
            .args(["dev", "--validators", &validators.to_string(), "--block-time", block_time])
            .arg("--json")
            .args(["--base-port", &port, "--dir", &folder.file("net")])
            // Runners of these tests say that they are alive once, not every few seconds.
            .args(["--param", "system:cip2:heartbeat_timeout_blocks=100000"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("remuda dev starts");
        let mut line = String::new();
        let read = child.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
        let announced: Value = match (read, serde_json::from_str(&line)) {
            (Some(Ok(_)), Ok(announced)) => announced,
            failed => {
                let mut why = String::new();
                let _ = child.kill();
                let _ = child.stderr.take().map(|mut err| err.read_to_string(&mut why));
                panic!("no network: {failed:?} {why}");
            }
        };
        let text = |value: &Value| value.as_str().expect("a string").to_owned();
        let apis: Vec<String> =
            announced["apis"].as_array().expect("a list").iter().map(text).collect();
        let api = apis[0].clone();
        let faucet_key = text(&announced["faucet"]["key"]);
        Self { child, api, apis, faucet_key, folder, _alone: alone }
    }

    /// The processes of its validators.
    pub(crate) fn validators(&self) -> Vec<String> {
        let id = self.child.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        children.expect("Linux").split_whitespace().map(str::to_owned).collect()
    }

    /// Closes the reading end of what it still prints.
    pub(crate) fn stop_listening(&mut self) {
        drop(self.child.stderr.take());
    }

    /// Waits until the network ends by itself: its status, and what it said.
    pub(crate) fn end(&mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        let _ = self.child.stderr.take().map(|mut err| err.read_to_string(&mut said));
        (self.child.wait().expect("it was started").code(), said)
    }

    /// Ends it without giving it a chance to stop anybody.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it was started");
    }

    pub(crate) fn interrupt(&self) {
        let id = self.child.id().to_string();
        let _ = Command::new("kill").args(["-INT", &id]).status();
    }

    /// The program with this network's node.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = remuda();
        command.env("REMUDA_NODE", &self.api).args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        Run::of(&mut self.command(args))
    }

    /// One object that must come with success.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let mut args = args.to_vec();
        args.push("--json");
        self.run(&args).ok().json()
    }

    /// A new key with so much money: its file and its address.
    pub(crate) fn account(&self, name: &str, amount: &str) -> (String, String) {
        let file = self.folder.file(name);
        let address = Run::of(remuda().args(["key", "new", &file])).ok().stdout.trim().to_owned();
        self.run(&["account", "send", &address, amount, "--key", &self.faucet_key]).ok();
        (file, address)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // Not `Child::kill`: the validators are processes of their own, and only their keeper that
        // is asked politely stops them.
        if let Ok(Some(_)) = self.child.try_wait() {
            return;
        }
        if std::thread::panicking() {
            let log = fs::read_to_string(self.folder.file("net/validator-0/log"));
            eprintln!("the validator's log:\n{}", log.unwrap_or_default());
        }
        self.interrupt();
        let deadline = Instant::now() + STOP;
        while Instant::now() < deadline {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that is free for each of so many validators, and so are those for their APIs, 100 above.
pub(crate) fn free_port(validators: u16) -> u16 {
    /// Tests of one process take ports in turn. Those of others have 200 ports of their own, all
    /// below the ephemeral range.
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = 10_000 + (std::process::id() % 110) as u16 * 200;
    for _ in 0..90 {
        let port = start + NEXT.fetch_add(validators, Ordering::Relaxed) % 90;
        let free = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
        if (0..validators).all(|i| free(port + i) && free(port + 100 + i)) {
            return port;
        }
    }
    panic!("no free port from {start} on");
}

/// Whether only its owner may do anything with a file.
pub(crate) fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).expect("a file").permissions().mode() & 0o777 == 0o600
}
