//! What jobs ask for.

use axum::Router;
use axum::extract::State;
use axum::http::Method;
use axum::routing::any;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Clone, Default)]
struct Served {
    asked: Arc<Mutex<Vec<Method>>>,
    delay: Arc<Mutex<Duration>>,
}

/// A web server that answers `{"price":42}`.
pub(crate) struct Web {
    pub(crate) url: String,
    served: Served,
}

impl Web {
    pub(crate) async fn start() -> Self {
        let served = Served::default();
        let answer = async |State(served): State<Served>, method: Method| {
            served.asked.lock().unwrap().push(method);
            let delay = *served.delay.lock().unwrap();
            tokio::time::sleep(delay).await;
            ([("content-type", "application/json")], r#"{"price":42}"#)
        };
        let long = async || "x".repeat(10_000);
        let router = Router::new().route("/", any(answer)).route("/long", any(long));
        let router = router.with_state(served.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, served }
    }

    /// How often it was asked.
    pub(crate) fn asked(&self) -> usize {
        self.served.asked.lock().unwrap().len()
    }

    /// From now on it takes so long.
    pub(crate) fn slow(&self, delay: Duration) {
        *self.served.delay.lock().unwrap() = delay;
    }
}
