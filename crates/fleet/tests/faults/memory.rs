//! Jobs that want more memory than there is for them.

use crate::faults::peer::{Fleet, Peer, gone, job, mark};
use serde_json::{Value, json};

const MEMORY_BYTES_MAX: u64 = 64 << 20;

fn bounded(fleet: &Fleet) -> Peer {
    fleet.worker_with("worker", json!({ "memory_bytes_max": MEMORY_BYTES_MAX }))
}

/// A command that takes so much memory and keeps it: `tail` must have all of a line before it can tell what
/// its end is, and this one does not end.
fn eats(mebibytes: u32, mark: &str) -> String {
    format!("{{ head -c {mebibytes}M /dev/zero; sleep {mark}; }} | tail")
}

fn out_of_memory(view: &Value) {
    let job = &view["jobs"][0];
    assert_eq!((&job["state"], &job["failure"]), (&json!("FAILED"), &json!("OUT_OF_MEMORY")));
    assert_eq!(job["losses"], 0, "its worker was not lost: {view}");
    assert_eq!(job["summary"], "Memory limit exceeded.", "{view}");
}

/// The same worker completes the next job.
async fn goes_on(fleet: &Fleet, view: &Value) {
    let fits = "head -c 8M /dev/zero | tail | wc -c";
    let next = fleet.ended(&fleet.submit(vec![job("next", fits)]).await).await;
    assert_eq!(next["status"], "SUCCEEDED", "{next}");
    assert_eq!(fleet.log(&next["jobs"][0]).await.trim(), "8388608");
    let worker = |view: &Value| view["jobs"][0]["runner_id"].clone();
    assert_eq!(worker(&next), worker(view), "the same worker");
}

/// Fault 12: a job that wants too much memory ends, and its worker does not.
#[tokio::test]
async fn a_job_that_eats_memory_fails_and_its_worker_does_the_next() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 5 }));
    let worker = bounded(&fleet);
    let mark = mark(8);
    let step = format!("echo begun; {}", eats(300, &mark));
    let run = fleet.submit(vec![job("a", &step)]).await;
    let view = fleet.ended(&run).await;
    out_of_memory(&view);
    assert_eq!(view["jobs"][0]["fence"], 1, "{view}");
    assert_eq!(fleet.log(&view["jobs"][0]).await, "begun\n", "nothing came after it");
    gone(&format!("sleep {mark}")).await;
    goes_on(&fleet, &view).await;
    let ended = tokio::task::spawn_blocking(move || worker.end());
    assert!(ended.await.expect("joined"), "an orderly end");
}

/// Each for itself would be let be.
#[tokio::test]
async fn processes_of_a_job_may_not_have_more_memory_together() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 5 }));
    let _worker = bounded(&fleet);
    let mark = mark(9);
    let some = eats(24, &mark);
    let step = format!("{{ {some}; }} & {{ {some}; }} & {{ {some}; }} & wait");
    let view = fleet.ended(&fleet.submit(vec![job("a", &step)]).await).await;
    out_of_memory(&view);
    gone(&format!("sleep {mark}")).await;
    goes_on(&fleet, &view).await;
}

/// It may be tried again, as often as was ordered, and then somebody should look.
#[tokio::test]
async fn a_job_that_always_eats_memory_becomes_a_dead_letter() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 5 }));
    let _worker = bounded(&fleet);
    let mut eater = job("a", &eats(300, &mark(10)));
    eater["retry"] = json!({ "max_attempts": 3, "backoff_seconds": 0 });
    let view = fleet.ended(&fleet.submit(vec![eater]).await).await;
    out_of_memory(&view);
    let job = &view["jobs"][0];
    assert_eq!((&job["attempt"], &job["dead_letter"]), (&json!(3), &json!(true)), "{view}");
    assert_eq!(job["reason"], "ATTEMPTS_EXHAUSTED", "{view}");
    goes_on(&fleet, &view).await;
}
