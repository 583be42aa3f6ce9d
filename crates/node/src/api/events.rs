//! `GET /events`: blocks as they are finalised, as server-sent events.
//!
//! A stream pulls: it reads the next block when its reader has taken the last one, so nothing is
//! buffered for a slow reader but its place in the chain. A reader that had caught up and then
//! falls too far behind is told so and let go; it comes back with `Last-Event-ID` when it can.
//! Blocks of the past are read from disk, and so have an allowance of their own: who follows the
//! chain from its beginning is slowed down, and never refused.

use super::App;
use super::error::Failure;
use super::extract::{Asked, Peer};
use super::places::Place;
use crate::backend::Finalised;
use crate::rate::peer_key;
use crate::runners::JobNews;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event as Message, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream;
use remuda_client::types::{
    ApiError, CauseName, EventView, HexAddress, HexHash, Occurrence, ProgressNews, StreamEnd,
    Subject, Uint, code, message,
};
use remuda_protocol::event::Event;
use remuda_protocol::primitives::{Address, Height, JobId};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{broadcast, watch};
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct EventsQuery {
    /// Only events about this job.
    job: Option<HexHash>,
    /// Only events about this runner.
    runner: Option<HexAddress>,
    /// Only events of these kinds, separated by commas: `job`, `runner`, `money`.
    kinds: Option<String>,
    /// First height to send; the next that is finalised, if neither this nor `Last-Event-ID` is
    /// given.
    from: Option<Uint>,
}

/// Follows the chain: one message per block, its height as the id, nothing missed on reconnection.
#[utoipa::path(
    get, path = "/events", tag = "blocks",
    params(
        EventsQuery,
        ("Last-Event-ID" = Option<String>, Header, description = "Go on with the block after this height"),
    ),
    responses(
        (status = 200, body = EventView, content_type = "text/event-stream",
         description = "`block` messages with an EventView each; for one job also `progress` messages with a ProgressNews each, without an id; an `end` message with a StreamEnd if the node ends the stream"),
        (status = "4XX", body = ApiError),
    )
)]
pub(super) async fn events(
    State(app): State<App>,
    Peer(ip): Peer,
    headers: HeaderMap,
    Asked(query): Asked<EventsQuery>,
) -> Result<Response, Failure> {
    let filter = Filter::read(&query)?;
    // Before the tip is read: no block falls in between.
    let blocks = app.backend.subscribe();
    let news = filter.job.map(|_| app.runners.news());
    let tip = app.tip().finalised.height();
    let resumed = last_event_id(&headers)?.map(|last| last.saturating_add(1));
    let next = resumed.or(query.from.map(|from| from.0)).unwrap_or(tip.get().saturating_add(1));
    let place = app.streams.take(ip).ok_or_else(|| {
        Failure::new(code::TOO_MANY_STREAMS, "too many event streams are open")
            .hint("close one, or follow several jobs with one stream")
            .retry_after(Duration::from_secs(5))
    })?;
    let stopping = app.stopping.subscribe();
    let heartbeat = KeepAlive::new().interval(app.limits.stream_heartbeat).text("alive");
    let feed = Feed {
        app,
        peer: peer_key(ip),
        filter,
        next: Height(next),
        last: None,
        caught_up: false,
        ended: false,
        blocks,
        news,
        stopping,
        _place: place,
    };
    let messages = stream::unfold(feed, |mut feed| async move {
        let message = feed.next().await?;
        Some((Ok::<_, Infallible>(message), feed))
    });
    let mut response = Sse::new(messages).keep_alive(heartbeat).into_response();
    // Proxies that collect answers would hold blocks back.
    let name = axum::http::HeaderName::from_static("x-accel-buffering");
    response.headers_mut().insert(name, axum::http::HeaderValue::from_static("no"));
    Ok(response)
}

impl App {
    /// Takes a block of the past from a peer's allowance, or says how long to wait for it.
    fn take_past(&self, peer: IpAddr) -> Option<Duration> {
        if let Some(wait) = self.owes(Peer(peer)) {
            return Some(wait);
        }
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        past.take(&peer, 1, Instant::now()).err()
    }
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<u64>, Failure> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let height = value.to_str().ok().and_then(|text| text.parse::<Uint>().ok());
    let malformed = || Failure::new(code::MALFORMED_HEADER, "Last-Event-ID must be a height");
    height.map(|height| Some(height.0)).ok_or_else(malformed)
}

/// Which events are wanted. What several of them say must all hold.
#[derive(Clone, Debug, Default)]
struct Filter {
    job: Option<JobId>,
    runner: Option<Address>,
    kinds: Option<BTreeSet<Kind>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Job,
    Runner,
    Money,
}

impl Filter {
    fn read(query: &EventsQuery) -> Result<Self, Failure> {
        let kind = |name: &str| match name {
            "job" => Ok(Kind::Job),
            "runner" => Ok(Kind::Runner),
            "money" => Ok(Kind::Money),
            _ => Err(Failure::new(code::MALFORMED_QUERY, "there is no such kind of event")
                .hint("kinds are job, runner and money, separated by commas")),
        };
        // A set: every event is held against each of them, and a long list repeats itself.
        let kinds = query.kinds.as_ref().map(|kinds| kinds.split(',').map(kind).collect());
        Ok(Self {
            job: query.job.map(|job| job.0),
            runner: query.runner.map(|runner| runner.0),
            kinds: kinds.transpose()?,
        })
    }

    fn admits_news(&self, news: &JobNews) -> bool {
        self.job == Some(news.job) && self.runner.is_none_or(|runner| runner == news.runner)
    }

    fn admits(&self, event: &Event) -> bool {
        let about = Subject::of(event);
        let of_kind = |kind: &Kind| match kind {
            Kind::Job => !about.jobs.is_empty(),
            Kind::Runner => about.jobs.is_empty() && !about.runners.is_empty(),
            Kind::Money => matches!(
                event,
                Event::Transferred { .. }
                    | Event::StakeReleased { .. }
                    | Event::DepositTaken { .. }
                    | Event::DepositReturned { .. }
            ),
        };
        self.job.is_none_or(|job| about.jobs.contains(&job))
            && self.runner.is_none_or(|runner| about.runners.contains(&runner))
            && self.kinds.as_ref().is_none_or(|kinds| kinds.iter().any(of_kind))
    }
}

/// One reader's place in the chain.
struct Feed {
    app: App,
    peer: IpAddr,
    filter: Filter,
    next: Height,
    last: Option<Height>,
    caught_up: bool,
    ended: bool,
    blocks: broadcast::Receiver<Arc<Finalised>>,
    /// Progress, for those who follow one job.
    news: Option<broadcast::Receiver<Arc<JobNews>>>,
    stopping: watch::Receiver<bool>,
    _place: Place,
}

impl Feed {
    async fn next(&mut self) -> Option<Message> {
        if self.ended {
            return None;
        }
        loop {
            if *self.stopping.borrow() {
                return Some(self.end("shutting_down", "the node stops; go on with another one"));
            }
            let tip = self.app.tip().finalised.height();
            if self.next <= tip {
                // The newest is in memory.
                let pause = if self.next < tip { self.app.take_past(self.peer) } else { None };
                let Some(pause) = pause else { return Some(self.stored(tip).await) };
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    _ = self.stopping.changed() => {}
                }
                continue;
            }
            self.caught_up = true;
            tokio::select! {
                block = self.blocks.recv() => match block {
                    Ok(block) if block.height() == self.next => return Some(self.send(&block)),
                    // An older one that was sent already, or more than the channel holds: those
                    // are read from the store.
                    Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => {
                        return Some(self.end("shutting_down", "the node stops; go on with another one"));
                    }
                },
                news = heard(&mut self.news) => {
                    if let Some(news) = news.filter(|news| self.filter.admits_news(news)) {
                        return Some(progress(&news));
                    }
                }
                _ = self.stopping.changed() => {}
            }
        }
    }

    /// A block that is there already.
    async fn stored(&mut self, tip: Height) -> Message {
        if self.caught_up && tip.get() - self.next.get() > self.app.limits.stream_lag {
            self.app.metrics.slow_readers.inc();
            let message = "you read more slowly than blocks come; come back with Last-Event-ID";
            return self.end("too_slow", message);
        }
        match self.app.read_block(Peer(self.peer), self.next).await {
            Some(block) => self.send(&block),
            None => self.end(code::UNKNOWN_BLOCK, "this node no longer has the next block"),
        }
    }

    fn send(&mut self, block: &Finalised) -> Message {
        self.last = Some(self.next);
        self.next = self.next.plus(1);
        let view = view(block, &self.filter);
        let id = block.height().to_string();
        match Message::default().event(message::BLOCK).id(id).json_data(&view) {
            Ok(message) => message,
            Err(_) => self.end(code::INTERNAL, "the block cannot be written as JSON"),
        }
    }

    fn end(&mut self, code: &str, text: &str) -> Message {
        self.ended = true;
        let last_height = self.last.map(|last| Uint(last.get()));
        let end = StreamEnd { code: code.to_owned(), message: text.to_owned(), last_height };
        // Two words and a number are always JSON.
        let message = Message::default().event(message::END);
        message.json_data(&end).unwrap_or_default()
    }
}

/// The next report of progress; `None` if some were missed. Waits for ever if nobody is to hear any.
async fn heard(news: &mut Option<broadcast::Receiver<Arc<JobNews>>>) -> Option<Arc<JobNews>> {
    let Some(receiver) = news else { return std::future::pending().await };
    match receiver.recv().await {
        Ok(report) => Some(report),
        Err(broadcast::error::RecvError::Lagged(_)) => None,
        Err(broadcast::error::RecvError::Closed) => {
            *news = None;
            None
        }
    }
}

fn progress(news: &JobNews) -> Message {
    let view = ProgressNews {
        job: HexHash(news.job),
        runner: HexAddress(news.runner),
        percent: news.percent,
        detail: news.detail.clone(),
    };
    // Words and a number are always JSON.
    Message::default().event(message::PROGRESS).json_data(&view).unwrap_or_default()
}

fn view(block: &Finalised, filter: &Filter) -> EventView {
    let header = &block.block.header;
    let mut events = Vec::new();
    for receipt in block.receipts.iter() {
        let (cause, transaction) = CauseName::of(&receipt.cause);
        let wanted = receipt.events.iter().filter(|event| filter.admits(event));
        events.extend(wanted.map(|event| Occurrence { cause, transaction, event: event.into() }));
    }
    EventView {
        height: Uint(header.height.get()),
        block: HexHash(block.hash),
        parent: HexHash(header.parent),
        view: Uint(header.round.view),
        timestamp_ms: Uint(header.timestamp_ms),
        transactions: u32::try_from(block.block.transactions.len()).unwrap_or(u32::MAX),
        events,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_that_is_named_often_is_looked_at_once() {
        let kinds = Some(["money"; 10_000].join(","));
        let query = EventsQuery { job: None, runner: None, kinds, from: None };
        assert_eq!(Filter::read(&query).unwrap().kinds, Some([Kind::Money].into()));
    }
}
