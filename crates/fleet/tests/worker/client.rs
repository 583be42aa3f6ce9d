//! The client, with an orchestrator and a worker.

use crate::worker::jobs::Worker;
use crate::worker::server::{Server, endpoint};
use futures::StreamExt;
use remuda_fleet::client::{Client, ClientError};
use remuda_fleet::lease::{AttemptState, RunStatus};
use remuda_fleet::message::{RunSubmission, decode};
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

fn order(step: &str) -> RunSubmission {
    let job = json!({ "name": "a", "job_spec": { "name": "a", "steps": [step] } });
    decode(json!({ "name": "mine", "jobs": [job] }).to_string().as_bytes()).expect("a run")
}

#[tokio::test]
async fn a_run_is_submitted_watched_read_and_repeated() {
    let server = Server::open().await;
    let client = Client::new(endpoint(&server.url), None);
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
    let mut alone = client.job(job).await.expect("a job");
    assert_eq!(std::mem::take(&mut alone.artifacts).len(), 1, "its log");
    assert_eq!(alone, last.jobs[0]);
    let rerun = client.rerun(&submitted.run_id, Some("r")).await.expect("repeated");
    let list = client.list(None, 10).await.expect("a list");
    let ids: Vec<_> = list.runs.iter().map(|run| &run.run_id).collect();
    assert_eq!(ids, [&rerun.run_id, &submitted.run_id]);
}

#[tokio::test]
async fn a_run_that_nobody_works_at_is_canceled() {
    let server = Server::open().await;
    let client = Client::new(endpoint(&server.url), None);
    let run = client.submit(&order("true"), None).await.expect("submitted").run_id;
    client.cancel(&run).await.expect("canceled");
    let view = client.run(&run).await.expect("a run");
    assert_eq!(view.summary.status, RunStatus::Canceled);
}

#[tokio::test]
async fn what_goes_wrong_is_told_apart() {
    let server = Server::open().await;
    let client = Client::new(endpoint(&server.url), None);
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

/// Answers every request with these bytes, and leaves the connection open.
async fn answering(bytes: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4_096];
            let _ = stream.read(&mut request).await;
            stream.write_all(bytes.as_bytes()).await.expect("answered");
            open.push(stream);
        }
    });
    url
}

#[tokio::test]
async fn what_may_be_otherwise_soon_is_no_refusal() {
    let body = r#"{"error":{"code":"SOME_CODE","message":"some words"}}"#;
    for (status, passing) in
        [(503, true), (500, true), (408, true), (429, true), (409, false), (403, false)]
    {
        let length = body.len();
        let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n\r\n{body}");
        let client = Client::new(endpoint(&answering(answer).await), None);
        let error = client.submit(&order("true"), Some("k")).await.expect_err("not taken");
        assert_eq!(matches!(error, ClientError::Unreachable { .. }), passing, "{status}: {error}");
        assert!(error.to_string().contains("SOME_CODE"), "{error}");
    }
}

/// A malformed answer must not be retried: it would never change.
#[tokio::test]
async fn an_answer_that_nobody_understands_is_told_from_none() {
    let run = remuda_fleet::id::RunId::new("run_1").expect("an id");
    for (head, nonsense) in [("200 OK", true), ("404 Not Found", true), ("502 Bad Gateway", false)]
    {
        let body = "<html>a page</html>";
        let length = body.len();
        let answer = format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\n\r\n{body}");
        let client = Client::new(endpoint(&answering(answer).await), None);
        let error = client.run(&run).await.expect_err("no run");
        assert_eq!(matches!(error, ClientError::Nonsense { .. }), nonsense, "{head}: {error}");
    }
}

#[tokio::test]
async fn an_object_that_stops_coming_ends() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf";
    let client = Client::new(endpoint(&answering(head.to_owned()).await), None);
    let client = client.with_silence_max(Duration::from_millis(200));
    let (bytes, pieces) = client.object("runs/a").await.expect("it begins");
    assert_eq!(bytes, Some(10));
    let pieces: Vec<_> = tokio::time::timeout(Duration::from_secs(30), pieces.collect())
        .await
        .expect("nobody waits for ever");
    assert_eq!(pieces.first(), Some(&Ok(b"half".to_vec())));
    assert!(matches!(pieces.last(), Some(Err(ClientError::Unreachable { .. }))), "{pieces:?}");
}

#[tokio::test]
async fn a_stream_that_falls_silent_ends() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: alive\n\n";
    let client = Client::new(endpoint(&answering(head.to_owned()).await), None);
    let client = client.with_silence_max(Duration::from_millis(200));
    let run = remuda_fleet::id::RunId::new("run_1").expect("an id");
    let watching = client.watch(&run).await.expect("a stream");
    let views: Vec<_> = tokio::time::timeout(Duration::from_secs(30), watching.collect())
        .await
        .expect("nobody waits for ever");
    assert!(matches!(views[..], [Err(ClientError::Unreachable { .. })]), "{views:?}");
}
