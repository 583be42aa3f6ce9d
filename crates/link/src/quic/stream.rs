//! Frames on streams.

use crate::frame::Frame;
use crate::session::budget::FRAMES;
use crate::wire::{Cutter, Needs, WireError, encode};
use quinn::{RecvStream, SendStream};
use remuda_protocol::primitives::JobId;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, timeout, timeout_at};

/// How long the rest of a frame may take once its first byte is there, and how long a peer may let
/// us wait with a frame of ours.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// How long a goodbye may be on its way.
pub(super) const FAREWELL: Duration = Duration::from_millis(500);
/// Frames that wait for a stream; one job's budget is less.
pub(super) const QUEUE: usize = 64;
const _: () = assert!(QUEUE > FRAMES as usize);

/// Why a stream is of no more use.
#[derive(Debug, Error)]
pub(super) enum StreamError {
    #[error("{0}")]
    Wire(#[from] WireError),
    #[error("a frame did not come to its end")]
    Slow,
    #[error("the connection is gone: {0}")]
    Gone(String),
}

/// The memory that frames of a connection's job streams may take until its session has heard them. A
/// frame is read once there is room for all of it.
#[derive(Clone, Debug)]
pub(super) struct Room(Arc<Semaphore>);

impl Room {
    pub(super) fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes)))
    }
}

/// A frame as it came.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) frame: Frame,
    /// All of it, with its length.
    pub(super) bytes: usize,
    _room: Option<OwnedSemaphorePermit>,
}

pub(super) struct Reader {
    stream: RecvStream,
    cutter: Cutter,
    room: Option<Room>,
    taken: Option<OwnedSemaphorePermit>,
    /// When what has begun must be whole.
    whole_by: Option<Instant>,
}

impl Reader {
    pub(super) fn new(stream: RecvStream, limit: usize) -> Self {
        Self { stream, cutter: Cutter::new(limit), room: None, taken: None, whole_by: None }
    }

    pub(super) fn of_job(stream: RecvStream, limit: usize, room: &Room) -> Self {
        Self { room: Some(room.clone()), ..Self::new(stream, limit) }
    }

    /// Of a job's stream that somebody has just opened, and has to say something on.
    pub(super) fn of_opened_job(stream: RecvStream, limit: usize, room: &Room) -> Self {
        Self { whole_by: Some(Instant::now() + PATIENCE), ..Self::of_job(stream, limit, room) }
    }

    /// Frames have another limit from now on.
    pub(super) fn limit(&mut self, limit: usize) {
        self.cutter.limit(limit);
    }

    /// The next frame; `None` after the last. May be dropped while it waits: nothing is lost.
    pub(super) async fn next(&mut self) -> Result<Option<Incoming>, StreamError> {
        loop {
            let (missing, whole) = match self.cutter.needs()? {
                Needs::Length(missing) => (missing, 0),
                Needs::Body { missing, whole } => (missing, whole),
            };
            if let Some(room) = self.room.as_ref().filter(|_| whole > 0 && self.taken.is_none()) {
                let bytes = u32::try_from(whole).unwrap_or(u32::MAX);
                let taken = room.0.clone().acquire_many_owned(bytes).await;
                self.taken = Some(taken.expect("nobody closes it"));
                // Until now it was not the other side that we waited for.
                self.whole_by = Some(Instant::now() + PATIENCE);
            }
            if missing == 0 {
                let frame = self.cutter.next_frame()?.expect("nothing is missing");
                self.whole_by = None;
                return Ok(Some(Incoming { frame, bytes: whole, _room: self.taken.take() }));
            }
            if self.cutter.waiting() > 0 && self.whole_by.is_none() {
                self.whole_by = Some(Instant::now() + PATIENCE);
            }
            let read = self.stream.read_chunk(missing, true);
            let read = match self.whole_by {
                Some(deadline) => {
                    timeout_at(deadline, read).await.map_err(|_| StreamError::Slow)?
                }
                None => read.await,
            };
            match read.map_err(|error| StreamError::Gone(error.to_string()))? {
                Some(chunk) => self.cutter.push(&chunk.bytes),
                None if self.cutter.waiting() == 0 => return Ok(None),
                None => return Err(StreamError::Gone("it ended in a frame".to_owned())),
            }
        }
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
    Frame(JobId, Incoming),
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
            // First, so that nothing more is read once the session wants no more of it.
            biased;
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
