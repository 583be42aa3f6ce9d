//! A worker whose leases are refused after they were granted.

use crate::server::folder;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::post;
use remuda_fleet::worker::{self, Config, Sandbox};
use std::future::ready;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

/// Two pauses of a second, each a fifth shorter at most.
const LEAST: Duration = Duration::from_millis(1_600);

#[tokio::test]
async fn a_lease_that_is_refused_is_not_asked_for_again_at_once() {
    let (asked, mut asks) = mpsc::unbounded_channel();
    let granted = move || {
        let _ = asked.send(Instant::now());
        ready(include_str!("../seed/LeaseGranted.json"))
    };
    let body = r#"{"error":{"code":"TOO_LATE","message":"nobody waits for it any more"}}"#;
    let refused = move || ready((StatusCode::CONFLICT, body));
    let router = Router::new()
        .route("/api/v1/internal/lease", post(granted))
        .route("/api/v1/internal/ack-lease", post(refused));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });
    let folder = folder();
    let config = Config::new(&url, folder.clone(), Sandbox::Process);
    let (stop, stopped) = oneshot::channel::<()>();
    let working = tokio::spawn(worker::run(config, async move {
        let _ = stopped.await;
    }));
    let first = asks.recv().await.expect("asked");
    asks.recv().await.expect("asked");
    let third = asks.recv().await.expect("asked");
    assert!(third - first >= LEAST, "{:?}", third - first);
    // And it ends when it is told to.
    drop(stop);
    let ended = tokio::time::timeout(Duration::from_secs(30), working).await;
    ended.expect("in time").expect("in order").expect("worked");
    serving.abort();
    std::fs::remove_dir_all(folder).expect("removed");
}
