//! Memory for what is on its way in or out. A peer decides how fast it sends and reads, so without a
//! limit many slow ones with large bodies could fill the memory with them.

use super::error::Failure;
use super::extract::Peer;
use super::places::{Place, Places};
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use remuda_client::types::code;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// What is smaller is not counted: connections are limited, and their buffers are as large.
pub(super) const SMALL_BYTES: usize = 64 * 1024;

/// One address gets this part of the room, so that the slowest one does not stop all others.
const SHARE: usize = 8;

/// Room for large bodies, in pieces of [`SMALL_BYTES`].
#[derive(Debug)]
pub(super) struct Memory {
    room: Arc<Places>,
}

/// Room that is taken, if any is needed; given back when dropped.
type Room = Option<Place>;

impl Memory {
    /// Room for so many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        let pieces = bytes / SMALL_BYTES;
        Self { room: Places::new(pieces, (pieces / SHARE).max(1)) }
    }

    /// Takes room, or says when to come back.
    fn take(&self, peer: Peer, bytes: u64) -> Result<Room, Failure> {
        let pieces = usize::try_from(bytes).unwrap_or(usize::MAX) / SMALL_BYTES;
        if pieces == 0 {
            return Ok(None);
        }
        self.room.take_many(peer.0, pieces).map(Some).ok_or_else(|| {
            Failure::new(code::BUSY, "too many large requests or answers are on their way slowly")
                .hint("ask again in a moment, or for less at once")
                .retry_after(Duration::from_secs(1))
        })
    }

    /// Takes room for a request's body until it is read. One that does not say how long it is may
    /// be as long as any, which is `most`.
    pub(super) fn hold_request(
        &self,
        peer: Peer,
        request: Request,
        most: u64,
    ) -> Result<Request, Failure> {
        let bytes = request.body().size_hint().exact().unwrap_or(most).min(most);
        let room = self.take(peer, bytes)?;
        Ok(request.map(|body| held(body, room)))
    }

    /// Takes room for an answer until it is written. Streams have no size and hold nothing.
    pub(super) fn hold_answer(&self, peer: Peer, response: Response) -> Response {
        match self.take(peer, response.body().size_hint().exact().unwrap_or(0)) {
            Ok(room) => response.map(|body| held(body, room)),
            Err(failure) => failure.into_response(),
        }
    }
}

fn held(body: Body, room: Room) -> Body {
    match room {
        Some(room) => Body::new(Held { body, _room: room }),
        None => body,
    }
}

/// A body and its room, for as long as it is not dropped.
struct Held {
    body: Body,
    _room: Place,
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

    /// Never, for hyper would then drop the body together with its room as soon as it has the last
    /// bytes. As it is, it keeps the body until so few bytes wait for the peer that it would buffer
    /// more, which is less than anybody counts here.
    fn is_end_stream(&self) -> bool {
        false
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::super::server::HEAD_BYTES_MAX;
    use super::*;
    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use std::convert::Infallible;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    const LARGE: usize = 1 << 20;

    #[tokio::test]
    async fn an_answer_holds_its_room_until_its_reader_has_taken_it() {
        let memory = Arc::new(Memory::new(LARGE));
        let (ours, mut theirs) = tokio::io::duplex(1024);
        let peer = Peer([10, 0, 0, 1].into());
        let server = tokio::spawn({
            let memory = memory.clone();
            let answer = service_fn(move |_| {
                let answer = memory.hold_answer(peer, vec![b'x'; LARGE].into_response());
                std::future::ready(Ok::<_, Infallible>(answer))
            });
            let mut builder = http1::Builder::new();
            builder.max_buf_size(HEAD_BYTES_MAX);
            async move { builder.serve_connection(TokioIo::new(ours), answer).await }
        });
        theirs.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut first = [0; 12];
        theirs.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        // The connection has all of the answer by now, and its peer takes no more of it.
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        let other = Peer([10, 0, 0, 2].into());
        assert!(memory.take(other, SMALL_BYTES as u64).is_err(), "it still is in memory");
        let mut rest = vec![0; LARGE];
        theirs.read_exact(&mut rest).await.unwrap();
        for _ in 0..100 {
            if memory.room.count() == 0 {
                server.abort();
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the room never came back");
    }
}
