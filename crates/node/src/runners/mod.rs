//! This validator's runners: who may have a session, what is pushed to them, what they bring.
//!
//! Local: a change here needs no agreement among validators.
//!
//! ```text
//! final blocks ─▶ heads, assignments, cancellations ─▶ link ─▶ runners
//! votes ◀─ presence ┐
//! mempool ◀─ transactions ├── link ◀─ runners
//! API ◀─ progress ┘
//! ```
//! A runner hears of a job when it is assigned, and again whenever it opens a session: whatever was
//! lost in between is said again. It answers that it has it, and that is the normal case.
//!
//! `desk` moves the messages, `told` remembers who has heard of what, `roll` knows who may come.

mod desk;
mod roll;
mod told;

pub use roll::Roll;

use crate::backend::{Backend, RunnerLinks};
pub use crate::backend::{JobNews, Reach};
use crate::chain::Sessions;
use desk::{Desk, head};
use remuda_link::frame::Handover;
use remuda_link::quic::server::{Server, ServerError};
use remuda_link::session::validator::{Outcome, Settings};
use remuda_link::sign::Identity;
use remuda_protocol::presence::PRESENCE_TIMEOUT_BLOCKS;
use remuda_protocol::primitives::{Address, JobId};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;
use told::Told;

/// Blocks without an answer after which a push has failed (SPEC §17).
const ACK_TIMEOUT_BLOCKS: u64 = 15;
/// What sessions have said and nobody has looked at, among it transactions of 128 KiB. A session waits when
/// it is full.
const EVENTS: usize = 1_024;
/// Reports of progress that a slow reader may be behind before it misses some.
const NEWS: usize = 256;
/// Pushes whose answers are waited for, to tell how long they take. More are pushed, and not timed.
const TIMED_MAX: usize = 65_536;
/// Results of one member for one job that are passed on. It repeats them until they are opened.
const HANDOVERS_MAX: u32 = 32;

/// What a validator needs to serve runners.
pub struct Serve {
    pub listen: SocketAddr,
    /// The 32 secret bytes of its identity key.
    pub seed: [u8; 32],
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

pub struct Runners {
    reach: Vec<Reach>,
    server: OnceLock<Server>,
    news: broadcast::Sender<Arc<JobNews>>,
    counts: Counts,
    /// When an assignment became final here, while its answer is on its way.
    pushed: Mutex<BTreeMap<(JobId, Address), Instant>>,
    told: Told,
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
            told: Told::default(),
            handed: Mutex::default(),
        }
    }

    /// A job is over for a runner.
    fn forget(&self, job: JobId, runner: Address) {
        self.timed().remove(&(job, runner));
        self.told.remove(runner, job);
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
            transaction_bytes_max: backend.genesis().params.max_tx_bytes as usize,
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

    pub async fn stop(&self) {
        if let Some(server) = self.server.get() {
            server.stop().await;
        }
    }

    fn timed(&self) -> std::sync::MutexGuard<'_, BTreeMap<(JobId, Address), Instant>> {
        self.pushed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunnerLinks for Runners {
    fn reach(&self, validator: u32) -> Reach {
        self.reach.get(validator as usize).cloned().unwrap_or_default()
    }

    fn news(&self) -> broadcast::Receiver<Arc<JobNews>> {
        self.news.subscribe()
    }

    fn hand_over(&self, aggregator: &Address, handover: Handover) -> bool {
        let Some(server) = self.server.get() else { return false };
        if !self.told.has(*aggregator, handover.job_id).unwrap_or(true) {
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
}
