//! The runner's side: one connection to one validator.

use super::stream::{
    FRAME_TIMEOUT, FromJob, GOODBYE_TIMEOUT, Incoming, QUEUE, Reader, ReceiveBuffer, StreamError,
    relay, write,
};
use super::tls::{self, EXPORTER, SERVER_NAME, TlsError};
use crate::frame::{AckStatus, BackpressureSignal, CloseReason, Frame};
use crate::session::Output;
use crate::session::runner::{Event, HANDSHAKE_MS, Session, Settings};
use crate::wire::{CONTROL_LIMIT, HANDOVER_LIMIT, JOB_LIMIT};
use quinn::{Connection, Endpoint, SendStream, VarInt};
use remuda_protocol::primitives::JobId;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;
use thiserror::Error;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

/// Eight of the longest frames.
const BUFFER_BYTES: usize = 8 * JOB_LIMIT;

#[derive(Debug, Error)]
pub enum ConnectError {
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("cannot open a socket: {0}")]
    Socket(std::io::Error),
    #[error("cannot connect to {0}: {1}")]
    Unreachable(SocketAddr, String),
}

#[derive(Clone, Debug)]
pub enum Command {
    /// The runner knows of this block.
    Height(u64),
    Load(BackpressureSignal),
    /// Capabilities that are back, and those that are lost.
    Capability(Vec<String>, Vec<String>),
    Ack(JobId, AckStatus, Option<String>),
    Progress(JobId, u8, Option<String>),
    /// A transaction about a job.
    Result(JobId, Vec<u8>),
    /// Closes the job's stream.
    Finish(JobId),
    Close,
}

pub struct Link {
    /// Closed once the connection is lost.
    pub commands: mpsc::Sender<Command>,
    /// Ends once the connection is lost.
    pub events: mpsc::Receiver<Event>,
    /// Why the session ended.
    pub ended: JoinHandle<String>,
    connection: Connection,
}

impl Link {
    pub fn round_trip(&self) -> Duration {
        self.connection.rtt()
    }
}

#[derive(Clone)]
pub struct Connector {
    endpoint: Endpoint,
}

impl Connector {
    pub fn new(local: SocketAddr) -> Result<Self, ConnectError> {
        Ok(Self { endpoint: Endpoint::client(local).map_err(ConnectError::Socket)? })
    }

    /// Moves all connections to another local address, as a laptop changes networks.
    pub fn rebind(&self, local: SocketAddr) -> std::io::Result<()> {
        self.endpoint.rebind(std::net::UdpSocket::bind(local)?)
    }

    /// Connects and starts the session's handshake. [`Event::Opened`] completes it.
    pub async fn connect(
        &self,
        to: SocketAddr,
        settings: Settings,
        height: u64,
    ) -> Result<Link, ConnectError> {
        let unreachable = |error: String| ConnectError::Unreachable(to, error);
        let config = tls::client(settings.validator)?;
        let connecting = self
            .endpoint
            .connect_with(config, to, SERVER_NAME)
            .map_err(|error| unreachable(error.to_string()))?;
        let connect = async {
            let connection = connecting.await.map_err(|error| error.to_string())?;
            let streams = connection.open_bi().await.map_err(|error| error.to_string())?;
            Ok::<_, String>((connection, streams))
        };
        let (connection, (writer, reader)) = timeout(Duration::from_millis(HANDSHAKE_MS), connect)
            .await
            .map_err(|_| unreachable("timed out".to_owned()))?
            .map_err(unreachable)?;
        let mut exporter = [0; 32];
        connection
            .export_keying_material(&mut exporter, EXPORTER, b"")
            .map_err(|_| unreachable("TLS exporter unavailable".to_owned()))?;
        let session = Session::new(settings, exporter, rand::random(), height, 0);
        let (commands, inbox) = mpsc::channel(QUEUE);
        let (events_in, events) = mpsc::channel(QUEUE);
        let (job_frames, from_jobs) = mpsc::channel(QUEUE);
        let driver = Driver {
            connection: connection.clone(),
            session,
            writer,
            jobs: BTreeMap::new(),
            job_frames,
            events: events_in,
            started: Instant::now(),
            goodbye: None,
        };
        let reader = Reader::new(reader, CONTROL_LIMIT);
        let ended = tokio::spawn(driver.run(reader, inbox, from_jobs));
        Ok(Link { commands, events, ended, connection })
    }

    /// Waits for all goodbyes.
    pub async fn stop(&self) {
        let _ = timeout(GOODBYE_TIMEOUT, self.endpoint.wait_idle()).await;
        self.endpoint.close(VarInt::from_u32(0), CloseReason::Shutdown.word().as_bytes());
    }
}

struct Driver {
    connection: Connection,
    session: Session,
    writer: SendStream,
    jobs: BTreeMap<JobId, mpsc::Sender<Frame>>,
    job_frames: mpsc::Sender<FromJob>,
    events: mpsc::Sender<Event>,
    started: Instant,
    goodbye: Option<String>,
}

/// A stream that the validator opened, and its first frame.
type Opened = (Option<Incoming>, SendStream, Reader);

impl Driver {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    async fn run(
        mut self,
        mut reader: Reader,
        mut inbox: mpsc::Receiver<Command>,
        mut from_jobs: mpsc::Receiver<FromJob>,
    ) -> String {
        let (opened_in, mut opened) = mpsc::channel::<Opened>(QUEUE);
        let accept = tokio::spawn(accept(self.connection.clone(), opened_in));
        let mut lost = None;
        while self.perform().await {
            let at = |ms| self.started + Duration::from_millis(ms);
            let deadline = self.session.deadline_ms().map(at);
            // A validator over its rate limit is read more slowly.
            let now = self.now_ms();
            let control = self.session.control_ready_ms(now);
            let jobs = self.session.job_ready_ms(now);
            let pause = [control, jobs].into_iter().flatten().min().map(at);
            tokio::select! {
                frame = reader.next(), if control.is_none() => match frame {
                    Ok(Some(Incoming { frame, .. })) => {
                        let now = self.now_ms();
                        self.session.control(frame, now);
                    }
                    Ok(None) => self.session.close(CloseReason::Shutdown),
                    Err(StreamError::Slow) => self.session.close(CloseReason::Silent),
                    Err(StreamError::Wire(_)) => self.session.close(CloseReason::Malformed),
                    Err(StreamError::Gone(why)) => {
                        lost = Some(why);
                        break;
                    }
                },
                command = inbox.recv() => match command {
                    Some(command) => self.command(command),
                    None => self.session.close(CloseReason::Shutdown),
                },
                Some(stream) = opened.recv(), if jobs.is_none() => self.opened(stream),
                Some(heard) = from_jobs.recv(), if jobs.is_none() => match heard {
                    FromJob::Frame(job, Incoming { frame, bytes, .. }) => {
                        let now = self.now_ms();
                        self.session.job(Some(job), frame, bytes, now);
                    }
                    FromJob::Closed(job) => {
                        self.jobs.remove(&job);
                        self.session.job_closed(job);
                    }
                },
                () = until(deadline) => {
                    let now = self.now_ms();
                    self.session.tick(now);
                }
                () = until(pause) => {}
            }
        }
        accept.abort();
        self.goodbye.or(lost).unwrap_or_else(|| "closed".to_owned())
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Height(height) => self.session.update_height(height),
            Command::Load(signal) => self.session.load(signal),
            Command::Capability(added, removed) => self.session.capability(added, removed),
            Command::Ack(job, status, reason) => self.session.ack(job, status, reason),
            Command::Progress(job, fraction, detail) => {
                self.session.progress(job, fraction, detail);
            }
            Command::Result(job, transaction) => {
                self.session.result(job, transaction);
            }
            Command::Finish(job) => self.session.finish(job),
            Command::Close => self.session.close(CloseReason::Shutdown),
        }
    }

    /// The first frame of a job's stream names the job.
    fn opened(&mut self, (first, writer, mut reader): Opened) {
        let now = self.now_ms();
        let Some(Incoming { frame, bytes, .. }) = first else {
            return self.session.close(CloseReason::Malformed);
        };
        if let Some(job) = self.session.job(None, frame, bytes, now) {
            reader.set_limit(HANDOVER_LIMIT);
            let (sender, outgoing) = mpsc::channel(QUEUE);
            self.jobs.insert(job, sender);
            tokio::spawn(relay(job, reader, writer, outgoing, self.job_frames.clone()));
        }
    }

    /// Performs the session's outputs. `false` once it is over.
    async fn perform(&mut self) -> bool {
        while let Some(output) = self.session.poll() {
            match output {
                Output::Control(frame) => {
                    let limit = if self.session.over() { GOODBYE_TIMEOUT } else { FRAME_TIMEOUT };
                    if let Err(error) = write(&mut self.writer, &frame, limit).await {
                        self.goodbye = Some(error.to_string());
                        return false;
                    }
                }
                Output::Job(job, frame) => {
                    // One slow stream must not block the session.
                    if let Some(sender) = self.jobs.get(&job)
                        && let Err(TrySendError::Full(_)) = sender.try_send(frame)
                    {
                        self.session.close(CloseReason::Silent);
                    }
                }
                Output::FinishJob(job) => {
                    self.jobs.remove(&job);
                }
                Output::Event(event) => {
                    if let Event::Goodbye(word) = &event {
                        self.goodbye = Some(word.clone());
                    }
                    // The owner is gone, so the connection is not needed.
                    if self.events.send(event).await.is_err() {
                        self.session.close(CloseReason::Shutdown);
                    }
                }
                Output::Close(reason) => {
                    let _ = self.writer.finish();
                    let _ = timeout(GOODBYE_TIMEOUT, self.writer.stopped()).await;
                    self.connection.close(VarInt::from_u32(0), reason.word().as_bytes());
                    self.goodbye.get_or_insert_with(|| reason.word().to_owned());
                    return false;
                }
                Output::OpenJob(..) => {}
            }
        }
        true
    }
}

async fn accept(connection: Connection, opened: mpsc::Sender<Opened>) {
    let buffer = ReceiveBuffer::new(BUFFER_BYTES);
    while let Ok((writer, reader)) = connection.accept_bi().await {
        let reader = Reader::of_opened_job(reader, JOB_LIMIT, &buffer);
        tokio::spawn(first(writer, reader, opened.clone()));
    }
}

async fn first(writer: SendStream, mut reader: Reader, opened: mpsc::Sender<Opened>) {
    let frame = reader.next().await.ok().flatten();
    let _ = opened.send((frame, writer, reader)).await;
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
