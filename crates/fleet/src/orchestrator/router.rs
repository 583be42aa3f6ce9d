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

/// Every path (SPEC §14).
pub fn router(app: App) -> Router {
    let internal = Router::new()
        .route("/enrol", post(enrol))
        .route("/lease", post(lease))
        .route("/ack-lease", post(report::<AckLease>))
        .route("/heartbeat", post(report::<Heartbeat>))
        .route("/complete", post(report::<Complete>))
        .route("/cancel-ack", post(report::<CancelAck>))
        .route("/log", post(report::<LogChunk>))
        .route("/upload", post(report::<UploadRequest>))
        .route("/objects/{*path}", put(upload::put));
    let api = Router::new()
        .nest("/internal", internal)
        .route("/runs", post(people::submit).get(people::list))
        .route("/runs/{id}", get(people::run))
        .route("/runs/{id}/events", get(watch::events))
        .route("/runs/{id}/cancel", post(people::cancel_run))
        .route("/runs/{id}/rerun", post(people::rerun))
        .route("/jobs/{id}", get(people::job))
        .route("/jobs/{id}/log", get(people::log))
        .route("/jobs/{id}/cancel", post(people::cancel_job))
        .route("/limits/{label}", put(people::limit))
        .route("/workers/desired", get(metrics::desired))
        .route("/workers/{key}", delete(people::expel))
        .route("/objects/{*path}", get(upload::get));
    Router::new()
        .nest("/api/v1", api)
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
