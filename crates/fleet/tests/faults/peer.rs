//! Processes that can be killed, and what they say of a run.

use reqwest::Client;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

pub const PATIENCE: Duration = Duration::from_secs(40);

/// A folder that no other test has, and that goes with this.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("fleet-fault-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A process. Killed when this is dropped; it ends by itself if the test is.
pub struct Peer {
    child: Child,
    pub ready: String,
}

impl Peer {
    pub fn start(settings: &Value) -> Self {
        Self::start_in(&[], settings)
    }

    /// Through another program, which must become it.
    pub fn start_in(through: &[&str], settings: &Value) -> Self {
        let words = [through, &[env!("CARGO_BIN_EXE_fleet-peer")]].concat();
        let mut child = Command::new(words[0])
            .args(&words[1..])
            .arg(settings.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let mut line = String::new();
        let output = child.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("a line");
        let ready = line.strip_prefix("ready").unwrap_or_else(|| panic!("not ready: {line:?}"));
        Self { child, ready: ready.trim().to_owned() }
    }

    pub fn signal(&self, signal: Signal) {
        let id = Pid::from_raw(self.child.id() as i32).expect("a process");
        kill_process(id, signal).expect("a signal");
    }

    pub fn kill(mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("gone");
    }

    /// Asks it to end; how it did.
    pub fn end(mut self) -> bool {
        self.signal(Signal::TERM);
        self.child.wait().expect("gone").success()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An orchestrator that can be killed and started again, and a client.
pub struct Fleet {
    pub folder: Folder,
    pub url: String,
    settings: Value,
    orchestrator: Option<Peer>,
    http: Client,
}

impl Fleet {
    pub fn start(settings: Value) -> Self {
        let folder = Folder::new();
        Self::start_with(folder, settings, Peer::start)
    }

    pub fn start_with(folder: Folder, mut settings: Value, start: impl Fn(&Value) -> Peer) -> Self {
        settings["role"] = json!("orchestrator");
        settings["folder"] = json!(folder.0.join("orchestrator"));
        std::fs::create_dir_all(folder.0.join("orchestrator")).expect("a folder");
        settings["listen"] = json!("127.0.0.1:0");
        let orchestrator = start(&settings);
        // The same place again when it comes back.
        settings["listen"] = json!(orchestrator.ready);
        let url = format!("http://{}", orchestrator.ready);
        Self { folder, url, settings, orchestrator: Some(orchestrator), http: Client::new() }
    }

    pub fn kill(&mut self) {
        self.orchestrator.take().expect("it runs").kill();
    }

    pub fn restart(&mut self) {
        self.orchestrator = Some(Peer::start(&self.settings));
    }

    pub fn worker(&self, name: &str) -> Peer {
        self.worker_with(name, json!({}))
    }

    pub fn worker_with(&self, name: &str, settings: Value) -> Peer {
        Peer::start(&self.worker_settings(name, settings))
    }

    pub fn worker_settings(&self, name: &str, mut settings: Value) -> Value {
        settings["role"] = json!("worker");
        settings["folder"] = json!(self.folder.0.join(name));
        settings["orchestrator"] = json!(self.url);
        settings
    }

    /// A run of jobs that each do one step, and its id.
    pub async fn submit(&self, jobs: Vec<Value>) -> String {
        let answer = self.post("/runs", json!({ "jobs": jobs })).await;
        answer["run_id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    pub async fn post(&self, path: &str, body: Value) -> Value {
        let request = self.http.post(format!("{}/api/v1{path}", self.url));
        let request = request.header("content-type", "application/json");
        request.body(body.to_string()).send().await.expect("sent").json().await.expect("JSON")
    }

    /// The same, with the answer's status.
    pub async fn answer(&self, path: &str, body: Value) -> (u16, Value) {
        let request = self.http.post(format!("{}/api/v1{path}", self.url));
        let request = request.header("content-type", "application/json");
        let answer = request.body(body.to_string()).send().await.expect("sent");
        (answer.status().as_u16(), answer.json().await.expect("JSON"))
    }

    /// Does what was granted, which is nothing.
    pub async fn take(&self, granted: &Value, runner: &str) {
        let lease = &granted["lease_id"];
        let ack = json!({ "job_id": granted["job_id"], "lease_id": lease, "runner_id": runner });
        self.post("/internal/ack-lease", ack).await;
        let done = json!({ "lease_id": lease, "runner_id": runner, "status": "SUCCEEDED" });
        self.post("/internal/complete", done).await;
    }

    pub async fn run(&self, run: &str) -> Option<Value> {
        let request = self.http.get(format!("{}/api/v1/runs/{run}", self.url));
        request.send().await.ok()?.json().await.ok()
    }

    pub async fn get(&self, path: &str) -> Value {
        let request = self.http.get(format!("{}/api/v1{path}", self.url));
        request.send().await.expect("sent").json().await.expect("JSON")
    }

    pub async fn log(&self, job: &Value) -> String {
        let id = job["job_id"].as_str().expect("an id");
        let request = self.http.get(format!("{}/api/v1/jobs/{id}/log", self.url));
        request.send().await.expect("sent").text().await.expect("text")
    }

    /// The run, once it says what is wanted.
    pub async fn until(&self, run: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let view = self.run(run).await.unwrap_or(Value::Null);
            if wanted(&view) {
                return view;
            }
            assert!(began.elapsed() < PATIENCE, "{view}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub async fn ended(&self, run: &str) -> Value {
        self.until(run, |view| !view["ended_at"].is_null()).await
    }

    /// Until the first job's step has written something.
    pub async fn begun(&self, run: &str) -> Value {
        self.until(run, |view| view["jobs"][0]["log_bytes"].as_u64() > Some(0)).await
    }
}

pub fn job(name: &str, step: &str) -> Value {
    json!({ "name": name, "job_spec": { "name": name, "steps": [step] } })
}

/// How many processes have these words in their command line.
pub fn alive(words: &str) -> usize {
    let found = Command::new("pgrep").args(["-f", words]).output().expect("pgrep").stdout;
    String::from_utf8_lossy(&found).lines().count()
}

/// Waits until none has.
pub async fn gone(words: &str) {
    let began = Instant::now();
    while alive(words) > 0 {
        assert!(began.elapsed() < PATIENCE, "{words} lives");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A number that is in no other test's command lines.
pub fn mark(test: u32) -> String {
    format!("98{test}{:07}", std::process::id() % 10_000_000)
}
