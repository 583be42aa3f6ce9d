//! What changes, as server-sent events: shown when it is asked for, and again whenever it has changed.
//!
//! Each event is the whole of what is watched: whoever missed some has missed nothing. The last one is
//! called `end`. It is looked again when somebody tells, and every now and then: heartbeats and logs tell
//! nobody.

use super::app::App;
use crate::id::RunId;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream;
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep_until};

/// At least as often as this.
pub(super) const LOOK: Duration = Duration::from_secs(1);

/// What is watched as it is now.
#[derive(Clone)]
pub(super) struct Seen {
    pub(super) text: String,
    /// It will not change any more.
    pub(super) ended: bool,
}

/// Something that can be looked at again and again.
pub(super) trait Watched: Send + 'static {
    /// What its events are called, but for the last.
    const NAME: &'static str;
    /// No more often than this.
    const PAUSE: Duration;

    /// Whether news of this run are news of it.
    fn concerns(&self, run: &RunId) -> bool;

    /// As it is now; none if it cannot be seen.
    fn look(&self, app: &App) -> impl Future<Output = Option<Seen>> + Send;
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

/// A stream of it, if `first` finds that it is there: what is not there is answered as such, and not as a
/// stream that ends at once.
pub(super) async fn open<W: Watched, E>(
    app: App,
    of: W,
    first: impl AsyncFnOnce(&App, &W) -> Result<(), E>,
) -> Result<Response, E> {
    // Before the first look: nothing falls in between.
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
            // A store that fails ends the stream: the reader comes back, perhaps to another.
            let Seen { text, ended } = self.of.look(&self.app).await?;
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

    /// Until it is worth looking again.
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
