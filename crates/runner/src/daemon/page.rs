//! The status page: `GET /` for people, `GET /status` for programs, `POST /drain` to stop in order.
//!
//! It is for this machine only. A browser on this machine runs pages of others, though, so draining
//! takes a header that such a page cannot send, and only a name of this machine is answered to.

use super::desk::Note;
use super::status::StatusView;
use axum::extract::{Request, State};
use axum::http::header::HOST;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use std::net::{IpAddr, SocketAddr};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// The header that draining takes; its value is `yes`.
pub(crate) const DRAIN_HEADER: &str = "x-remuda-drain";

/// A page that is served.
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
    status: watch::Receiver<StatusView>,
    notes: mpsc::Sender<Note>,
}

pub(crate) async fn serve(
    listen: SocketAddr,
    status: watch::Receiver<StatusView>,
    notes: mpsc::Sender<Note>,
) -> std::io::Result<Page> {
    let listener = TcpListener::bind(listen).await?;
    let address = listener.local_addr()?;
    let router = Router::new()
        .route("/", get(page))
        .route("/status", get(view))
        .route("/drain", post(drain))
        .layer(from_fn(local))
        .with_state(Served { status, notes });
    let task = tokio::spawn(async move {
        let _ = axum::serve(listener, router).await;
    });
    Ok(Page { address, task })
}

/// A name that leads here only because somebody's DNS says so is not ours.
async fn local(request: Request, next: Next) -> Response {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    if host.is_some_and(is_local) {
        next.run(request).await
    } else {
        (StatusCode::FORBIDDEN, "this page is for this machine only\n").into_response()
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
    if headers.get(DRAIN_HEADER).is_none_or(|value| value != "yes") {
        let text = format!("send the header {DRAIN_HEADER}: yes\n");
        return (StatusCode::FORBIDDEN, text).into_response();
    }
    match served.notes.send(Note::Drain).await {
        Ok(()) => (StatusCode::ACCEPTED, "draining\n").into_response(),
        Err(_) => (StatusCode::CONFLICT, "it has stopped already\n").into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_answered_to() {
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
