//! `GET /live/…`: a page's content after each change, as server-sent events.

use super::{Page, views};
use crate::id::{JobId, RunId};
use crate::orchestrator::answer::{Failure, PathParam};
use crate::orchestrator::api::id;
use crate::orchestrator::app::App;
use crate::orchestrator::feed::{self, Rendered, Watched};
use crate::orchestrator::slots::StreamSlot;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use std::time::Duration;

struct Live {
    page: Page,
    _place: StreamSlot,
}

impl Watched for Live {
    const NAME: &'static str = "page";
    const PAUSE: Duration = Duration::from_millis(300);

    /// Lists and queues change with each run.
    fn concerns(&self, _: &RunId) -> bool {
        true
    }

    async fn look(&self, app: &App) -> Option<Rendered> {
        let inside = views::inside(app, &self.page).await.ok()?;
        Some(Rendered { text: inside.body.done(), ended: inside.ended })
    }
}

fn page(path: &str) -> Result<Page, Failure> {
    match path.split_once('/').unwrap_or((path, "")) {
        ("runs", "") => Ok(Page::Runs { before: None }),
        ("runs", run) => Ok(Page::Run { id: id(run, RunId::new)?, from: 0 }),
        ("jobs", job) => Ok(Page::Job(id(job, JobId::new)?)),
        ("workers", "") => Ok(Page::Workers),
        ("queue", "") => Ok(Page::Queue),
        _ => Err(Failure::not_found("page")),
    }
}

pub(in crate::orchestrator) async fn live(
    State(app): State<App>,
    headers: HeaderMap,
    PathParam(path): PathParam,
) -> Result<Response, Failure> {
    let who = app.may_look(&headers)?;
    let page = page(&path)?;
    let place = app.0.pages.streams.enter(&who, app.0.tokens.is_open()).ok_or_else(|| {
        let text = "too many live pages are open; close one, or reload this one manually";
        Failure::new(StatusCode::SERVICE_UNAVAILABLE, "TOO_MANY_STREAMS", text)
    })?;
    let live = Live { page, _place: place };
    feed::open(app, live, async |app, live| views::inside(app, &live.page).await.map(drop)).await
}
