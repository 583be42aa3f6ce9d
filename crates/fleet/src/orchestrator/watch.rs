//! `GET /api/v1/runs/{id}/events`: a run as it changes, as server-sent events.
//!
//! Each `run` event is the whole [`RunView`]: whoever missed some has missed nothing. The last one is
//! `end`. News are looked for when somebody tells, and every now and then: heartbeats tell nobody.

use super::answer::Failure;
use super::app::App;
use super::people::id;
use crate::auth::Scope;
use crate::id::RunId;
use crate::lease::RunStatus;
use crate::store::Store;
use crate::view::RunView;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream;
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep_until};

/// No more often than this.
const PAUSE: Duration = Duration::from_millis(100);
/// At least as often as this.
const LOOK: Duration = Duration::from_secs(1);

struct Feed {
    app: App,
    run: RunId,
    news: broadcast::Receiver<RunId>,
    stopping: watch::Receiver<bool>,
    last: Option<RunView>,
    looked: Option<Instant>,
    ended: bool,
}

pub(super) async fn events(
    State(app): State<App>,
    headers: HeaderMap,
    Path(run): Path<String>,
) -> Result<Response, Failure> {
    app.person(&headers, Scope::Viewer)?;
    let run = id(&run, RunId::new)?;
    // Before the first look: nothing falls in between.
    let (news, stopping) = (app.0.news.subscribe(), app.stopping());
    app.0.store.run(&run).await?.ok_or_else(|| Failure::not_found("run"))?;
    let feed = Feed { app, run, news, stopping, last: None, looked: None, ended: false };
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
            // A store that fails ends the stream: the reader comes back, perhaps to another.
            let rows = self.app.0.store.run(&self.run).await.ok()??;
            let view = RunView::from(&rows);
            if self.last.as_ref() == Some(&view) {
                continue;
            }
            self.ended = view.summary.status != RunStatus::Running;
            let name = if self.ended { "end" } else { "run" };
            let event = Event::default().event(name).json_data(&view).ok()?;
            self.last = Some(view);
            return Some(event);
        }
    }

    /// Until it is worth looking again.
    async fn pause(&mut self) {
        if let Some(looked) = self.looked {
            let again = sleep_until(looked + LOOK);
            tokio::pin!(again);
            loop {
                tokio::select! {
                    () = &mut again => break,
                    news = self.news.recv() => match news {
                        Ok(run) if run != self.run => {}
                        _ => break,
                    },
                    _ = self.stopping.wait_for(|stop| *stop) => break,
                }
            }
            sleep_until(looked + PAUSE).await;
        }
        self.looked = Some(Instant::now());
    }
}
