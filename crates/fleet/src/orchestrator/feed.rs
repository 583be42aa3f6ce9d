//! Server-sent events of something that changes: its state at first, and again after each change.
//!
//! Each event is the whole state, so missed events do no harm. The last one is called `end`. The state is
//! read again on news and once a second: heartbeats and logs make no news.

use super::app::App;
use crate::id::RunId;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream;
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep_until};

/// Longest time between two reads.
pub(super) const LOOK: Duration = Duration::from_secs(1);

/// The rendered state.
#[derive(Clone)]
pub(super) struct Rendered {
    pub(super) text: String,
    /// It is final.
    pub(super) ended: bool,
}

/// Something that can be watched.
pub(super) trait Watched: Send + 'static {
    /// Name of its events, except the last.
    const NAME: &'static str;
    /// Shortest time between two reads.
    const PAUSE: Duration;

    /// Whether it may change with this run.
    fn concerns(&self, run: &RunId) -> bool;

    /// Its current state. None: unavailable.
    fn look(&self, app: &App) -> impl Future<Output = Option<Rendered>> + Send;
}

struct Feed<W> {
    app: App,
    of: W,
    news: broadcast::Receiver<RunId>,
    stopping: watch::Receiver<bool>,
    last: Option<String>,
    looked: Option<Instant>,
    ended: bool,
}

/// Opens a stream after `first` has succeeded, so that a missing resource is answered with 404 and not with
/// an empty stream.
pub(super) async fn open<W: Watched, E>(
    app: App,
    of: W,
    first: impl AsyncFnOnce(&App, &W) -> Result<(), E>,
) -> Result<Response, E> {
    // Before the first read, so no change is missed.
    let (news, stopping) = (app.0.news.subscribe(), app.stopping());
    first(&app, &of).await?;
    let feed = Feed { app, of, news, stopping, last: None, looked: None, ended: false };
    let events = stream::unfold(feed, |mut feed| async move {
        let event = feed.next().await?;
        Some((Ok::<_, Infallible>(event), feed))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()).into_response())
}

impl<W: Watched> Feed<W> {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if self.ended || *self.stopping.borrow() {
                return None;
            }
            self.pause().await;
            // A failing store ends the stream: the client reconnects, perhaps to another orchestrator.
            let Rendered { text, ended } = self.of.look(&self.app).await?;
            if !ended && self.last.as_ref() == Some(&text) {
                continue;
            }
            self.ended = ended;
            let name = if ended { "end" } else { W::NAME };
            let event = Event::default().event(name).data(&text);
            self.last = Some(text);
            return Some(event);
        }
    }

    /// Waits until the state should be read again.
    async fn pause(&mut self) {
        if let Some(looked) = self.looked {
            let again = sleep_until(looked + LOOK);
            tokio::pin!(again);
            loop {
                tokio::select! {
                    () = &mut again => break,
                    news = self.news.recv() => match news {
                        Ok(run) if !self.of.concerns(&run) => {}
                        _ => break,
                    },
                    _ = self.stopping.wait_for(|stop| *stop) => break,
                }
            }
            sleep_until(looked + W::PAUSE).await;
        }
        self.looked = Some(Instant::now());
    }
}
