//! Memory for answers that are being written. A peer decides how fast it reads, so without a limit
//! many slow readers of large answers could fill the memory with them.

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

/// Answers up to this size are not counted: connections are limited, and their buffers are as large.
const SMALL_BYTES: usize = 64 * 1024;

/// Room for large answers, in pieces of [`SMALL_BYTES`].
#[derive(Debug)]
pub(super) struct Answers {
    room: Arc<Semaphore>,
}

impl Answers {
    /// Room for so many bytes.
    pub(super) fn new(bytes: usize) -> Arc<Self> {
        let pieces = (bytes / SMALL_BYTES).min(Semaphore::MAX_PERMITS);
        Arc::new(Self { room: Arc::new(Semaphore::new(pieces)) })
    }

    /// Takes room for an answer until it is written; instead of one that there is no room for, says
    /// when to come back. Streams have no size and hold nothing.
    pub(super) fn admit(&self, response: Response) -> Response {
        let bytes = response.body().size_hint().exact().unwrap_or(0);
        let pieces = u32::try_from(bytes / SMALL_BYTES as u64).unwrap_or(u32::MAX);
        if pieces == 0 {
            return response;
        }
        match self.room.clone().try_acquire_many_owned(pieces) {
            Ok(room) => response.map(|body| Body::new(Held { body, _room: room })),
            Err(_) => Failure::new(code::BUSY, "too many large answers are being read slowly")
                .hint("ask again in a moment, or for less")
                .retry_after(Duration::from_secs(1))
                .into_response(),
        }
    }
}

/// A body and its room.
struct Held {
    body: Body,
    _room: OwnedSemaphorePermit,
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
