//! A worker whose leases are refused after they were granted, or what it sends under them.

use crate::worker::server::{endpoint, folder};
use axum::Router;
use axum::http::StatusCode;
use axum::routing::{post, put};
use remuda_fleet::auth::{KeyPair, sha256_hex};
use remuda_fleet::id::{LeaseId, RunnerId};
use remuda_fleet::time::Clock;
use remuda_fleet::worker::{self, Config, Link, Sandbox};
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

/// Two pauses of a second, each a fifth shorter at most.
const LEAST: Duration = Duration::from_millis(1_600);

/// A worker at an orchestrator that answers in these ways only, until it has asked so often: from the first to the
/// last question. And it ends when it is told to.
async fn asks(router: Router, mut asked: mpsc::UnboundedReceiver<Instant>, times: u32) -> Duration {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });
    let folder = folder();
    let config = Config::new(&url, folder.clone(), Sandbox::Process);
    let (stop, stopped) = oneshot::channel::<()>();
    let working = tokio::spawn(worker::run(config, async move {
        let _ = stopped.await;
    }));
    let first = asked.recv().await.expect("asked");
    let mut last = first;
    for _ in 1..times {
        last = asked.recv().await.expect("asked");
    }
    drop(stop);
    let ended = tokio::time::timeout(Duration::from_secs(30), working).await;
    ended.expect("in time").expect("in order").expect("worked");
    serving.abort();
    std::fs::remove_dir_all(folder).expect("removed");
    last - first
}

#[tokio::test]
async fn a_lease_that_is_refused_is_not_asked_for_again_at_once() {
    let (asked, times) = mpsc::unbounded_channel();
    let granted = move || {
        let _ = asked.send(Instant::now());
        ready(include_str!("../seed/LeaseGranted.json"))
    };
    let body = r#"{"error":{"code":"TOO_LATE","message":"nobody waits for it any more"}}"#;
    let refused = move || ready((StatusCode::CONFLICT, body));
    let router = Router::new()
        .route("/api/v1/internal/lease", post(granted))
        .route("/api/v1/internal/ack-lease", post(refused));
    let between = asks(router, times, 3).await;
    assert!(between >= LEAST, "{between:?}");
}

#[tokio::test]
async fn work_that_is_not_there_is_asked_for_when_the_orchestrator_says() {
    let (asked, times) = mpsc::unbounded_channel();
    let nothing = move || {
        let _ = asked.send(Instant::now());
        ready(r#"{"type":"NoWork","retry_after_seconds":3}"#)
    };
    let router = Router::new().route("/api/v1/internal/lease", post(nothing));
    let between = asks(router, times, 2).await;
    assert!(between >= Duration::from_secs(3), "{between:?}");
}

/// Fault 9: bytes are sent again as messages are, when it was only another time there.
#[tokio::test]
async fn an_object_is_sent_again_when_the_clocks_differ() {
    let (came, mut comes) = mpsc::unbounded_channel();
    let times = Arc::new(AtomicU32::new(0));
    let answer = move |body: String| {
        let _ = came.send(body);
        let wrong = r#"{"error":{"code":"BAD_CLOCK","message":"it is another time"}}"#;
        let headers = [("remuda-time", "1000")];
        ready(match times.fetch_add(1, Ordering::SeqCst) {
            0 => (StatusCode::UNAUTHORIZED, headers, wrong),
            _ => (StatusCode::CREATED, headers, "{}"),
        })
    };
    let router = Router::new().route("/api/v1/internal/objects/{*path}", put(answer));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });
    let folder = folder();
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("object"), "hello").expect("a file");
    let file = tokio::fs::File::open(folder.join("object")).await.expect("a file");
    let link = Link::new(endpoint(&url), Arc::new(KeyPair::generate()), Clock::default());
    let lease = LeaseId::new("lease_1").expect("an id");
    let runner = RunnerId::new("runner_1").expect("an id");
    let sent = link.put("runs/a", (&lease, &runner), "5-0", &sha256_hex(b"hello"), file).await;
    assert_eq!(sent, Ok(()));
    assert_eq!(comes.recv().await.as_deref(), Some("hello"));
    assert_eq!(comes.recv().await.as_deref(), Some("hello"), "from its beginning");
    serving.abort();
    std::fs::remove_dir_all(folder).expect("removed");
}
