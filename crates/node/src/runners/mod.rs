//! This validator's runners: who may have a session, what is pushed to them, what they bring.
//!
//! Local: a change here needs no agreement among validators. This holds for the whole folder.
//!
//! ```text
//! final blocks ─▶ heads, assignments, cancellations ─▶ link ─▶ runners
//! votes ◀─ presence ┐
//! mempool ◀─ transactions ├── link ◀─ runners
//! API ◀─ progress ┘
//! ```
//! An assignment is pushed when its block is final, and again when its runner opens a session without
//! having acknowledged it.
//!
//! `push_loop` moves the messages, `push_log` remembers what was pushed in each session, `directory`
//! knows which runners may have one.

mod directory;
mod push_log;
mod push_loop;

pub use directory::RunnerDirectory;

use crate::backend::{Backend, RunnerLinks};
pub use crate::backend::{JobNews, ValidatorEndpoints};
use crate::chain::Sessions;
use prometheus_client::encoding::{EncodeLabelSet, text::encode_registry};
use prometheus_client::metrics::{counter::Counter, family::Family, gauge::Gauge};
use prometheus_client::registry::Registry;
use push_log::PushLog;
use push_loop::{PushLoop, head};
use remuda_link::frame::Handover;
use remuda_link::quic::server::{Server, ServerError};
use remuda_link::session::validator::{Outcome, Settings};
use remuda_link::sign::Identity;
use remuda_protocol::presence::PRESENCE_TIMEOUT_BLOCKS;
use remuda_protocol::primitives::{Address, JobId};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;

/// Blocks without an answer after which a push has failed (SPEC §17).
const ACK_TIMEOUT_BLOCKS: u64 = 15;
/// Events of sessions waiting for the push loop, among them transactions of 128 KiB. Sessions wait when it is full.
const EVENTS: usize = 1_024;
/// Reports of progress that a slow reader may be behind before it misses some.
const NEWS: usize = 256;
/// Pushes that are timed until they are acknowledged. Beyond, they are not timed.
const TIMED_MAX: usize = 65_536;
/// Results of one member for one job that are passed on. It repeats them until they are opened.
const HANDOVERS_MAX: u32 = 32;

pub struct LinkServerConfig {
    pub listen: SocketAddr,
    /// The 32 secret bytes of its identity key.
    pub seed: [u8; 32],
    pub validator: u32,
    /// Runners with a session, for this validator's votes.
    pub sessions: Sessions,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabel {
    outcome: &'static str,
}

struct Metrics {
    registry: Registry,
    sessions: Gauge,
    pushes: Family<OutcomeLabel, Counter>,
}

impl Metrics {
    fn new() -> Self {
        let (mut registry, sessions, pushes) =
            (Registry::with_prefix("remuda_link"), Gauge::default(), Family::default());
        registry.register("sessions", "Runners with a session", sessions.clone());
        registry.register("pushes", "Assignments by what became of them", pushes.clone());
        let metrics = Self { registry, sessions, pushes };
        // Zero is exported from the start, so that rates are right from the first push on.
        for outcome in
            [Outcome::Success, Outcome::Duplicate, Outcome::SoftFailure, Outcome::HardFailure]
        {
            metrics.pushes(outcome);
        }
        metrics
    }

    fn pushes(&self, outcome: Outcome) -> impl std::ops::Deref<Target = Counter> {
        let outcome = match outcome {
            Outcome::Success => "success",
            Outcome::Duplicate => "duplicate",
            Outcome::SoftFailure => "soft_failure",
            Outcome::HardFailure => "hard_failure",
        };
        self.pushes.get_or_create(&OutcomeLabel { outcome })
    }
}

/// Shared with the API.
pub struct Runners {
    /// By validator.
    endpoints: Vec<ValidatorEndpoints>,
    /// None where no runners are served.
    server: Option<Server>,
    news: broadcast::Sender<Arc<JobNews>>,
    metrics: Metrics,
    /// When an assignment became final here, while its answer is on its way.
    pushed: Mutex<BTreeMap<(JobId, Address), Instant>>,
    push_log: PushLog,
    /// Results of a member for a job that were passed on.
    handed: Mutex<BTreeMap<(JobId, Address), u32>>,
}

impl Runners {
    /// Serves nobody, and only knows where validators are.
    pub fn unserved(endpoints: Vec<ValidatorEndpoints>) -> Self {
        Self::new(endpoints, None)
    }

    fn new(endpoints: Vec<ValidatorEndpoints>, server: Option<Server>) -> Self {
        Self {
            endpoints,
            server,
            news: broadcast::Sender::new(NEWS),
            metrics: Metrics::new(),
            pushed: Mutex::default(),
            push_log: PushLog::default(),
            handed: Mutex::default(),
        }
    }

    /// A job is over for a runner.
    fn forget(&self, job: JobId, runner: Address) {
        self.timed().remove(&(job, runner));
        self.push_log.remove(runner, job);
        let mut handed = self.handed.lock().unwrap_or_else(PoisonError::into_inner);
        handed.remove(&(job, runner));
    }

    /// Serves runners, until the task is dropped or [`Runners::stop`] is called. Needs a tip.
    pub fn serve(
        backend: Arc<dyn Backend>,
        endpoints: Vec<ValidatorEndpoints>,
        config: LinkServerConfig,
    ) -> Result<(Arc<Self>, JoinHandle<()>), ServerError> {
        let LinkServerConfig { listen, seed, validator, sessions } = config;
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
        let directory = Arc::new(RunnerDirectory { backend: backend.clone(), validator });
        let (events_in, events) = mpsc::channel(EVENTS);
        let head = head(&backend.tip().state, backend.tip().finalised.height());
        let server = Server::start(listen, &seed, settings, head, directory, events_in)?;
        let runners = Arc::new(Self::new(endpoints, Some(server.clone())));
        let push_loop = PushLoop { runners: runners.clone(), server, backend, sessions };
        Ok((runners, tokio::spawn(push_loop.run(blocks, events))))
    }

    pub async fn stop(&self) {
        if let Some(server) = &self.server {
            server.stop().await;
        }
    }

    fn timed(&self) -> std::sync::MutexGuard<'_, BTreeMap<(JobId, Address), Instant>> {
        self.pushed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunnerLinks for Runners {
    fn endpoints(&self, validator: u32) -> ValidatorEndpoints {
        self.endpoints.get(validator as usize).cloned().unwrap_or_default()
    }

    fn metrics(&self) -> String {
        let sessions = self.server.as_ref().map_or(0, Server::sessions);
        self.metrics.sessions.set(i64::try_from(sessions).unwrap_or(i64::MAX));
        let mut text = String::new();
        encode_registry(&mut text, &self.metrics.registry).expect("a string takes all");
        text
    }

    fn news(&self) -> broadcast::Receiver<Arc<JobNews>> {
        self.news.subscribe()
    }

    fn hand_over(&self, aggregator: &Address, handover: Handover) -> bool {
        let Some(server) = &self.server else { return false };
        if !self.push_log.has(*aggregator, handover.job_id).unwrap_or(true) {
            return false;
        }
        // Rate limit per (job, sender). Only what reaches the aggregator counts, so that nobody uses the
        // limit up while it is away.
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
