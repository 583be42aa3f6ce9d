//! The database is killed, with every process that it has, and comes back on what its disk has.

use super::Server;
use crate::parts::peer::{Fleet, PATIENCE, job};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::json;
use std::time::{Duration, Instant};

/// Where `pg_control` has the cluster's state, in every version, and what it is while the server runs.
const STATE: usize = 16;
const IN_PRODUCTION: u32 = 6;

impl Server {
    /// The first process, and those that it started.
    fn processes(&self) -> Vec<Pid> {
        let file = self.folder.path().join("data/postmaster.pid");
        let text = std::fs::read_to_string(file).expect("a file with its number");
        let first = text.lines().next().expect("a number").trim();
        let children = std::fs::read_to_string(format!("/proc/{first}/task/{first}/children"));
        let children = children.expect("a process");
        let numbers = std::iter::once(first).chain(children.split_whitespace());
        let pid = |number: &str| Pid::from_raw(number.parse().expect("a number"));
        numbers.map(|number| pid(number).expect("a number")).collect()
    }

    /// Nobody has time to say or write anything. Its lock and its socket are left behind, as they are by machines
    /// that lose power.
    fn kill(&mut self) {
        let processes = self.processes();
        for process in &processes {
            // One of them may have ended by itself.
            let _ = kill_process(*process, Signal::KILL);
        }
        // The parent of the first process has reaped it, so its pid is free.
        self.running.take().expect("it runs").until_ended();
        let began = Instant::now();
        while processes.iter().any(|process| attached(*process)) {
            assert!(began.elapsed() < PATIENCE, "{processes:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(
            self.folder.path().join("data/postmaster.pid").exists(),
            "it had no time to tidy up"
        );
    }

    /// It comes back, and finds out by itself what happened.
    fn recover(&mut self) {
        // What it does with a disk that says so is to recover.
        let control = std::fs::read(self.folder.path().join("data/global/pg_control"));
        let state = control.expect("a file")[STATE..][..4].try_into().expect("four bytes");
        assert_eq!(u32::from_ne_bytes(state), IN_PRODUCTION, "it was never shut down");
        self.run();
    }
}

/// Whether a process has still hold of anything. What nobody asked about yet has not.
fn attached(process: Pid) -> bool {
    if test_kill_process(process).is_err() {
        return false;
    }
    let number = process.as_raw_nonzero();
    let status = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    status.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// It is away for longer than a lease lasts.
#[tokio::test]
async fn a_database_that_was_killed_loses_no_work_and_repeats_none() {
    let mut server = Server::with("pg-killed", true);
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 3, "postgres": server.url }));
    let _worker = fleet.worker("worker");
    let _other = fleet.worker("other");
    let counts = fleet.folder.0.join("count");
    let step = format!(
        "echo begun; echo x >> {}; for n in 1 2 3 4 5 6 7; do sleep 1; echo $n; done; echo done",
        counts.display()
    );
    let run = fleet.submit(vec![job("a", &step)]).await;
    fleet.begun(&run).await;
    server.kill();
    tokio::time::sleep(Duration::from_secs(5)).await;
    server.recover();
    let view = fleet.ended(&run).await;
    let job = &view["jobs"][0];
    assert_eq!((&job["state"], &job["fence"]), (&json!("SUCCEEDED"), &json!(1)), "{view}");
    assert_eq!(fleet.log(job).await, "begun\n1\n2\n3\n4\n5\n6\n7\ndone\n");
    assert_eq!(std::fs::read_to_string(counts).expect("a file"), "x\n", "it ran once");
}

/// At moments that nobody chose: some of what was asked then is done and not answered.
#[tokio::test]
async fn a_database_that_is_killed_again_and_again_ends_every_job_once() {
    let mut server = Server::with("pg-again", true);
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 5, "postgres": server.url }));
    let _workers: Vec<_> = (0..3).map(|n| fleet.worker(&format!("worker{n}"))).collect();
    let counts = fleet.folder.0.join("counts");
    std::fs::create_dir(&counts).expect("a folder");
    let step = format!("echo x >> {}/$REMUDA_JOB_ID; sleep 0.1; echo done", counts.display());
    let run = fleet.submit((0..60).map(|n| job(&format!("j{n}"), &step)).collect()).await;
    for pause in [150, 330, 210, 470] {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let before = fleet.until(&run, |view| view["open"].is_number()).await;
        assert!(before["open"].as_u64() > Some(3), "there was work to interrupt: {before}");
        server.kill();
        server.recover();
    }
    let view = fleet.ended(&run).await;
    assert_eq!(view["status"], "SUCCEEDED", "{view}");
    for job in view["jobs"].as_array().expect("jobs") {
        let id = job["job_id"].as_str().expect("an id");
        let times = std::fs::read_to_string(counts.join(id)).expect("it ran").lines().count();
        assert_eq!((times as u64, job["fence"].as_u64()), (1, Some(1)), "each ran once: {job}");
        assert_eq!(fleet.log(job).await, "done\n");
    }
}
