//! The client, with an orchestrator and a worker.

use crate::jobs::Worker;
use crate::server::Server;
use futures::StreamExt;
use remuda_fleet::client::{Client, ClientError};
use remuda_fleet::lease::{AttemptState, RunStatus};
use remuda_fleet::message::{RunSubmission, decode};
use serde_json::json;
use std::time::Duration;

fn order(step: &str) -> RunSubmission {
    let job = json!({ "name": "a", "job_spec": { "name": "a", "steps": [step] } });
    decode(json!({ "name": "mine", "jobs": [job] }).to_string().as_bytes()).expect("a run")
}

#[tokio::test]
async fn a_run_is_submitted_watched_read_and_repeated() {
    let server = Server::open().await;
    let client = Client::new(&server.url, None);
    let submitted = client.submit(&order("echo hello"), Some("k")).await.expect("submitted");
    let again = client.submit(&order("echo hello"), Some("k")).await.expect("submitted");
    assert_eq!((&again.run_id, again.before), (&submitted.run_id, true));
    let watching = client.watch(&submitted.run_id).await.expect("a stream");
    let _worker = Worker::start(&server, |_| {});
    let views: Vec<_> = tokio::time::timeout(Duration::from_secs(30), watching.collect())
        .await
        .expect("the stream ends with the run");
    let last = views.last().expect("a view").as_ref().expect("no error");
    assert_eq!(last.summary.status, RunStatus::Succeeded);
    assert_eq!(last.jobs[0].state, AttemptState::Succeeded);
    let job = &last.jobs[0].job_id;
    assert_eq!(client.log(job, None, 0).await, Ok(b"hello\n".to_vec()));
    assert_eq!(client.log(job, Some(last.jobs[0].fence), 4).await, Ok(b"o\n".to_vec()));
    assert_eq!(client.job(job).await.as_ref(), Ok(&last.jobs[0]));
    let rerun = client.rerun(&submitted.run_id, Some("r")).await.expect("repeated");
    let list = client.list(None, 10).await.expect("a list");
    let ids: Vec<_> = list.runs.iter().map(|run| &run.run_id).collect();
    assert_eq!(ids, [&rerun.run_id, &submitted.run_id]);
}

#[tokio::test]
async fn a_run_that_nobody_works_at_is_canceled() {
    let server = Server::open().await;
    let client = Client::new(&server.url, None);
    let run = client.submit(&order("true"), None).await.expect("submitted").run_id;
    client.cancel(&run).await.expect("canceled");
    let view = client.run(&run).await.expect("a run");
    assert_eq!(view.summary.status, RunStatus::Canceled);
}

#[tokio::test]
async fn what_goes_wrong_is_told_apart() {
    let server = Server::open().await;
    let client = Client::new(&server.url, None);
    let nowhere = remuda_fleet::id::RunId::new("run_nowhere").expect("an id");
    let refused = client.run(&nowhere).await.expect_err("no such run");
    assert!(
        matches!(&refused, ClientError::Refused { code, .. } if code == "NOT_FOUND"),
        "{refused}"
    );
    server.stop().await;
    let gone = client.run(&nowhere).await.expect_err("nobody there");
    assert!(matches!(gone, ClientError::Unreachable { .. }), "{gone}");
}
