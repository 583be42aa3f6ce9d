//! The validator's side: takes runners in, and keeps their sessions.

use super::stream::{
    FAREWELL, FromJob, Incoming, PATIENCE, QUEUE, Reader, Room, StreamError, carry, write,
};
use super::tls::{self, EXPORTER, TlsError};
use crate::admission::Admission;
use crate::frame::{CancelReason, Frame, Handover, Parting};
use crate::hall::{Answer, Hall};
use crate::session::validator::{
    Assignment, Desk, Event, HANDSHAKE_MS, Head, Place, Session, Settings,
};
use crate::session::{JOBS_MAX, Output};
use crate::wire::{CONTROL_LIMIT, FRAME_OVERHEAD};
use quinn::{Connecting, Connection, Endpoint, VarInt};
use remuda_protocol::crypto::PublicKey;
use remuda_protocol::primitives::{Address, JobId};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use thiserror::Error;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

/// Sessions of one validator: as many as its votes have bits.
pub const SESSIONS_MAX: usize = 8_192;

/// What a session is told that it has not done yet: a block may assign a runner as many jobs as it may have,
/// and end as many.
const COMMANDS: usize = 2 * JOBS_MAX;
/// Memory for a runner's frames that nobody has heard yet, if none of them is longer.
const ROOM: usize = 1024 * 1024;

/// What the chain says of runners.
pub trait Registry: Send + Sync + 'static {
    /// Who has this key, if it may have a session here.
    fn place(&self, key: &PublicKey) -> Result<Place, Parting>;
}

/// The server cannot start.
#[derive(Debug, Error)]
pub enum ServerError {
    #[error(transparent)]
    Tls(#[from] TlsError),
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
    strangers: Mutex<Hall<AbortHandle>>,
}

impl Shared {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn live(&self) -> MutexGuard<'_, BTreeMap<Address, Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn strangers(&self) -> MutexGuard<'_, Hall<AbortHandle>> {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner)
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
            strangers: Mutex::default(),
        });
        let server = Self { shared: shared.clone(), endpoint: endpoint.clone() };
        tokio::spawn(accept(endpoint, shared));
        Ok(server)
    }

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

    /// How many connections have not proven themselves yet.
    pub fn strangers(&self) -> usize {
        self.shared.strangers().len()
    }

    pub fn runners(&self) -> Vec<Address> {
        self.shared.live().keys().copied().collect()
    }

    /// Whether a runner is connected.
    pub fn has(&self, runner: &Address) -> bool {
        self.shared.live().contains_key(runner)
    }

    fn tell(&self, runner: &Address, command: Command) -> bool {
        let live = self.shared.live();
        let Some(Live { commands, .. }) = live.get(runner) else { return false };
        // Neither may keep a job's end out: the job would have its place for ever.
        let yields = matches!(command, Command::Push(_) | Command::Handover(_));
        (!yields || commands.capacity() > COMMANDS / 2) && commands.try_send(command).is_ok()
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

/// A place in the hall.
struct Stranger {
    shared: Arc<Shared>,
    place: u64,
}

impl Stranger {
    /// It has proven itself. `false` if it was sent away before that: its task is about to end.
    fn known(&self) -> bool {
        self.shared.strangers().leave(self.place)
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.shared.strangers().leave(self.place);
    }
}

async fn accept(endpoint: Endpoint, shared: Arc<Shared>) {
    while let Some(incoming) = endpoint.accept().await {
        // Who cannot prove its address any more has done so.
        let proven = incoming.remote_address_validated() || !incoming.may_retry();
        let answer = shared.strangers().knock(incoming.remote_address().ip(), proven);
        let place = match answer {
            Answer::Enter(place) => place,
            Answer::Instead(place, other) => {
                other.abort();
                place
            }
            Answer::Prove => {
                let _ = incoming.retry();
                continue;
            }
            Answer::Refuse => {
                incoming.refuse();
                continue;
            }
        };
        let stranger = Stranger { shared: shared.clone(), place };
        // Handshakes cost signatures. They are made here, one at a time, so that a storm has one
        // core at most; the rest of a handshake is waiting, which nobody has to wait for.
        let Ok(connecting) = incoming.accept() else { continue };
        let task = tokio::spawn(serve(shared.clone(), connecting, stranger));
        shared.strangers().task(place, task.abort_handle());
    }
}

async fn serve(shared: Arc<Shared>, connecting: Connecting, stranger: Stranger) {
    // Everything until a runner is proven has this one time.
    let since_ms = shared.now_ms();
    let deadline = Instant::now() + Duration::from_millis(HANDSHAKE_MS);
    let connect = async {
        let connection = connecting.await.ok()?;
        let streams = connection.accept_bi().await.ok()?;
        Some((connection, streams))
    };
    let Ok(Some((connection, (writer, reader)))) = timeout_at(deadline, connect).await else {
        return;
    };
    let mut exporter = [0; 32];
    if connection.export_keying_material(&mut exporter, EXPORTER, b"").is_err() {
        return;
    }
    let heads = shared.heads.subscribe();
    let head = *heads.borrow();
    let source = connection.remote_address().ip();
    let settings = shared.settings.clone();
    let session = Session::new(settings, source, exporter, rand::random(), head, since_ms);
    let (commands, inbox) = mpsc::channel(COMMANDS);
    let (job_frames, from_jobs) = mpsc::channel(QUEUE);
    let frame_bytes_max = shared.settings.transaction_bytes_max + FRAME_OVERHEAD;
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
        frame_bytes_max,
        room: Room::new(ROOM.max(4 + frame_bytes_max)),
        stranger: Some(stranger),
    };
    let reader = Reader::new(reader, CONTROL_LIMIT);
    driver.run(reader, inbox, from_jobs, heads).await;
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
    /// What a frame on a job's stream may be.
    frame_bytes_max: usize,
    room: Room,
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
                    Ok(Some(Incoming { frame, .. })) => {
                        let now = self.shared.now_ms();
                        self.session.control(frame, now, &mut Counter(&self.shared));
                    }
                    Ok(None) => self.session.close(Parting::Shutdown),
                    Err(StreamError::Gone(_)) => {
                        self.session.lost();
                        open = false;
                    }
                    Err(StreamError::Slow) => self.session.close(Parting::Silent),
                    Err(StreamError::Wire(_)) => self.session.close(Parting::Malformed),
                },
                command = inbox.recv() => match command {
                    Some(Command::Push(assignment)) => { self.session.push(assignment); }
                    Some(Command::Cancel(job, reason)) => self.session.cancel(job, reason),
                    Some(Command::Handover(handover)) => self.session.handover(handover),
                    Some(Command::Close(parting)) => self.session.close(parting),
                    None => {}
                },
                Some(heard) = from_jobs.recv() => match heard {
                    FromJob::Frame(job, Incoming { frame, bytes, .. }) => {
                        let now = self.shared.now_ms();
                        self.session.job(job, frame, bytes, now);
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
        let mut alive = true;
        while let Some(output) = self.session.poll() {
            match output {
                Output::Control(frame) => {
                    let patience = self.patience();
                    if write(&mut self.writer, &frame, patience).await.is_err() {
                        self.session.lost();
                        alive = false;
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
                    if let Event::Opened(place) = event
                        && !self.enter(place).await
                    {
                        return false;
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
        if !alive {
            // Who does not listen is not there.
            self.connection.close(VarInt::from_u32(0), Parting::Silent.word().as_bytes());
        }
        alive
    }

    /// How long a frame of the control stream may take: for strangers what is left of their time.
    fn patience(&self) -> Duration {
        match self.session.deadline_ms() {
            Some(ms) => Duration::from_millis(ms.saturating_sub(self.shared.now_ms())),
            None if self.session.place().is_some() => PATIENCE,
            None => FAREWELL,
        }
    }

    /// The newest session of a runner is the one that counts; it has to show that it is there.
    /// `false` if another has taken its place while it proved itself.
    async fn enter(&mut self, place: Place) -> bool {
        if !self.stranger.take().is_some_and(|stranger| stranger.known()) {
            return false;
        }
        self.place = Some(place);
        self.number = self.shared.numbers.fetch_add(1, Relaxed);
        let live = Live { number: self.number, commands: self.commands.clone() };
        let older = self.shared.live().insert(place.address, live);
        if let Some(older) = older {
            let _ = older.commands.try_send(Command::Close(Parting::Replaced));
            let _ = self.shared.events.send((place, Event::Presence(false))).await;
        }
        true
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
        let (limit, room) = (self.frame_bytes_max, self.room.clone());
        tokio::spawn(async move {
            // A runner may take no more streams, for as long as it likes.
            let opened = timeout(PATIENCE, connection.open_bi()).await;
            let Ok(Ok((mut writer, reader))) = opened else { return };
            if write(&mut writer, &frame, PATIENCE).await.is_ok() {
                let reader = Reader::of_job(reader, limit, &room);
                carry(job, reader, writer, outgoing, session).await;
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
