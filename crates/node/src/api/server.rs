//! Sockets: the accept loop, its limits, and an orderly end.
//!
//! Instead of `axum::serve`, which neither caps connections nor limits the time that a peer may
//! take over its headers or over reading an answer.

use super::extract::Peer;
use super::memory::SMALL_BYTES;
use super::{App, router};
use axum::body::Body;
use futures::FutureExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep};
use tower::ServiceExt;

/// Bytes of a request's head, and of what is read ahead.
pub(super) const HEAD_BYTES_MAX: usize = 64 * 1024;
/// It is also what hyper buffers of an answer before it lets go of the body, and with it of the room
/// that the answer holds; what is counted there must be no less.
const _: () = assert!(HEAD_BYTES_MAX <= SMALL_BYTES);
/// After an accept that failed for want of resources.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Serves until `stop` resolves; then takes no more, ends event streams and waiting for blocks, and
/// lets open requests end within [`Limits::drain`](super::Limits::drain). Connections end with it,
/// also when it is aborted.
pub async fn serve(listener: TcpListener, app: App, stop: impl Future<Output = ()> + Send) {
    let service = router(app.clone());
    let open = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut stop = std::pin::pin!(stop.fuse());
    loop {
        let (stream, address) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "accept failed");
                    sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
            () = &mut stop => break,
        };
        let peer = Peer::from(address);
        // Over the limit: closed at once, which costs less than an answer.
        let Some(place) = app.connections.take(peer.0) else { continue };
        let _ = stream.set_nodelay(true);
        let io = TokioIo::new(IdleTimeoutStream::new(
            stream,
            app.limits.write_stall,
            app.limits.write_rate,
        ));
        let service = service.clone();
        let answer = service_fn(move |request: hyper::Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(peer);
            service.clone().oneshot(request)
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(app.limits.headers)
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(io, answer);
        let connection = open.watch(connection);
        // Those that have ended are forgotten here: there are never more than places.
        while connections.try_join_next().is_some() {}
        connections.spawn(async move {
            // A peer that breaks off, or speaks no HTTP, is its own business.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    app.stop();
    if tokio::time::timeout(app.limits.drain, open.shutdown()).await.is_err() {
        tracing::warn!("requests cut off at shutdown");
    }
}

/// A stream whose peer must take what is written. Its time runs while it takes nothing, and comes
/// back with what it takes: a peer that takes a byte now and then is as slow as one that takes none.
struct IdleTimeoutStream<S> {
    stream: S,
    patience: Duration,
    bytes_per_second: u32,
    /// What is left of its time.
    left: Duration,
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl<S> IdleTimeoutStream<S> {
    fn new(stream: S, patience: Duration, bytes_per_second: u32) -> Self {
        let bytes_per_second = bytes_per_second.max(1);
        Self { stream, patience, bytes_per_second, left: patience, waiting: None }
    }

    /// Passes a result on, and settles the time of the peer, which took so many bytes.
    fn bounded<T>(
        &mut self,
        result: Poll<io::Result<T>>,
        taken: impl FnOnce(&T) -> usize,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if let Poll::Ready(result) = result {
            if let Some((since, _)) = self.waiting.take() {
                self.left = self.left.saturating_sub(since.elapsed());
            }
            let bytes = result.as_ref().map_or(0, taken);
            let earned = Duration::from_secs(bytes as u64) / self.bytes_per_second;
            self.left = self.left.saturating_add(earned).min(self.patience);
            return Poll::Ready(result);
        }
        let left = self.left;
        let (_, waiting) =
            self.waiting.get_or_insert_with(|| (Instant::now(), Box::pin(sleep(left))));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for IdleTimeoutStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for IdleTimeoutStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(result, |taken| *taken, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.bounded(result, |taken| *taken, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_flush(context);
        self.bounded(result, |()| 0, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// Writes to a peer that takes a few bytes every few milliseconds.
    async fn write(bytes: usize, peer_takes: usize, bytes_per_second: u32) -> io::Result<()> {
        let (ours, mut theirs) = tokio::io::duplex(1024);
        let peer = tokio::spawn(async move {
            let mut buffer = vec![0; peer_takes];
            while let Ok(1..) = theirs.read(&mut buffer).await {
                sleep(Duration::from_millis(10)).await;
            }
        });
        let mut stream = IdleTimeoutStream::new(ours, Duration::from_millis(300), bytes_per_second);
        let answer = vec![7; bytes];
        let written = tokio::time::timeout(Duration::from_secs(10), stream.write_all(&answer));
        let written = written.await.expect("it ends, one way or the other");
        peer.abort();
        written
    }

    #[tokio::test]
    async fn a_peer_that_dribbles_runs_out_of_time_although_it_never_stands_still() {
        let error = write(1 << 20, 64, 1 << 20).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_peer_that_is_slow_but_fast_enough_gets_all_of_it() {
        // Some 100 KiB per second, and longer than a peer may stand still.
        write(100 << 10, 1024, 4 << 10).await.unwrap();
    }
}
