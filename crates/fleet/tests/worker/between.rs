//! Something between a worker and its orchestrator.

use crate::worker::jobs::{Worker, bytes, ended, job, job_true, submit, until};
use crate::worker::server::{Server, folder, hasty};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use remuda_fleet::lease::Policy;
use remuda_fleet::worker::{self, Config, Sandbox};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

/// Lets all through but what is sent as a file, as a proxy does that takes no large bodies.
async fn pass(
    State(to): State<String>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    match method {
        Method::PUT => (StatusCode::PAYLOAD_TOO_LARGE, "<h1>413</h1>").into_response(),
        method => forward(&to, method, &uri, &headers, body).await,
    }
}

/// Lets logs through from some moment on, and all else always.
async fn pass_logs_later(
    State((to, logs)): State<(String, Arc<AtomicBool>)>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if uri.path().ends_with("/internal/log") && !logs.load(Ordering::SeqCst) {
        return StatusCode::BAD_GATEWAY.into_response();
    }
    forward(&to, method, &uri, &headers, body).await
}

async fn forward(
    to: &str,
    method: Method,
    uri: &Uri,
    headers: &HeaderMap,
    body: Bytes,
) -> Response {
    let mut request = reqwest::Client::new().request(method, format!("{to}{uri}"));
    for name in ["authorization", "content-type"] {
        if let Some(value) = headers.get(name) {
            request = request.header(name, value);
        }
    }
    match request.body(body).send().await {
        Ok(answer) => (answer.status(), answer.bytes().await.unwrap_or_default()).into_response(),
        Err(_) => StatusCode::BAD_GATEWAY.into_response(),
    }
}

#[tokio::test]
async fn who_cannot_send_a_file_still_stops_when_it_is_told_to() {
    let server = Server::with(|config| {
        config.policy = Policy { cancel_deadline_seconds: 20, ..hasty() };
    })
    .await;
    let url = serve(Router::new().fallback(pass).with_state(server.url.clone())).await;
    let mut worker = Worker::start(&server, |config| {
        config.orchestrator = url;
        config.drain = Duration::from_millis(100);
    });
    let spec = json!({ "name": "a", "steps": ["echo result > out.txt"],
        "artifacts": [{ "type": "text", "path_glob": "*.txt" }] });
    let order = json!({ "name": "a", "job_spec": spec });
    // A request to stop arrives during the upload.
    let run = submit(&server, order.clone()).await;
    until(&server, &run, |job| job["state"] == "UPLOADING").await;
    server.ok(&format!("/runs/{run}/cancel"), json!({})).await;
    assert_eq!(ended(&server, &run).await["reason"], "CANCEL_ACKED");
    // The worker works on.
    let next = submit(&server, job_true()).await;
    assert_eq!(ended(&server, &next).await["state"], "SUCCEEDED");
    // And it goes when it is told to: the job is given back.
    let run = submit(&server, order).await;
    until(&server, &run, |job| job["state"] == "UPLOADING").await;
    worker.stop();
    worker.ended().await;
    let (_, view) = server.get(&format!("/runs/{run}")).await;
    assert_eq!(
        (&view["jobs"][0]["state"], &view["jobs"][0]["returns"]),
        (&json!("QUEUED"), &json!(1)),
        "{view}"
    );
}

/// What is left to do takes longer than a lease lasts, but heartbeats extend it.
#[tokio::test]
async fn a_job_is_given_back_though_its_worker_takes_longer_to_end_than_a_lease_lasts() {
    let server = Server::with(|config| config.policy = hasty()).await;
    let logs = Arc::new(AtomicBool::new(false));
    let state = (server.url.clone(), logs.clone());
    let url = serve(Router::new().fallback(pass_logs_later).with_state(state)).await;
    let mut worker = Worker::start(&server, |config| {
        config.orchestrator = url;
        config.drain = Duration::from_millis(100);
    });
    let begun = server.folder.join("begun");
    let step = format!("echo begun; touch {}; sleep 1000", begun.display());
    let run = submit(&server, job(&[&step])).await;
    let began = Instant::now();
    while !begun.exists() {
        assert!(began.elapsed() < Duration::from_secs(30), "it begins");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    worker.stop();
    // Twice as long as a lease.
    tokio::time::sleep(Duration::from_secs(6)).await;
    logs.store(true, Ordering::SeqCst);
    worker.ended().await;
    let (_, view) = server.get(&format!("/runs/{run}")).await;
    let job = &view["jobs"][0];
    assert_eq!((&job["returns"], &job["losses"]), (&json!(1), &json!(0)), "{view}");
    assert_eq!((&job["state"], &job["failure"]), (&json!("QUEUED"), &json!("RUNNER_SHUTDOWN")));
    let log = format!("/api/v1/jobs/{}/log?fence=1", job["job_id"].as_str().expect("an id"));
    assert_eq!(bytes(&server, &log).await, b"begun\n");
}

/// The orchestrator goes away while a worker has a job, and does not come back.
#[tokio::test]
async fn a_worker_ends_though_nobody_hears_how_its_job_went() {
    let granted = json!({ "type": "LeaseGranted", "job_id": "job_1-0", "run_id": "run_1",
        "lease_id": "lease_1", "lease_ttl_seconds": 1, "heartbeat_interval_seconds": 1,
        "max_runtime_seconds": 60, "job_spec": { "name": "a", "steps": ["true"] } });
    let acked = json!({ "type": "AckLeaseAck", "lease_id": "lease_1", "accepted": true,
        "lease_ttl_seconds": 1 });
    for hears in [true, false] {
        let (granted, acked) = (granted.to_string(), acked.to_string());
        let (began, begun) = oneshot::channel();
        let began = std::sync::Mutex::new(Some(began));
        let ack = move || {
            began.lock().expect("whole").take().map(|began| began.send(()));
            std::future::ready(match hears {
                true => (StatusCode::OK, acked.clone()),
                false => (StatusCode::BAD_GATEWAY, String::new()),
            })
        };
        let ack = std::sync::Arc::new(ack);
        // Everything else is not found, by something that is no orchestrator.
        let url = serve(
            Router::new()
                .route("/api/v1/internal/lease", post(move || std::future::ready(granted.clone())))
                .route("/api/v1/internal/ack-lease", post(move || ack())),
        )
        .await;
        let folder = folder();
        let mut config = Config::new(&url, folder.clone(), Sandbox::Process);
        (config.drain, config.grace) = (Duration::from_millis(100), Duration::from_millis(500));
        let (stop, stopped) = oneshot::channel::<()>();
        let working = tokio::spawn(worker::run(config, async move {
            let _ = stopped.await;
        }));
        begun.await.expect("asked");
        drop(stop);
        let told = Instant::now();
        let ended = tokio::time::timeout(Duration::from_secs(30), working).await;
        ended.expect("in time").expect("in order").expect("worked");
        assert!(told.elapsed() < Duration::from_secs(20), "{hears}");
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
