//! A web server for jobs to ask.

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use tokio::net::TcpListener;

/// Answers every request with JSON; `answer` gets the number of the request, from 1. Returns its URL.
pub(crate) async fn serve<F>(answer: impl Fn(u64) -> F + Clone + Send + Sync + 'static) -> String
where
    F: Future<Output = String> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let address = listener.local_addr().expect("an address");
    let asked = std::sync::Arc::new(AtomicU64::new(0));
    let router = Router::new().fallback(move || {
        let body = answer(asked.fetch_add(1, SeqCst) + 1);
        async move { ([(CONTENT_TYPE, "application/json")], body.await) }
    });
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/")
}
