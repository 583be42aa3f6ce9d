//! The routes.

use super::answer::Failure;
use super::app::App;
use super::openapi::{About, Api, Who, openapi};
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
        .layer(from_fn_with_state(app.clone(), browser::own_pages))
        .layer(from_fn_with_state(app.clone(), tell_time))
        .with_state(app)
}

/// The routes with their descriptions.
pub(super) fn routes() -> Api {
    let api = internal(Api::default());
    let api = jobs(runs(api));
    let text = "Jobs, runners and messages, for Prometheus";
    let api = api
        .on(
            Get,
            "/metrics",
            metrics::metrics,
            viewer("metrics", text).gives_text(metrics::OPEN_METRICS),
        )
        .on(
            Get,
            "/health",
            health,
            anybody("health", "It is there, and keeps rows").gives_text("text/plain"),
        )
        .on(Get, "/openapi.json", openapi, {
            anybody("openapi", "This document").gives_text("application/json")
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

fn worker(id: &str, text: &str) -> About {
    About::new(id, Who::Worker, text)
}

fn viewer(id: &str, text: &str) -> About {
    About::new(id, Who::Token("viewer"), text)
}

fn submitter(id: &str, text: &str) -> About {
    About::new(id, Who::Token("submitter"), text)
}

fn operator(id: &str, text: &str) -> About {
    About::new(id, Who::Token("operator"), text)
}

fn anybody(id: &str, text: &str) -> About {
    About::new(id, Who::Anybody, text)
}

fn internal(api: Api) -> Api {
    let about = About::new("enrol", Who::Token("enrol"), "Bring a machine's key");
    let api = api
        .on(Post, "/api/v1/internal/enrol", enrol, about.takes::<Enrol>().says::<Enrolled>())
        .on(Post, "/api/v1/internal/lease", lease, {
            worker("lease", "Ask for work")
                .takes::<LeaseRequest>()
                .says_either::<LeaseGranted, NoWork>()
        })
        .on(Post, "/api/v1/internal/ack-lease", report::<AckLease>, {
            worker("ack_lease", "Accept a lease").takes::<AckLease>().says::<AckLeaseAck>()
        })
        .on(Post, "/api/v1/internal/heartbeat", report::<Heartbeat>, {
            worker("heartbeat", "Be alive").takes::<Heartbeat>().says::<HeartbeatAck>()
        })
        .on(Post, "/api/v1/internal/complete", report::<Complete>, {
            worker("complete", "Report a result").takes::<Complete>().says::<CompleteAck>()
        })
        .on(Post, "/api/v1/internal/cancel-ack", report::<CancelAck>, {
            worker("cancel_ack", "Report a stop").takes::<CancelAck>().says::<CancelAckAck>()
        })
        .on(Post, "/api/v1/internal/leave", leave, {
            worker("leave", "Say goodbye: it is not shown as a worker any more")
                .takes::<Leave>()
                .says::<Left>()
        });
    let put = worker("put_object", "Send an object's bytes, once")
        .takes_bytes()
        .header("remuda-lease", "The lease")
        .header("remuda-runner", "The runner")
        .header("remuda-grant", "The grant of UploadGranted")
        .header("remuda-content-sha256", "Of the bytes, in hex")
        .keeps();
    api.on(Post, "/api/v1/internal/log", report::<LogChunk>, {
        worker("log", "Send a piece of log").takes::<LogChunk>().says::<LogAck>()
    })
    .on(Post, "/api/v1/internal/upload", report::<UploadRequest>, {
        worker("upload", "Ask to keep an object").takes::<UploadRequest>().says::<UploadGranted>()
    })
    .on(Put, "/api/v1/internal/objects/{*path}", upload::put, put)
}

/// Runs.
fn runs(api: Api) -> Api {
    let key = "The same again under the same key is the same run";
    let submit = submitter("submit_run", "Submit a run")
        .header("Idempotency-Key", key)
        .header("remuda-run-id", "The run's id, if the submitter chooses it; random and new")
        .takes::<RunSubmission>()
        .makes::<Submitted>();
    let rerun = submitter("rerun_run", "Repeat a run").header("Idempotency-Key", key);
    let list = viewer("list_runs", "The newest runs")
        .query("before", "`next` of the page before")
        .query("limit", "50 unless said, 200 at most");
    let one =
        viewer("run", "A run, and a page of its jobs").query("from", "`next` of the page before");
    let events = viewer("watch_run", "The run whenever it changes, as server-sent events");
    api.on(Post, "/api/v1/runs", api::submit, submit)
        .on(Get, "/api/v1/runs", api::list, list.gives::<RunList>())
        .on(Get, "/api/v1/runs/{id}", api::run, one.gives::<RunView>())
        .on(Get, "/api/v1/runs/{id}/events", watch::events, events.gives_text("text/event-stream"))
        .on(Post, "/api/v1/runs/{id}/cancel", api::cancel_run, {
            submitter("cancel_run", "Stop a run").does()
        })
        .on(Post, "/api/v1/runs/{id}/rerun", api::rerun, rerun.makes::<Submitted>())
}

/// Jobs, limits and workers.
fn jobs(api: Api) -> Api {
    let log = viewer("job_log", "A part of a job's log, as it was written")
        .query("offset", "From which byte on")
        .query("fence", "Of which grant; the newest unless said");
    let limit = operator("set_limit", "How many jobs with a label may run at a time")
        .query("limit", "As many as there are unless said");
    let desired =
        "Workers that would be busy, for autoscalers; jobs that limits hold back do not count";
    api.on(Get, "/api/v1/jobs/{id}", api::job, viewer("job", "A job").gives::<JobView>())
        .on(Get, "/api/v1/jobs/{id}/log", api::log, log.gives_text("text/plain"))
        .on(Get, "/api/v1/jobs/{id}/output", api::output, {
            viewer("job_output", "What a job's call gave").gives_text("application/octet-stream")
        })
        .on(Post, "/api/v1/jobs/{id}/cancel", api::cancel_job, {
            submitter("cancel_job", "Stop a job").does()
        })
        .on(Get, "/api/v1/limits", workers::limits, {
            viewer("limits", "How many jobs with a label may run, and do").gives::<LimitList>()
        })
        .on(Put, "/api/v1/limits/{label}", api::limit, limit.does())
        .on(Get, "/api/v1/queue", workers::queue, {
            viewer("queue", "What waits and what is being done").gives::<QueueView>()
        })
        .on(Get, "/api/v1/workers", workers::workers, {
            viewer("workers", "Who works, or wants to").gives::<WorkerList>()
        })
        .on(Get, "/api/v1/workers/desired", metrics::desired, {
            viewer("desired_workers", desired).gives_text("application/json")
        })
        .on(Get, "/api/v1/token", api::token, {
            About::new("token", Who::Token("any"), "What the token that is shown allows")
                .gives::<TokenView>()
        })
        .on(Get, "/api/v1/machines", workers::machines, {
            viewer("machines", "Machines whose keys were enrolled").gives::<MachineList>()
        })
        .on(Delete, "/api/v1/workers/{key}", api::expel, {
            operator("expel_worker", "Believe a machine's key no longer").does()
        })
        .on(Get, "/api/v1/objects/{*path}", upload::get, {
            viewer("get_object", "An object's bytes").gives_text("application/octet-stream")
        })
}

/// Pages, with a cookie instead of a token.
fn human(api: Api) -> Api {
    let page = |id: &str, text: &str| viewer(id, text).gives_text("text/html");
    let live = viewer("live_page", "A page's inside whenever it changes");
    let open = |id: &str, text: &str| anybody(id, text).gives_text("text/html");
    api.on(Get, "/", pages::runs, page("runs_page", "Runs"))
        .on(Get, "/runs/{id}", pages::run, page("run_page", "A run"))
        .on(Get, "/jobs/{id}", pages::job, page("job_page", "A job and its log"))
        .on(Get, "/jobs/{id}/log", pages::log, {
            viewer("log_page", "A part of a job's log").gives_text("text/plain")
        })
        .on(Get, "/queue", pages::queue, page("queue_page", "The queue"))
        .on(Get, "/workers", pages::workers, page("workers_page", "Workers"))
        .on(Get, "/live/{*page}", pages::live, live.gives_text("text/event-stream"))
        .on(Get, "/login", pages::form, open("login_page", "A form for a token"))
        .on(Post, "/login", pages::login, open("login", "A token for a cookie"))
        .on(Post, "/logout", pages::logout, open("logout", "The end of a cookie"))
        .on(Get, "/assets/live.js", pages::script, {
            anybody("live_script", "The pages' script").gives_text("text/javascript")
        })
        .on(Get, "/assets/style.css", pages::style, {
            anybody("style", "The pages' style").gives_text("text/css")
        })
}

/// Adds the orchestrator's time to every response: workers sign with it.
async fn tell_time(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.headers_mut().insert("remuda-time", HeaderValue::from(app.now().0));
    response
}
