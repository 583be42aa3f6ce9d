//! The routes.

use super::answer::Failure;
use super::app::App;
use super::openapi::{Api, Auth, Operation, openapi};
use super::worker_api::{enrol, lease, leave, report};
use super::{api, browser, metrics, pages, upload, watch, workers};
use crate::message::{
    AckLease, AckLeaseAck, CancelAck, CancelAckAck, Complete, CompleteAck, Enrol, Enrolled,
    Heartbeat, HeartbeatAck, LeaseGranted, LeaseRequest, Leave, Left, LogAck, LogChunk, NoWork,
    RunSubmission, UploadGranted, UploadRequest,
};
use crate::view::{
    JobView, LimitList, MachineList, QueueView, RunList, RunView, Submitted, TokenView, WorkerList,
};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use utoipa::openapi::HttpMethod::{Delete, Get, Post, Put};

/// Every path (SPEC §14), written out whole: workers sign the full path, and a nested router would see part
/// of it.
pub fn router(app: App) -> Router {
    routes()
        .router()
        .fallback(async || Failure::not_found("path"))
        .method_not_allowed_fallback(async || {
            let text = "this path has other methods; see /openapi.json";
            Failure::new(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", text).into_response()
        })
        .layer(from_fn_with_state(app.clone(), browser::refuse_foreign_pages))
        .layer(from_fn_with_state(app.clone(), add_time))
        .with_state(app)
}

/// The routes with their descriptions.
pub(super) fn routes() -> Api {
    let api = internal(Api::default());
    let api = jobs(runs(api));
    let text = "Metrics for Prometheus";
    let api = api
        .on(
            Get,
            "/metrics",
            metrics::metrics,
            viewer("metrics", text).returns_text(metrics::OPEN_METRICS),
        )
        .on(
            Get,
            "/health",
            health,
            anybody("health", "Whether the store is open").returns_text("text/plain"),
        )
        .on(Get, "/openapi.json", openapi, {
            anybody("openapi", "This document").returns_text("application/json")
        });
    human(api)
}

/// For supervisors.
async fn health(State(app): State<App>) -> (StatusCode, &'static str) {
    match app.0.store.is_open() {
        true => (StatusCode::OK, "ok"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "the store is closed"),
    }
}

fn worker(id: &str, text: &str) -> Operation {
    Operation::new(id, Auth::Worker, text)
}

fn viewer(id: &str, text: &str) -> Operation {
    Operation::new(id, Auth::Token("viewer"), text)
}

fn submitter(id: &str, text: &str) -> Operation {
    Operation::new(id, Auth::Token("submitter"), text)
}

fn operator(id: &str, text: &str) -> Operation {
    Operation::new(id, Auth::Token("operator"), text)
}

fn anybody(id: &str, text: &str) -> Operation {
    Operation::new(id, Auth::None, text)
}

fn internal(api: Api) -> Api {
    let operation = Operation::new("enrol", Auth::Token("enrol"), "Register a machine's key");
    let api = api
        .on(
            Post,
            "/api/v1/internal/enrol",
            enrol,
            operation.body::<Enrol>().returns_message::<Enrolled>(),
        )
        .on(Post, "/api/v1/internal/lease", lease, {
            worker("lease", "Request a job")
                .body::<LeaseRequest>()
                .returns_either::<LeaseGranted, NoWork>()
        })
        .on(Post, "/api/v1/internal/ack-lease", report::<AckLease>, {
            worker("ack_lease", "Accept a lease")
                .body::<AckLease>()
                .returns_message::<AckLeaseAck>()
        })
        .on(Post, "/api/v1/internal/heartbeat", report::<Heartbeat>, {
            worker("heartbeat", "Extend a lease and report progress")
                .body::<Heartbeat>()
                .returns_message::<HeartbeatAck>()
        })
        .on(Post, "/api/v1/internal/complete", report::<Complete>, {
            worker("complete", "Report a result")
                .body::<Complete>()
                .returns_message::<CompleteAck>()
        })
        .on(Post, "/api/v1/internal/cancel-ack", report::<CancelAck>, {
            worker("cancel_ack", "Acknowledge a cancellation")
                .body::<CancelAck>()
                .returns_message::<CancelAckAck>()
        })
        .on(Post, "/api/v1/internal/leave", leave, {
            worker("leave", "Report that the runner shuts down")
                .body::<Leave>()
                .returns_message::<Left>()
        });
    let put = worker("put_object", "Upload an object")
        .body_bytes()
        .header("remuda-lease", "The lease")
        .header("remuda-runner", "The runner")
        .header("remuda-grant", "The grant of UploadGranted")
        .header("remuda-content-sha256", "SHA-256 of the bytes, in hex")
        .returns_created();
    api.on(Post, "/api/v1/internal/log", report::<LogChunk>, {
        worker("log", "Send a chunk of a log").body::<LogChunk>().returns_message::<LogAck>()
    })
    .on(Post, "/api/v1/internal/upload", report::<UploadRequest>, {
        worker("upload", "Request the upload of an object")
            .body::<UploadRequest>()
            .returns_message::<UploadGranted>()
    })
    .on(Put, "/api/v1/internal/objects/{*path}", upload::put, put)
}

/// Runs.
fn runs(api: Api) -> Api {
    let key = "Repeating a submission under the same key has no effect";
    let submit = submitter("submit_run", "Submit a run")
        .header("Idempotency-Key", key)
        .header("remuda-run-id", "Id of the run, chosen by the submitter: random and new")
        .body::<RunSubmission>()
        .creates::<Submitted>();
    let rerun = submitter("rerun_run", "Repeat a run").header("Idempotency-Key", key);
    let list = viewer("list_runs", "The newest runs")
        .query("before", "`next` of the previous page")
        .query("limit", "Default 50, at most 200");
    let one =
        viewer("run", "A run and a page of its jobs").query("from", "`next` of the previous page");
    let events = viewer("watch_run", "The run after each change, as server-sent events");
    api.on(Post, "/api/v1/runs", api::submit, submit)
        .on(Get, "/api/v1/runs", api::list, list.returns::<RunList>())
        .on(Get, "/api/v1/runs/{id}", api::run, one.returns::<RunView>())
        .on(
            Get,
            "/api/v1/runs/{id}/events",
            watch::events,
            events.returns_text("text/event-stream"),
        )
        .on(Post, "/api/v1/runs/{id}/cancel", api::cancel_run, {
            submitter("cancel_run", "Cancel a run").returns_nothing()
        })
        .on(Post, "/api/v1/runs/{id}/rerun", api::rerun, rerun.creates::<Submitted>())
}

/// Jobs, limits and workers.
fn jobs(api: Api) -> Api {
    let log = viewer("job_log", "Part of a job's log, raw bytes")
        .query("offset", "First byte. Default: 0")
        .query("fence", "Fence of the grant. Default: the newest");
    let limit = operator("set_limit", "Set the limit of a label")
        .query("limit", "Most jobs at a time. Default: no limit");
    let desired = "Workers that would be busy, for autoscalers, without jobs held back by limits";
    api.on(Get, "/api/v1/jobs/{id}", api::job, viewer("job", "A job").returns::<JobView>())
        .on(Get, "/api/v1/jobs/{id}/log", api::log, log.returns_text("text/plain"))
        .on(Get, "/api/v1/jobs/{id}/output", api::output, {
            viewer("job_output", "Output of a job's call").returns_text("application/octet-stream")
        })
        .on(Post, "/api/v1/jobs/{id}/cancel", api::cancel_job, {
            submitter("cancel_job", "Cancel a job").returns_nothing()
        })
        .on(Get, "/api/v1/limits", workers::limits, {
            viewer("limits", "Limits and their usage").returns::<LimitList>()
        })
        .on(Put, "/api/v1/limits/{label}", api::limit, limit.returns_nothing())
        .on(Get, "/api/v1/queue", workers::queue, {
            viewer("queue", "Waiting and running jobs").returns::<QueueView>()
        })
        .on(Get, "/api/v1/workers", workers::workers, {
            viewer("workers", "Known workers").returns::<WorkerList>()
        })
        .on(Get, "/api/v1/workers/desired", metrics::desired, {
            viewer("desired_workers", desired).returns_text("application/json")
        })
        .on(Get, "/api/v1/token", api::token, {
            Operation::new("token", Auth::Token("any"), "Permissions of the token")
                .returns::<TokenView>()
        })
        .on(Get, "/api/v1/machines", workers::machines, {
            viewer("machines", "Registered machines").returns::<MachineList>()
        })
        .on(Delete, "/api/v1/workers/{key}", api::expel, {
            operator("expel_worker", "Expel a machine: its signatures are refused")
                .returns_nothing()
        })
        .on(Get, "/api/v1/objects/{*path}", upload::get, {
            viewer("get_object", "An object's bytes").returns_text("application/octet-stream")
        })
}

/// Pages, with a cookie instead of a token.
fn human(api: Api) -> Api {
    let page = |id: &str, text: &str| viewer(id, text).returns_text("text/html");
    let live = viewer("live_page", "A page's content after each change");
    let open = |id: &str, text: &str| anybody(id, text).returns_text("text/html");
    api.on(Get, "/", pages::runs, page("runs_page", "Runs"))
        .on(Get, "/runs/{id}", pages::run, page("run_page", "A run"))
        .on(Get, "/jobs/{id}", pages::job, page("job_page", "A job and its log"))
        .on(Get, "/jobs/{id}/log", pages::log, {
            viewer("log_page", "Part of a job's log").returns_text("text/plain")
        })
        .on(Get, "/queue", pages::queue, page("queue_page", "The queue"))
        .on(Get, "/workers", pages::workers, page("workers_page", "Workers"))
        .on(Get, "/live/{*page}", pages::live, live.returns_text("text/event-stream"))
        .on(Get, "/login", pages::form, open("login_page", "Login form"))
        .on(Post, "/login", pages::login, open("login", "Log in"))
        .on(Post, "/logout", pages::logout, open("logout", "Log out"))
        .on(Get, "/assets/live.js", pages::script, {
            anybody("live_script", "The pages' script").returns_text("text/javascript")
        })
        .on(Get, "/assets/style.css", pages::style, {
            anybody("style", "The pages' style").returns_text("text/css")
        })
}

/// Adds the orchestrator's time to every response: workers sign with it.
async fn add_time(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.headers_mut().insert("remuda-time", HeaderValue::from(app.now().0));
    response
}
