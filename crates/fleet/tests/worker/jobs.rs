//! Jobs as workers do them.

use super::server::{Server, folder, hasty};
use remuda_fleet::worker::{self, Config, Images, Sandbox};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub struct Worker {
    folder: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    working: JoinHandle<()>,
}

impl Worker {
    pub fn start(server: &Server, change: impl FnOnce(&mut Config)) -> Self {
        let folder = folder();
        let mut config = Config::new(&server.url, folder.clone(), Sandbox::Process);
        config.grace = Duration::from_millis(500);
        config.broker.clone_from(&server.broker);
        change(&mut config);
        let (stop, stopped) = oneshot::channel();
        let working = tokio::spawn(async move {
            let stopped = async move {
                let _ = stopped.await;
            };
            worker::run(config, stopped).await.expect("worked");
        });
        Self { folder, stop: Some(stop), working }
    }

    /// Tells it to end.
    pub fn stop(&mut self) {
        self.stop.take();
    }

    /// Waits until it has.
    pub async fn ended(&mut self) {
        tokio::time::timeout(Duration::from_secs(30), &mut self.working)
            .await
            .expect("in time")
            .expect("in order");
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.working.abort();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub async fn submit(server: &Server, job: Value) -> String {
    let run = server.ok("/runs", json!({ "jobs": [job] })).await;
    run["run_id"].as_str().expect("an id").to_owned()
}

pub fn job(steps: &[&str]) -> Value {
    json!({ "name": "a", "job_spec": { "name": "a", "steps": steps } })
}

/// The first job of a run, once that says what is wanted.
pub async fn until(server: &Server, run: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        let (_, view) = server.get(&format!("/runs/{run}")).await;
        let job = view["jobs"][0].clone();
        if wanted(&job) {
            return job;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{view}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Somebody is at it. How long it is STARTING depends on the moment.
pub fn begun(job: &Value) -> bool {
    job["state"] == "STARTING" || job["state"] == "RUNNING"
}

pub async fn ended(server: &Server, run: &str) -> Value {
    let job = until(server, run, |job| !job["reason"].is_null()).await;
    // With what it left behind.
    server.get(&format!("/jobs/{}", job["job_id"].as_str().expect("an id"))).await.1
}

pub async fn bytes(server: &Server, path: &str) -> Vec<u8> {
    let answer = server.http.get(format!("{}{path}", server.url)).send().await.expect("sent");
    assert_eq!(answer.status(), 200, "{path}");
    answer.bytes().await.expect("bytes").to_vec()
}

pub async fn log(server: &Server, job: &Value) -> String {
    let path = format!("/api/v1/jobs/{}/log", job["job_id"].as_str().expect("an id"));
    String::from_utf8(bytes(server, &path).await).expect("text")
}

#[tokio::test]
async fn steps_run_in_order_in_their_folder_with_their_variables() {
    let server = Server::open().await;
    let _worker = Worker::start(&server, |_| {});
    let spec = json!({ "name": "a", "workdir": "sub", "env": { "GREETING": "hello" },
        "steps": ["echo $GREETING > file; pwd", "cat file; echo $REMUDA_ATTEMPT; env | grep -c CARGO || true", "echo oops >&2"] });
    let run = submit(&server, json!({ "name": "a", "job_spec": spec })).await;
    let job = ended(&server, &run).await;
    assert_eq!((&job["state"], &job["exit_code"]), (&json!("SUCCEEDED"), &json!(0)), "{job}");
    let log = log(&server, &job).await;
    let lines: Vec<_> = log.lines().collect();
    assert!(lines[0].ends_with("/work/sub"), "{log}");
    assert_eq!(&lines[1..], ["hello", "1", "0", "oops"], "{log}");
}

#[tokio::test]
async fn a_job_is_seen_at_its_steps_before_its_first_turn_to_beat() {
    // Nobody's turn comes within this test.
    let server = Server::with(|config| {
        config.policy.lease_ttl_seconds = 6_000;
        config.policy.heartbeat_interval_seconds = 3_000;
    })
    .await;
    let worker = Worker::start(&server, |_| {});
    let gate = worker.folder.join("gate");
    let wait = format!("while [ ! -e {} ]; do sleep 0.05; done", gate.display());
    let run = submit(&server, job(&[&wait])).await;
    let seen = until(&server, &run, |job| job["state"] == "RUNNING").await;
    assert_eq!(seen["progress"]["step_index"], 0, "{seen}");
    std::fs::write(gate, "").expect("a file");
    assert_eq!(ended(&server, &run).await["state"], "SUCCEEDED");
}

#[tokio::test]
async fn a_step_that_fails_ends_the_job_with_its_code() {
    let server = Server::open().await;
    let _worker = Worker::start(&server, |_| {});
    let run = submit(&server, job(&["echo one", "false; exit 0", "echo never"])).await;
    let job = ended(&server, &run).await;
    assert_eq!((&job["state"], &job["exit_code"]), (&json!("FAILED"), &json!(1)));
    assert_eq!(job["failure"], "STEP_FAILED");
    assert_eq!(log(&server, &job).await, "one\n");
}

/// It is not tried again and again as if the worker were broken.
#[tokio::test]
async fn a_step_without_its_folder_is_the_jobs_failure() {
    let server = Server::open().await;
    let _worker = Worker::start(&server, |_| {});
    let run = submit(&server, job(&["rm -r \"$PWD\"", "echo never"])).await;
    let job = ended(&server, &run).await;
    assert_eq!(
        (&job["state"], &job["failure"]),
        (&json!("FAILED"), &json!("STEP_FAILED")),
        "{job}"
    );
    assert_eq!((&job["exit_code"], &job["fence"]), (&json!(1), &json!(1)), "{job}");
}

#[tokio::test]
async fn jobs_that_nobody_can_do_say_so() {
    let server = Server::open().await;
    let _worker = Worker::start(&server, |_| {});
    for (spec, failure) in [
        (json!({ "name": "a", "workdir": "../..", "steps": ["true"] }), "SPEC_INVALID"),
        (json!({ "name": "a", "image": "debian:12", "steps": ["true"] }), "IMAGE_UNAVAILABLE"),
    ] {
        let run = submit(&server, json!({ "name": "a", "job_spec": spec })).await;
        assert_eq!(ended(&server, &run).await["failure"], failure);
    }
}

/// Fault 14.
#[tokio::test]
async fn secrets_are_masked_across_chunks_and_no_line_is_lost() {
    let server = Server::open().await;
    let _worker = Worker::start(&server, |config| {
        config.secrets.insert("DEPLOY".to_owned(), "hunter2-hunter2".to_owned());
    });
    let steps = [
        "printf 'a hunter2-'; sleep 0.7; printf 'hunter2 b\\n'; echo $DEPLOY $API_TOKEN",
        "for n in $(seq 1 20000); do echo line $n; done",
        "printf 'the last hunter2'",
    ];
    let spec = json!({ "name": "a", "steps": steps, "env": { "API_TOKEN": "very-private" } });
    let run = submit(&server, json!({ "name": "a", "job_spec": spec })).await;
    let job = ended(&server, &run).await;
    assert_eq!(job["state"], "SUCCEEDED", "{job}");
    let log = log(&server, &job).await;
    assert!(log.starts_with("a *** b\n*** ***\nline 1\n"), "{}", &log[..60]);
    assert!(log.ends_with("line 20000\nthe last hunter2"), "{}", &log[log.len() - 60..]);
    assert_eq!(log.lines().count(), 20_003);
    assert_eq!(job["log_bytes"], json!(log.len()));
}

#[tokio::test]
async fn artifacts_are_kept_and_caches_found_again() {
    let server = Server::open().await;
    let _worker = Worker::start(&server, |config| config.images = Images::Ignore);
    let spec = json!({ "name": "a", "image": "debian:12",
        "steps": ["cat ~/.deps/x || echo cold; mkdir -p out ~/.deps; echo warm > ~/.deps/x; echo result > out/r.txt"],
        "artifacts": [{ "type": "result", "path_glob": "out/*.txt" }],
        "caches": [{ "type": "deps", "key": "k1", "paths": ["~/.deps"] }] });
    let first =
        ended(&server, &submit(&server, json!({ "name": "a", "job_spec": spec })).await).await;
    assert_eq!(first["state"], "SUCCEEDED", "{first}");
    assert!(log(&server, &first).await.ends_with("cold\n"));
    let artifact = &first["artifacts"][1];
    assert_eq!(artifact["type"], "result");
    assert_eq!(bytes(&server, artifact["uri"].as_str().expect("a URI")).await, b"result\n");
    let second =
        ended(&server, &submit(&server, json!({ "name": "a", "job_spec": spec })).await).await;
    assert_eq!(log(&server, &second).await, "warm\n");
}

/// Fault 11.
#[tokio::test]
async fn no_descendant_survives_whatever_it_ignores() {
    let server = Server::with(|config| config.policy = hasty()).await;
    let _worker = Worker::start(&server, |_| {});
    // One that ignores SIGTERM, one in a session of its own, and one whose parents are gone.
    let mark = format!("96{:06}", std::process::id() % 1_000_000);
    let step = format!(
        "trap '' TERM; sleep {mark}.1 & setsid sleep {mark}.2 & (setsid sh -c 'sleep {mark}.3 & exit' &); sleep {mark}.4"
    );
    let alive = || {
        let found =
            std::process::Command::new("pgrep").args(["-cf", &format!("sleep {mark}")]).output();
        String::from_utf8_lossy(&found.expect("pgrep").stdout)
            .trim()
            .parse::<u32>()
            .expect("a number")
    };
    let run = submit(&server, job(&[&step])).await;
    let began = Instant::now();
    while alive() < 4 {
        assert!(began.elapsed() < Duration::from_secs(20), "{} began", alive());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    server.ok(&format!("/runs/{run}/cancel"), json!({})).await;
    let job = ended(&server, &run).await;
    assert_eq!(job["state"], "CANCELED", "{job}");
    let began = Instant::now();
    while alive() > 0 {
        assert!(began.elapsed() < Duration::from_secs(5), "{} live", alive());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn what_a_step_leaves_running_goes_with_it() {
    let server = Server::open().await;
    let _worker = Worker::start(&server, |_| {});
    let run = submit(&server, job(&["setsid sleep 1000 & echo begun"])).await;
    let job = ended(&server, &run).await;
    assert_eq!(
        (&job["state"], log(&server, &job).await.as_str()),
        (&json!("SUCCEEDED"), "begun\n")
    );
}

#[tokio::test]
async fn a_canceled_job_may_clean_up_and_its_log_says_so() {
    let server = Server::with(|config| {
        config.policy = remuda_fleet::lease::Policy { cancel_deadline_seconds: 5, ..hasty() };
    })
    .await;
    let _worker = Worker::start(&server, |config| config.grace = Duration::from_secs(3));
    let run =
        submit(&server, job(&["trap 'echo cleaned; exit 0' TERM; echo begun; sleep 1000 & wait"]))
            .await;
    until(&server, &run, |job| job["log_bytes"].as_u64() > Some(0)).await;
    server.ok(&format!("/runs/{run}/cancel"), json!({})).await;
    let job = ended(&server, &run).await;
    assert_eq!((&job["state"], &job["reason"]), (&json!("CANCELED"), &json!("CANCEL_ACKED")));
    assert_eq!(log(&server, &job).await, "begun\ncleaned\n");
    assert!(job["summary"].as_str().expect("text").starts_with("Canceled during step: trap"));
}

/// Fault 12: capped, tried as often as it may be, then put aside.
#[tokio::test]
async fn a_job_that_eats_memory_is_stopped_and_becomes_a_dead_letter() {
    let server = Server::open().await;
    let _worker = Worker::start(&server, |config| config.memory_bytes_max = Some(64 * 1024 * 1024));
    let eat = "x=0123456789abcdef; while true; do x=$x$x; done";
    let order = json!({ "name": "a", "job_spec": { "name": "a", "steps": [eat] },
        "retry": { "max_attempts": 2, "backoff_seconds": 0 } });
    let run = submit(&server, order).await;
    let job = ended(&server, &run).await;
    assert_eq!((&job["failure"], &job["attempt"]), (&json!("OUT_OF_MEMORY"), &json!(2)), "{job}");
    assert_eq!((&job["reason"], &job["dead_letter"]), (&json!("ATTEMPTS_EXHAUSTED"), &json!(true)));
    let next = ended(&server, &submit(&server, job_true()).await).await;
    assert_eq!(next["state"], "SUCCEEDED", "the worker lives");
}

pub fn job_true() -> Value {
    job(&["true"])
}

#[tokio::test]
async fn a_job_that_takes_too_long_is_stopped_by_its_worker() {
    let server = Server::open().await;
    let _worker = Worker::start(&server, |_| {});
    let mut order = job(&["echo begun; sleep 1000"]);
    order["max_runtime_seconds"] = json!(1);
    let job = ended(&server, &submit(&server, order).await).await;
    assert_eq!((&job["state"], &job["reason"]), (&json!("TIMED_OUT"), &json!("REPORTED")));
    assert_eq!(log(&server, &job).await, "begun\n");
}

#[tokio::test]
async fn a_worker_that_drains_ends_its_job_and_takes_no_other() {
    let server = Server::open().await;
    let mut worker = Worker::start(&server, |_| {});
    let first = submit(&server, job(&["sleep 1; echo done"])).await;
    until(&server, &first, begun).await;
    worker.stop();
    let second = submit(&server, job_true()).await;
    worker.ended().await;
    assert_eq!(ended(&server, &first).await["state"], "SUCCEEDED");
    let (_, view) = server.get(&format!("/runs/{second}")).await;
    assert_eq!(view["jobs"][0]["state"], "QUEUED");
}

#[tokio::test]
async fn a_job_that_outlasts_the_drain_goes_to_another_worker_at_once() {
    let server = Server::open().await;
    let mut worker = Worker::start(&server, |config| config.drain = Duration::from_millis(100));
    let steps = ["test $REMUDA_FENCE -gt 1 || sleep 1000"];
    let run = submit(&server, job(&steps)).await;
    until(&server, &run, begun).await;
    worker.stop();
    worker.ended().await;
    let began = Instant::now();
    let _other = Worker::start(&server, |_| {});
    let job = ended(&server, &run).await;
    assert_eq!((&job["state"], &job["attempt"]), (&json!("SUCCEEDED"), &json!(1)));
    assert!(began.elapsed() < Duration::from_secs(10), "no TTL was waited for");
}

#[tokio::test]
async fn a_worker_for_one_job_ends_after_it() {
    let server = Server::open().await;
    let mut worker = Worker::start(&server, |config| config.one_shot = true);
    let run = submit(&server, job_true()).await;
    worker.ended().await;
    assert_eq!(ended(&server, &run).await["state"], "SUCCEEDED");
}

/// Fault 8, a worker whose clock is off by an hour, with signatures.
#[tokio::test]
async fn a_worker_with_a_wrong_clock_enrols_and_works() {
    use remuda_fleet::auth::{Access, Scope, Token, TokenHash};
    let server = Server::with(|config| {
        config.policy = hasty();
        let token = |scope, secret: &str| Token::new(secret, scope, TokenHash::of(secret));
        config.access =
            Access(vec![token(Scope::Enrol, "enrol"), token(Scope::Submitter, "submit")]);
    })
    .await;
    let _worker = Worker::start(&server, |config| {
        config.token = Some("enrol".to_owned());
        config.clock.offset = -3_600_000;
    });
    let api = |path: &str| format!("{}/api/v1{path}", server.url);
    let order = json!({ "jobs": [{ "name": "a", "job_spec": { "name": "a", "steps": ["sleep 3; echo done > r"],
        "artifacts": [{ "type": "r", "path_glob": "r" }] } }] });
    let sent =
        server.http.post(api("/runs")).bearer_auth("submit").body(order.to_string()).send().await;
    let run: Value = sent.expect("sent").json().await.expect("JSON");
    let run = run["run_id"].as_str().expect("an id").to_owned();
    let began = Instant::now();
    loop {
        let view = server.http.get(api(&format!("/runs/{run}"))).bearer_auth("submit").send().await;
        let view: Value = view.expect("sent").json().await.expect("JSON");
        if view["status"] != "RUNNING" {
            let job = &view["jobs"][0];
            assert_eq!((&job["state"], &job["fence"]), (&json!("SUCCEEDED"), &json!(1)), "{view}");
            let url = api(&format!("/jobs/{}", job["job_id"].as_str().expect("an id")));
            let job = server.http.get(url).bearer_auth("submit").send().await.expect("sent");
            let job: Value = job.json().await.expect("JSON");
            assert_eq!(job["artifacts"][1]["type"], "r");
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{view}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
