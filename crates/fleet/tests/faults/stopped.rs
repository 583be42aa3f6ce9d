//! SIGSTOP: workers that are silent and come back.

use crate::faults::peer::{Fleet, gone, job, mark};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::Duration;

/// Fault 2: suspended past its TTL, then resumed.
#[tokio::test]
async fn a_worker_that_was_suspended_cannot_end_or_leave_anything() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 3 }));
    let first = fleet.worker("first");
    let mark = mark(2);
    let spec = json!({ "name": "a", "artifacts": [{ "type": "r", "path_glob": "r" }],
        "steps": [format!("echo $REMUDA_FENCE > r; echo begun $REMUDA_FENCE; test $REMUDA_FENCE -gt 1 || sleep {mark}")] });
    let run = fleet.submit(vec![json!({ "name": "a", "job_spec": spec })]).await;
    fleet.begun(&run).await;
    first.signal(Signal::STOP);
    let _second = fleet.worker("second");
    let view = fleet.ended(&run).await;
    assert_eq!((&view["status"], &view["jobs"][0]["fence"]), (&json!("SUCCEEDED"), &json!(2)));
    first.signal(Signal::CONT);
    gone(&format!("sleep {mark}")).await;
    // It takes part again.
    let next = fleet.submit(vec![job("a", "true"), job("b", "true")]).await;
    fleet.ended(&next).await;
    assert_eq!(fleet.run(&run).await, Some(view.clone()), "what has ended never changes");
    let id = view["jobs"][0]["job_id"].as_str().expect("an id");
    let objects = fleet.folder.0.join(format!("orchestrator/objects/runs/{run}/jobs/{id}"));
    let kept: Vec<_> = std::fs::read_dir(objects)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
        .collect();
    assert_eq!(kept, ["1-2"], "objects of the lease that ended the job, and of no other");
}

/// Fault 2, of a worker that does not ask first whether it still has its lease: nothing that it sends under it is
/// taken, neither a wish to keep something, nor what it was allowed to keep before, nor a result.
#[tokio::test]
async fn nothing_that_comes_under_a_lost_lease_is_taken() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 3 }));
    let run = fleet.submit(vec![job("a", "true")]).await;
    let granted =
        fleet.post("/internal/lease", json!({ "runner_id": "runner_a", "capabilities": [] })).await;
    let lease = &granted["lease_id"];
    let said = |more: Value| {
        let mut message = json!({ "lease_id": lease, "runner_id": "runner_a" });
        message.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
        message
    };
    fleet.post("/internal/ack-lease", said(json!({ "job_id": granted["job_id"] }))).await;
    let wish = || said(json!({ "name": "r", "bytes": 5 }));
    let (status, upload) = fleet.answer("/internal/upload", wish()).await;
    assert_eq!(status, 200, "{upload}");
    let _other = fleet.worker("other");
    let view = fleet.ended(&run).await;
    assert_eq!((&view["status"], &view["jobs"][0]["fence"]), (&json!("SUCCEEDED"), &json!(2)));
    let late = fleet.put(&upload, "runner_a", "hello").await;
    let wished = fleet.answer("/internal/upload", wish()).await;
    let done = fleet
        .answer("/internal/complete", said(json!({ "status": "FAILED", "exit_code": 1 })))
        .await;
    for (status, answer) in [late, wished, done] {
        assert_eq!((status, &answer["type"]), (409, &json!("StaleLease")), "{answer}");
    }
    assert_eq!(fleet.run(&run).await, Some(view.clone()), "what has ended never changes");
    let path = upload["path"].as_str().expect("a path");
    assert!(path.contains("/1-1/"), "{path}");
    assert!(
        !fleet.folder.0.join("orchestrator/objects").join(path).exists(),
        "nothing is left behind"
    );
}

/// A worker that is done while it is suspended, and says so too late.
#[tokio::test]
async fn a_result_that_comes_too_late_changes_nothing() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 3 }));
    let first = fleet.worker("first");
    let run = fleet
        .submit(vec![job("a", "echo $REMUDA_FENCE; sleep 2; exit $(($REMUDA_FENCE - 1))")])
        .await;
    fleet.begun(&run).await;
    first.signal(Signal::STOP);
    let _second = fleet.worker("second");
    fleet.until(&run, |view| view["jobs"][0]["fence"] == 2).await;
    first.signal(Signal::CONT);
    let view = fleet.ended(&run).await;
    let job = &view["jobs"][0];
    // The first grant would have succeeded; the second, which counts, did not.
    assert_eq!((&job["state"], &job["exit_code"]), (&json!("FAILED"), &json!(1)), "{view}");
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(fleet.run(&run).await, Some(view));
}

/// Fault 7, of an orchestrator that is suspended for less than what it takes for an outage, and longer than a lease.
#[tokio::test]
async fn an_orchestrator_that_was_suspended_for_a_while_ends_no_lease() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 3 }));
    let _worker = fleet.worker("worker");
    let run = fleet.submit(vec![job("a", "echo begun; sleep 10; echo done")]).await;
    fleet.begun(&run).await;
    fleet.signal(Signal::STOP);
    tokio::time::sleep(Duration::from_secs(7)).await;
    fleet.signal(Signal::CONT);
    let view = fleet.ended(&run).await;
    let job = &view["jobs"][0];
    assert_eq!((&job["state"], &job["fence"]), (&json!("SUCCEEDED"), &json!(1)), "{view}");
}

/// Fault 9: canceled while its worker is silent.
#[tokio::test]
async fn a_cancellation_is_forced_while_the_worker_is_silent() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 60 }));
    let worker = fleet.worker("worker");
    let mark = mark(3);
    let run = fleet.submit(vec![job("a", &format!("echo begun; sleep {mark}"))]).await;
    fleet.begun(&run).await;
    worker.signal(Signal::STOP);
    fleet.post(&format!("/runs/{run}/cancel"), json!({})).await;
    let view = fleet.ended(&run).await;
    let job = &view["jobs"][0];
    assert_eq!((&job["state"], &job["reason"]), (&json!("CANCELED"), &json!("CANCEL_FORCED")));
    worker.kill();
    let _again = fleet.worker("worker");
    gone(&format!("sleep {mark}")).await;
}
