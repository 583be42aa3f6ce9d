//! A worker on a network of its own, with a cable to the orchestrator's that can be cut.
//!
//! Each test runs in a user and a network namespace that go with it: nothing of the machine's network is
//! touched, and no rights are needed.

use crate::parts::peer::{Door, Fleet, Peer, gone, job, mark};
use crate::parts::support::part;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

/// The orchestrator's end of the cable, and the worker's.
const HERE: &str = "10.77.0.1";
const THERE: &str = "10.77.0.2";

/// Runs a test again, alone on a network, and there it runs its body.
fn alone(test: &str, body: impl Future<Output = ()>) {
    alone_in("netns", test, body);
}

/// A name that no test has would run none, successfully.
pub(crate) fn passed(child: &Output, what: &str) {
    let text = String::from_utf8_lossy(&child.stdout);
    let errors = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success() && text.contains("1 passed"), "{what}: {text}{errors}");
}

/// The same for a test of another module.
pub(crate) fn alone_in(module: &str, test: &str, body: impl Future<Output = ()>) {
    const INSIDE: &str = "REMUDA_TEST_NETNS";
    if std::env::var_os(INSIDE).is_none() {
        let status = Command::new("unshare")
            .args(["--user", "--map-root-user", "--net", "--mount", "--"])
            .arg(std::env::current_exe().expect("this program"))
            .args(["--exact", &format!("parts::{module}::{test}"), "--nocapture"])
            .env(INSIDE, "1")
            .output()
            .expect("unshare");
        passed(&status, &format!("{test}, on a network of its own"));
        return;
    }
    ip("link set lo up");
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all();
    runtime.build().expect("a runtime").block_on(body);
}

pub(crate) fn ip(words: &str) {
    let program = part("netns").join("bin/ip");
    let done = Command::new(program).args(words.split(' ')).status().expect("ip");
    assert!(done.success(), "ip {words}");
}

/// A worker at the other end of a cable.
struct Apart {
    worker: Peer,
    door: Door,
}

impl Apart {
    async fn start(fleet: &Fleet, name: &str) -> Self {
        let door = Door::open(&[&fleet.url]).await;
        let mut settings = fleet.worker_settings(name, json!({}));
        // Without tokens the orchestrator answers to names of its own machine only: there, this is one.
        settings["orchestrator"] = json!(door.url("localhost"));
        let hosts = fleet.folder.0.join("hosts");
        std::fs::write(&hosts, format!("{HERE} localhost\n")).expect("a file");
        let hosts = hosts.display();
        let ip = part("netns").join("bin/ip");
        let (ip, id) = (ip.display(), std::process::id());
        let cable = format!(
            "set -e; ip='{ip}'; outside() {{ nsenter --net=/proc/{id}/ns/net $ip \"$@\"; }}
            mount --bind '{hosts}' /etc/hosts
            $ip link set lo up
            $ip link add inside type veth peer name outside netns {id}
            outside addr add {HERE}/24 dev outside
            outside link set outside up
            $ip addr add {THERE}/24 dev inside
            $ip link set inside up
            exec \"$@\""
        );
        let words = ["unshare", "--net", "--mount", "--", "sh", "-c", &cable, "sh"];
        Self { worker: Peer::start_in(&words, &settings), door }
    }

    /// Nothing gets through, neither way.
    fn cut(&self) {
        ip("link set outside down");
    }

    fn mend(&self) {
        ip("link set outside up");
    }

    /// What the worker says arrives; what is said to it does not.
    fn deafen(&self) {
        ip(&format!("neigh replace {THERE} lladdr 02:00:00:00:00:99 dev outside nud permanent"));
    }

    fn hears_again(&self) {
        ip(&format!("neigh del {THERE} dev outside"));
    }
}

fn the_job(view: &Value) -> &Value {
    &view["jobs"][0]
}

/// Waits until a step has written a file; the step runs even while the network is down.
async fn until_written(file: &Path) {
    let written = async {
        while !file.exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), written).await.expect("it works on");
}

/// The only worker that is there does it.
async fn takes_part(fleet: &Fleet) {
    let next = fleet.submit(vec![job("next", "true")]).await;
    assert_eq!(fleet.ended(&next).await["status"], "SUCCEEDED");
}

/// Cut off for longer than its lease lasts, a worker does its job to the end, and none of that counts.
#[test]
fn a_worker_that_was_cut_off_changes_nothing() {
    alone("a_worker_that_was_cut_off_changes_nothing", async {
        let fleet = Fleet::start(json!({ "lease_ttl_seconds": 3 }));
        let apart = Apart::start(&fleet, "apart").await;
        let (mark, done) = (mark(5), fleet.folder.0.join("done"));
        let step = format!(
            "echo $REMUDA_FENCE > r; echo begun $REMUDA_FENCE; \
             if test $REMUDA_FENCE = 1; then sleep 5.{mark}; echo more; echo x > {}; fi",
            done.display()
        );
        let spec = json!({ "name": "a", "artifacts": [{ "type": "r", "path_glob": "r" }], "steps": [step] });
        let run = fleet.submit(vec![json!({ "name": "a", "job_spec": spec })]).await;
        fleet.begun(&run).await;
        apart.cut();
        let near = fleet.worker("near");
        let view = fleet.ended(&run).await;
        let job = the_job(&view);
        assert_eq!((&job["state"], &job["attempt"]), (&json!("SUCCEEDED"), &json!(1)), "{view}");
        assert_eq!((&job["fence"], &job["losses"]), (&json!(2), &json!(1)), "{view}");
        gone(&format!("sleep 5.{mark}")).await;
        until_written(&done).await;
        near.kill();
        apart.mend();
        takes_part(&fleet).await;
        assert_eq!(fleet.run(&run).await, Some(view.clone()), "what has ended never changes");
        assert_eq!(fleet.log(job).await, "begun 2\n");
        let id = job["job_id"].as_str().expect("an id");
        let objects = fleet.folder.0.join(format!("orchestrator/objects/runs/{run}/jobs/{id}"));
        let kept: Vec<_> = std::fs::read_dir(objects)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
            .collect();
        assert_eq!(kept, ["1-2"], "objects of the lease that ended the job, and of no other");
        assert!(apart.worker.end(), "an orderly end");
    });
}

/// Cut off for less than that, it goes on as if nothing had been.
#[test]
fn short_partition_loses_no_lease() {
    alone("short_partition_loses_no_lease", async {
        let fleet = Fleet::start(json!({ "lease_ttl_seconds": 30 }));
        let apart = Apart::start(&fleet, "apart").await;
        let _near = fleet.worker("near");
        // One of them gets it; both do, in turns, until the one that is apart has one.
        let step = "echo begun; for n in 1 2 3 4; do echo line $n; sleep 1; done; echo done";
        let run = fleet.submit(vec![job("a", step), job("b", step)]).await;
        fleet
            .until(&run, |view| {
                let begun = |n: usize| view["jobs"][n]["log_bytes"].as_u64() > Some(0);
                begun(0) && begun(1)
            })
            .await;
        apart.cut();
        tokio::time::sleep(Duration::from_secs(2)).await;
        apart.mend();
        let view = fleet.ended(&run).await;
        for job in view["jobs"].as_array().expect("jobs") {
            assert_eq!((&job["state"], &job["fence"]), (&json!("SUCCEEDED"), &json!(1)), "{view}");
            let log = "begun\nline 1\nline 2\nline 3\nline 4\ndone\n";
            assert_eq!(fleet.log(job).await, log);
        }
    });
}

/// Fault 4: the orchestrator hears that the job is done, and its answer is lost. However its worker hears of it then, there
/// is one end.
#[test]
fn an_end_whose_answer_is_lost_is_one_end() {
    alone("an_end_whose_answer_is_lost_is_one_end", async {
        let fleet = Fleet::start(json!({ "lease_ttl_seconds": 60 }));
        let apart = Apart::start(&fleet, "apart").await;
        let traces = fleet.folder.0.join("traces");
        let step = format!("echo begun; sleep 2; echo x >> {}", traces.display());
        let run = fleet.submit(vec![job("a", &step)]).await;
        fleet.begun(&run).await;
        // What it was told until now has arrived.
        tokio::time::sleep(Duration::from_millis(700)).await;
        // What it says now is taken, and answered when it hears nothing any more.
        fleet.signal(Signal::STOP);
        until_written(&traces).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        apart.deafen();
        fleet.signal(Signal::CONT);
        let view = fleet.ended(&run).await;
        let job = the_job(&view);
        assert_eq!((&job["state"], &job["fence"]), (&json!("SUCCEEDED"), &json!(1)), "{view}");
        assert_eq!(fleet.messages("Complete").await, 1);
        // Or the answer would be repeated, and only late.
        tokio::time::sleep(Duration::from_millis(200)).await;
        apart.door.reset();
        apart.hears_again();
        let next = fleet.submit(vec![crate::parts::peer::job("next", "true")]).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        let waits = fleet.run(&next).await.expect("a run");
        assert_eq!(the_job(&waits)["fence"], 0, "it waits for the answer: {waits}");
        // Until it does not any more, and says it again; or a heartbeat that went off at the same time is repeated before
        // that, and told that the lease is over.
        assert_eq!(fleet.ended(&next).await["status"], "SUCCEEDED");
        let said = fleet.messages("Complete").await;
        assert!((2..=3).contains(&said), "once or twice of the first, once of the next: {said}");
        assert_eq!(fleet.run(&run).await, Some(view), "what has ended never changes");
        assert_eq!(std::fs::read_to_string(&traces).expect("a file"), "x\n", "it ran once");
    });
}
