//! What is wrong is told, with a code, and changes nothing.

use crate::server::Server;
use reqwest::Method;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

#[track_caller]
fn is_error(answer: &(reqwest::StatusCode, Value), status: u16, code: &str) {
    assert_eq!(answer.0, status, "{}", answer.1);
    assert_eq!(answer.1["error"]["code"], code, "{}", answer.1);
    assert!(answer.1["error"]["message"].as_str().is_some_and(|text| text.len() > 10));
}

#[tokio::test]
async fn every_bad_message_has_a_code_and_changes_nothing() {
    let server = Server::open().await;
    let run = server.submit().await;
    let granted = server.take("runner_a").await;
    let before = server.get(&format!("/runs/{run}")).await;
    let lease = &granted["lease_id"];
    let post = async |path: &str, body: &str| {
        server.send(Method::POST, path, body.as_bytes().to_vec()).await
    };
    is_error(&post("/internal/heartbeat", "{").await, 400, "NOT_JSON");
    is_error(&post("/internal/heartbeat", r#"{"type":"Complete"}"#).await, 400, "WRONG_TYPE");
    let no_runner = json!({ "lease_id": lease }).to_string();
    is_error(&post("/internal/complete", &no_runner).await, 422, "BAD_FIELD");
    let bad = json!({ "lease_id": lease, "runner_id": "runner_a", "progress": { "percent": 101 } });
    is_error(&post("/internal/heartbeat", &bad.to_string()).await, 422, "BAD_VALUE");
    let stolen = json!({ "lease_id": lease, "runner_id": "runner_b", "status": "SUCCEEDED" });
    is_error(&post("/internal/complete", &stolen.to_string()).await, 403, "WRONG_RUNNER");
    let early = json!({ "lease_id": lease, "runner_id": "runner_a", "final_status": "CANCELED" });
    is_error(&post("/internal/cancel-ack", &early.to_string()).await, 409, "CANCEL_NOT_REQUESTED");
    is_error(&server.get("/runs/run_nowhere").await, 404, "NOT_FOUND");
    is_error(&server.get("/runs/job_1").await, 422, "BAD_ID");
    is_error(&server.get("/nowhere").await, 404, "NOT_FOUND");
    is_error(&server.get("/internal/lease").await, 405, "METHOD_NOT_ALLOWED");
    is_error(&server.post("/runs/run_nowhere/cancel", json!({})).await, 404, "UNKNOWN_RUN");
    is_error(&server.post("/runs", json!({ "jobs": [] })).await, 422, "BAD_VALUE");
    assert_eq!(server.get(&format!("/runs/{run}")).await, before);
}

#[tokio::test]
async fn a_different_end_of_the_same_lease_is_a_conflict() {
    let server = Server::open().await;
    let run = server.submit().await;
    let granted = server.take("runner_a").await;
    server.complete(&granted, "runner_a").await;
    let other =
        json!({ "lease_id": granted["lease_id"], "runner_id": "runner_a", "status": "FAILED" });
    is_error(&server.post("/internal/complete", other).await, 409, "CONFLICT");
    assert_eq!(server.get(&format!("/runs/{run}")).await.1["status"], "SUCCEEDED");
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_before_it_is_sent() {
    let server = Server::open().await;
    let address = server.url.strip_prefix("http://").expect("a URL").to_owned();
    let answer = tokio::task::spawn_blocking(move || {
        let mut stream = TcpStream::connect(&address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("set");
        let head = "POST /api/v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 2000000\r\n\r\n";
        stream.write_all(head.as_bytes()).expect("sent");
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).expect("an answer without a body");
        String::from_utf8_lossy(&answer).into_owned()
    });
    assert_eq!(answer.await.expect("read"), "HTTP/1.1 413");
}

#[tokio::test]
async fn a_peer_that_never_ends_its_head_or_its_body_is_let_go() {
    let server = Server::with(|config| config.request_timeout = Duration::from_millis(300)).await;
    let address = server.url.strip_prefix("http://").expect("a URL").to_owned();
    for start in [
        "POST /api/v1/runs HT",
        "POST /api/v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
    ] {
        let address = address.clone();
        let ended = tokio::task::spawn_blocking(move || {
            let mut stream = TcpStream::connect(&address).expect("a connection");
            stream.set_read_timeout(Some(Duration::from_secs(10))).expect("set");
            stream.write_all(start.as_bytes()).expect("sent");
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).map(|_| String::from_utf8_lossy(&rest).into_owned())
        });
        let answer = ended.await.expect("read").expect("closed, not left open");
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
    }
}

#[tokio::test]
async fn no_lease_id_is_in_an_error() {
    let server = Server::open().await;
    server.submit().await;
    let granted = server.take("runner_a").await;
    let lease = granted["lease_id"].as_str().expect("an id");
    let stolen = json!({ "lease_id": lease, "runner_id": "runner_b", "status": "SUCCEEDED" });
    let (_, answer) = server.post("/internal/complete", stolen).await;
    assert!(!answer.to_string().contains(lease), "{answer}");
}

/// A grant has more in it than the work that was submitted.
#[tokio::test]
async fn work_whose_grant_no_worker_could_read_is_refused() {
    let server = Server::open().await;
    let run = |steps: usize, last: usize| {
        let mut steps = vec!["x".repeat(32 * 1024); steps];
        steps.push("x".repeat(last));
        json!({ "jobs": [{ "name": "a", "job_spec": { "name": "a", "steps": steps } }] })
    };
    is_error(&server.post("/runs", run(31, 32_000)).await, 422, "FIELD_TOO_LARGE");
    server.ok("/runs", run(31, 15_000)).await;
    let ask = json!({ "runner_id": "runner_a", "capabilities": [] });
    let granted = server.ok("/internal/lease", ask).await;
    assert!(granted.to_string().len() <= remuda_fleet::message::MESSAGE_BYTES_MAX);
}
