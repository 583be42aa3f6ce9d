//! `GET /live/…`: the inside of a page, again whenever it changes, as server-sent events.

use super::{Page, views};
use crate::id::{JobId, RunId};
use crate::orchestrator::answer::Failure;
use crate::orchestrator::app::App;
use crate::orchestrator::people::id;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream;
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, broadcast, watch};
use tokio::time::{Instant, sleep_until};

/// No more often than this: pages are for eyes.
const PAUSE: Duration = Duration::from_millis(300);
/// At least as often as this: heartbeats and logs tell nobody.
const LOOK: Duration = Duration::from_secs(1);

struct Feed {
    app: App,
    page: Page,
    news: broadcast::Receiver<RunId>,
    stopping: watch::Receiver<bool>,
    last: String,
    looked: Option<Instant>,
    ended: bool,
    _place: OwnedSemaphorePermit,
}

fn page(path: &str) -> Result<Page, Failure> {
    match path.split_once('/').unwrap_or((path, "")) {
        ("runs", "") => Ok(Page::Runs { before: None }),
        ("runs", run) => Ok(Page::Run(id(run, RunId::new)?)),
        ("jobs", job) => Ok(Page::Job(id(job, JobId::new)?)),
        ("workers", "") => Ok(Page::Workers),
        ("queue", "") => Ok(Page::Queue),
        _ => Err(Failure::not_found("page")),
    }
}

pub(in crate::orchestrator) async fn live(
    State(app): State<App>,
    headers: HeaderMap,
    Path(path): Path<String>,
) -> Result<Response, Failure> {
    app.may_look(&headers)?;
    let page = page(&path)?;
    let place = app.0.pages.streams.clone().try_acquire_owned().map_err(|_| {
        let text = "too many live pages are open; close one, or reload this one by hand";
        Failure::new(StatusCode::SERVICE_UNAVAILABLE, "TOO_MANY_STREAMS", text)
    })?;
    let (news, stopping) = (app.0.news.subscribe(), app.stopping());
    // What is not there is answered as such, not as a stream that ends at once.
    views::inside(&app, &page).await?;
    let last = String::new();
    let feed = Feed { app, page, news, stopping, last, looked: None, ended: false, _place: place };
    let events = stream::unfold(feed, |mut feed| async move {
        let event = feed.next().await?;
        Some((Ok::<_, Infallible>(event), feed))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()).into_response())
}

impl Feed {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if self.ended || *self.stopping.borrow() {
                return None;
            }
            self.pause().await;
            // A store that fails ends the stream: the browser comes back.
            let inside = views::inside(&self.app, &self.page).await.ok()?;
            let html = inside.body.done();
            if html == self.last && !inside.ended {
                continue;
            }
            self.ended = inside.ended;
            self.last.clone_from(&html);
            let name = if inside.ended { "end" } else { "page" };
            return Some(Event::default().event(name).data(html));
        }
    }

    /// Until it is worth looking again.
    async fn pause(&mut self) {
        if let Some(looked) = self.looked {
            tokio::select! {
                () = sleep_until(looked + LOOK) => {}
                // Of whatever run: lists and queues change with each.
                _ = self.news.recv() => {}
                _ = self.stopping.wait_for(|stop| *stop) => {}
            }
            sleep_until(looked + PAUSE).await;
        }
        self.looked = Some(Instant::now());
    }
}
