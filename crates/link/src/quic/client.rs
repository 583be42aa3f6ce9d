//! The runner's side: one connection to one validator.

use super::stream::{
    FAREWELL, FromJob, Incoming, PATIENCE, QUEUE, Reader, Room, StreamError, carry, write,
};
use super::tls::{self, EXPORTER, SERVER_NAME, TlsError};
use crate::frame::{AckStatus, BackpressureSignal, Frame, Parting};
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

/// Memory for a validator's frames that nobody has heard yet: eight of the longest.
const ROOM: usize = 8 * JOB_LIMIT;

#[derive(Debug, Error)]
pub enum ConnectError {
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("cannot open a socket: {0}")]
    Socket(std::io::Error),
    #[error("{0} does not answer: {1}")]
    Unreachable(SocketAddr, String),
}

/// What the runner wants said.
#[derive(Clone, Debug)]
pub enum Command {
    /// There is a new block.
    Learn(u64),
    Load(BackpressureSignal),
    /// It can do these again, and those not any more.
    Capability(Vec<String>, Vec<String>),
    /// What it does with an assignment.
    Ack(JobId, AckStatus, Option<String>),
    Progress(JobId, u8, Option<String>),
    /// A transaction about a job.
    Result(JobId, Vec<u8>),
    /// It is done with a job.
    Finish(JobId),
    Close,
}

pub struct Link {
    /// What to say. Closed when the connection is gone.
    pub commands: mpsc::Sender<Command>,
    /// What is heard. Ends when the connection is gone.
    pub events: mpsc::Receiver<Event>,
    pub ended: JoinHandle<String>,
    connection: Connection,
}

impl Link {
    /// Time of a message to the validator and back, as the connection has measured it.
    pub fn round_trip(&self) -> Duration {
        self.connection.rtt()
    }
}

#[derive(Clone)]
pub struct Connector {
    endpoint: Endpoint,
}

impl Connector {
    /// On a local address; port 0 for any.
    pub fn new(local: SocketAddr) -> Result<Self, ConnectError> {
        Ok(Self { endpoint: Endpoint::client(local).map_err(ConnectError::Socket)? })
    }

    /// Moves all connections to another local address, as a laptop does between two networks.
    pub fn rebind(&self, local: SocketAddr) -> std::io::Result<()> {
        self.endpoint.rebind(std::net::UdpSocket::bind(local)?)
    }

    /// Connects. The session opens by itself; [`Event::Opened`] says so.
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
            .map_err(|_| unreachable("it took too long".to_owned()))?
            .map_err(unreachable)?;
        let mut exporter = [0; 32];
        connection
            .export_keying_material(&mut exporter, EXPORTER, b"")
            .map_err(|_| unreachable("no keying material".to_owned()))?;
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
            farewell: None,
        };
        let reader = Reader::new(reader, CONTROL_LIMIT);
        let ended = tokio::spawn(driver.run(reader, inbox, from_jobs));
        Ok(Link { commands, events, ended, connection })
    }

    /// Waits until all goodbyes are sent.
    pub async fn stop(&self) {
        let _ = timeout(FAREWELL, self.endpoint.wait_idle()).await;
        self.endpoint.close(VarInt::from_u32(0), Parting::Shutdown.word().as_bytes());
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
    farewell: Option<String>,
}

/// A stream that the validator opened, with its first frame.
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
        let mut gone = None;
        while self.act().await {
            let at = |ms| self.started + Duration::from_millis(ms);
            let deadline = self.session.deadline_ms().map(at);
            // A validator that says more than it may is read as fast as it may speak.
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
                    Ok(None) => self.session.close(Parting::Shutdown),
                    Err(StreamError::Slow) => self.session.close(Parting::Silent),
                    Err(StreamError::Wire(_)) => self.session.close(Parting::Malformed),
                    Err(StreamError::Gone(why)) => {
                        gone = Some(why);
                        break;
                    }
                },
                command = inbox.recv() => match command {
                    Some(command) => self.command(command),
                    None => self.session.close(Parting::Shutdown),
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
        self.farewell.or(gone).unwrap_or_else(|| "closed".to_owned())
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Learn(height) => self.session.learn(height),
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
            Command::Close => self.session.close(Parting::Shutdown),
        }
    }

    /// The first frame of a job's stream names the job; a stream without one has no place here.
    fn opened(&mut self, (first, writer, mut reader): Opened) {
        let now = self.now_ms();
        let Some(Incoming { frame, bytes, .. }) = first else {
            return self.session.close(Parting::Malformed);
        };
        if let Some(job) = self.session.job(None, frame, bytes, now) {
            reader.limit(HANDOVER_LIMIT);
            let (sender, outgoing) = mpsc::channel(QUEUE);
            self.jobs.insert(job, sender);
            tokio::spawn(carry(job, reader, writer, outgoing, self.job_frames.clone()));
        }
    }

    /// Does what the session wants. `false` when it is over.
    async fn act(&mut self) -> bool {
        while let Some(output) = self.session.poll() {
            match output {
                Output::Control(frame) => {
                    let patience = if self.session.over() { FAREWELL } else { PATIENCE };
                    if let Err(error) = write(&mut self.writer, &frame, patience).await {
                        self.farewell = Some(error.to_string());
                        return false;
                    }
                }
                Output::Job(job, frame) => {
                    // Nobody waits here for one stream: others might wait for us.
                    if let Some(sender) = self.jobs.get(&job)
                        && let Err(TrySendError::Full(_)) = sender.try_send(frame)
                    {
                        self.session.close(Parting::Silent);
                    }
                }
                Output::FinishJob(job) => {
                    self.jobs.remove(&job);
                }
                Output::Event(event) => {
                    if let Event::Farewell(word) = &event {
                        self.farewell = Some(word.clone());
                    }
                    // Nobody listens: then nobody needs the connection.
                    if self.events.send(event).await.is_err() {
                        self.session.close(Parting::Shutdown);
                    }
                }
                Output::Close(parting) => {
                    let _ = self.writer.finish();
                    let _ = timeout(FAREWELL, self.writer.stopped()).await;
                    self.connection.close(VarInt::from_u32(0), parting.word().as_bytes());
                    self.farewell.get_or_insert_with(|| parting.word().to_owned());
                    return false;
                }
                Output::OpenJob(..) => {}
            }
        }
        true
    }
}

async fn accept(connection: Connection, opened: mpsc::Sender<Opened>) {
    let room = Room::new(ROOM);
    while let Ok((writer, reader)) = connection.accept_bi().await {
        let reader = Reader::of_opened_job(reader, JOB_LIMIT, &room);
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
