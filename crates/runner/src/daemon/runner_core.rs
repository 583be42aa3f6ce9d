//! The runner's core, free of I/O. Feed it events (`handle(event, now)`) and perform the actions that it
//! returns, in order. It decides which jobs to accept, when to commit and reveal, and when to pause. It does
//! not know about sockets, files or clocks; [`super::drive`] does.
//!
//! ```text
//! a validator announces a block   request a round; heights that count are those of the operator's nodes
//! a round                         ask a node for the chain, the account, and each job that is due
//! the chain has a new height      ask for validators, registration and assigned jobs, each at its interval;
//!                                 send a heartbeat if nobody attests the runner
//! a validator assigns a job       answer at once by what is known here; ask a node whether it is true
//! a node tells of a job           case::next ─▶ execute, commit, reveal, hand over, attest, or close
//! a node tells of the runner      unfit for work: pause on chain; fit again: resume
//! after each event                send the transactions that are due
//! ```
//!
//! - `claims`, `jobs`, `fees`: open jobs, from a claim to their end
//! - `account`, `standing`, `chain`, `schedule`: the chain, and when nodes are asked
//! - `sessions`: the validators
//! - `faults`, `problems`, `history`, `status`: what the operator sees

mod account;
mod chain;
mod claims;
mod faults;
mod fees;
mod history;
mod jobs;
mod problems;
mod schedule;
mod sessions;
mod standing;
mod status;
#[cfg(test)]
mod tests;

use super::abilities::Abilities;
use super::dependencies::Dependencies;
use super::faults::{Faults, PartTest};
use super::links::Target;
use super::nodes::{AssignedJobs, ChainStatus, JobSnapshot};
use super::open_job::{Identity, OpenJob};
use super::outbox::{Outbox, Purpose};
use super::registration::Commands;
use super::status::RunState;
use super::task::{Task, TaskError};
use crate::journal::{Entry, Outcome};
use chain::Chain;
use history::History;
use remuda_client::sign::Signed;
use remuda_client::types::{OfferView, RunnerValidators, RunnerView, TransactionStatus};
use remuda_link::frame::{AckStatus, BackpressureSignal};
use remuda_link::session::runner::Event as LinkEvent;
use remuda_link::sign::ValidatorKey;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::primitives::{Address, B256, JobId, TxHash};
use remuda_protocol::transaction::Reveal;
use schedule::{Questions, Rounds};
use sessions::Sessions;
use standing::{Pause, Standing};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tracing::debug;

/// Least time between two looks at what to report to validators and the log.
const REPORT_MS: u64 = 250;

/// Input of the core.
#[derive(Debug)]
pub(crate) enum Event {
    Tick,
    SessionOpened(ValidatorKey),
    /// With the round trip time.
    Session(ValidatorKey, LinkEvent, Duration),
    /// A session ended, or could not be opened.
    SessionClosed(ValidatorKey, String),
    Validators(Result<RunnerValidators, String>),
    ChainStatus(Result<ChainStatus, String>),
    /// `None`: the runner is not registered.
    Registration(Option<Box<RunnerView>>),
    /// `None`: no node answered.
    Job(JobId, Option<Box<JobSnapshot>>),
    AssignedJobs(AssignedJobs),
    /// Attempt, percent, detail.
    Progress(JobId, u32, u8, String),
    /// The outcome is in the journal. With an excuse comes its reason.
    WorkDone(JobId, u32, Result<(Outcome, Option<String>), TaskError>),
    /// A node refused a transaction: code, and text for people.
    TxRefused(TxHash, String, String),
    /// What happened to a transaction whose nonce is used.
    TxStatus(Purpose, TransactionStatus),
    HandedOver(JobId, Result<(), String>),
    Payout(JobId, u32, Payout),
    PinnedPrograms(Vec<B256>),
    /// Capabilities, and whether each is available.
    DependenciesProbed(Vec<(String, bool)>),
    JournalProbed(Result<(), String>),
    /// A faulty part was tested.
    PartTested(String, PartTest),
    /// Stop once everything is done.
    Drain,
}

/// What a finished job earned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Payout {
    pub(crate) amount: u128,
    /// Why it is less than expected.
    pub(crate) why: Option<String>,
    /// Another result won.
    pub(crate) outvoted: bool,
}

/// Effect requested by the core.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action {
    GetChainStatus,
    GetValidators,
    GetRegistration,
    /// Which of these programs governance vouches for.
    GetPinnedPrograms(Vec<B256>),
    GetAssignedJobs,
    /// Not from the node `avoid`; `turn` picks among the others.
    GetJob {
        job: JobId,
        with_spec: bool,
        avoid: Option<String>,
        turn: usize,
    },
    /// Ask another node first from now on.
    RotateNodes,
    /// Keep sessions with these validators, on this chain.
    SetLinks(u64, Vec<Target>),
    Ack(ValidatorKey, JobId, AckStatus, Option<String>),
    Progress(ValidatorKey, JobId, u8, String),
    FinishStream(ValidatorKey, JobId),
    Load(Vec<ValidatorKey>, BackpressureSignal),
    /// Capabilities that are back, and those that are lost.
    Capability(Vec<ValidatorKey>, Vec<String>, Vec<String>),
    /// Test these faulty parts until they work.
    TestParts(Vec<String>),
    /// Send a transaction through a validator.
    ForwardTx(ValidatorKey, JobId, Vec<u8>),
    /// Send a transaction to the node of this number.
    SubmitTx(Signed, usize),
    GetTxStatus(Purpose, TxHash),
    StartWork(Box<Task>),
    StopWork(JobId),
    RemoveFromJournal(JobId, u32),
    /// Deliver a result to the aggregator. `turn` picks the first of its validators.
    HandOver {
        chain_id: u64,
        job: JobId,
        aggregator: Address,
        reveal: Reveal,
        turn: usize,
    },
    GetPayout(JobId, u32),
}

#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) abilities: Abilities,
    pub(crate) slots: u32,
    /// Number of the operator's nodes.
    pub(crate) nodes: usize,
    pub(crate) resume: bool,
    pub(crate) push: bool,
    /// The offer of the settings, or why the chain would refuse it.
    pub(crate) offer: Result<OfferView, String>,
    /// Programs to add to the offer if governance vouches for them.
    pub(crate) pinnable: Vec<B256>,
    pub(crate) commands: Commands,
}

/// For measurements of the push latency.
fn trace_learned(job: JobId) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    debug!(%job, at_micros = now.as_micros() as u64, "push learned");
}

pub(crate) struct RunnerCore {
    identity: Identity,
    rules: Rules,
    /// Requested since the last event.
    actions: Vec<Action>,
    now_ms: u64,
    state: RunState,
    chain: Chain,
    standing: Standing,
    pause: Pause,
    rounds: Rounds,
    questions: Questions,
    sessions: Sessions,
    jobs: BTreeMap<JobId, OpenJob>,
    outbox: Outbox,
    dependencies: Dependencies,
    faults: Faults,
    history: History,
    /// Problems that the log has.
    logged: BTreeSet<problems::Kind>,
    reported_ms: Option<u64>,
    /// When another program was last seen to use the key.
    foreign_use_ms: Option<u64>,
    /// Files of the journal.
    unreadable: Vec<String>,
}

impl RunnerCore {
    pub(crate) fn new(
        key: SecretKey,
        rules: Rules,
        dependencies: Dependencies,
        journal: Vec<Entry>,
        unreadable: Vec<String>,
    ) -> Self {
        let recall = |entry: Entry| (entry.job_id, OpenJob::recalled(entry, 0));
        Self {
            // Nothing is signed before a node has told the chain.
            identity: Identity { chain_id: 0, me: key.address(), key: key.clone() },
            rules,
            actions: Vec::new(),
            now_ms: 0,
            state: RunState::Starting,
            chain: Chain::default(),
            standing: Standing::Unknown,
            pause: Pause::Unknown,
            rounds: Rounds::new(),
            questions: Questions::default(),
            sessions: Sessions::default(),
            jobs: journal.into_iter().map(recall).collect(),
            outbox: Outbox::new(key),
            dependencies,
            faults: Faults::default(),
            history: History::default(),
            logged: BTreeSet::new(),
            reported_ms: None,
            foreign_use_ms: None,
            unreadable,
        }
    }

    pub(crate) fn handle(&mut self, event: Event, now_ms: u64) -> Vec<Action> {
        self.now_ms = self.now_ms.max(now_ms);
        match event {
            Event::Tick => self.tick(),
            Event::SessionOpened(validator) => self.session_opened(validator),
            Event::Session(validator, event, rtt) => self.session_event(validator, event, rtt),
            Event::SessionClosed(validator, why) => self.session_closed(validator, why),
            Event::Validators(answer) => self.validators(answer),
            Event::ChainStatus(answer) => self.chain_status(answer),
            Event::Registration(view) => self.registration(view),
            Event::Job(job, snapshot) => self.job_answer(job, snapshot.map(|it| *it)),
            Event::AssignedJobs(answer) => self.assigned_jobs(answer),
            Event::Progress(job, attempt, percent, detail) => {
                self.progress(job, attempt, percent, detail);
            }
            Event::WorkDone(job, attempt, result) => self.work_done(job, attempt, result),
            Event::TxRefused(hash, code, reason) => self.tx_refused(hash, &code, reason),
            Event::TxStatus(purpose, status) => self.tx_status(purpose, &status),
            Event::HandedOver(job, result) => self.handed_over(job, result),
            Event::Payout(job, attempt, payout) => self.history.paid(job, attempt, payout),
            Event::PinnedPrograms(programs) => self.pinned_programs(programs),
            Event::DependenciesProbed(found) => self.dependencies_probed(found),
            Event::JournalProbed(written) => self.journal_probed(written),
            Event::PartTested(part, test) => self.part_tested(&part, test),
            Event::Drain => self.drain(),
        }
        self.send_due();
        std::mem::take(&mut self.actions)
    }

    fn act(&mut self, action: Action) {
        self.actions.push(action);
    }

    fn at(&self) -> u64 {
        self.chain.at()
    }

    /// The newest height that the operator's nodes know; 0 until one has answered.
    pub(crate) fn height(&self) -> u64 {
        self.at()
    }

    /// How often a tick is of use.
    pub(crate) fn tick_every(&self) -> Duration {
        Duration::from_millis(self.chain.spacing_ms())
    }

    pub(crate) fn drained(&self) -> bool {
        self.state == RunState::Drained
    }

    fn tick(&mut self) {
        let idle_ms = self.chain.idle_ms(self.sessions.any_open());
        if self.rounds.due(self.now_ms, self.chain.spacing_ms(), idle_ms) {
            self.round();
        }
        // Not with each event: this adds up all open jobs.
        if self.reported_ms.is_none_or(|at| self.now_ms >= at.saturating_add(REPORT_MS)) {
            self.reported_ms = Some(self.now_ms);
            self.signal_load();
            self.log_problems();
        }
    }

    fn round(&mut self) {
        if self.rounds.begin(self.now_ms) {
            self.act(Action::GetChainStatus);
        }
        if let Some(height) = self.chain.height {
            let due = self.jobs.iter().filter(|(_, open)| open.due(height));
            for job in due.map(|(job, _)| *job).collect::<Vec<_>>() {
                self.ask_for(job);
            }
        }
    }
}
