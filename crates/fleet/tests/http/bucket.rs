//! A bucket that takes connections and does not answer.

use super::server::{Server, hasty};
use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, put};
use remuda_fleet::object::BucketConfig;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

/// Takes objects, and never lists any.
async fn bucket() -> BucketConfig {
    let times = Arc::new(AtomicU32::new(0));
    let kept = move |_: HeaderMap| {
        // The first is there, and the second is told so.
        std::future::ready(match times.fetch_add(1, Ordering::SeqCst) {
            0 => StatusCode::OK,
            _ => StatusCode::PRECONDITION_FAILED,
        })
    };
    let router = Router::new()
        .route("/fleet", get(std::future::pending::<StatusCode>))
        .route("/fleet/", get(std::future::pending::<StatusCode>))
        .route("/fleet/{*name}", put(kept).delete(async || StatusCode::NO_CONTENT));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, router).await });
    BucketConfig {
        endpoint,
        bucket: "fleet".to_owned(),
        region: "us-east-1".to_owned(),
        access_key: "name".to_owned(),
        secret_key: "key".to_owned(),
        prefix: String::new(),
    }
}

#[tokio::test]
async fn leases_end_whatever_a_bucket_does() {
    let bucket = bucket().await;
    let server = Server::with(|config| {
        config.policy = hasty();
        config.keep_seconds = 1;
        config.bucket = Some(bucket);
    })
    .await;
    // One whose objects are to go, under a name that its submitter chose.
    let job = json!({ "name": "a", "job_spec": { "name": "a", "steps": ["true"] } });
    let submit = async || {
        let url = format!("{}/api/v1/runs", server.url);
        let body = json!({ "jobs": [job] }).to_string();
        let name = format!("run_{}", "ab".repeat(16));
        let sent = server.http.post(url).header("remuda-run-id", name).body(body).send().await;
        sent.expect("an answer").status()
    };
    assert_eq!(submit().await, 201);
    let granted = server.take("runner_a").await;
    server.complete(&granted, "runner_a").await;
    let forgotten = format!("/runs/{}", granted["run_id"].as_str().expect("an id"));
    let began = Instant::now();
    while server.get(&forgotten).await.0 == 200 {
        assert!(began.elapsed() < Duration::from_secs(20), "it is not forgotten");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(submit().await, 409, "a new one would lose its objects with it");
    // And one whose runner is gone.
    let run = server.submit().await;
    server.take("runner_b").await;
    loop {
        let (_, view) = server.get(&format!("/runs/{run}")).await;
        if view["jobs"][0]["state"] == "QUEUED" {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{view}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
