//! The runner's account: its nonce, its standing, and what it sends.

use super::state::{Pause, Polling, Registration, Standing};
use super::{Action, Desk};
use crate::daemon::nodes::{Polled, Pulse, Seated};
use crate::daemon::open::Open;
use crate::daemon::purse::Purse;
use crate::daemon::sender::{Parcel, Purpose};
use crate::daemon::status::RunState;
use crate::journal::Stage;
use remuda_client::types::{HexHash, RunnerStatusName, RunnerView, TransactionStatus};
use remuda_protocol::primitives::{B256, TxHash};
use remuda_protocol::transaction::Instruction;
use tracing::{info, warn};

/// Blocks between two questions for the validators, unless one of them tells of a new subset epoch or
/// something is wrong.
const VALIDATORS_BLOCKS: u64 = 30;
/// Blocks between two questions for the own standing.
const STANDING_BLOCKS: u64 = 4;
/// Blocks between two polls while sessions are open, for what no validator pushes
/// (`job_poll_interval_seconds` of CIP-11).
const POLL_BLOCKS: u64 = 8;
/// Blocks without a sign of life after which one is given. The chain allows 100.
const HEARTBEAT_BLOCKS: u64 = 40;
/// Blocks that a node may be behind the validators, and for how many rounds, before another one is
/// asked.
const LAG_BLOCKS: u64 = 2;
const LAG_ROUNDS: u32 = 3;

/// Blocks for which a pause that the runner makes itself lasts at least.
const REST_BLOCKS: u64 = 20;

/// Codes of what no node will ever take.
const FOR_GOOD: [&str; 7] = [
    "too_large",
    "malformed",
    "wrong_chain",
    "bad_signature",
    "limit_too_low",
    "limit_too_high",
    "cost_overflow",
];

/// Whether a runner has to say that it is alive: where presence is no condition, and nobody attests
/// it.
pub(super) fn heartbeat_due(runner: &RunnerView, policy: &str, height: u64) -> bool {
    let counts = matches!(policy, "shadow" | "prefer");
    let active = runner.status == RunnerStatusName::Active && runner.jailed_until.is_none();
    counts
        && active
        && !runner.present
        && height >= runner.last_seen.0.saturating_add(HEARTBEAT_BLOCKS)
}

impl Desk {
    pub(super) fn pulse(&mut self, answer: Result<Pulse, String>) {
        self.rounds.asking = false;
        let pulse = match answer {
            Ok(pulse) => pulse,
            Err(why) => {
                self.chain.problem = Some(why);
                self.chain.reachable = false;
                return;
            }
        };
        self.chain.reachable = true;
        let facts = pulse.facts;
        self.chain.strangers = pulse.strangers;
        if self.chain.height.is_some() && facts.chain_id != self.identity.chain_id {
            self.chain.problem = Some(format!("a node is of another chain: {}", facts.chain_id));
            return self.act(Action::TurnNodes);
        }
        self.identity.chain_id = facts.chain_id;
        if self.chain.height.is_none_or(|known| facts.height > known) {
            self.chain.problem = None;
            self.chain.policy = pulse.policy;
            self.chain.block_time = pulse.block_time;
            self.chain.money = Some((facts.balance, Purse::new(facts.basefees)));
            for (purpose, hash) in self.outbox.learn(facts) {
                // Of a job that is over nobody asks any more how often it was done.
                if let Purpose::Job(job, ..) = purpose
                    && !self.jobs.contains_key(&job)
                {
                    self.outbox.forget(job);
                }
                self.act(Action::LookUp(purpose, hash));
            }
            let first = self.chain.height.replace(facts.height).is_none();
            if first {
                info!(chain = facts.chain_id, height = facts.height, "connected to the chain");
                self.begin();
            }
            self.new_height();
        }
        let head = self.sessions.common_head();
        self.rounds.due |= head.is_some_and(|head| head > self.at());
        self.watch_lag(head);
    }

    fn begin(&mut self) {
        if self.state == RunState::Starting {
            self.state = RunState::Running;
        }
        // The journal's jobs are looked up at once.
        let (at, jobs) = (self.at(), self.jobs.keys().copied().collect::<Vec<_>>());
        for job in jobs {
            self.jobs.get_mut(&job).into_iter().for_each(|open| open.since = at);
            self.ask_for(job);
        }
    }

    fn new_height(&mut self) {
        self.follow_epoch();
        let at = self.at();
        // What is about to pause, or to come back, does not wait for its turn.
        let unfit = self.unfit();
        let pauses = unfit && !self.pause.is_on() && self.affords_pause();
        let turns = self.draining() || pauses || (self.pause.is_on() && !unfit);
        let often = if turns { 1 } else { STANDING_BLOCKS };
        let awaited = self.draining() && self.polling == Polling::Unanswered;
        let poll = if self.sessions.any_open() && !awaited { POLL_BLOCKS } else { 1 };
        let questions = [
            (VALIDATORS_BLOCKS, Action::Validators),
            (often, Action::Standing),
            (poll, Action::Poll),
        ];
        for (i, (every, question)) in questions.into_iter().enumerate() {
            let skip = question == Action::Poll && self.polling == Polling::Over;
            if !skip && self.asked[i].is_none_or(|asked| at >= asked.saturating_add(every)) {
                self.asked[i] = Some(at);
                self.act(question);
            }
        }
        let heartbeat = !self.draining()
            && self.standing.view().is_some_and(|view| heartbeat_due(view, &self.chain.policy, at));
        if heartbeat && !self.outbox.has(&Purpose::Heartbeat) {
            self.outbox.want(Purpose::Heartbeat, Instruction::Heartbeat, at);
            self.asked[1] = None;
        }
    }

    /// A node that stands still while validators go on is not asked first any more.
    fn watch_lag(&mut self, head: Option<u64>) {
        let behind = head.is_some_and(|head| head > self.at().saturating_add(LAG_BLOCKS));
        self.chain.lags = if behind { self.chain.lags.saturating_add(1) } else { 0 };
        if self.chain.lags >= LAG_ROUNDS {
            self.chain.lags = 0;
            self.act(Action::TurnNodes);
        }
    }

    pub(super) fn polled(&mut self, polled: Polled) {
        let jobs = match polled {
            Polled::Jobs(jobs) => jobs,
            Polled::Over => {
                self.polling = Polling::Over;
                return self.judge_drained();
            }
        };
        if self.polling == Polling::Unanswered {
            self.polling = Polling::Answered;
        }
        for Seated { job, attempt, committed } in jobs {
            let open = self.jobs.get(&job).is_some_and(|open| !open.glance);
            let known = open || self.history.done.contains(&(job, attempt));
            // Who is bound has to answer for it, also if it is about to stop.
            if known || (self.draining() && !committed) {
                continue;
            }
            self.jobs.insert(job, Open::new(job, attempt, None, self.at()));
            super::learned(job);
            self.ask_for(job);
        }
        self.judge_drained();
    }

    pub(super) fn stands(&mut self, view: Option<Box<RunnerView>>) {
        let status = view.as_ref().map(|view| view.status);
        let registration = Registration { height: self.at(), view: view.map(|view| *view) };
        self.standing = Standing::Current(registration);
        if !self.rules.pinnable.is_empty() {
            self.act(Action::Pinned(self.rules.pinnable.clone()));
        }
        let seen = self.at();
        let Some(status) = status else { return self.judge_drained() };
        match status {
            RunnerStatusName::Paused
                if !self.draining() && self.resumes() && !self.unfit() && self.rested() =>
            {
                // Until the chain says otherwise: what is sent may be lost.
                self.pause = Pause::Resuming { since: seen };
                self.outbox.want(Purpose::Resume, Instruction::ResumeRunner, seen);
            }
            RunnerStatusName::Active => {
                let pauses = !self.draining() && self.unfit() && self.affords_pause();
                let resumed = match self.pause {
                    Pause::Unknown => true,
                    Pause::Resuming { .. } => !self.outbox.has(&Purpose::Resume),
                    Pause::Off | Pause::On { .. } => false,
                };
                if resumed {
                    self.pause = Pause::Off;
                }
                if pauses && !self.pause.is_on() {
                    info!("pausing on chain until the runner can work again");
                    self.pause = Pause::On { since: seen };
                }
                if !pauses && self.rested() && !self.outbox.has(&Purpose::Pause) {
                    self.pause = Pause::Off;
                }
                if self.draining() || pauses {
                    self.outbox.want(Purpose::Pause, Instruction::PauseRunner, seen);
                }
            }
            _ => {}
        }
        self.judge_drained();
    }

    /// Whether a pause is to be ended: one that it made itself, or, if its operator says so, the one
    /// that it finds when it starts. If its operator pauses it later, that is meant.
    pub(super) fn resumes(&self) -> bool {
        self.pause.is_on() || (self.rules.resume && self.pause == Pause::Unknown)
    }

    /// Whether whatever it is drawn for it would fail at: it is better not drawn. A draw that is
    /// missed costs reputation, a pause next to nothing.
    fn unfit(&self) -> bool {
        self.short_of_money().is_some() || self.helpless() || self.faults.any()
    }

    /// Whether enough time has passed since it paused: nobody should pause and resume with every
    /// block.
    fn rested(&self) -> bool {
        self.pause.since().is_none_or(|since| self.at() >= since.saturating_add(REST_BLOCKS))
    }

    /// All its work needs servers that are gone.
    pub(super) fn helpless(&self) -> bool {
        self.dependencies.all_lost() && !self.rules.abilities.alone()
    }

    /// What governance vouches for is offered, too. Pins do not change while a chain goes on.
    pub(super) fn pinned(&mut self, programs: Vec<B256>) {
        self.rules.pinnable.clear();
        if let Ok(offer) = &mut self.rules.offer {
            offer.executors.extend(programs.into_iter().map(HexHash));
            offer.executors.sort_by_key(|hash| hash.0);
            offer.executors.dedup();
        }
    }

    pub(super) fn draining(&self) -> bool {
        matches!(self.state, RunState::Draining | RunState::Drained)
    }

    pub(super) fn drain(&mut self) {
        if !self.draining() {
            info!("draining: no new jobs are taken");
            self.state = RunState::Draining;
            self.standing.outdate();
            self.act(Action::Standing);
        }
        self.judge_drained();
    }

    /// Nothing is left to do: the chain knows that it wants no work, and every result is out of its
    /// hands. A job that it has no result for needs nothing more from it.
    pub(super) fn judge_drained(&mut self) {
        let idle = self.jobs.values().all(|open| matches!(open.stage, Stage::Failed(_)));
        // A lost journal says nothing of what it is bound by.
        let told = self.polling != Polling::Unanswered;
        let paused = match &self.standing {
            Standing::Unknown | Standing::Outdated(_) => false,
            Standing::Current(Registration { view, .. }) => {
                view.as_ref().is_none_or(|view| view.status != RunnerStatusName::Active)
            }
        };
        if self.state == RunState::Draining && idle && told && paused && self.outbox.is_empty() {
            info!("drained");
            self.state = RunState::Drained;
        }
    }

    pub(super) fn send(&mut self) {
        for parcel in self.outbox.due() {
            self.route(parcel);
        }
    }

    /// First up the stream of the validator that was first; then through all others; then also by
    /// HTTP, at one node after the other. So who buries a result delays it by two blocks.
    fn route(&mut self, parcel: Parcel) {
        let Parcel { purpose, signed, tries } = parcel;
        let (job, streams) = match purpose {
            Purpose::Job(job, ..) => {
                let streams = self.jobs.get(&job).map_or(Vec::new(), |open| open.streams.clone());
                (Some(job), streams)
            }
            Purpose::Heartbeat | Purpose::Pause | Purpose::Resume => (None, Vec::new()),
        };
        let streams: Vec<_> =
            streams.into_iter().filter(|stream| self.sessions.is_open(stream)).collect();
        let (by, also_http) = match (tries, streams.len()) {
            (0, 1..) => (&streams[..1], false),
            (1, 2..) => (&streams[1..], false),
            _ => (&streams[..], true),
        };
        for validator in by {
            if let Some(job) = job {
                self.act(Action::Carry(*validator, job, signed.bytes.clone()));
            }
        }
        if also_http {
            self.act(Action::Submit(signed, tries as usize));
        }
    }

    pub(super) fn refused(&mut self, hash: TxHash, code: &str, reason: String) {
        if FOR_GOOD.contains(&code) {
            warn!(%hash, %reason, "no node takes this transaction; it is given up");
            self.outbox.refused_for_good(hash);
        }
        if code == "cannot_pay" {
            // Another program with this key spends, too.
            self.chain.problem = Some(reason);
        }
    }

    pub(super) fn looked_up(&mut self, purpose: Purpose, status: &TransactionStatus) {
        match status {
            TransactionStatus::Included { receipt: Some(receipt), .. } if !receipt.ok => {
                let why = receipt.refusal.as_ref().map_or("", |refusal| refusal.message.as_str());
                warn!(?purpose, why, "a transaction is on chain, without effect");
            }
            TransactionStatus::Included { .. } => {}
            TransactionStatus::Pending {} | TransactionStatus::Unknown {} => {
                warn!(?purpose, "its nonce was used by another transaction of this key");
                self.twin_ms = Some(self.now_ms);
                self.outbox.not_done(&purpose);
                // It is paused yet, and nobody meant that: it need not wait to say so again.
                if purpose == Purpose::Resume {
                    self.pause = self.pause.not_resumed();
                }
            }
        }
        if matches!(purpose, Purpose::Pause | Purpose::Resume | Purpose::Heartbeat) {
            self.standing.outdate();
            self.act(Action::Standing);
        }
        self.judge_drained();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::runner_view;
    use remuda_client::types::Uint;

    #[test]
    fn a_heartbeat_is_for_who_is_not_attested_and_where_that_is_no_condition() {
        let view = runner_view(RunnerStatusName::Active, false, 100);
        assert!(!heartbeat_due(&view, "prefer", 139));
        assert!(heartbeat_due(&view, "prefer", 140));
        assert!(heartbeat_due(&view, "shadow", 140));
        for policy in ["require", "sunset"] {
            assert!(!heartbeat_due(&view, policy, 1_000), "{policy}: it would not help");
        }
        let present = RunnerView { present: true, ..view.clone() };
        assert!(!heartbeat_due(&present, "prefer", 1_000));
        let jailed = RunnerView { jailed_until: Some(Uint(5_000)), ..view.clone() };
        assert!(!heartbeat_due(&jailed, "prefer", 1_000));
        let paused = RunnerView { status: RunnerStatusName::Paused, ..view };
        assert!(!heartbeat_due(&paused, "prefer", 1_000));
    }
}
