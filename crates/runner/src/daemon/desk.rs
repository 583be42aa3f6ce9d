//! The daemon's mind: notes go in, actions come out. It knows every open job, owns the nonce, and
//! does nothing by itself; [`super::drive`] carries out what it says.
//!
//! ```text
//! a validator tells of a block ─▶ round: ask a node for the account and for each open job
//! an answer about a job        ─▶ case::next ─▶ work, a transaction, a handover, or the end
//! ```
//! What validators say only starts a round: heights that count are those of the operator's nodes.

mod account;
mod broken;
mod claims;
mod fees;
mod jobs;
mod problems;
mod sessions;
mod state;
#[cfg(test)]
mod tests;
mod view;

use super::abilities::Abilities;
use super::dependencies::Dependencies;
use super::faults::{Faults, Trial};
use super::links::Target;
use super::nodes::{Polled, Pulse, Reading};
use super::open::{Identity, Open};
use super::registration::Commands;
use super::sender::{Outbox, Purpose};
use super::status::RunState;
use super::work::{Miss, Task};
use crate::journal::{Entry, Outcome};
use remuda_client::sign::Signed;
use remuda_client::types::{OfferView, RunnerValidators, RunnerView, TransactionStatus};
use remuda_link::frame::{AckStatus, BackpressureSignal};
use remuda_link::session::runner::Event;
use remuda_link::sign::ValidatorKey;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::primitives::{Address, B256, JobId, TxHash};
use remuda_protocol::transaction::Reveal;
use sessions::Sessions;
use state::{Chain, History, Pause, Polling, Rounds, Standing};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tracing::debug;

/// Finished jobs that are known when a late validator pushes them again.
const DONE_MAX: usize = 4_096;
/// A pause between attempts to reach a node at all.
const KNOCK_MS: u64 = 1_000;
/// Least time between two looks at what validators and the log should be told.
const JUDGE_MS: u64 = 250;

#[derive(Debug)]
pub(crate) enum Note {
    Tick,
    Up(ValidatorKey),
    /// A session said something; and how far away it is.
    Heard(ValidatorKey, Event, Duration),
    /// A session ended, or could not be opened.
    Down(ValidatorKey, String),
    Validators(Result<RunnerValidators, String>),
    /// The chain and the runner's account.
    Pulse(Result<Pulse, String>),
    /// Where the runner stands; `None` if it is not registered.
    Standing(Option<Box<RunnerView>>),
    /// A job in the state; none if nobody could tell.
    Read(JobId, Option<Box<Reading>>),
    /// Jobs that the runner sits on.
    Polled(Polled),
    /// How far a job's work is.
    Progress(JobId, u32, u8, String),
    /// A job's work is over, and so the journal says. With a result may come why it is an excuse.
    Worked(JobId, u32, Result<(Outcome, Option<String>), Miss>),
    /// A node did not take a transaction: the code, and the reason for people.
    Refused(TxHash, String, String),
    /// What became of a transaction whose nonce was used.
    LookedUp(Purpose, TransactionStatus),
    /// A result was given to its aggregator, or not.
    HandedOver(JobId, Result<(), String>),
    /// What a finished job earned, and what went wrong with it.
    Earned(JobId, u32, Earned),
    /// Those of the programs here that governance vouches for.
    Pinned(Vec<B256>),
    /// Whether each of the things that work depends on is there.
    Probed(Vec<(String, bool)>),
    /// Whether the journal can be written, or why not.
    Journal(Result<(), String>),
    /// A part that is out of order was tried.
    Tried(String, Trial),
    /// Stop when everything is done.
    Drain,
}

/// What a finished job brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Earned {
    pub(crate) amount: u128,
    /// What went wrong with it, if anything did.
    pub(crate) why: Option<String>,
    /// Others won, with something else.
    pub(crate) outvoted: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Ask for the chain and the account.
    Pulse,
    Validators,
    /// Ask where the runner stands.
    Standing,
    /// Ask which of these programs governance vouches for.
    Pinned(Vec<B256>),
    /// Ask for the jobs that the runner sits on.
    Poll,
    /// Ask for a job; with its specification, not at this node, and which of the others.
    Read {
        job: JobId,
        with_spec: bool,
        avoid: Option<String>,
        turn: usize,
    },
    /// Another node should be asked first from now on.
    TurnNodes,
    Links(u64, Vec<Target>),
    Ack(ValidatorKey, JobId, AckStatus, Option<String>),
    /// Tell a validator how far a job is.
    Progress(ValidatorKey, JobId, u8, String),
    /// The job's stream is not needed any more.
    Finish(ValidatorKey, JobId),
    /// Tell these how busy the runner is.
    Load(Vec<ValidatorKey>, BackpressureSignal),
    /// Tell these what the runner can do again, and what not any more.
    Capability(Vec<ValidatorKey>, Vec<String>, Vec<String>),
    /// Try these parts, which are out of order, until they work.
    Try(Vec<String>),
    /// Give a transaction to a validator.
    Carry(ValidatorKey, JobId, Vec<u8>),
    /// Hand a transaction in at a node.
    Submit(Signed, usize),
    /// Find out what became of a transaction.
    LookUp(Purpose, TxHash),
    Work(Box<Task>),
    StopWork(JobId),
    /// Take a job out of the journal.
    Forget(JobId, u32),
    /// Give a result to the aggregator, beginning with this one of its validators.
    HandOver {
        chain_id: u64,
        job: JobId,
        aggregator: Address,
        reveal: Reveal,
        turn: usize,
    },
    /// Find out what a job earned.
    Earned(JobId, u32),
}

/// What an operator decides, as far as it matters here.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) abilities: Abilities,
    pub(crate) slots: u32,
    /// How many nodes there are.
    pub(crate) nodes: usize,
    pub(crate) resume: bool,
    pub(crate) push: bool,
    /// What the settings offer; or why the chain would not take that.
    pub(crate) offer: Result<OfferView, String>,
    /// Programs that it offers too, if governance vouches for them.
    pub(crate) pinnable: Vec<B256>,
    pub(crate) commands: Commands,
}

/// For whoever measures how long that takes.
fn learned(job: JobId) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    debug!(%job, at_micros = now.as_micros() as u64, "push learned");
}

pub(crate) struct Desk {
    identity: Identity,
    rules: Rules,
    actions: Vec<Action>,
    now_ms: u64,
    chain: Chain,
    standing: Standing,
    /// Which problems the log has.
    logged: BTreeSet<problems::Kind>,
    dependencies: Dependencies,
    faults: Faults,
    outbox: Outbox,
    jobs: BTreeMap<JobId, Open>,
    sessions: Sessions,
    rounds: Rounds,
    /// When it was last looked at what others should be told.
    judged_ms: Option<u64>,
    polling: Polling,
    /// Heights of the last of each: validators, standing, poll.
    asked: [Option<u64>; 3],
    pause: Pause,
    /// When another program was last seen to use the key.
    twin_ms: Option<u64>,
    state: RunState,
    history: History,
    unreadable: Vec<String>,
}

impl Desk {
    /// With what the journal says.
    pub(crate) fn new(
        key: SecretKey,
        rules: Rules,
        dependencies: Dependencies,
        journal: Vec<Entry>,
        unreadable: Vec<String>,
    ) -> Self {
        let recall = |entry: Entry| (entry.job_id, Open::recalled(entry, 0));
        Self {
            // No node has told which chain it is; nothing is signed before one has.
            identity: Identity { chain_id: 0, me: key.address(), key: key.clone() },
            rules,
            actions: Vec::new(),
            now_ms: 0,
            chain: Chain::default(),
            standing: Standing::Unknown,
            logged: BTreeSet::new(),
            dependencies,
            faults: Faults::default(),
            outbox: Outbox::new(key),
            jobs: journal.into_iter().map(recall).collect(),
            sessions: Sessions::default(),
            rounds: Rounds { last_ms: 0, due: true, asking: false },
            judged_ms: None,
            polling: Polling::Unanswered,
            asked: [None; 3],
            pause: Pause::Unknown,
            twin_ms: None,
            state: RunState::Starting,
            history: History::default(),
            unreadable,
        }
    }

    /// Takes in a note. What to do about it is in the answer, in order.
    pub(crate) fn handle(&mut self, note: Note, now_ms: u64) -> Vec<Action> {
        self.now_ms = self.now_ms.max(now_ms);
        match note {
            Note::Tick => self.tick(),
            Note::Up(validator) => self.up(validator),
            Note::Heard(validator, event, rtt) => self.heard(validator, event, rtt),
            Note::Down(validator, why) => self.down(validator, why),
            Note::Validators(answer) => self.validators(answer),
            Note::Pulse(answer) => self.pulse(answer),
            Note::Standing(view) => self.stands(view),
            Note::Read(job, reading) => self.read(job, reading.map(|reading| *reading)),
            Note::Polled(polled) => self.polled(polled),
            Note::Progress(job, attempt, percent, detail) => {
                self.progress(job, attempt, percent, detail);
            }
            Note::Worked(job, attempt, result) => self.worked(job, attempt, result),
            Note::Refused(hash, code, reason) => self.refused(hash, &code, reason),
            Note::LookedUp(purpose, status) => self.looked_up(purpose, &status),
            Note::HandedOver(job, result) => self.handed_over(job, result),
            Note::Earned(job, attempt, earned) => self.earned(job, attempt, earned),
            Note::Pinned(programs) => self.pinned(programs),
            Note::Probed(found) => self.probed(found),
            Note::Journal(written) => self.journal_written(written),
            Note::Tried(part, trial) => self.tried(&part, trial),
            Note::Drain => self.drain(),
        }
        self.send();
        std::mem::take(&mut self.actions)
    }

    fn act(&mut self, action: Action) {
        self.actions.push(action);
    }

    /// The height that counts.
    fn at(&self) -> u64 {
        self.chain.height.unwrap_or(0)
    }

    /// The newest block that the operator's nodes know; 0 until one has answered.
    pub(crate) fn height(&self) -> u64 {
        self.at()
    }

    /// Least time between two rounds: whatever validators say, nodes are asked no more often.
    fn spacing_ms(&self) -> u64 {
        u64::try_from(self.chain.block_time.as_millis() / 8).unwrap_or(u64::MAX).clamp(10, 250)
    }

    /// How often a tick is of use.
    pub(crate) fn tick_every(&self) -> Duration {
        Duration::from_millis(self.spacing_ms())
    }

    /// Whether everything is done and it may leave.
    pub(crate) fn drained(&self) -> bool {
        self.state == RunState::Drained
    }

    fn tick(&mut self) {
        let waited = self.now_ms.saturating_sub(self.rounds.last_ms);
        let block_ms = u64::try_from(self.chain.block_time.as_millis()).unwrap_or(u64::MAX);
        let patience = match (self.chain.height, self.sessions.any_open()) {
            (None, _) => KNOCK_MS,
            // Validators tell of blocks; this is for the case that they do not.
            (Some(_), true) => block_ms.saturating_mul(2),
            (Some(_), false) => block_ms,
        };
        if (self.rounds.due && waited >= self.spacing_ms()) || waited >= patience {
            self.round();
        }
        // Here, where nobody waits for an answer; and not with each note, since every open job is
        // reckoned up for it.
        if self.judged_ms.is_none_or(|at| self.now_ms >= at.saturating_add(JUDGE_MS)) {
            self.judged_ms = Some(self.now_ms);
            self.tell_load();
            self.log_problems();
        }
    }

    /// Asks for everything that may have changed.
    fn round(&mut self) {
        self.rounds.last_ms = self.now_ms;
        self.rounds.due = false;
        if !self.rounds.asking {
            self.rounds.asking = true;
            self.act(Action::Pulse);
        }
        if self.chain.height.is_some() {
            let due: Vec<JobId> = (self.jobs.iter())
                .filter(|(_, open)| self.due(open))
                .map(|(job, _)| *job)
                .collect();
            for job in due {
                self.ask_for(job);
            }
        }
    }
}
