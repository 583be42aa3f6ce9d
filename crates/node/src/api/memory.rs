//! Memory for what is on its way in or out. A peer decides how fast it sends and reads, so without a
//! limit many slow ones with large bodies could fill the memory with them.

use super::error::Failure;
use axum::body::{Body, Bytes, HttpBody};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use remuda_client::types::code;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What is smaller is not counted: connections are limited, and their buffers are as large.
const SMALL_BYTES: u64 = 64 * 1024;

/// Room for large bodies, in pieces of [`SMALL_BYTES`].
#[derive(Debug)]
pub(super) struct Memory {
    room: Arc<Semaphore>,
}

/// Room that is taken, if any is needed; given back when dropped.
pub(super) type Room = Option<OwnedSemaphorePermit>;

impl Memory {
    /// Room for so many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        let pieces = (bytes / SMALL_BYTES as usize).min(Semaphore::MAX_PERMITS);
        Self { room: Arc::new(Semaphore::new(pieces)) }
    }

    /// Takes room, or says when to come back.
    pub(super) fn take(&self, bytes: u64) -> Result<Room, Failure> {
        let pieces = u32::try_from(bytes / SMALL_BYTES).unwrap_or(u32::MAX);
        if pieces == 0 {
            return Ok(None);
        }
        self.room.clone().try_acquire_many_owned(pieces).map(Some).map_err(|_| {
            Failure::new(code::BUSY, "too many large requests or answers are on their way slowly")
                .hint("ask again in a moment, or for less at once")
                .retry_after(Duration::from_secs(1))
        })
    }

    /// Takes room for an answer until it is written. Streams have no size and hold nothing.
    pub(super) fn hold(&self, response: Response) -> Response {
        match self.take(response.body().size_hint().exact().unwrap_or(0)) {
            Ok(None) => response,
            Ok(room) => response.map(|body| Body::new(Held { body, _room: room })),
            Err(failure) => failure.into_response(),
        }
    }
}

/// A body and its room.
struct Held {
    body: Body,
    _room: Room,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
