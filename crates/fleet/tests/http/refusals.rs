//! What is wrong is told, with a code, and changes nothing.

use crate::http::server::Server;
use reqwest::Method;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

#[track_caller]
fn is_error(answer: &(reqwest::StatusCode, Value), status: u16, code: &str) {
    assert_eq!(answer.0, status, "{}", answer.1);
    assert_eq!(answer.1["error"]["code"], code, "{}", answer.1);
    assert!(answer.1["error"]["message"].as_str().is_some_and(|text| text.len() > 10));
}

/// An orchestrator with a run of each kind: one that has ended, one that somebody does, one whose grant nobody
/// has acknowledged, and one that waits. It is told everything that is wrong, and stays as it is.
struct Busy {
    server: Server,
    runs: Vec<String>,
    /// What was granted: and ended, is being done, is not acknowledged.
    ended: Value,
    active: Value,
    unacked: Value,
    before: Vec<Value>,
}

const A: &str = "runner_a";
const B: &str = "runner_b";
const HASH: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

impl Busy {
    async fn start() -> Self {
        let server = Server::with(|config| {
            config.policy.log_bytes_max = 10;
            config.policy.uploads_max = 1;
            config.policy.upload_bytes_max = 10;
        })
        .await;
        let mut runs = vec![server.submit().await];
        let ended = server.take(A).await;
        server.ok("/internal/log", piece(&ended, A, (0, 0), "aGVsbG8=")).await;
        server.complete(&ended, A).await;
        runs.push(server.submit().await);
        let active = server.take(A).await;
        server.ok("/internal/log", piece(&active, A, (0, 0), "aGVsbG8=")).await;
        server.ok("/internal/upload", upload(&active, A, "kept", 3)).await;
        runs.push(server.submit().await);
        let ask = json!({ "runner_id": B, "capabilities": [] });
        let unacked = server.ok("/internal/lease", ask).await;
        runs.push(server.submit().await);
        let mut busy = Self { server, runs, ended, active, unacked, before: vec![] };
        busy.before = busy.all().await;
        busy
    }

    /// All that anybody can see: lists and runs, the queue, limits, logs, and the folder of objects.
    async fn all(&self) -> Vec<Value> {
        let mut all = Vec::new();
        for path in ["/runs", "/queue", "/limits", "/workers/desired"] {
            all.push(self.server.get(path).await.1);
        }
        for run in &self.runs {
            all.push(self.server.get(&format!("/runs/{run}")).await.1);
        }
        for granted in [&self.ended, &self.active, &self.unacked] {
            let job = granted["job_id"].as_str().expect("an id");
            let log = format!("{}/api/v1/jobs/{job}/log", self.server.url);
            let log = self.server.http.get(log).send().await.expect("an answer");
            all.push(json!(log.text().await.expect("text")));
        }
        let objects = std::fs::read_dir(self.server.folder.join("objects")).expect("a folder");
        all.push(json!(
            objects.map(|entry| entry.expect("an entry").file_name()).collect::<Vec<_>>()
        ));
        all
    }

    async fn refuses(&self, path: &str, body: Value, status: u16, code: &str) {
        is_error(&self.server.post(path, body).await, status, code);
        assert_eq!(self.all().await, self.before, "{path}: {code} changes nothing");
    }

    /// The same for what is no message at all.
    async fn refuses_text(&self, path: &str, text: &str, status: u16, code: &str) {
        is_error(&self.server.send(Method::POST, path, text.into()).await, status, code);
        assert_eq!(self.all().await, self.before, "{path}: {code} changes nothing");
    }

    async fn stale(&self, path: &str, body: Value, reason: &str) {
        let (status, stale) = self.server.post(path, body).await;
        assert_eq!((status.as_u16(), &stale["reason"]), (409, &json!(reason)), "{path}: {stale}");
        assert_eq!(self.all().await, self.before, "{path}: {reason} changes nothing");
    }

    /// Sends an object to a path, with these headers besides its hash.
    async fn refuses_object(&self, path: &str, with: &[(&str, &str)], status: u16, code: &str) {
        let url = format!("{}/api/v1/internal/objects/{path}", self.server.url);
        let mut request = self.server.http.put(url).header("remuda-content-sha256", HASH);
        for (name, value) in with {
            request = request.header(*name, *value);
        }
        let answer = request.body("abc").send().await.expect("an answer");
        let status_found = answer.status();
        is_error(&(status_found, answer.json().await.expect("JSON")), status, code);
        assert_eq!(self.all().await, self.before, "{path}: {code} changes nothing");
    }
}

fn of(granted: &Value, runner: &str) -> Value {
    json!({ "lease_id": granted["lease_id"], "runner_id": runner })
}

fn with(mut message: Value, fields: Value) -> Value {
    let fields = fields.as_object().expect("fields").clone();
    message.as_object_mut().expect("a message").extend(fields);
    message
}

fn done(granted: &Value, runner: &str) -> Value {
    with(of(granted, runner), json!({ "status": "SUCCEEDED" }))
}

fn stopped(granted: &Value, runner: &str) -> Value {
    with(of(granted, runner), json!({ "final_status": "CANCELED" }))
}

fn piece(granted: &Value, runner: &str, (number, offset): (u64, u64), data: &str) -> Value {
    with(of(granted, runner), json!({ "number": number, "offset": offset, "data": data }))
}

fn upload(granted: &Value, runner: &str, name: &str, bytes: u64) -> Value {
    with(of(granted, runner), json!({ "name": name, "bytes": bytes }))
}

fn ack(granted: &Value, runner: &str, of: &Value) -> Value {
    json!({ "lease_id": granted["lease_id"], "runner_id": runner, "job_id": of["job_id"] })
}

#[tokio::test]
async fn what_is_no_message_is_refused_and_changes_nothing() {
    let busy = Busy::start().await;
    busy.refuses_text("/internal/heartbeat", "{", 400, "NOT_JSON").await;
    busy.refuses_text("/internal/heartbeat", r#"{"type":"Complete"}"#, 400, "WRONG_TYPE").await;
    let no_runner = json!({ "lease_id": busy.active["lease_id"] });
    for path in ["ack-lease", "heartbeat", "complete", "cancel-ack", "log", "upload"] {
        busy.refuses(&format!("/internal/{path}"), no_runner.clone(), 422, "BAD_FIELD").await;
    }
    let much = with(of(&busy.active, A), json!({ "progress": { "percent": 101 } }));
    busy.refuses("/internal/heartbeat", much, 422, "BAD_VALUE").await;
    busy.refuses("/runs", json!({ "jobs": [] }), 422, "BAD_VALUE").await;
    busy.refuses("/runs/run_nowhere/cancel", json!({}), 404, "UNKNOWN_RUN").await;
    busy.refuses("/jobs/job_nowhere/cancel", json!({}), 404, "UNKNOWN_JOB").await;
    let server = &busy.server;
    is_error(&server.get("/runs/run_nowhere").await, 404, "NOT_FOUND");
    is_error(&server.get("/runs/job_1").await, 422, "BAD_ID");
    is_error(&server.get("/nowhere").await, 404, "NOT_FOUND");
    for path in ["/runs/%ff", "/jobs/%ff/log", "/runs/%ff/events", "/objects/%ff"] {
        is_error(&server.get(path).await, 400, "BAD_PATH");
    }
    is_error(&server.post("/runs/%ff/cancel", json!({})).await, 400, "BAD_PATH");
    is_error(&server.get("/runs?limit=x").await, 400, "BAD_QUERY");
    is_error(&server.get("/internal/lease").await, 405, "METHOD_NOT_ALLOWED");
}

#[tokio::test]
async fn a_lease_of_another_runner_is_refused_and_changes_nothing() {
    let busy = Busy::start().await;
    let active = &busy.active;
    for (path, message) in [
        ("ack-lease", ack(active, B, active)),
        ("heartbeat", of(active, B)),
        ("complete", done(active, B)),
        ("cancel-ack", stopped(active, B)),
        ("log", piece(active, B, (1, 5), "aGVsbG8=")),
        ("upload", upload(active, B, "a", 1)),
    ] {
        busy.refuses(&format!("/internal/{path}"), message, 403, "WRONG_RUNNER").await;
    }
    let ask = json!({ "runner_id": A, "capabilities": [] });
    busy.refuses("/internal/lease", ask, 409, "RUNNER_BUSY").await;
}

#[tokio::test]
async fn a_lease_is_for_its_own_job() {
    let busy = Busy::start().await;
    for (granted, runner, other) in
        [(&busy.unacked, B, &busy.active), (&busy.active, A, &busy.unacked)]
    {
        let wrong = ack(granted, runner, other);
        busy.refuses("/internal/ack-lease", wrong, 409, "WRONG_JOB").await;
    }
}

#[tokio::test]
async fn a_lease_that_is_not_acknowledged_allows_nothing_else() {
    let busy = Busy::start().await;
    let unacked = &busy.unacked;
    for (path, message) in [
        ("heartbeat", of(unacked, B)),
        ("complete", done(unacked, B)),
        ("cancel-ack", stopped(unacked, B)),
        ("log", piece(unacked, B, (0, 0), "aGVsbG8=")),
        ("upload", upload(unacked, B, "a", 1)),
    ] {
        busy.refuses(&format!("/internal/{path}"), message, 409, "LEASE_NOT_ACKED").await;
    }
    let early = stopped(&busy.active, A);
    busy.refuses("/internal/cancel-ack", early, 409, "CANCEL_NOT_REQUESTED").await;
}

#[tokio::test]
async fn a_lease_that_is_over_allows_nothing() {
    let busy = Busy::start().await;
    let ended = &busy.ended;
    for (path, message) in [
        ("ack-lease", ack(ended, A, ended)),
        ("heartbeat", of(ended, A)),
        ("log", piece(ended, A, (1, 5), "aGVsbG8=")),
        ("upload", upload(ended, A, "a", 1)),
    ] {
        busy.stale(&format!("/internal/{path}"), message, "LEASE_REVOKED").await;
    }
    busy.refuses("/internal/cancel-ack", stopped(ended, A), 409, "CONFLICT").await;
    let nobodys = json!({ "lease_id": "lease_nowhere" });
    for (path, message) in
        [("log", piece(&nobodys, A, (0, 0), "aGVsbG8=")), ("upload", upload(&nobodys, A, "a", 1))]
    {
        busy.stale(&format!("/internal/{path}"), message, "UNKNOWN_LEASE").await;
    }
}

#[tokio::test]
async fn pieces_of_a_log_that_are_wrong_are_not_in_it() {
    let busy = Busy::start().await;
    let refuses = async |place, data: &str, status, code: &str| {
        busy.refuses("/internal/log", piece(&busy.active, A, place, data), status, code).await;
    };
    refuses((1, 5), "", 422, "BAD_VALUE").await;
    refuses((1, 5), "no base64!", 422, "BAD_FIELD").await;
    refuses((1, u64::MAX), "aGVsbG8=", 422, "BAD_VALUE").await;
    // Six bytes more, where five have room.
    refuses((1, 5), "aGVsbG8h", 413, "TOO_MUCH").await;
    // Not wrong, but not its turn: it is told whose it is.
    for place in [(2, 10), (0, 5), (1, 0), (1, 6)] {
        let early = piece(&busy.active, A, place, "aGVsbG8=");
        let answer = busy.server.ok("/internal/log", early).await;
        assert_eq!((&answer["accepted"], &answer["next_number"]), (&json!(false), &json!(1)));
        assert_eq!(answer["next_offset"], 5, "{place:?}: {answer}");
        assert_eq!(busy.all().await, busy.before, "{place:?} changes nothing");
    }
}

#[tokio::test]
async fn upload_without_grant_is_refused() {
    let busy = Busy::start().await;
    let refuses = async |name: &str, bytes, status, code: &str| {
        let ask = upload(&busy.active, A, name, bytes);
        busy.refuses("/internal/upload", ask, status, code).await;
    };
    refuses("../a", 1, 422, "BAD_VALUE").await;
    refuses("", 1, 422, "BAD_VALUE").await;
    refuses("kept", u64::MAX, 422, "BAD_VALUE").await;
    refuses("kept", 11, 413, "TOO_MUCH").await;
    refuses("second", 1, 413, "TOO_MUCH").await;
    let granted = busy.server.ok("/internal/upload", upload(&busy.active, A, "kept", 3)).await;
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let (path, lease) = (text(&granted["path"]), text(&granted["lease_id"]));
    let (grant, early) = (text(&granted["grant"]), text(&busy.unacked["lease_id"]));
    let own = [("remuda-lease", lease.as_str()), ("remuda-runner", A), ("remuda-grant", &grant)];
    busy.refuses_object(&path, &own[..2], 400, "BAD_HEADER").await;
    busy.refuses_object(&path, &own[1..], 400, "BAD_HEADER").await;
    let other = path.replace("/kept", "/other");
    busy.refuses_object(&other, &own, 403, "BAD_GRANT").await;
    busy.refuses_object("runs/run_1/jobs/job_1/1-1/kept", &own, 403, "WRONG_PATH").await;
    let theirs = [own[0], ("remuda-runner", B), own[2]];
    busy.refuses_object(&path, &theirs, 403, "WRONG_RUNNER").await;
    let unacked = [("remuda-lease", early.as_str()), ("remuda-runner", B), own[2]];
    busy.refuses_object(&path, &unacked, 409, "LEASE_NOT_ACKED").await;
}

#[tokio::test]
async fn a_different_end_of_the_same_lease_is_a_conflict() {
    let server = Server::open().await;
    let run = server.submit().await;
    let granted = server.take("runner_a").await;
    server.complete(&granted, "runner_a").await;
    let other =
        json!({ "lease_id": granted["lease_id"], "runner_id": "runner_a", "status": "FAILED" });
    is_error(&server.post("/internal/complete", other).await, 409, "CONFLICT");
    assert_eq!(server.get(&format!("/runs/{run}")).await.1["status"], "SUCCEEDED");
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_before_it_is_sent() {
    let server = Server::open().await;
    let address = server.url.strip_prefix("http://").expect("a URL").to_owned();
    let answer = tokio::task::spawn_blocking(move || {
        let mut stream = TcpStream::connect(&address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("set");
        let head = "POST /api/v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 2000000\r\n\r\n";
        stream.write_all(head.as_bytes()).expect("sent");
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).expect("an answer without a body");
        String::from_utf8_lossy(&answer).into_owned()
    });
    assert_eq!(answer.await.expect("read"), "HTTP/1.1 413");
}

#[tokio::test]
async fn a_peer_that_never_ends_its_head_or_its_body_is_let_go() {
    let server = Server::with(|config| config.request_timeout = Duration::from_millis(300)).await;
    let address = server.url.strip_prefix("http://").expect("a URL").to_owned();
    for start in [
        "POST /api/v1/runs HT",
        "POST /api/v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
    ] {
        let address = address.clone();
        let ended = tokio::task::spawn_blocking(move || {
            let mut stream = TcpStream::connect(&address).expect("a connection");
            stream.set_read_timeout(Some(Duration::from_secs(10))).expect("set");
            stream.write_all(start.as_bytes()).expect("sent");
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).map(|_| String::from_utf8_lossy(&rest).into_owned())
        });
        let answer = ended.await.expect("read").expect("closed, not left open");
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
    }
}

#[tokio::test]
async fn no_lease_id_is_in_an_error() {
    let server = Server::open().await;
    server.submit().await;
    let granted = server.take("runner_a").await;
    let lease = granted["lease_id"].as_str().expect("an id");
    let stolen = json!({ "lease_id": lease, "runner_id": "runner_b", "status": "SUCCEEDED" });
    let (_, answer) = server.post("/internal/complete", stolen).await;
    assert!(!answer.to_string().contains(lease), "{answer}");
}

/// A grant has more in it than the work that was submitted.
#[tokio::test]
async fn work_whose_grant_no_worker_could_read_is_refused() {
    let server = Server::open().await;
    let run = |steps: usize, last: usize| {
        let mut steps = vec!["x".repeat(32 * 1024); steps];
        steps.push("x".repeat(last));
        json!({ "jobs": [{ "name": "a", "job_spec": { "name": "a", "steps": steps } }] })
    };
    is_error(&server.post("/runs", run(31, 32_000)).await, 422, "FIELD_TOO_LARGE");
    server.ok("/runs", run(31, 15_000)).await;
    let ask = json!({ "runner_id": "runner_a", "capabilities": [] });
    let granted = server.ok("/internal/lease", ask).await;
    assert!(granted.to_string().len() <= remuda_fleet::message::MESSAGE_BYTES_MAX);
}
