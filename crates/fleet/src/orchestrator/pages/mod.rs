//! Pages for people: runs, one run, one job with its log, workers, the queue.
//!
//! Pages work without JavaScript. With it they are live: a twenty-line script replaces the content with the
//! same HTML from an event stream. They are read-only: the API, which accepts no cookies, submits and
//! cancels.

mod html;
mod live;
mod login;
mod session;
mod views;

pub(super) use live::live;
pub(super) use login::{form, login, logout};

use super::answer::{Failure, PathParam, QueryParams};
use super::api::{Jobs, granted, id};
use super::app::App;
use super::slots::StreamSlots;
use crate::auth::Scope;
use crate::id::{JobId, RunId};
use crate::store::Store;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use html::Markup;
use serde::Deserialize;
use session::Sessions;

/// Most event streams. Further pages are static.
const LIVE_MAX: usize = 256;
/// Bytes of a log's end on a page.
const LOG_BYTES: u64 = 64 * 1024;

/// Own style and script only, no frames, no foreign forms. A second defence behind escaping.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// State of the pages.
#[derive(Debug)]
pub(super) struct Pages {
    sessions: Sessions,
    streams: StreamSlots,
}

impl Default for Pages {
    fn default() -> Self {
        Self { sessions: Sessions::default(), streams: StreamSlots::new(LIVE_MAX) }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Page {
    Runs { before: Option<String> },
    Run { id: RunId, from: usize },
    Job(JobId),
    Workers,
    Queue,
}

pub(super) struct Content {
    title: String,
    body: Markup,
    /// It is final.
    ended: bool,
}

fn guarded(status: StatusCode, kind: &'static str, body: impl Into<String>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    let headers: [(HeaderName, HeaderValue); 5] = headers;
    (status, headers, body.into()).into_response()
}

/// A whole page. `events` is the path of its event stream.
fn whole(
    status: StatusCode,
    title: &str,
    events: Option<&str>,
    inside: Markup,
    leave: bool,
) -> Response {
    let mut page = Markup::default();
    page.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")
        .raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>")
        .text(title)
        .raw(" · Remuda fleet</title><link rel=\"stylesheet\" href=\"/assets/style.css\">")
        .raw("<script src=\"/assets/live.js\" defer></script></head><body><nav>")
        .raw("<strong>Remuda fleet</strong><a href=\"/\">Runs</a><a href=\"/queue\">Queue</a>")
        .raw("<a href=\"/workers\">Workers</a><span id=\"mark\"></span>");
    if leave {
        page.raw("<form method=\"post\" action=\"/logout\"><button>Log out</button></form>");
    }
    page.raw("</nav><main id=\"live\"");
    if let Some(events) = events {
        page.raw(" data-events=\"").text(events).raw("\"");
    }
    page.raw(">").add(inside).raw("</main></body></html>\n");
    guarded(status, "text/html; charset=utf-8", page.done())
}

fn error_page(failure: &Failure) -> Response {
    let mut text = Markup::default();
    text.raw("<h1>").text(failure.status).raw("</h1><p>").text(failure.message()).raw("</p>");
    whole(failure.status, "Not here", None, text, false)
}

impl App {
    /// The name of the request's token, by cookie or by header.
    fn may_look(&self, headers: &HeaderMap) -> Result<String, Failure> {
        let access = self.0.tokens.access();
        match self.0.pages.sessions.allows(self.now(), headers, &access) {
            Some(name) => Ok(name),
            None => self.person(headers, Scope::Viewer),
        }
    }
}

async fn show(app: App, headers: &HeaderMap, path: &str, page: Page) -> Response {
    if app.may_look(headers).is_err() {
        return login::ask(path);
    }
    let events = match &page {
        // Older pages are static.
        Page::Runs { before: Some(_) } | Page::Run { from: 1.., .. } => None,
        Page::Runs { .. } => Some("/live/runs".to_owned()),
        _ => Some(format!("/live{path}")),
    };
    match views::inside(&app, &page).await {
        Ok(Content { title, body, ended }) => {
            let events = events.filter(|_| !ended);
            whole(StatusCode::OK, &title, events.as_deref(), body, !app.0.tokens.is_open())
        }
        Err(failure) => error_page(&failure),
    }
}

/// An extractor whose rejection is a page.
pub(super) struct OnPage<T>(pub(super) T);

impl<S: Sync, T: FromRequestParts<S, Rejection = Failure>> FromRequestParts<S> for OnPage<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        T::from_request_parts(parts, state).await.map(Self).map_err(|failure| error_page(&failure))
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Earlier {
    before: Option<String>,
}

pub(super) async fn runs(
    State(app): State<App>,
    headers: HeaderMap,
    OnPage(QueryParams(Earlier { before })): OnPage<QueryParams<Earlier>>,
) -> Response {
    show(app, &headers, "/", Page::Runs { before }).await
}

pub(super) async fn run(
    State(app): State<App>,
    headers: HeaderMap,
    OnPage(PathParam(run)): OnPage<PathParam>,
    OnPage(QueryParams(Jobs { from })): OnPage<QueryParams<Jobs>>,
) -> Response {
    match id(&run, RunId::new) {
        Ok(id) => {
            let path = format!("/runs/{id}");
            show(app, &headers, &path, Page::Run { id, from }).await
        }
        Err(failure) => error_page(&failure),
    }
}

pub(super) async fn job(
    State(app): State<App>,
    headers: HeaderMap,
    OnPage(PathParam(job)): OnPage<PathParam>,
) -> Response {
    match id(&job, JobId::new) {
        Ok(id) => show(app, &headers, &format!("/jobs/{id}"), Page::Job(id.clone())).await,
        Err(failure) => error_page(&failure),
    }
}

pub(super) async fn workers(State(app): State<App>, headers: HeaderMap) -> Response {
    show(app, &headers, "/workers", Page::Workers).await
}

pub(super) async fn queue(State(app): State<App>, headers: HeaderMap) -> Response {
    show(app, &headers, "/queue", Page::Queue).await
}

#[derive(Debug, Deserialize)]
pub(super) struct From {
    #[serde(default)]
    offset: u64,
    fence: Option<u64>,
}

/// `GET /jobs/{id}/log`: part of a log as text.
pub(super) async fn log(
    State(app): State<App>,
    headers: HeaderMap,
    OnPage(PathParam(job)): OnPage<PathParam>,
    OnPage(QueryParams(From { offset, fence })): OnPage<QueryParams<From>>,
) -> Response {
    if app.may_look(&headers).is_err() {
        return login::ask(&format!("/jobs/{job}/log"));
    }
    let read = async {
        let job_id = id(&job, JobId::new)?;
        let rows = app.0.store.job(&job_id).await?.ok_or_else(|| Failure::not_found("job"))?;
        let most = 16 * LOG_BYTES as usize;
        let fence = granted(&rows.job, fence)?;
        Ok(app.0.store.log(&job_id, fence, offset, most).await?)
    };
    match read.await {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            guarded(StatusCode::OK, "text/plain; charset=utf-8", text)
        }
        Err(failure) => error_page(&failure),
    }
}

pub(super) async fn script() -> Response {
    guarded(StatusCode::OK, "text/javascript; charset=utf-8", include_str!("live.js"))
}

pub(super) async fn style() -> Response {
    guarded(StatusCode::OK, "text/css; charset=utf-8", include_str!("style.css"))
}
