//! Jobs that are called off while the worker keeps what they left.

use crate::worker::server::folder;
use axum::Router;
use axum::routing::post;
use remuda_fleet::worker::{self, Config, Sandbox};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// So many that they are not copied before the worker hears that nobody wants them.
const FILES: u32 = 40_000;

/// What is in a folder, as far as it is there.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// An orchestrator that calls a job off as soon as its cache is being saved. `told` is called when the worker
/// says that the job is over.
fn orchestrator(worker: &Path, told: impl Fn() + Send + Sync + 'static) -> Router {
    let step = format!("mkdir d; cd d; seq 1 {FILES} | xargs touch");
    let spec = json!({ "name": "a", "steps": [step],
        "caches": [{ "type": "deps", "key": "k", "paths": ["d"] }] });
    let granted = json!({ "type": "LeaseGranted", "job_id": "job_1-0", "run_id": "run_1",
        "lease_id": "lease_1", "lease_ttl_seconds": 120, "heartbeat_interval_seconds": 1,
        "max_runtime_seconds": 120, "job_spec": spec })
    .to_string();
    let taken = json!({ "type": "AckLeaseAck", "lease_id": "lease_1", "accepted": true,
        "lease_ttl_seconds": 120 })
    .to_string();
    let beaten = json!({ "type": "HeartbeatAck", "lease_id": "lease_1", "extend_lease": true,
        "new_lease_ttl_seconds": 120, "cancel_requested": true, "cancel_deadline_seconds": 60 })
    .to_string();
    let over = json!({ "type": "CancelAckAck", "lease_id": "lease_1", "accepted": true });
    let (over, caches, told) = (over.to_string(), worker.join("caches"), Arc::new(told));
    let beat = move || {
        let (beaten, caches) = (beaten.clone(), caches.clone());
        async move {
            while !names(&caches).iter().any(|name| name.starts_with(".new-")) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            beaten
        }
    };
    let end = move || {
        told();
        std::future::ready(over.clone())
    };
    Router::new()
        .route("/api/v1/internal/lease", post(move || std::future::ready(granted.clone())))
        .route("/api/v1/internal/ack-lease", post(move || std::future::ready(taken.clone())))
        .route("/api/v1/internal/heartbeat", post(beat))
        .route("/api/v1/internal/cancel-ack", post(end))
}

#[tokio::test]
async fn a_job_that_is_called_off_while_it_is_saved_is_gone_before_its_end_is_told() {
    let worker = folder();
    let (over, mut ends) = mpsc::unbounded_channel();
    let at = worker.clone();
    let router = orchestrator(&worker, move || {
        let _ = over.send((names(&at.join("jobs")), names(&at.join("caches"))));
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });
    let mut config = Config::new(&url, worker.clone(), Sandbox::Process);
    config.one_shot = true;
    let working = tokio::spawn(worker::run(config, std::future::pending()));
    let left = tokio::time::timeout(Duration::from_secs(60), ends.recv()).await;
    let (jobs, caches) = left.expect("it is called off in time").expect("told");
    assert!(jobs.is_empty() && caches.is_empty(), "{jobs:?} {caches:?}");
    working.await.expect("in order").expect("worked");
    serving.abort();
    std::fs::remove_dir_all(worker).expect("removed");
}
