//! Reads and writes frames on QUIC streams.

use crate::frame::Frame;
use crate::session::budget::FRAMES;
use crate::wire::{FrameDecoder, Needs, WireError, encode};
use quinn::{RecvStream, SendStream};
use remuda_protocol::primitives::JobId;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, timeout, timeout_at};

/// Bounds how long the rest of a frame may take once its first byte is there, and how long a peer may
/// block a frame of ours.
pub(super) const FRAME_TIMEOUT: Duration = Duration::from_secs(10);
/// Bounds how long a close waits for its goodbye to arrive.
pub(super) const GOODBYE_TIMEOUT: Duration = Duration::from_millis(500);
/// Frames queued for a stream. One job's budget is less.
pub(super) const QUEUE: usize = 64;
const _: () = assert!(QUEUE > FRAMES as usize);

#[derive(Debug, Error)]
pub(super) enum StreamError {
    #[error("{0}")]
    Wire(#[from] WireError),
    #[error("frame timed out")]
    Slow,
    #[error("connection lost: {0}")]
    Gone(String),
}

/// Bounds the memory of received frames, on all job streams of a connection, that the session has not
/// handled yet. A frame is read once there is room for all of it.
#[derive(Clone, Debug)]
pub(super) struct ReceiveBuffer(Arc<Semaphore>);

impl ReceiveBuffer {
    pub(super) fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes)))
    }
}

#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) frame: Frame,
    /// Bytes on the wire, with the length prefix.
    pub(super) bytes: usize,
    _reserved: Option<OwnedSemaphorePermit>,
}

pub(super) struct Reader {
    stream: RecvStream,
    decoder: FrameDecoder,
    buffer: Option<ReceiveBuffer>,
    reserved: Option<OwnedSemaphorePermit>,
    /// When the current frame must be complete.
    deadline: Option<Instant>,
}

impl Reader {
    pub(super) fn new(stream: RecvStream, limit: usize) -> Self {
        Self {
            stream,
            decoder: FrameDecoder::new(limit),
            buffer: None,
            reserved: None,
            deadline: None,
        }
    }

    pub(super) fn of_job(stream: RecvStream, limit: usize, buffer: &ReceiveBuffer) -> Self {
        Self { buffer: Some(buffer.clone()), ..Self::new(stream, limit) }
    }

    /// For a stream that the peer has just opened: its first frame is due.
    pub(super) fn of_opened_job(stream: RecvStream, limit: usize, buffer: &ReceiveBuffer) -> Self {
        Self {
            deadline: Some(Instant::now() + FRAME_TIMEOUT),
            ..Self::of_job(stream, limit, buffer)
        }
    }

    pub(super) fn set_limit(&mut self, limit: usize) {
        self.decoder.set_limit(limit);
    }

    /// The next frame; `None` after the last one. Cancel safe.
    pub(super) async fn next(&mut self) -> Result<Option<Incoming>, StreamError> {
        loop {
            let (missing, whole) = match self.decoder.needs()? {
                Needs::Length(missing) => (missing, 0),
                Needs::Body { missing, whole } => (missing, whole),
            };
            let reserve = whole > 0 && self.reserved.is_none();
            if let Some(buffer) = self.buffer.as_ref().filter(|_| reserve) {
                let bytes = u32::try_from(whole).unwrap_or(u32::MAX);
                let reserved = buffer.0.clone().acquire_many_owned(bytes).await;
                self.reserved = Some(reserved.expect("the semaphore is never closed"));
                // The wait for our own buffer is not the peer's fault.
                self.deadline = Some(Instant::now() + FRAME_TIMEOUT);
            }
            if missing == 0 {
                let frame = self.decoder.next_frame()?.expect("the frame is complete");
                self.deadline = None;
                return Ok(Some(Incoming { frame, bytes: whole, _reserved: self.reserved.take() }));
            }
            if self.decoder.buffered() > 0 && self.deadline.is_none() {
                self.deadline = Some(Instant::now() + FRAME_TIMEOUT);
            }
            let read = self.stream.read_chunk(missing, true);
            let read = match self.deadline {
                Some(deadline) => {
                    timeout_at(deadline, read).await.map_err(|_| StreamError::Slow)?
                }
                None => read.await,
            };
            match read.map_err(|error| StreamError::Gone(error.to_string()))? {
                Some(chunk) => self.decoder.push(&chunk.bytes),
                None if self.decoder.buffered() == 0 => return Ok(None),
                None => {
                    return Err(StreamError::Gone("the stream ended inside a frame".to_owned()));
                }
            }
        }
    }
}

pub(super) async fn write(
    stream: &mut SendStream,
    frame: &Frame,
    limit: Duration,
) -> Result<(), StreamError> {
    let bytes = encode(frame);
    match timeout(limit, stream.write_all(&bytes)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(StreamError::Gone(error.to_string())),
        Err(_) => Err(StreamError::Slow),
    }
}

#[derive(Debug)]
pub(super) enum FromJob {
    Frame(JobId, Incoming),
    Closed(JobId),
}

/// Moves frames between a job's stream and its session until either ends. Queued frames of the session
/// are sent before the stream is finished.
pub(super) async fn relay(
    job: JobId,
    mut reader: Reader,
    mut writer: SendStream,
    mut outgoing: mpsc::Receiver<Frame>,
    session: mpsc::Sender<FromJob>,
) {
    let mut reading = true;
    loop {
        tokio::select! {
            // Outgoing first: nothing is read once the session has finished the stream.
            biased;
            frame = outgoing.recv() => match frame {
                Some(frame) => if write(&mut writer, &frame, FRAME_TIMEOUT).await.is_err() { break },
                None => {
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
                    tracing::debug!(%job, %error, "job stream failed");
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
