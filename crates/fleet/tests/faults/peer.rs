//! Processes that can be killed, and what they say of a run.

use remuda_fleet::auth::sha256_hex;
use reqwest::Client;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

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

/// For somebody who may do everything that people may.
fn client(guarded: bool) -> Client {
    let mut headers = HeaderMap::new();
    if guarded {
        headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer operator"));
    }
    Client::builder().default_headers(headers).build().expect("a client")
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
        let http = client(settings["guarded"] == true);
        Self { folder, url, settings, orchestrator: Some(orchestrator), http }
    }

    pub fn kill(&mut self) {
        self.orchestrator.take().expect("it runs").kill();
    }

    /// A signal for the orchestrator.
    pub fn signal(&self, signal: Signal) {
        self.orchestrator.as_ref().expect("it runs").signal(signal);
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
        if self.settings["guarded"] == true {
            settings["token"] = json!("enrol");
        }
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

    /// Sends an object under the grant of an upload.
    pub async fn put(&self, upload: &Value, runner: &str, body: &'static str) -> (u16, Value) {
        let text = |name: &str| upload[name].as_str().unwrap_or_else(|| panic!("{upload}"));
        let request =
            self.http.put(format!("{}/api/v1/internal/objects/{}", self.url, text("path")));
        let request =
            request.header("remuda-lease", text("lease_id")).header("remuda-runner", runner);
        let request = request.header("remuda-grant", text("grant"));
        let request = request.header("remuda-content-sha256", sha256_hex(body.as_bytes()));
        let answer = request.body(body).send().await.expect("sent");
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

    /// What a job left behind.
    pub async fn artifacts(&self, job: &Value) -> Value {
        let id = job["job_id"].as_str().expect("an id");
        self.get(&format!("/jobs/{id}")).await["artifacts"].clone()
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

    /// What is at a path of the orchestrator, as it is.
    pub async fn text(&self, path: &str) -> String {
        let request = self.http.get(format!("{}{path}", self.url));
        request.send().await.expect("sent").text().await.expect("text")
    }

    /// A number that the orchestrator counts; 0 if there was nothing to count.
    pub async fn counted(&self, name: &str) -> u64 {
        let metrics = self.text("/metrics").await;
        let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map_or(0, |number| number.parse().expect("a number"))
    }

    /// How many messages of a kind have come.
    pub async fn messages(&self, kind: &str) -> u64 {
        self.counted(&format!("fleet_messages_total{{type=\"{kind}\"}}")).await
    }

    /// A worker that reaches the orchestrator through a door.
    pub fn worker_behind(&self, door: &Door, name: &str) -> Peer {
        let mut settings = self.worker_settings(name, json!({}));
        settings["orchestrator"] = json!(door.url("127.0.0.1"));
        Peer::start(&settings)
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

/// A proxy, for all networks that this process is in: connections go to the first address that takes them.
pub struct Door {
    port: u16,
    task: tokio::task::JoinHandle<()>,
    toll: Option<Arc<Toll>>,
    reset: Arc<Notify>,
}

impl Door {
    pub async fn open(urls: &[&str]) -> Self {
        Self::with(urls, None).await
    }

    /// The same, but the first so many answers to requests of this path are lost on their way, and what was
    /// asked had its effect. All answers of that path are kept.
    pub async fn losing(urls: &[&str], path: &str, times: usize) -> Self {
        let toll = Toll { path: format!("/api/v1{path}"), times, answers: Mutex::default() };
        Self::with(urls, Some(Arc::new(toll))).await
    }

    async fn with(urls: &[&str], toll: Option<Arc<Toll>>) -> Self {
        let addresses: Vec<_> =
            urls.iter().map(|url| url.trim_start_matches("http://").to_owned()).collect();
        let listener = TcpListener::bind("0.0.0.0:0").await.expect("a socket");
        let port = listener.local_addr().expect("an address").port();
        let reset = Arc::new(Notify::new());
        let (taken, resets) = (toll.clone(), reset.clone());
        let task = tokio::spawn(async move {
            while let Ok((mut inside, _)) = listener.accept().await {
                let (addresses, toll, reset) = (addresses.clone(), taken.clone(), resets.clone());
                tokio::spawn(async move {
                    tokio::select! {
                        () = carry(&mut inside, addresses, toll) => {}
                        () = reset.notified() => inside.set_zero_linger().expect("set"),
                    }
                });
            }
        });
        Self { port, task, toll, reset }
    }

    /// Ends all connections, and with them what was not taken yet.
    pub fn reset(&self) {
        self.reset.notify_waiters();
    }

    /// What was answered to requests of the path, in order; those that were lost are first.
    pub fn answers(&self) -> Vec<Value> {
        self.toll.as_ref().expect("it loses answers").answers.lock().expect("whole").clone()
    }

    /// The same, once one has got through.
    pub async fn heard(&self) -> Vec<Value> {
        let (times, began) = (self.toll.as_ref().map_or(0, |toll| toll.times), Instant::now());
        loop {
            let answers = self.answers();
            if answers.len() > times {
                return answers;
            }
            assert!(began.elapsed() < PATIENCE, "{answers:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The orchestrator, for somebody to whom this process has that address.
    pub fn url(&self, host: &str) -> String {
        format!("http://{host}:{}", self.port)
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One connection, until either end is gone.
async fn carry(inside: &mut TcpStream, addresses: Vec<String>, toll: Option<Arc<Toll>>) {
    for address in addresses {
        if let Ok(mut outside) = TcpStream::connect(&address).await {
            // A connection that breaks midway ends, as without a proxy.
            let _ = match toll {
                Some(toll) => toll.pass(inside, &mut outside).await,
                None => copy_bidirectional(inside, &mut outside).await.map(drop),
            };
            return;
        }
    }
}

/// What a door does that loses answers. It has one request for each connection, and reads it and its answer
/// whole: what is lost is known to have been answered.
struct Toll {
    path: String,
    times: usize,
    answers: Mutex<Vec<Value>>,
}

impl Toll {
    async fn pass(&self, inside: &mut TcpStream, outside: &mut TcpStream) -> io::Result<()> {
        let (head, body) = http_message(inside).await?;
        outside.write_all(&[head.as_bytes(), &body].concat()).await?;
        let (answer, said) = tokio::select! {
            answer = http_message(outside) => answer?,
            // The client closed its connection: drop the request.
            _ = inside.read_u8() => return Ok(()),
        };
        if self.lost(&head, &said) {
            return Ok(());
        }
        // Or the next request would be sent into a connection that ends.
        let (status, fields) = answer.split_once("\r\n").expect("a status");
        let answer = format!("{status}\r\nconnection: close\r\n{fields}");
        inside.write_all(&[answer.as_bytes(), &said].concat()).await
    }

    fn lost(&self, head: &str, said: &[u8]) -> bool {
        let path = head.split(' ').nth(1).expect("a path");
        if !path.starts_with(&self.path) {
            return false;
        }
        let mut answers = self.answers.lock().expect("whole");
        answers.push(serde_json::from_slice(said).expect("JSON"));
        answers.len() <= self.times
    }
}

/// A request or an answer: its head, and as many bytes as that says.
async fn http_message(from: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        read_more(from, &mut bytes).await?;
    };
    let head = String::from_utf8(bytes[..end].to_vec()).expect("a head");
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then(|| value.parse().expect("a number"))
    });
    let length: usize = length.unwrap_or_else(|| panic!("without a length: {head}"));
    while bytes.len() < end + length {
        read_more(from, &mut bytes).await?;
    }
    Ok((head, bytes.split_off(end)))
}

async fn read_more(from: &mut TcpStream, bytes: &mut Vec<u8>) -> io::Result<()> {
    match from.read_buf(bytes).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}
