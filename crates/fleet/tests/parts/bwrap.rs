//! Jobs in a sandbox.

use crate::server::{Server, folder};
use crate::support::part;
use remuda_fleet::worker::{self, Config, Sandbox};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Does one job in a sandbox; what became of it, and its log.
async fn job(steps: &[&str]) -> (Value, String) {
    let server = Server::open().await;
    let folder = folder();
    let sandbox = Sandbox::Bubblewrap { program: part("bwrap").join("bin/bwrap"), network: false };
    let mut config = Config::new(&server.url, folder.clone(), sandbox);
    config.one_shot = true;
    config.grace = Duration::from_millis(500);
    let order = json!({ "name": "a", "max_runtime_seconds": 3,
        "job_spec": { "name": "a", "steps": steps, "env": { "WORKER": folder.to_string_lossy() } } });
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

/// As the command line sets workers up: the key and the settings beside the places of several, where
/// nothing else is hidden.
#[tokio::test]
async fn a_job_sees_nothing_of_the_workers_directory() {
    let server = Server::open().await;
    let directory = format!("/var/tmp/fleet-bwrap-{}", std::process::id());
    let directory = std::path::PathBuf::from(directory);
    std::fs::create_dir_all(directory.join("place-2/jobs/other")).expect("folders");
    std::fs::write(directory.join("worker.toml"), "secret").expect("a file");
    std::fs::write(directory.join("place-2/jobs/other/file"), "secret").expect("a file");
    let sandbox = Sandbox::Bubblewrap { program: part("bwrap").join("bin/bwrap"), network: false };
    let mut config = Config::new(&server.url, directory.join("place-1"), sandbox);
    config.key = directory.join("worker.key");
    config.hidden = vec![directory.clone()];
    config.one_shot = true;
    let order = json!({ "name": "a", "max_runtime_seconds": 60, "job_spec": { "name": "a",
        "env": { "DIRECTORY": directory.to_string_lossy() },
        "steps": [
            "cat $DIRECTORY/worker.key $DIRECTORY/worker.toml $DIRECTORY/place-2/jobs/other/file 2>/dev/null || true",
            "find $DIRECTORY -type f; ls $DIRECTORY",
            "! head -c 300M /dev/zero > /tmp/x 2>/dev/null && rm /tmp/x && echo bounded",
            "! (head -c 100M /dev/zero > /dev/x) 2>/dev/null && echo no devices; echo > /dev/null",
        ] } });
    let run = server.ok("/runs", json!({ "jobs": [order] })).await;
    let run = run["run_id"].as_str().expect("an id").to_owned();
    worker::run(config, std::future::pending()).await.expect("worked");
    let job = server.get(&format!("/runs/{run}")).await.1["jobs"][0].clone();
    let log = format!("{}/api/v1/jobs/{}/log", server.url, job["job_id"].as_str().expect("an id"));
    let log = server.http.get(log).send().await.expect("sent").text().await.expect("text");
    assert!(directory.join("worker.key").exists(), "there was something to see");
    std::fs::remove_dir_all(directory).expect("removed");
    assert_eq!(job["state"], "SUCCEEDED", "{job} {log}");
    assert_eq!(log, "place-1\nbounded\nno devices\n");
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
