//! The status page: `GET /` for people, `GET /status` for programs, `POST /drain` to stop in order.
//!
//! Requests must name this machine as their host, because a browser on it runs pages of other sites (DNS rebinding).
//! Every user of the machine may read the status. Draining takes a token that each start writes to a file of
//! the runner's own user.

use super::runner_core::Event;
use super::status::StatusView;
use crate::private;
use alloy_primitives::hex;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// In the data directory.
const TOKEN_FILE: &str = "drain.token";

pub(crate) fn token_file(data: &Path) -> PathBuf {
    data.join(TOKEN_FILE)
}

/// Creates a new token.
pub(crate) fn token(data: &Path) -> std::io::Result<String> {
    let token = hex::encode(rand::random::<[u8; 32]>());
    private::replace(&token_file(data), &format!("{token}\n"))?;
    Ok(token)
}

/// Served until dropped.
pub(crate) struct Page {
    pub(crate) address: SocketAddr,
    task: JoinHandle<()>,
}

impl Page {
    pub(crate) fn stop(self) {
        self.task.abort();
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(Clone)]
struct Served {
    /// Hashed: hashes are compared in constant time.
    token: blake3::Hash,
    status: watch::Receiver<StatusView>,
    events: mpsc::Sender<Event>,
}

pub(crate) async fn serve(
    listen: SocketAddr,
    token: String,
    status: watch::Receiver<StatusView>,
    events: mpsc::Sender<Event>,
) -> std::io::Result<Page> {
    let listener = TcpListener::bind(listen).await?;
    let address = listener.local_addr()?;
    let router = Router::new()
        .route("/", get(page))
        .route("/status", get(view))
        .route("/drain", post(drain))
        .layer(from_fn(local))
        .with_state(Served { token: blake3::hash(token.as_bytes()), status, events });
    let task = tokio::spawn(async move {
        let _ = axum::serve(listener, router).await;
    });
    Ok(Page { address, task })
}

/// Refuses other hosts: their DNS may resolve to this machine.
async fn local(request: Request, next: Next) -> Response {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    if host.is_some_and(is_local) {
        next.run(request).await
    } else {
        (StatusCode::FORBIDDEN, "only requests for this machine are served\n").into_response()
    }
}

fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => host.split(':').next(),
    };
    let name = name.unwrap_or_default();
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

async fn view(State(served): State<Served>) -> Json<StatusView> {
    Json(served.status.borrow().clone())
}

async fn page() -> Html<&'static str> {
    Html(include_str!("page.html"))
}

async fn drain(State(served): State<Served>, headers: HeaderMap) -> Response {
    let shown = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let shown = shown.and_then(|value| value.strip_prefix("Bearer "));
    if shown.is_none_or(|shown| blake3::hash(shown.as_bytes()) != served.token) {
        let text = format!(
            "send `authorization: Bearer TOKEN` with the token in {TOKEN_FILE}, or run: remuda runner drain\n"
        );
        return (StatusCode::UNAUTHORIZED, text).into_response();
    }
    match served.events.send(Event::Drain).await {
        Ok(()) => (StatusCode::ACCEPTED, "draining\n").into_response(),
        Err(_) => (StatusCode::CONFLICT, "the runner has stopped\n").into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_local_hosts_are_served() {
        for host in ["127.0.0.1", "127.0.0.1:8090", "localhost:8090", "[::1]:8090"] {
            assert!(is_local(host), "{host}");
        }
        for host in
            ["", "evil.example:8090", "127.0.0.1.evil.example", "192.0.2.1", "[2001:db8::1]"]
        {
            assert!(!is_local(host), "{host}");
        }
    }
}
