//! Logs with secrets in them, in pieces.

use crate::faults::peer::{Fleet, job};
use serde_json::{Value, json};
use std::time::Duration;

fn secrets() -> Value {
    json!({ "secrets": { "DEPLOY": "hunter2-hunter2" } })
}

/// Fault 14: a piece is sent between the halves of a secret, and the last line looks like the beginning of one.
#[tokio::test]
async fn a_secret_in_two_writes_is_masked_and_the_last_line_is_whole() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 5 }));
    let _worker = fleet.worker_with("worker", secrets());
    let step = "printf 'a hunter2-'; sleep 0.3; printf 'hunter2 b\\n'; echo $DEPLOY; \
                printf 'the last hunter2'";
    let view = fleet.ended(&fleet.submit(vec![job("a", step)]).await).await;
    let job = &view["jobs"][0];
    assert_eq!(job["state"], "SUCCEEDED", "{view}");
    let log = fleet.log(job).await;
    assert_eq!(log, "a *** b\n***\nthe last hunter2");
    assert_eq!(job["log_bytes"], log.len(), "{view}");
}

/// Fault 14, with faults 6 and 7: pieces whose answers are lost are sent again, and are there once.
#[tokio::test]
async fn a_log_is_whole_and_masked_though_the_orchestrator_is_killed_while_it_comes() {
    const LINES: u32 = 120;
    let mut fleet = Fleet::start(json!({ "lease_ttl_seconds": 5 }));
    let _worker = fleet.worker_with("worker", secrets());
    let step = format!(
        "for n in $(seq 1 {LINES}); do printf \"line $n hunter2-\"; sleep 0.1; \
         printf 'hunter2 and on\\n'; done; printf 'the last hunter2'"
    );
    let run = fleet.submit(vec![job("a", &step)]).await;
    fleet.begun(&run).await;
    for pause in [430, 870, 290, 650] {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let view = fleet.run(&run).await.expect("a run");
        assert!(view["ended_at"].is_null(), "there was something to interrupt: {view}");
        fleet.kill();
        // Long enough that something is sent to nobody.
        tokio::time::sleep(Duration::from_millis(300)).await;
        fleet.restart();
    }
    let view = fleet.ended(&run).await;
    let job = &view["jobs"][0];
    assert_eq!((&job["state"], &job["fence"]), (&json!("SUCCEEDED"), &json!(1)), "{view}");
    let lines = (1..=LINES).map(|n| format!("line {n} *** and on\n")).collect::<String>();
    assert_eq!(fleet.log(job).await, format!("{lines}the last hunter2"));
}
