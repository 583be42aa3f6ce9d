//! The validator's side: takes runners in, and keeps their sessions.

use super::stream::{FromJob, QUEUE, Reader, carry, write};
use super::tls::{self, EXPORTER, TlsError};
use crate::admission::Admission;
use crate::frame::{CancelReason, Frame, Handover, Parting};
use crate::session::Output;
use crate::session::validator::{
    Assignment, Desk, Event, HANDSHAKE_MS, Head, Place, Session, Settings,
};
use crate::wire::{CONTROL_LIMIT, JOB_LIMIT};
use quinn::{Connection, Endpoint, Incoming, VarInt};
use remuda_protocol::crypto::PublicKey;
use remuda_protocol::primitives::{Address, JobId};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use thiserror::Error;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};

/// Sessions of one validator: as many as its votes have bits.
pub const SESSIONS_MAX: usize = 8_192;
/// Connections that have not proven themselves.
const STRANGERS_MAX: usize = 512;
/// From so many on, addresses have to prove that they are theirs before anything is kept for them.
const STRANGERS_CALM: usize = 64;
/// How long a goodbye may be on its way.
const FAREWELL: Duration = Duration::from_millis(500);

/// What the chain says of runners.
pub trait Registry: Send + Sync + 'static {
    /// Who has this key, if it may have a session here.
    fn place(&self, key: &PublicKey) -> Result<Place, Parting>;
}

/// The server cannot start.
#[derive(Debug, Error)]
pub enum ServerError {
    /// TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The socket.
    #[error("cannot listen for runners on {0}: {1}; is something else there?")]
    Bind(SocketAddr, std::io::Error),
}

/// What a session is told from outside.
enum Command {
    Push(Assignment),
    Cancel(JobId, CancelReason),
    Handover(Handover),
    Close(Parting),
}

struct Live {
    number: u64,
    commands: mpsc::Sender<Command>,
}

struct Shared {
    settings: Arc<Settings>,
    registry: Arc<dyn Registry>,
    admission: Mutex<Admission>,
    live: Mutex<BTreeMap<Address, Live>>,
    heads: watch::Sender<Head>,
    events: mpsc::Sender<(Place, Event)>,
    started: Instant,
    numbers: AtomicU64,
    strangers: AtomicUsize,
}

impl Shared {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn live(&self) -> MutexGuard<'_, BTreeMap<Address, Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One session's way to ask.
struct Counter<'a>(&'a Shared);

impl Desk for Counter<'_> {
    fn admit(&mut self, now_ms: u64, source: IpAddr) -> Result<(), Parting> {
        let admission = &self.0.admission;
        admission.lock().unwrap_or_else(PoisonError::into_inner).source(now_ms, source)
    }

    fn place(&self, key: &PublicKey) -> Result<Place, Parting> {
        self.0.registry.place(key)
    }

    fn seat(&mut self, now_ms: u64, place: Place) -> Result<(), Parting> {
        let live = self.0.live();
        if live.len() >= SESSIONS_MAX && !live.contains_key(&place.address) {
            return Err(Parting::TooManySessions);
        }
        drop(live);
        let admission = &self.0.admission;
        admission.lock().unwrap_or_else(PoisonError::into_inner).key(now_ms, place.address)
    }
}

/// See the module.
#[derive(Clone)]
pub struct Server {
    shared: Arc<Shared>,
    endpoint: Endpoint,
}

impl Server {
    /// Listens. Events of all sessions come out of `events`; whoever holds its other end must read it,
    /// or sessions wait.
    pub fn start(
        listen: SocketAddr,
        seed: &[u8; 32],
        settings: Settings,
        head: Head,
        registry: Arc<dyn Registry>,
        events: mpsc::Sender<(Place, Event)>,
    ) -> Result<Self, ServerError> {
        let config = tls::server(seed)?;
        let endpoint =
            Endpoint::server(config, listen).map_err(|error| ServerError::Bind(listen, error))?;
        let shared = Arc::new(Shared {
            settings: Arc::new(settings),
            registry,
            admission: Mutex::default(),
            live: Mutex::default(),
            heads: watch::Sender::new(head),
            events,
            started: Instant::now(),
            numbers: AtomicU64::new(0),
            strangers: AtomicUsize::new(0),
        });
        let server = Self { shared: shared.clone(), endpoint: endpoint.clone() };
        tokio::spawn(accept(endpoint, shared));
        Ok(server)
    }

    /// Where it listens.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.endpoint.local_addr()
    }

    /// There is a new final block.
    pub fn head(&self, head: Head) {
        self.shared.heads.send_replace(head);
    }

    /// How many runners are connected.
    pub fn sessions(&self) -> usize {
        self.shared.live().len()
    }

    /// Who is connected.
    pub fn runners(&self) -> Vec<Address> {
        self.shared.live().keys().copied().collect()
    }

    fn tell(&self, runner: &Address, command: Command) -> bool {
        let live = self.shared.live();
        live.get(runner).is_some_and(|live| live.commands.try_send(command).is_ok())
    }

    /// Pushes a job to a runner. `false` if it has no session here, or one that is too busy.
    pub fn push(&self, runner: &Address, assignment: Assignment) -> bool {
        self.tell(runner, Command::Push(assignment))
    }

    /// Tells a runner that a job is over for it.
    pub fn cancel(&self, runner: &Address, job: JobId, reason: CancelReason) -> bool {
        self.tell(runner, Command::Cancel(job, reason))
    }

    /// Gives an aggregator a result.
    pub fn handover(&self, aggregator: &Address, handover: Handover) -> bool {
        self.tell(aggregator, Command::Handover(handover))
    }

    /// Says goodbye to everybody.
    pub async fn stop(&self) {
        self.endpoint.set_server_config(None);
        let commands: Vec<_> =
            self.shared.live().values().map(|live| live.commands.clone()).collect();
        for sender in commands {
            let _ = sender.try_send(Command::Close(Parting::Shutdown));
        }
        let _ = timeout(FAREWELL * 2, self.endpoint.wait_idle()).await;
        self.endpoint.close(VarInt::from_u32(0), Parting::Shutdown.word().as_bytes());
    }
}

/// Counts a connection that has not proven itself.
struct Stranger(Arc<Shared>);

impl Stranger {
    fn new(shared: &Arc<Shared>) -> Self {
        shared.strangers.fetch_add(1, Relaxed);
        Self(shared.clone())
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.0.strangers.fetch_sub(1, Relaxed);
    }
}

async fn accept(endpoint: Endpoint, shared: Arc<Shared>) {
    // Handshakes cost signatures: a few at a time, so that a storm does not starve blocks.
    let handshakes = Arc::new(Semaphore::new(8));
    while let Some(incoming) = endpoint.accept().await {
        let strangers = shared.strangers.load(Relaxed);
        if strangers >= STRANGERS_MAX {
            incoming.refuse();
        } else if strangers >= STRANGERS_CALM && incoming.may_retry() {
            // A forged address never answers.
            let _ = incoming.retry();
        } else {
            let stranger = Stranger::new(&shared);
            tokio::spawn(serve(shared.clone(), incoming, handshakes.clone(), stranger));
        }
    }
}

async fn serve(
    shared: Arc<Shared>,
    incoming: Incoming,
    handshakes: Arc<Semaphore>,
    stranger: Stranger,
) {
    let patience = Duration::from_millis(HANDSHAKE_MS);
    let connect = async {
        let connection = {
            let _turn = handshakes.acquire().await.ok()?;
            incoming.accept().ok()?.await.ok()?
        };
        let streams = connection.accept_bi().await.ok()?;
        Some((connection, streams))
    };
    let Ok(Some((connection, (writer, reader)))) = timeout(patience, connect).await else { return };
    let mut exporter = [0; 32];
    if connection.export_keying_material(&mut exporter, EXPORTER, b"").is_err() {
        return;
    }
    let heads = shared.heads.subscribe();
    let head = *heads.borrow();
    let source = connection.remote_address().ip();
    let session = Session::new(
        shared.settings.clone(),
        source,
        exporter,
        rand::random(),
        head,
        shared.now_ms(),
    );
    let (commands, inbox) = mpsc::channel(QUEUE);
    let (job_frames, from_jobs) = mpsc::channel(QUEUE);
    let driver = Driver {
        shared,
        connection,
        session,
        writer,
        number: 0,
        place: None,
        commands,
        jobs: BTreeMap::new(),
        job_frames,
        stranger: Some(stranger),
    };
    driver.run(Reader::new(reader, CONTROL_LIMIT), inbox, from_jobs, heads).await;
}

/// Moves messages between one session and its streams.
struct Driver {
    shared: Arc<Shared>,
    connection: Connection,
    session: Session,
    writer: quinn::SendStream,
    number: u64,
    place: Option<Place>,
    commands: mpsc::Sender<Command>,
    jobs: BTreeMap<JobId, mpsc::Sender<Frame>>,
    job_frames: mpsc::Sender<FromJob>,
    stranger: Option<Stranger>,
}

impl Driver {
    async fn run(
        mut self,
        mut reader: Reader,
        mut inbox: mpsc::Receiver<Command>,
        mut from_jobs: mpsc::Receiver<FromJob>,
        mut heads: watch::Receiver<Head>,
    ) {
        let mut open = true;
        while open {
            open = self.act().await;
            if !open {
                break;
            }
            let deadline = self.session.deadline_ms();
            let deadline = deadline.map(|ms| self.shared.started + Duration::from_millis(ms));
            tokio::select! {
                frame = reader.next() => match frame {
                    Ok(Some(frame)) => {
                        let now = self.shared.now_ms();
                        self.session.control(frame, now, &mut Counter(&self.shared));
                    }
                    Ok(None) => self.session.close(Parting::Shutdown),
                    Err(super::stream::StreamError::Gone(_)) => {
                        self.session.lost();
                        open = false;
                    }
                    Err(super::stream::StreamError::Slow) => self.session.close(Parting::Silent),
                    Err(super::stream::StreamError::Wire(_)) => {
                        self.session.close(Parting::Malformed);
                    }
                },
                command = inbox.recv() => match command {
                    Some(Command::Push(assignment)) => { self.session.push(assignment); }
                    Some(Command::Cancel(job, reason)) => self.session.cancel(job, reason),
                    Some(Command::Handover(handover)) => self.session.handover(handover),
                    Some(Command::Close(parting)) => self.session.close(parting),
                    None => {}
                },
                Some(heard) = from_jobs.recv() => match heard {
                    FromJob::Frame(job, frame) => {
                        let now = self.shared.now_ms();
                        self.session.job(job, frame, now);
                    }
                    FromJob::Closed(job) => {
                        self.jobs.remove(&job);
                        self.session.job_closed(job);
                    }
                },
                Ok(()) = heads.changed() => {
                    let head = *heads.borrow_and_update();
                    self.session.head(head, &Counter(&self.shared));
                }
                () = until(deadline) => self.session.tick(self.shared.now_ms()),
            }
        }
        self.act().await;
        self.leave();
    }

    /// Does what the session wants. `false` when it is over.
    async fn act(&mut self) -> bool {
        while let Some(output) = self.session.poll() {
            match output {
                Output::Control(frame) => {
                    if write(&mut self.writer, &frame).await.is_err() {
                        self.session.lost();
                    }
                }
                Output::OpenJob(job, frame) => self.open_job(job, frame),
                Output::Job(job, frame) => {
                    if let Some(sender) = self.jobs.get(&job) {
                        let _ = sender.try_send(frame);
                    }
                }
                Output::FinishJob(job) => {
                    self.jobs.remove(&job);
                }
                Output::Event(event) => {
                    if let Event::Opened(place) = event {
                        self.enter(place).await;
                    }
                    // What an older session says of its end is no news of the runner.
                    if let Some(place) = self.place.filter(|place| self.newest(place)) {
                        let _ = self.shared.events.send((place, event)).await;
                    }
                }
                Output::Close(parting) => {
                    let _ = self.writer.finish();
                    // The goodbye should arrive, but nobody waits long for it.
                    let _ = timeout(FAREWELL, self.writer.stopped()).await;
                    self.connection.close(VarInt::from_u32(0), parting.word().as_bytes());
                    return false;
                }
            }
        }
        true
    }

    /// The newest session of a runner is the one that counts; it has to show that it is there.
    async fn enter(&mut self, place: Place) {
        self.stranger = None;
        self.place = Some(place);
        self.number = self.shared.numbers.fetch_add(1, Relaxed);
        let live = Live { number: self.number, commands: self.commands.clone() };
        let older = self.shared.live().insert(place.address, live);
        if let Some(older) = older {
            let _ = older.commands.try_send(Command::Close(Parting::Replaced));
            let _ = self.shared.events.send((place, Event::Presence(false))).await;
        }
    }

    fn newest(&self, place: &Place) -> bool {
        self.shared.live().get(&place.address).is_some_and(|live| live.number == self.number)
    }

    fn leave(&mut self) {
        if let Some(place) = self.place {
            let mut live = self.shared.live();
            if live.get(&place.address).is_some_and(|live| live.number == self.number) {
                live.remove(&place.address);
            }
        }
    }

    fn open_job(&mut self, job: JobId, frame: Frame) {
        let (sender, outgoing) = mpsc::channel(QUEUE);
        self.jobs.insert(job, sender);
        let (connection, session) = (self.connection.clone(), self.job_frames.clone());
        tokio::spawn(async move {
            let Ok((mut writer, reader)) = connection.open_bi().await else { return };
            if write(&mut writer, &frame).await.is_ok() {
                carry(job, Reader::new(reader, JOB_LIMIT), writer, outgoing, session).await;
            }
        });
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
