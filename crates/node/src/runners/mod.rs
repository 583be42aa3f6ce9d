//! This validator's runners: who may have a session, what is pushed to them, what they bring.
//!
//! ```text
//! final blocks ─▶ heads, assignments, cancellations ─▶ link ─▶ runners
//! votes ◀─ presence ┐
//! mempool ◀─ transactions ├── link ◀─ runners
//! API ◀─ progress ┘
//! ```
//! A runner hears of a job when it is assigned, and again whenever it opens a session: whatever was
//! lost in between is said again. It answers that it has it, and that is the normal case.

mod roll;

pub use roll::Roll;

use crate::backend::{Backend, Finalised};
use crate::chain::Sessions;
use remuda_link::frame::{CancelReason, Handover};
use remuda_link::quic::server::{Server, ServerError};
use remuda_link::session::validator::{Assignment, Event, Head, Outcome, Place, Settings};
use remuda_link::sign::Identity;
use remuda_protocol::dispatcher::job::{Job, Progress};
use remuda_protocol::event::Event as Happened;
use remuda_protocol::key::{JobKey, JobSpecKey, PresenceKey};
use remuda_protocol::presence::PRESENCE_TIMEOUT_BLOCKS;
use remuda_protocol::primitives::{Address, Height, JobId};
use remuda_protocol::state::{MemoryState, StateKey as _, View as _, read};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;

/// Blocks without an answer after which a push has failed (SPEC §17).
const ACK_TIMEOUT_BLOCKS: u64 = 15;
/// What sessions have said and nobody has looked at. A session waits when it is full.
const EVENTS: usize = 4_096;
/// Reports of progress that a slow reader may be behind before it misses some.
const NEWS: usize = 256;
/// Pushes whose answers are waited for, to tell how long they take. More are pushed, and not timed.
const TIMED_MAX: usize = 65_536;
/// Pairs of runner and job that are remembered as told. Beyond, all are told again now and then.
const TOLD_MAX: usize = 262_144;

/// A runner is told again what it sits on every so many blocks, if it has no stream for it: a push may be lost
/// with its stream, or refused for want of a place.
const SAY_AGAIN_BLOCKS: u64 = 16;
/// Jobs that it is told then; half of what waits for a session at most.
const SAID_AT_ONCE: usize = 32;

/// Results of one member for one job that are passed on. It repeats them until they are opened.
const HANDOVERS_MAX: u32 = 32;

/// Where a validator can be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// By runners: address and port.
    pub link: Option<String>,
    /// Its API, as a URL.
    pub api: Option<String>,
}

/// How far a runner is with a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobNews {
    /// Which job.
    pub job: JobId,
    /// Whose word this is. Nobody else vouches for it.
    pub runner: Address,
    /// In percent.
    pub percent: u8,
    /// A word for people.
    pub detail: Option<String>,
}

/// What a validator needs to serve runners.
pub struct Serve {
    /// Where, UDP.
    pub listen: SocketAddr,
    /// The 32 secret bytes of its identity key.
    pub seed: [u8; 32],
    /// Its number.
    pub validator: u32,
    /// Who is present, for its votes.
    pub sessions: Sessions,
}

/// Counts what became of pushes.
#[derive(Debug, Default)]
struct Counts {
    success: AtomicU64,
    duplicate: AtomicU64,
    soft_failure: AtomicU64,
    hard_failure: AtomicU64,
}

impl Counts {
    fn of(&self, outcome: Outcome) -> &AtomicU64 {
        match outcome {
            Outcome::Success => &self.success,
            Outcome::Duplicate => &self.duplicate,
            Outcome::SoftFailure => &self.soft_failure,
            Outcome::HardFailure => &self.hard_failure,
        }
    }
}

/// See the module.
pub struct Runners {
    reach: Vec<Reach>,
    server: OnceLock<Server>,
    news: broadcast::Sender<Arc<JobNews>>,
    counts: Counts,
    /// When an assignment became final here, while its answer is on its way.
    pushed: Mutex<BTreeMap<(JobId, Address), Instant>>,
    /// What each runner was told of in its present session, and has not refused: it has a stream there.
    told: Mutex<BTreeSet<(Address, JobId)>>,
    /// How often somebody has handed something over for a job.
    handed: Mutex<BTreeMap<(JobId, Address), u32>>,
}

impl Default for Runners {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Runners {
    /// Nobody is served yet. The validators' addresses are by their numbers.
    pub fn new(reach: Vec<Reach>) -> Self {
        Self {
            reach,
            server: OnceLock::new(),
            news: broadcast::Sender::new(NEWS),
            counts: Counts::default(),
            pushed: Mutex::default(),
            told: Mutex::default(),
            handed: Mutex::default(),
        }
    }

    /// Where a validator is; nothing if nobody said.
    pub fn reach(&self, validator: u32) -> Reach {
        self.reach.get(validator as usize).cloned().unwrap_or_default()
    }

    /// What runners say of their work, from now on.
    pub fn news(&self) -> broadcast::Receiver<Arc<JobNews>> {
        self.news.subscribe()
    }

    /// Gives an aggregator a result. `false` if it has no session here, or none that knows the job.
    pub fn hand_over(&self, aggregator: &Address, handover: Handover) -> bool {
        let Some(server) = self.server.get() else { return false };
        if !self.was_told(*aggregator, handover.job_id).unwrap_or(true) {
            return false;
        }
        // A member, or whoever repeats what it has said, must not fill an aggregator's ears. Only what
        // reaches it counts, so that nobody uses the limit up while it is away.
        let key = (handover.job_id, Address::from(handover.runner));
        let mut handed = self.handed.lock().unwrap_or_else(PoisonError::into_inner);
        let times = handed.get(&key).copied().unwrap_or(0);
        if times >= HANDOVERS_MAX {
            return true;
        }
        if (times == 0 && handed.len() >= TIMED_MAX) || !server.handover(aggregator, handover) {
            return false;
        }
        handed.insert(key, times + 1);
        true
    }

    /// A job is over for a runner.
    fn forget(&self, job: JobId, runner: Address) {
        self.timed().remove(&(job, runner));
        self.told().remove(&(runner, job));
        let mut handed = self.handed.lock().unwrap_or_else(PoisonError::into_inner);
        handed.remove(&(job, runner));
    }

    /// Counters in Prometheus' text form.
    pub fn metrics(&self) -> String {
        let sessions = self.server.get().map_or(0, Server::sessions);
        let mut out = format!(
            "# HELP remuda_link_sessions Runners with a session\n\
             # TYPE remuda_link_sessions gauge\nremuda_link_sessions {sessions}\n\
             # HELP remuda_link_pushes_total Assignments by what became of them\n\
             # TYPE remuda_link_pushes_total counter\n"
        );
        let outcomes = [
            ("success", Outcome::Success),
            ("duplicate", Outcome::Duplicate),
            ("soft_failure", Outcome::SoftFailure),
            ("hard_failure", Outcome::HardFailure),
        ];
        for (name, outcome) in outcomes {
            let value = self.counts.of(outcome).load(Relaxed);
            out.push_str(&format!("remuda_link_pushes_total{{outcome=\"{name}\"}} {value}\n"));
        }
        out
    }

    /// Takes runners in, until the task is dropped or [`Runners::stop`] is called. Needs a tip.
    pub fn serve(
        self: &Arc<Self>,
        backend: Arc<dyn Backend>,
        serve: Serve,
    ) -> Result<JoinHandle<()>, ServerError> {
        let Serve { listen, seed, validator, sessions } = serve;
        let identity = Identity::from_seed(&seed).expect("any 32 bytes are a key");
        let settings = Settings {
            chain_id: backend.genesis().params.chain_id,
            me: identity.key(),
            signer: Arc::new(identity),
            presence_timeout: PRESENCE_TIMEOUT_BLOCKS,
            ack_timeout: ACK_TIMEOUT_BLOCKS,
        };
        // Before the tip is read: no block falls in between.
        let blocks = backend.subscribe();
        let roll = Arc::new(Roll { backend: backend.clone(), validator });
        let (events_in, events) = mpsc::channel(EVENTS);
        let head = head(&backend.tip().state, backend.tip().finalised.height());
        let server = Server::start(listen, &seed, settings, head, roll, events_in)?;
        let _ = self.server.set(server.clone());
        let desk = Desk { runners: self.clone(), server, backend, sessions };
        Ok(tokio::spawn(desk.run(blocks, events)))
    }

    /// Says goodbye to everybody.
    pub async fn stop(&self) {
        if let Some(server) = self.server.get() {
            server.stop().await;
        }
    }

    fn told(&self) -> std::sync::MutexGuard<'_, BTreeSet<(Address, JobId)>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a runner knows a job by its present session. `None` if there are too many to tell.
    fn was_told(&self, runner: Address, job: JobId) -> Option<bool> {
        let told = self.told();
        let known = told.contains(&(runner, job));
        (known || told.len() < TOLD_MAX).then_some(known)
    }

    fn timed(&self) -> std::sync::MutexGuard<'_, BTreeMap<(JobId, Address), Instant>> {
        self.pushed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Microseconds since 1970.
fn to_micros(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}

fn head(state: &MemoryState, height: Height) -> Head {
    let subset_epoch = read(state, &PresenceKey {}).map_or(0, |state| state.epoch.number);
    Head { height: height.get(), subset_epoch }
}

/// Moves messages between the chain and the sessions.
struct Desk {
    runners: Arc<Runners>,
    server: Server,
    backend: Arc<dyn Backend>,
    sessions: Sessions,
}

impl Desk {
    async fn run(
        self,
        mut blocks: broadcast::Receiver<Arc<Finalised>>,
        mut events: mpsc::Receiver<(Place, Event)>,
    ) {
        loop {
            tokio::select! {
                // Blocks first: an assignment does not wait behind what sessions say.
                biased;
                block = blocks.recv() => match block {
                    Ok(block) => self.block(&block),
                    Err(broadcast::error::RecvError::Lagged(_)) => {
                        // What ended in between is not known.
                        self.runners.told().clear();
                        for runner in self.server.runners() {
                            self.say_again(runner);
                        }
                    }
                    Err(broadcast::error::RecvError::Closed) => return,
                },
                event = events.recv() => match event {
                    Some((place, event)) => self.heard(place, event),
                    None => return,
                },
            }
        }
    }

    fn block(&self, block: &Finalised) {
        let state = &self.backend.tip().state;
        // Assignments leave before anything else is told: they are what somebody waits for.
        for event in block.receipts.iter().flat_map(|receipt| &receipt.events) {
            if let Happened::JobAssigned { job, attempt, runners, commit_by, .. } = event {
                for runner in runners {
                    self.push(state, *job, *runner, *attempt, block.height(), *commit_by);
                }
            }
        }
        self.server.head(head(state, block.height()));
        for event in block.receipts.iter().flat_map(|receipt| &receipt.events) {
            match event {
                Happened::RunnerTimedOut { job, runner, .. } => {
                    self.server.cancel(runner, *job, CancelReason::Expired);
                    self.runners.forget(*job, *runner);
                }
                Happened::JobSettled { job, .. }
                | Happened::JobFailed { job, .. }
                | Happened::JobCancelled { job, .. } => {
                    let seats = read(state, &JobKey { job: *job }).map(|job: Job| job.seats);
                    for seat in seats.unwrap_or_default() {
                        self.server.cancel(&seat.runner, *job, CancelReason::Failed);
                        self.runners.forget(*job, seat.runner);
                    }
                }
                _ => {}
            }
        }
        // Last: what is over must be told whatever else there is.
        let turn = |runner: &Address| {
            (u64::from(runner[19]) + block.height().get()).is_multiple_of(SAY_AGAIN_BLOCKS)
        };
        self.server.runners().into_iter().filter(turn).for_each(|runner| self.say_again(runner));
    }

    fn push(
        &self,
        state: &MemoryState,
        job: JobId,
        runner: Address,
        attempt: u32,
        at: Height,
        by: Height,
    ) {
        let now = to_micros(SystemTime::now());
        tracing::debug!(%job, %runner, at_micros = now, "push assigned");
        // Read only where somebody is to be told: it may be long.
        if !self.server.has(&runner) {
            return;
        }
        let Some(job_spec) = state.get(&JobSpecKey { job }.bytes()) else { return };
        let assignment = Assignment {
            job_id: job,
            attempt,
            job_spec,
            block_height: at.get(),
            deadline_block: by.get(),
        };
        if self.server.push(&runner, assignment) {
            let mut told = self.runners.told();
            if told.len() < TOLD_MAX {
                told.insert((runner, job));
            }
            drop(told);
            let mut timed = self.runners.timed();
            if timed.len() < TIMED_MAX {
                timed.insert((job, runner), Instant::now());
            }
        }
    }

    /// Pushes whatever a runner sits on.
    fn say_again(&self, runner: Address) {
        let tip = self.backend.tip();
        // Not more than a session takes at a time, and in turn, so that each gets through.
        let mut jobs = self.backend.open_jobs(runner);
        let turns = tip.finalised.height().get() / SAY_AGAIN_BLOCKS;
        let first = (turns * SAID_AT_ONCE as u64) % (jobs.len().max(1) as u64);
        jobs.rotate_left(first as usize);
        // What it was told of in this session it need not hear again.
        jobs.retain(|job| self.runners.was_told(runner, *job) != Some(true));
        for id in jobs.into_iter().take(SAID_AT_ONCE) {
            let Some(job) = read(&tip.state, &JobKey { job: id }) else { continue };
            let Some(seat) = job.taking_part().find(|seat| seat.runner == runner) else { continue };
            // Also what it has committed to: the results of others reach an aggregator this way.
            if matches!(seat.progress, Progress::Waiting | Progress::Committed { .. }) {
                let height = tip.finalised.height();
                self.push(&tip.state, id, runner, seat.attempt, height, job.commit_by);
            }
        }
    }

    fn heard(&self, place: Place, event: Event) {
        let runner = place.address;
        match event {
            Event::Opened(_) => {
                tracing::info!(%runner, "a runner has connected");
                // Another session has other streams.
                let mut told = self.runners.told();
                let jobs = (runner, JobId::ZERO)..=(runner, JobId::repeat_byte(0xff));
                let old: Vec<_> = told.range(jobs).copied().collect();
                for pair in &old {
                    told.remove(pair);
                }
                drop(told);
                self.say_again(runner);
            }
            Event::Presence(present) => {
                tracing::debug!(%runner, present, "presence");
                self.sessions.set(place.slot, present);
            }
            Event::Outcome(job, outcome) => {
                self.runners.counts.of(outcome).fetch_add(1, Relaxed);
                if matches!(outcome, Outcome::SoftFailure | Outcome::HardFailure) {
                    self.runners.told().remove(&(runner, job));
                }
                let since = self.runners.timed().remove(&(job, runner));
                let micros = since.map(|since| since.elapsed().as_micros() as u64);
                tracing::debug!(%job, %runner, ?outcome, micros, "push answered");
            }
            Event::NoStream(job) => {
                self.runners.told().remove(&(runner, job));
            }
            Event::Progress(progress) => {
                // Nobody may be listening.
                let _ = self.runners.news.send(Arc::new(JobNews {
                    job: progress.job_id,
                    runner,
                    percent: progress.fraction,
                    detail: progress.detail,
                }));
            }
            Event::Transaction(job, bytes) => {
                if let Err(refusal) = self.backend.submit(bytes) {
                    // The same one comes through several validators, so this is nothing special.
                    tracing::debug!(%runner, %job, code = refusal.code, "not taken");
                }
            }
            Event::Load(load) => {
                tracing::debug!(%runner, accepting = load.accepting_new, "load");
            }
        }
    }
}
