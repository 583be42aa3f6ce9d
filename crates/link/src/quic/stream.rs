//! Frames on streams.

use crate::frame::Frame;
use crate::wire::{Cutter, WireError, encode};
use quinn::{RecvStream, SendStream};
use remuda_protocol::primitives::JobId;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use thiserror::Error;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};

/// How long the rest of a frame may take once its first byte is there, and how long a peer may let
/// us wait with a frame of ours.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// How long a goodbye may be on its way.
pub(super) const FAREWELL: Duration = Duration::from_millis(500);
/// Bytes that are read at a time.
const CHUNK: usize = 16 * 1024;
/// What frames that are not whole yet may hold, on all streams of a connection. All jobs of a runner
/// at once, each in a transaction of the usual size, are half of it.
const HALF_MAX: usize = 64 * 1024 * 1024;
/// Frames that wait for a stream.
pub(super) const QUEUE: usize = 64;

/// Why a stream is of no more use.
#[derive(Debug, Error)]
pub(super) enum StreamError {
    #[error("{0}")]
    Wire(#[from] WireError),
    #[error("a frame did not come to its end")]
    Slow,
    #[error("too many frames are half there")]
    Crowded,
    #[error("the connection is gone: {0}")]
    Gone(String),
}

/// The bytes of a connection's frames that are not whole yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Half(Arc<AtomicUsize>);

/// The reading end.
pub(super) struct Reader {
    stream: RecvStream,
    cutter: Cutter,
    half: Half,
    /// Its part of them.
    counted: usize,
    buffer: Box<[u8]>,
    /// When what is half there must be whole.
    whole_by: Option<Instant>,
}

impl Reader {
    pub(super) fn new(stream: RecvStream, limit: usize, half: &Half) -> Self {
        let buffer = vec![0; CHUNK.min(limit)].into_boxed_slice();
        let (cutter, half) = (Cutter::new(limit), half.clone());
        Self { stream, cutter, half, counted: 0, buffer, whole_by: None }
    }

    fn count(&mut self, waiting: usize) -> Result<(), StreamError> {
        let Half(all) = &self.half;
        let others = all.fetch_sub(self.counted, Relaxed) - self.counted;
        self.counted = waiting;
        all.fetch_add(waiting, Relaxed);
        if others + waiting > HALF_MAX { Err(StreamError::Crowded) } else { Ok(()) }
    }

    /// The next frame; `None` after the last. May be dropped while it waits: nothing is lost.
    pub(super) async fn next(&mut self) -> Result<Option<Frame>, StreamError> {
        loop {
            let frame = self.cutter.next_frame()?;
            self.count(self.cutter.waiting())?;
            if let Some(frame) = frame {
                self.whole_by = None;
                return Ok(Some(frame));
            }
            if self.cutter.waiting() > 0 && self.whole_by.is_none() {
                self.whole_by = Some(Instant::now() + PATIENCE);
            }
            let read = self.stream.read(&mut self.buffer);
            let read = match self.whole_by {
                Some(deadline) => {
                    timeout_at(deadline, read).await.map_err(|_| StreamError::Slow)?
                }
                None => read.await,
            };
            match read.map_err(|error| StreamError::Gone(error.to_string()))? {
                Some(count) => self.cutter.push(&self.buffer[..count]),
                None if self.cutter.waiting() == 0 => return Ok(None),
                None => return Err(StreamError::Gone("it ended in a frame".to_owned())),
            }
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.count(0);
    }
}

/// Writes a frame, unless the other side takes too long to take it.
pub(super) async fn write(
    stream: &mut SendStream,
    frame: &Frame,
    patience: Duration,
) -> Result<(), StreamError> {
    let bytes = encode(frame);
    match timeout(patience, stream.write_all(&bytes)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(StreamError::Gone(error.to_string())),
        Err(_) => Err(StreamError::Slow),
    }
}

/// What a session hears of a job's stream.
#[derive(Debug)]
pub(super) enum FromJob {
    Frame(JobId, Frame),
    Closed(JobId),
}

/// Moves frames between a job's stream and its session until either ends. What the session said is
/// sent before the stream is finished.
pub(super) async fn carry(
    job: JobId,
    mut reader: Reader,
    mut writer: SendStream,
    mut outgoing: mpsc::Receiver<Frame>,
    session: mpsc::Sender<FromJob>,
) {
    let mut reading = true;
    loop {
        tokio::select! {
            frame = outgoing.recv() => match frame {
                Some(frame) => if write(&mut writer, &frame, PATIENCE).await.is_err() { break },
                None => {
                    // Sent, but the session wants no more of it.
                    let _ = writer.finish();
                    return;
                }
            },
            frame = reader.next(), if reading => match frame {
                Ok(Some(frame)) => {
                    if session.send(FromJob::Frame(job, frame)).await.is_err() { return }
                }
                Ok(None) => reading = false,
                Err(error) => {
                    tracing::debug!(%error, "a job's stream");
                    break;
                }
            },
        }
        if !reading {
            break;
        }
    }
    let _ = session.send(FromJob::Closed(job)).await;
}
