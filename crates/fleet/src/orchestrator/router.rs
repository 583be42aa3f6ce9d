//! Which path is whose.

use super::answer::Failure;
use super::app::App;
use super::reports::{enrol, lease, report};
use super::{metrics, people, upload, watch};
use crate::message::{AckLease, CancelAck, Complete, Heartbeat, LogChunk, UploadRequest};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};

/// Every path (SPEC §14). Written out whole, not nested: workers sign the path as they send it, and
/// inside a nest it is another.
pub fn router(app: App) -> Router {
    Router::new()
        .route("/api/v1/internal/enrol", post(enrol))
        .route("/api/v1/internal/lease", post(lease))
        .route("/api/v1/internal/ack-lease", post(report::<AckLease>))
        .route("/api/v1/internal/heartbeat", post(report::<Heartbeat>))
        .route("/api/v1/internal/complete", post(report::<Complete>))
        .route("/api/v1/internal/cancel-ack", post(report::<CancelAck>))
        .route("/api/v1/internal/log", post(report::<LogChunk>))
        .route("/api/v1/internal/upload", post(report::<UploadRequest>))
        .route("/api/v1/internal/objects/{*path}", put(upload::put))
        .route("/api/v1/runs", post(people::submit).get(people::list))
        .route("/api/v1/runs/{id}", get(people::run))
        .route("/api/v1/runs/{id}/events", get(watch::events))
        .route("/api/v1/runs/{id}/cancel", post(people::cancel_run))
        .route("/api/v1/runs/{id}/rerun", post(people::rerun))
        .route("/api/v1/jobs/{id}", get(people::job))
        .route("/api/v1/jobs/{id}/log", get(people::log))
        .route("/api/v1/jobs/{id}/cancel", post(people::cancel_job))
        .route("/api/v1/limits/{label}", put(people::limit))
        .route("/api/v1/workers/desired", get(metrics::desired))
        .route("/api/v1/workers/{key}", delete(people::expel))
        .route("/api/v1/objects/{*path}", get(upload::get))
        .route("/metrics", get(metrics::metrics))
        .route("/health", get(async || "ok"))
        .fallback(async || Failure::not_found("path"))
        .method_not_allowed_fallback(async || {
            let text = "this path has other methods; see the documentation";
            Failure::new(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", text).into_response()
        })
        .layer(from_fn_with_state(app.clone(), tell_time))
        .with_state(app)
}

/// Every answer says what time it is here: workers sign with it.
async fn tell_time(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.headers_mut().insert("remuda-time", HeaderValue::from(app.now().0));
    response
}
