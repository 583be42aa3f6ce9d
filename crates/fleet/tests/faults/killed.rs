//! SIGKILL, of workers and of the orchestrator.

use crate::faults::peer::{Fleet, alive, gone, job, mark};
use serde_json::{Value, json};
use std::time::Duration;

/// Fault 1: SIGKILL mid-step.
#[tokio::test]
async fn a_killed_workers_job_is_queued_once_and_ended_once() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 3 }));
    let first = fleet.worker("first");
    let mark = mark(1);
    let step = format!("echo begun $REMUDA_FENCE; test $REMUDA_FENCE -gt 1 || sleep {mark}");
    let run = fleet.submit(vec![job("a", &step)]).await;
    fleet.begun(&run).await;
    first.kill();
    assert!(alive(&format!("sleep {mark}")) > 0, "a plain process outlives a killed worker");
    let _second = fleet.worker("second");
    let view = fleet.ended(&run).await;
    let job = &view["jobs"][0];
    assert_eq!(job["state"], "SUCCEEDED", "{view}");
    assert_eq!((&job["attempt"], &job["fence"], &job["losses"]), (&json!(1), &json!(2), &json!(1)));
    assert_eq!(fleet.log(job).await, "begun 2\n");
    // A worker in the same folder ends what the killed one left.
    let _again = fleet.worker("first");
    gone(&format!("sleep {mark}")).await;
}

/// Faults 6 and 7: the orchestrator is killed mid-job, and away for longer than the TTL.
#[tokio::test]
async fn an_orchestrator_that_was_away_loses_no_work_and_repeats_none() {
    let mut fleet = Fleet::start(json!({ "lease_ttl_seconds": 3 }));
    let _worker = fleet.worker("worker");
    let _other = fleet.worker("other");
    let counts = fleet.folder.0.join("count");
    let step = format!("echo begun; echo x >> {}; sleep 7; echo done", counts.display());
    let run = fleet.submit(vec![job("a", &step)]).await;
    fleet.begun(&run).await;
    fleet.kill();
    tokio::time::sleep(Duration::from_secs(5)).await;
    fleet.restart();
    let view = fleet.ended(&run).await;
    let job = &view["jobs"][0];
    assert_eq!((&job["state"], &job["fence"]), (&json!("SUCCEEDED"), &json!(1)), "{view}");
    assert_eq!(fleet.log(job).await, "begun\ndone\n");
    assert_eq!(std::fs::read_to_string(counts).expect("a file"), "x\n", "it ran once");
}

/// Faults 4, 5 and 7: killed at moments that nobody chose, so that answers are lost too.
#[tokio::test]
async fn an_orchestrator_that_is_killed_again_and_again_ends_every_job_once() {
    let mut fleet = Fleet::start(json!({ "lease_ttl_seconds": 5 }));
    let _workers: Vec<_> = (0..3).map(|n| fleet.worker(&format!("worker{n}"))).collect();
    let counts = fleet.folder.0.join("counts");
    std::fs::create_dir(&counts).expect("a folder");
    let step = format!("echo x >> {}/$REMUDA_JOB_ID; sleep 0.1; echo done", counts.display());
    let jobs = (0..60).map(|n| job(&format!("j{n}"), &step)).collect();
    let run = fleet.submit(jobs).await;
    for pause in [150, 330, 210, 470] {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let open = fleet.run(&run).await.expect("a run")["open"].as_u64();
        assert!(open > Some(3), "there was work to interrupt: {open:?}");
        fleet.kill();
        fleet.restart();
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

/// Fault 12: what kills its worker must not kill all of them.
#[tokio::test]
async fn a_job_that_kills_its_workers_becomes_a_dead_letter() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 1, "losses_max": 2 }));
    let run = fleet.submit(vec![job("a", "kill -KILL $PPID; sleep 1000")]).await;
    let (mut ended, mut losses) = (Value::Null, 0);
    for n in 0.. {
        let _worker = fleet.worker(&format!("worker{n}"));
        let over = |job: &Value| !job["reason"].is_null();
        let lost = |job: &Value| job["losses"].as_u64() > Some(losses);
        ended = fleet.until(&run, |view| over(&view["jobs"][0]) || lost(&view["jobs"][0])).await;
        if over(&ended["jobs"][0]) {
            break;
        }
        losses += 1;
        assert!(losses < 5, "{ended}");
    }
    let job = &ended["jobs"][0];
    assert_eq!((&job["state"], &job["reason"]), (&json!("FAILED"), &json!("LOST")), "{ended}");
    assert_eq!((&job["dead_letter"], &job["fence"]), (&json!(true), &json!(3)));
    assert_eq!(ended["dead_letters"], 1, "{ended}");
    assert_eq!(fleet.counted("fleet_dead_letters_total").await, 1);
}

/// Workers that are told to end do so in order, and machines that are made for one job too.
#[tokio::test]
async fn a_worker_that_is_told_to_end_ends_its_job_first() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 5 }));
    let worker = fleet.worker("worker");
    let run = fleet.submit(vec![job("a", "echo begun; sleep 1; echo done")]).await;
    fleet.begun(&run).await;
    let ended = tokio::task::spawn_blocking(move || worker.end());
    assert!(ended.await.expect("joined"), "an orderly end");
    let view = fleet.ended(&run).await;
    assert_eq!((&view["status"], &view["jobs"][0]["fence"]), (&json!("SUCCEEDED"), &json!(1)));
}
