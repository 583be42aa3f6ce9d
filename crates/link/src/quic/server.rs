//! The validator's side: accepts runners and keeps their sessions.

use super::stream::{
    FRAME_TIMEOUT, FromJob, GOODBYE_TIMEOUT, Incoming, QUEUE, Reader, ReceiveBuffer, StreamError,
    relay, write,
};
use super::tls::{self, EXPORTER, TlsError};
use crate::admission::Admission;
use crate::frame::{CancelReason, CloseReason, Frame, Handover};
use crate::handshakes::{Decision, PendingHandshakes};
use crate::session::validator::{
    Admittance, Assignment, Event, HANDSHAKE_MS, Head, Place, Session, Settings,
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

/// As many sessions as a presence vote has bits.
pub const SESSIONS_MAX: usize = 8_192;

/// Commands queued for a session. One block may assign a runner `JOBS_MAX` jobs and end as many.
const COMMANDS: usize = 2 * JOBS_MAX;
/// A frame that is longer gets as much.
const BUFFER_BYTES: usize = 1024 * 1024;

/// The chain's view of runners.
pub trait Registry: Send + Sync + 'static {
    /// The runner with this key, if it may have a session with this validator.
    fn place(&self, key: &PublicKey) -> Result<Place, CloseReason>;
}

#[derive(Debug, Error)]
pub enum ServerError {
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error(
        "cannot listen for runners on {0}: {1}; choose another address, or stop the process that uses it"
    )]
    Bind(SocketAddr, std::io::Error),
}

enum Command {
    Push(Assignment),
    Cancel(JobId, CancelReason),
    Handover(Handover),
    Close(CloseReason),
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
    handshakes: Mutex<PendingHandshakes<AbortHandle>>,
}

impl Shared {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn live(&self) -> MutexGuard<'_, BTreeMap<Address, Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handshakes(&self) -> MutexGuard<'_, PendingHandshakes<AbortHandle>> {
        self.handshakes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct SharedAdmittance<'a>(&'a Shared);

impl Admittance for SharedAdmittance<'_> {
    fn admit_source(&mut self, now_ms: u64, source: IpAddr) -> Result<(), CloseReason> {
        let admission = &self.0.admission;
        admission.lock().unwrap_or_else(PoisonError::into_inner).source(now_ms, source)
    }

    fn place(&self, key: &PublicKey) -> Result<Place, CloseReason> {
        self.0.registry.place(key)
    }

    fn admit_session(&mut self, now_ms: u64, place: Place) -> Result<(), CloseReason> {
        let live = self.0.live();
        if live.len() >= SESSIONS_MAX && !live.contains_key(&place.address) {
            return Err(CloseReason::TooManySessions);
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
    /// Listens. Sessions block while the receiver of `events` does not read.
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
            handshakes: Mutex::default(),
        });
        let server = Self { shared: shared.clone(), endpoint: endpoint.clone() };
        tokio::spawn(accept(endpoint, shared));
        Ok(server)
    }

    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.endpoint.local_addr()
    }

    /// Announces a new final block.
    pub fn head(&self, head: Head) {
        self.shared.heads.send_replace(head);
    }

    pub fn sessions(&self) -> usize {
        self.shared.live().len()
    }

    pub fn pending_handshakes(&self) -> usize {
        self.shared.handshakes().len()
    }

    pub fn runners(&self) -> Vec<Address> {
        self.shared.live().keys().copied().collect()
    }

    pub fn has(&self, runner: &Address) -> bool {
        self.shared.live().contains_key(runner)
    }

    fn tell(&self, runner: &Address, command: Command) -> bool {
        let live = self.shared.live();
        let Some(Live { commands, .. }) = live.get(runner) else { return false };
        // Pushes and handovers leave room for cancellations: a lost one would occupy its slot for ever.
        let yields = matches!(command, Command::Push(_) | Command::Handover(_));
        (!yields || commands.capacity() > COMMANDS / 2) && commands.try_send(command).is_ok()
    }

    /// `false` if the runner has no session here, or its queue is full.
    pub fn push(&self, runner: &Address, assignment: Assignment) -> bool {
        self.tell(runner, Command::Push(assignment))
    }

    pub fn cancel(&self, runner: &Address, job: JobId, reason: CancelReason) -> bool {
        self.tell(runner, Command::Cancel(job, reason))
    }

    pub fn handover(&self, aggregator: &Address, handover: Handover) -> bool {
        self.tell(aggregator, Command::Handover(handover))
    }

    pub async fn stop(&self) {
        self.endpoint.set_server_config(None);
        let commands: Vec<_> =
            self.shared.live().values().map(|live| live.commands.clone()).collect();
        for sender in commands {
            let _ = sender.try_send(Command::Close(CloseReason::Shutdown));
        }
        let _ = timeout(GOODBYE_TIMEOUT * 2, self.endpoint.wait_idle()).await;
        self.endpoint.close(VarInt::from_u32(0), CloseReason::Shutdown.word().as_bytes());
    }
}

/// An entry of the pending handshakes. Removed on drop.
struct Handshake {
    shared: Arc<Shared>,
    id: u64,
}

impl Handshake {
    /// The runner is authenticated. `false` if the handshake was evicted before: its task is about to end.
    fn complete(&self) -> bool {
        self.shared.handshakes().remove(self.id)
    }
}

impl Drop for Handshake {
    fn drop(&mut self) {
        self.shared.handshakes().remove(self.id);
    }
}

async fn accept(endpoint: Endpoint, shared: Arc<Shared>) {
    while let Some(incoming) = endpoint.accept().await {
        // A peer that may not retry has validated its address before.
        let validated = incoming.remote_address_validated() || !incoming.may_retry();
        let decision = shared.handshakes().admit(incoming.remote_address().ip(), validated);
        let id = match decision {
            Decision::Accept(id) => id,
            Decision::Replace(id, evicted) => {
                evicted.abort();
                id
            }
            Decision::Retry => {
                let _ = incoming.retry();
                continue;
            }
            Decision::Refuse => {
                incoming.refuse();
                continue;
            }
        };
        let handshake = Handshake { shared: shared.clone(), id };
        // Handshakes cost signatures. Accepting them one at a time limits a flood to one core.
        let Ok(connecting) = incoming.accept() else { continue };
        let task = tokio::spawn(serve(shared.clone(), connecting, handshake));
        shared.handshakes().set_task(id, task.abort_handle());
    }
}

async fn serve(shared: Arc<Shared>, connecting: Connecting, handshake: Handshake) {
    // One deadline for everything until the runner is authenticated.
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
        buffer: ReceiveBuffer::new(BUFFER_BYTES.max(4 + frame_bytes_max)),
        handshake: Some(handshake),
    };
    let reader = Reader::new(reader, CONTROL_LIMIT);
    driver.run(reader, inbox, from_jobs, heads).await;
}

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
    frame_bytes_max: usize,
    buffer: ReceiveBuffer,
    handshake: Option<Handshake>,
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
            open = self.perform().await;
            if !open {
                break;
            }
            let deadline = self.session.deadline_ms();
            let deadline = deadline.map(|ms| self.shared.started + Duration::from_millis(ms));
            tokio::select! {
                frame = reader.next() => match frame {
                    Ok(Some(Incoming { frame, .. })) => {
                        let now = self.shared.now_ms();
                        self.session.control(frame, now, &mut SharedAdmittance(&self.shared));
                    }
                    Ok(None) => self.session.close(CloseReason::Shutdown),
                    Err(StreamError::Gone(_)) => {
                        self.session.lost();
                        open = false;
                    }
                    Err(StreamError::Slow) => self.session.close(CloseReason::Silent),
                    Err(StreamError::Wire(_)) => self.session.close(CloseReason::Malformed),
                },
                command = inbox.recv() => match command {
                    Some(Command::Push(assignment)) => { self.session.push(assignment); }
                    Some(Command::Cancel(job, reason)) => self.session.cancel(job, reason),
                    Some(Command::Handover(handover)) => self.session.handover(handover),
                    Some(Command::Close(reason)) => self.session.close(reason),
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
                    self.session.head(head, &SharedAdmittance(&self.shared));
                }
                () = until(deadline) => self.session.tick(self.shared.now_ms()),
            }
        }
        self.perform().await;
        self.leave();
    }

    /// Performs the session's outputs. `false` once it is over.
    async fn perform(&mut self) -> bool {
        let mut alive = true;
        while let Some(output) = self.session.poll() {
            match output {
                Output::Control(frame) => {
                    let limit = self.write_timeout();
                    if write(&mut self.writer, &frame, limit).await.is_err() {
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
                    // The end of a replaced session says nothing about the runner.
                    if let Some(place) = self.place.filter(|place| self.newest(place)) {
                        let _ = self.shared.events.send((place, event)).await;
                    }
                }
                Output::Close(reason) => {
                    let _ = self.writer.finish();
                    let _ = timeout(GOODBYE_TIMEOUT, self.writer.stopped()).await;
                    self.connection.close(VarInt::from_u32(0), reason.word().as_bytes());
                    return false;
                }
            }
        }
        if !alive {
            // The runner did not read in time.
            self.connection.close(VarInt::from_u32(0), CloseReason::Silent.word().as_bytes());
        }
        alive
    }

    /// During the handshake a control frame has what is left of the handshake's time.
    fn write_timeout(&self) -> Duration {
        match self.session.deadline_ms() {
            Some(ms) => Duration::from_millis(ms.saturating_sub(self.shared.now_ms())),
            None if self.session.place().is_some() => FRAME_TIMEOUT,
            None => GOODBYE_TIMEOUT,
        }
    }

    /// The newest session of a runner replaces older ones, and starts as absent. `false` if the handshake
    /// was evicted.
    async fn enter(&mut self, place: Place) -> bool {
        if !self.handshake.take().is_some_and(|handshake| handshake.complete()) {
            return false;
        }
        self.place = Some(place);
        self.number = self.shared.numbers.fetch_add(1, Relaxed);
        let live = Live { number: self.number, commands: self.commands.clone() };
        let older = self.shared.live().insert(place.address, live);
        if let Some(older) = older {
            let _ = older.commands.try_send(Command::Close(CloseReason::Replaced));
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
        let (limit, buffer) = (self.frame_bytes_max, self.buffer.clone());
        tokio::spawn(async move {
            // The runner may refuse further streams for any time.
            let opened = timeout(FRAME_TIMEOUT, connection.open_bi()).await;
            let Ok(Ok((mut writer, reader))) = opened else { return };
            if write(&mut writer, &frame, FRAME_TIMEOUT).await.is_ok() {
                let reader = Reader::of_job(reader, limit, &buffer);
                relay(job, reader, writer, outgoing, session).await;
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
