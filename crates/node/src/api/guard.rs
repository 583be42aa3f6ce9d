//! What every request passes: allowances, time limit, counters, a line in the log.
//!
//! The log has the route's template, never the path, the query or the body: what people ask for,
//! sign and send is not the log's business.

use super::App;
use super::error::Failure;
use super::extract::Peer;
use crate::rate::peer_key;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::body::Body as _;
use remuda_client::types::code;
use std::time::Instant;

/// What can be asked also by a peer that has read too much: whether the node is well. It reads next to
/// nothing.
const UNREAD: [&str; 4] = ["/health", "/ready", "/status", "/metrics"];

pub(super) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("none", MatchedPath::as_str).to_owned();
    let peer = Peer::of(request.extensions());
    let response = match app.enter(peer, &route, request) {
        Err(failure) => failure.into_response(),
        Ok(request) => match tokio::time::timeout(app.limits.request, next.run(request)).await {
            Ok(response) => app.answers.hold_answer(peer, response),
            Err(_) => Failure::new(code::TIMEOUT, "the request took too long")
                .hint("ask for less, or send the body faster")
                .closing()
                .into_response(),
        },
    };
    app.spend(peer, response.body().size_hint().exact().unwrap_or(0));
    let (status, took) = (response.status().as_u16(), started.elapsed());
    app.metrics.answered(&route, status, took);
    tracing::debug!(route, status, micros = took.as_micros() as u64, "request answered");
    response
}

impl App {
    /// Takes what every request costs: a token, and room for its body. The room goes with the body,
    /// not with the request, which may wait long for a block after its body was read.
    fn enter(&self, peer: Peer, route: &str, request: Request) -> Result<Request, Failure> {
        self.allow(peer, 1)?;
        if !UNREAD.contains(&route) {
            self.may_read(peer)?;
        }
        self.bodies.hold_request(peer, request, self.limits.body_bytes as u64)
    }

    /// Takes from a peer's allowance.
    pub(super) fn allow(&self, peer: Peer, tokens: u32) -> Result<(), Failure> {
        let mut buckets = self.requests.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        buckets.take(&peer_key(peer.0), tokens, Instant::now()).map_err(|wait| {
            self.metrics.limited.inc();
            Failure::new(code::RATE_LIMITED, "too many requests from this address")
                .hint("retry after the time in Retry-After; /events streams what is new")
                .retry_after(wait)
        })
    }
}
