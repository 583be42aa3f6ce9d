//! Workers that end in order, and what they leave behind.

use crate::worker::jobs::{Worker, begun, ended, job, job_true, submit, until};
use crate::worker::server::Server;
use serde_json::json;
use std::time::{Duration, Instant};

async fn total(server: &Server) -> u64 {
    server.get("/workers").await.1["total"].as_u64().expect("a number")
}

/// So much sooner than it would be missed that it cannot be taken for that.
const SOON: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_worker_that_was_told_to_end_is_not_taken_for_an_idle_one() {
    let server = Server::open().await;
    let mut worker = Worker::start(&server, |_| {});
    let began = Instant::now();
    while total(&server).await == 0 {
        assert!(began.elapsed() < SOON, "it asks for work");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    worker.stop();
    worker.ended().await;
    assert_eq!(total(&server).await, 0, "it said goodbye before it ended");
}

#[tokio::test]
async fn a_worker_for_one_job_is_gone_with_it() {
    let server = Server::open().await;
    let run = submit(&server, job_true()).await;
    let mut worker = Worker::start(&server, |config| config.one_shot = true);
    worker.ended().await;
    assert_eq!(ended(&server, &run).await["state"], "SUCCEEDED");
    assert_eq!(total(&server).await, 0);
}

/// Nobody waits for an answer to a goodbye.
#[tokio::test]
async fn a_worker_ends_though_its_goodbye_is_lost() {
    let server = Server::open().await;
    let mut worker = Worker::start(&server, |_| {});
    while total(&server).await == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    server.stop().await;
    let began = Instant::now();
    worker.stop();
    worker.ended().await;
    assert!(began.elapsed() < SOON);
}

#[tokio::test]
async fn a_job_that_a_drain_gives_back_counts_no_loss() {
    let server = Server::open().await;
    let run = submit(&server, job(&["test $REMUDA_FENCE -gt 2 || sleep 1000"])).await;
    for returns in 1..=2 {
        let mut worker = Worker::start(&server, |config| config.drain = Duration::from_millis(100));
        until(&server, &run, begun).await;
        worker.stop();
        worker.ended().await;
        let job = until(&server, &run, |job| job["state"] == "QUEUED").await;
        assert_eq!((&job["returns"], &job["losses"]), (&json!(returns), &json!(0)), "{job}");
        assert_eq!(job["failure"], "RUNNER_SHUTDOWN", "{job}");
    }
    let _last = Worker::start(&server, |_| {});
    let job = ended(&server, &run).await;
    assert_eq!((&job["state"], &job["attempt"]), (&json!("SUCCEEDED"), &json!(1)), "{job}");
}
