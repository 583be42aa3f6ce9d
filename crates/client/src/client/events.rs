//! Following the chain: a stream of blocks without gap or repetition.
//!
//! ```text
//! loop: connect to the next node with Last-Event-ID = next height − 1
//!       height = next  → give it out
//!       height < next  → seen already, drop
//!       height > next  → a gap: this node's word is not taken, connect again
//! ```
//! Connections that break, nodes that restart and nodes that end a slow stream are nothing that a
//! reader notices. What it does notice: a node that no longer has the block it would need.

use super::retry::retry_after;
use super::sse::{Message, Parser};
use super::{Client, ClientError, EventFilter};
use crate::types::{EventView, StreamEnd, code, message};
use bytes::Bytes;
use futures::stream::{BoxStream, StreamExt};
use futures::{Stream, stream};
use reqwest::Method;
use reqwest::header::ACCEPT;
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use thiserror::Error;

/// Silence after which a connection counts as dead. Nodes send a comment far more often.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// Why a stream of events ended.
#[derive(Debug, Error)]
pub enum EventsError {
    /// The nodes no longer have the next block.
    #[error("no node has block {0} any more; start again from a newer height")]
    Gone(u64),
    /// The request itself is wrong, or the nodes are no nodes.
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// Blocks, in order. Ends only with an error.
pub struct Events(BoxStream<'static, Result<EventView, EventsError>>);

impl core::fmt::Debug for Events {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Events")
    }
}

impl Stream for Events {
    type Item = Result<EventView, EventsError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(context)
    }
}

struct Connection {
    bytes: BoxStream<'static, Result<Bytes, reqwest::Error>>,
    parser: Parser,
}

struct Follower {
    client: Client,
    filter: EventFilter,
    /// The block to be given out next; none while any will do.
    next: Option<u64>,
    connection: Option<Connection>,
    ready: VecDeque<Message>,
    /// Failures since the last block.
    failures: u32,
    /// What the last node that was busy asked for.
    asked_to_wait: Option<Duration>,
    /// Nodes in a row that lack the next block.
    lacking: usize,
    node: usize,
}

impl Events {
    /// Follows from block `next` on; from the next one that is finalised if there is none.
    pub(super) fn follow(client: Client, filter: &EventFilter, next: Option<u64>) -> Self {
        let follower = Follower {
            client,
            filter: filter.clone(),
            next,
            connection: None,
            ready: VecDeque::new(),
            failures: 0,
            asked_to_wait: None,
            lacking: 0,
            node: 0,
        };
        let next = |state: Option<Follower>| async move {
            let mut follower = state?;
            match follower.next().await {
                Ok(view) => Some((Ok(view), Some(follower))),
                Err(error) => Some((Err(error), None)),
            }
        };
        Self(stream::unfold(Some(follower), next).boxed())
    }
}

impl Follower {
    async fn next(&mut self) -> Result<EventView, EventsError> {
        loop {
            while let Some(message) = self.ready.pop_front() {
                if let Some(view) = self.take(&message)? {
                    return Ok(view);
                }
            }
            match &mut self.connection {
                None => self.connect().await?,
                Some(connection) => {
                    if !read(connection, &mut self.ready).await {
                        self.drop_connection();
                    }
                }
            }
        }
    }

    fn take(&mut self, message: &Message) -> Result<Option<EventView>, EventsError> {
        match message.event.as_str() {
            message::BLOCK => self.take_block(message),
            message::END => self.take_end(message).map(|()| None),
            // A newer node may say more than this client knows.
            _ => Ok(None),
        }
    }

    fn take_block(&mut self, message: &Message) -> Result<Option<EventView>, EventsError> {
        // A message that broke off is never complete, so this is a node that speaks otherwise:
        // asking again would not help.
        let view: EventView = serde_json::from_str(&message.data)
            .map_err(|error| ClientError::Unexpected(error.to_string()))?;
        let height = view.height.0;
        Ok(match self.next {
            Some(next) if height < next => None,
            Some(next) if height > next => {
                self.drop_connection();
                None
            }
            _ => {
                self.next = Some(height.saturating_add(1));
                (self.failures, self.lacking) = (0, 0);
                Some(view)
            }
        })
    }

    fn take_end(&mut self, message: &Message) -> Result<(), EventsError> {
        let end: Option<StreamEnd> = serde_json::from_str(&message.data).ok();
        let lacks = end.is_some_and(|end| end.code == code::UNKNOWN_BLOCK);
        self.drop_connection();
        if lacks {
            self.lacking += 1;
            if self.lacking >= self.client.config.nodes.len() {
                return Err(EventsError::Gone(self.next.unwrap_or(0)));
            }
        }
        Ok(())
    }

    /// The next attempt goes to the next node.
    fn drop_connection(&mut self) {
        self.connection = None;
        self.ready.clear();
        self.failures = self.failures.saturating_add(1);
        self.node = (self.node + 1) % self.client.config.nodes.len();
    }

    async fn connect(&mut self) -> Result<(), EventsError> {
        if self.failures > 0 {
            let retry = &self.client.config.retry;
            let asked = self.asked_to_wait.take().unwrap_or_default().min(retry.max);
            tokio::time::sleep(retry.backoff(self.failures - 1).max(asked)).await;
        }
        // Nothing comes before height 0 that could have been seen last.
        let last = self.next.and_then(|next| next.checked_sub(1));
        let path = self.filter.path(self.next.filter(|_| last.is_none()));
        let mut request =
            self.client.request(self.node, Method::GET, &path).header(ACCEPT, "text/event-stream");
        if let Some(last) = last {
            request = request.header("Last-Event-ID", last.to_string());
        }
        match tokio::time::timeout(self.client.config.timeout, request.send()).await {
            Ok(Ok(response)) if response.status().is_success() => {
                let bytes = response.bytes_stream().boxed();
                self.connection = Some(Connection { bytes, parser: Parser::default() });
            }
            Ok(Ok(response)) => {
                let passing = [408, 429, 500, 502, 503, 504];
                let status = response.status().as_u16();
                if !passing.contains(&status) {
                    return Err(super::refusal(response).await.into());
                }
                self.asked_to_wait = retry_after(&response);
                self.drop_connection();
            }
            Ok(Err(_)) | Err(_) => self.drop_connection(),
        }
        Ok(())
    }
}

/// Reads on; false if the connection is over.
async fn read(connection: &mut Connection, ready: &mut VecDeque<Message>) -> bool {
    let next = tokio::time::timeout(SILENCE_MAX, connection.bytes.next()).await;
    let Ok(Some(Ok(bytes))) = next else { return false };
    let mut messages = Vec::new();
    let readable = connection.parser.push(&bytes, &mut messages).is_ok();
    ready.extend(messages);
    readable || !ready.is_empty()
}
