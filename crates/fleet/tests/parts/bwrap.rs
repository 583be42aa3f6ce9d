//! Jobs in a sandbox.

use crate::parts::server::{Server, folder};
use crate::parts::support::part;
use axum::Router;
use axum::routing::post;
use data_encoding::BASE64;
use remuda_fleet::worker::{self, BwrapFeatures, Config, Network, Sandbox};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// The sandbox as it is found, which is tried with what steps are started with.
fn sandbox() -> Sandbox {
    let found = Sandbox::with(part("bwrap").join("bin/bwrap"), &Network::None);
    found.expect("it makes namespaces and mounts here")
}

/// Does one job in a sandbox; what became of it, and its log.
async fn job(steps: &[&str]) -> (Value, String) {
    job_with(steps, json!({})).await
}

/// The same with variables.
async fn job_with(steps: &[&str], env: Value) -> (Value, String) {
    let server = Server::open().await;
    let folder = folder();
    let mut config = Config::new(&server.url, folder.clone(), sandbox());
    config.one_shot = true;
    config.grace = Duration::from_millis(500);
    let mut order = json!({ "name": "a", "max_runtime_seconds": 3,
        "job_spec": { "name": "a", "steps": steps, "env": env } });
    order["job_spec"]["env"]["WORKER"] = json!(folder.to_string_lossy());
    let run = server.ok("/runs", json!({ "jobs": [order] })).await;
    let run = run["run_id"].as_str().expect("an id").to_owned();
    worker::run(config, std::future::pending()).await.expect("worked");
    let job = server.get(&format!("/runs/{run}")).await.1["jobs"][0].clone();
    let log = format!("{}/api/v1/jobs/{}/log", server.url, job["job_id"].as_str().expect("an id"));
    let log = server.http.get(log).send().await.expect("sent").text().await.expect("text");
    std::fs::remove_dir_all(folder).expect("removed");
    (job, log)
}

#[tokio::test]
async fn a_job_sees_its_own_files_and_cannot_write_others() {
    let (job, log) = job(&[
        "echo mine > file; cat file",
        "ls $WORKER; ls $WORKER/jobs/*/work",
        "test ! -e $WORKER/worker.key && echo no key",
        "! touch /etc/x 2>/dev/null && echo no writing",
        "grep -c : /proc/net/dev",
        "grep CapEff /proc/self/status",
        // The way to the worker's own folder may lead through one of these.
        "own=$(case $WORKER in /root/*|/home/*|/run/*) echo $WORKER | cut -d/ -f3;; *) echo systemd;; esac); \
         ls -A /run /root /home | grep -v : | grep -v '^systemd$' | grep -vxF \"$own\" | grep -c . || true",
    ])
    .await;
    assert_eq!(job["state"], "SUCCEEDED", "{job} {log}");
    let lines: Vec<_> = log.lines().collect();
    assert_eq!(lines[..5], ["mine", "jobs", "file", "no key", "no writing"], "{log}");
    assert_eq!(lines[5], "1", "loopback is all of its network: {log}");
    assert_eq!(lines[7], "0", "no services, nobody's home: {log}");
    assert_eq!(lines[6].split_whitespace().last(), Some("0000000000000000"), "{log}");
}

/// `LD_PRELOAD` in a job's variables.
#[tokio::test]
async fn variables_of_a_job_load_no_code_outside_its_sandbox() {
    let all = std::path::PathBuf::from(format!("/var/tmp/fleet-preload-{}", std::process::id()));
    std::fs::create_dir_all(&all).expect("a folder");
    let (source, library, escaped) = (all.join("x.c"), all.join("x.so"), all.join("escaped"));
    let code = format!(
        "#include <fcntl.h>\n__attribute__((constructor)) static void f(void) {{ open({escaped:?}, O_CREAT | O_WRONLY, 0600); }}\n"
    );
    std::fs::write(&source, code).expect("a file");
    let built = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status();
    assert!(built.expect("a C compiler").success());
    let env = json!({ "LD_PRELOAD": library });
    let (job, log) =
        job_with(&["grep -c x.so /proc/self/maps; test -w $WORKER || echo shut"], env).await;
    let left: Vec<_> = std::fs::read_dir(&all)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .filter(|name| name != "x.c" && name != "x.so")
        .collect();
    std::fs::remove_dir_all(&all).expect("removed");
    assert_eq!(left, [""; 0], "written outside of the sandbox: {log}");
    assert_eq!(job["state"], "SUCCEEDED", "{job} {log}");
    assert!(log.lines().any(|line| line == "shut") && !log.starts_with("0\n"), "{log}");
}

#[tokio::test]
async fn no_process_outside_the_sandbox_holds_a_jobs_variables_or_script() {
    let mark = format!("remuda-seen-{}", std::process::id());
    let script = format!(": {mark}-script; echo begun; sleep 1.98{}", std::process::id());
    let step = [script.as_str()];
    let env = json!({ "NAME": format!("{mark}-variable") });
    let working = job_with(&step, env);
    let looking = async {
        let mut seen = std::collections::BTreeSet::new();
        let until = Instant::now() + Duration::from_secs(20);
        let sleeps = format!("sleep\01.98{}", std::process::id());
        let mut begun = false;
        while Instant::now() < until {
            let found = told();
            let sleeping = found.iter().any(|told| told.arguments.contains(&sleeps));
            if begun && !sleeping {
                break;
            }
            begun |= sleeping;
            for told in found {
                if told.arguments.contains(&mark) || told.outside && told.variables.contains(&mark)
                {
                    seen.insert(told.arguments.replace('\0', " "));
                }
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(begun, "the test means something");
        seen
    };
    let ((job, log), seen) = tokio::join!(working, looking);
    assert_eq!(job["state"], "SUCCEEDED", "{job} {log}");
    assert!(seen.is_empty(), "{seen:#?}");
}

/// What other users of the machine can read of a process.
pub(crate) struct Told {
    pub(crate) outside: bool,
    pub(crate) arguments: String,
    pub(crate) variables: String,
}

/// All processes but this one.
pub(crate) fn told() -> Vec<Told> {
    let ours = std::fs::read_link("/proc/self/ns/mnt").expect("a namespace");
    let all = std::fs::read_dir("/proc").expect("a folder").flatten();
    let others = all.filter(|entry| {
        let id = entry.file_name().to_string_lossy().parse::<u32>();
        id.is_ok_and(|id| id != std::process::id())
    });
    let read = |at: std::path::PathBuf| {
        String::from_utf8_lossy(&std::fs::read(at).unwrap_or_default()).into_owned()
    };
    others
        .map(|entry| {
            let at = entry.path();
            let outside = std::fs::read_link(at.join("ns/mnt")).is_ok_and(|it| it == ours);
            Told {
                outside,
                arguments: read(at.join("cmdline")),
                variables: read(at.join("environ")),
            }
        })
        .collect()
}

#[tokio::test]
async fn jobs_do_not_inherit_the_workers_descriptors() {
    // Without close-on-exec, as inherited from a service manager.
    let flags = rustix::fs::MemfdFlags::empty();
    let left = rustix::fs::memfd_create("left-open", flags).expect("a file");
    let (job, log) =
        job(&["for at in /proc/self/fd/*; do readlink $at; done | grep -v pipe: || true"]).await;
    drop(left);
    assert_eq!(job["state"], "SUCCEEDED", "{job} {log}");
    assert!(!log.contains("memfd") && !log.contains("left-open"), "{log}");
}

/// An orchestrator that calls a job off when its first step is over. `told` hears that it was.
fn calls_off(worker: &Path, told: mpsc::UnboundedSender<()>, log: Arc<Mutex<String>>) -> Router {
    // What the first step leaves takes its time to be removed before the second one may begin.
    let first = format!("cd /tmp; seq 1 {LEFT} | xargs touch; touch $OLDPWD/over");
    let spec = json!({ "name": "a", "steps": [first, "echo second"] });
    let granted = json!({ "type": "LeaseGranted", "job_id": "job_1-0", "run_id": "run_1",
        "lease_id": "lease_1", "lease_ttl_seconds": 120, "heartbeat_interval_seconds": 1,
        "max_runtime_seconds": 120, "job_spec": spec })
    .to_string();
    let taken = json!({ "type": "AckLeaseAck", "lease_id": "lease_1", "accepted": true,
        "lease_ttl_seconds": 120 })
    .to_string();
    let beaten = json!({ "type": "HeartbeatAck", "lease_id": "lease_1", "extend_lease": true,
        "new_lease_ttl_seconds": 120, "cancel_requested": true, "cancel_deadline_seconds": 60 })
    .to_string();
    let over = json!({ "type": "CancelAckAck", "lease_id": "lease_1", "accepted": true });
    let (over, jobs) = (over.to_string(), worker.join("jobs"));
    let beat = move || {
        let (beaten, jobs) = (beaten.clone(), jobs.clone());
        async move {
            let ended = || {
                let jobs = std::fs::read_dir(&jobs).into_iter().flatten().flatten();
                jobs.map(|job| job.path().join("work/over")).any(|over| over.exists())
            };
            while !ended() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            beaten
        }
    };
    let piece = move |body: String| {
        let chunk: Value = serde_json::from_str(&body).expect("a piece");
        let data = BASE64.decode(chunk["data"].as_str().expect("text").as_bytes()).expect("bytes");
        log.lock().expect("a log").push_str(&String::from_utf8_lossy(&data));
        let next = chunk["offset"].as_u64().expect("a place") + data.len() as u64;
        let number = chunk["number"].as_u64().expect("a number") + 1;
        std::future::ready(
            json!({ "type": "LogAck", "lease_id": "lease_1", "accepted": true,
                "next_number": number, "next_offset": next })
            .to_string(),
        )
    };
    let end = move || {
        let _ = told.send(());
        std::future::ready(over.clone())
    };
    Router::new()
        .route("/api/v1/internal/lease", post(move || std::future::ready(granted.clone())))
        .route("/api/v1/internal/ack-lease", post(move || std::future::ready(taken.clone())))
        .route("/api/v1/internal/heartbeat", post(beat))
        .route("/api/v1/internal/log", post(piece))
        .route("/api/v1/internal/cancel-ack", post(end))
}

/// Files that a step leaves: enough that the request to stop arrives while they are removed.
const LEFT: u32 = 100_000;

#[tokio::test]
async fn no_step_begins_after_a_request_to_stop() {
    let (worker, log) = (folder(), Arc::new(Mutex::new(String::new())));
    let (told, mut over) = mpsc::unbounded_channel();
    let router = calls_off(&worker, told, log.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });
    let mut config = Config::new(&url, worker.clone(), sandbox());
    config.one_shot = true;
    worker::run(config, std::future::pending()).await.expect("worked");
    over.try_recv().expect("it was called off");
    assert_eq!(*log.lock().expect("a log"), "");
    serving.abort();
    std::fs::remove_dir_all(worker).expect("removed");
}

#[tokio::test]
async fn a_job_sees_nothing_of_the_workers_directory() {
    let found = sandbox();
    let features = BwrapFeatures { sized: true, shut: true };
    assert!(
        matches!(&found, Sandbox::Bubblewrap { features: all, .. } if *all == features),
        "{found:?}"
    );
    sees_nothing(found, "sized").await;
}

/// As with versions before 0.7, and with one that is setuid.
#[tokio::test]
async fn a_sandbox_needs_no_sizes() {
    let program = part("bwrap").join("bin/bwrap");
    let features = BwrapFeatures { sized: false, shut: false };
    sees_nothing(Sandbox::Bubblewrap { program, features }, "unsized").await;
}

/// As the command line sets workers up: the key and the settings beside the places of several, where
/// nothing else is hidden.
async fn sees_nothing(sandbox: Sandbox, name: &str) {
    let server = Server::open().await;
    let sized = matches!(&sandbox, Sandbox::Bubblewrap { features, .. } if features.sized);
    let all = format!("/var/tmp/fleet-bwrap-{name}-{}", std::process::id());
    let all = std::path::PathBuf::from(all);
    let directory = all.join("worker");
    std::fs::create_dir_all(directory.join("place-2/jobs/other")).expect("folders");
    std::fs::write(directory.join("worker.toml"), "secret").expect("a file");
    std::fs::write(directory.join("place-2/jobs/other/file"), "secret").expect("a file");
    // Others of ours on the same machine, of the same user.
    for (folder, file) in [("fleet", "orchestrator.toml"), ("runner", "runner.key"), ("etc", "x")] {
        std::fs::create_dir_all(all.join(folder)).expect("a folder");
        std::fs::write(all.join(folder).join(file), "secret").expect("a file");
    }
    let mut config = Config::new(&server.url, directory.join("place-1"), sandbox);
    config.key = directory.join("worker.key");
    config.hidden = vec![directory.clone(), all.join("nowhere")];
    config.beside = Some(directory.clone());
    config.one_shot = true;
    let order = json!({ "name": "a", "max_runtime_seconds": 60, "job_spec": { "name": "a",
        "env": { "DIRECTORY": directory.to_string_lossy(), "SIZED": sized.to_string() },
        "steps": [
            "cat $DIRECTORY/worker.key $DIRECTORY/worker.toml $DIRECTORY/place-2/jobs/other/file 2>/dev/null || true",
            "find $DIRECTORY -type f; ls $DIRECTORY; cd $DIRECTORY/..; find fleet runner etc -type f",
            // What is there to hide something takes no memory: nothing can be written to it.
            "for at in / /root /home /run /dev $DIRECTORY $DIRECTORY/place-1 $DIRECTORY/place-1/jobs; do \
             if touch $at/x 2>/dev/null; then echo $at; fi; done; echo > /dev/null; echo mine > mine; cat mine",
            "echo shared > /dev/shm/x; cat /dev/shm/x; test $SIZED = false || ! head -c 100M /dev/zero > /dev/shm/y 2>/dev/null",
            // A link in place of a folder that is mounted would be followed outside.
            "echo first > /tmp/x; cat /tmp/x; rm -rf $TMPDIR; ln -s $DIRECTORY $TMPDIR",
            "ls -A /tmp; test ! -e /tmp/worker.toml && test ! -e $TMPDIR/worker.toml && echo empty",
        ] } });
    let run = server.ok("/runs", json!({ "jobs": [order] })).await;
    let run = run["run_id"].as_str().expect("an id").to_owned();
    worker::run(config, std::future::pending()).await.expect("worked");
    let job = server.get(&format!("/runs/{run}")).await.1["jobs"][0].clone();
    let log = format!("{}/api/v1/jobs/{}/log", server.url, job["job_id"].as_str().expect("an id"));
    let log = server.http.get(log).send().await.expect("sent").text().await.expect("text");
    assert!(directory.join("worker.key").exists(), "there was something to see");
    std::fs::remove_dir_all(all).expect("removed");
    assert_eq!(job["state"], "SUCCEEDED", "{job} {log}");
    assert_eq!(log, "place-1\netc/x\nmine\nshared\nfirst\nempty\n");
}

/// Fault 8: in a namespace of its own a job would mount memory that no process has.
#[tokio::test]
async fn a_job_makes_no_namespaces_of_its_own() {
    let (job, log) = job(&["unshare -U true 2>/dev/null || echo none", "echo goes on"]).await;
    assert_eq!(job["state"], "SUCCEEDED", "{job} {log}");
    assert_eq!(log, "none\ngoes on\n");
}

/// Empty files use none of `/dev/shm`'s bytes, but kernel memory.
#[tokio::test]
async fn files_in_dev_shm_count_as_files_of_the_job() {
    let server = Server::open().await;
    let mut config = Config::new(&server.url, folder(), sandbox());
    (config.one_shot, config.files_max) = (true, 2_000);
    let step = "i=0; while test $i -lt 1000000; do i=$((i+1)); : > /dev/shm/$i; done";
    let order = json!({ "name": "a", "job_spec": { "name": "a", "steps": [step] } });
    let run = server.ok("/runs", json!({ "jobs": [order] })).await;
    let folder = config.folder.clone();
    worker::run(config, std::future::pending()).await.expect("worked");
    std::fs::remove_dir_all(folder).expect("removed");
    let run = run["run_id"].as_str().expect("an id");
    let job = server.get(&format!("/runs/{run}")).await.1["jobs"][0].clone();
    assert_eq!(job["failure"], "OUT_OF_DISK", "{job}");
}

/// Fault 11, where nothing can leave.
#[tokio::test]
async fn nothing_outlives_its_sandbox() {
    let mark = format!("97{:06}", std::process::id() % 1_000_000);
    let step = format!(
        "trap '' TERM; setsid env -i sleep {mark}.1 & (setsid env -i sh -c 'sleep {mark}.2 & exit' &); sleep {mark}.3"
    );
    let began = Instant::now();
    let (job, log) = job(&[&step]).await;
    assert_eq!(job["state"], "TIMED_OUT", "{job} {log}");
    assert!(began.elapsed() < Duration::from_secs(30));
    let found = std::process::Command::new("pgrep").args(["-f", &format!("sleep {mark}")]).output();
    assert!(found.expect("pgrep").stdout.is_empty());
}

#[tokio::test]
async fn a_job_in_a_sandbox_has_its_grace_too() {
    let (job, log) = job(&["trap 'echo cleaned; exit 0' TERM; sleep 1000 & wait"]).await;
    assert_eq!(job["state"], "TIMED_OUT", "{job}");
    assert_eq!(log, "cleaned\n");
}
