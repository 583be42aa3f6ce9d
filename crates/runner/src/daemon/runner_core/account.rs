//! The chain, the runner's registration, and the transactions in flight.

use super::schedule::{Polling, Question};
use super::standing::{Fitness, Registration, Standing};
use super::{Action, RunnerCore};
use crate::daemon::fee_budget::FeeBudget;
use crate::daemon::nodes::{AssignedJobs, ChainStatus, Seat};
use crate::daemon::open_job::{OpenJob, Work};
use crate::daemon::outbox::{OutgoingTx, Purpose};
use crate::daemon::status::RunState;
use remuda_client::types::{HexHash, RunnerStatusName, RunnerView, TransactionStatus};
use remuda_protocol::primitives::{B256, TxHash};
use remuda_protocol::transaction::Instruction;
use tracing::{info, warn};

/// Blocks between two questions for the validators, unless one of them announces a new subset epoch or
/// something is wrong.
const VALIDATORS_BLOCKS: u64 = 30;
/// Blocks between two questions for the registration.
const REGISTRATION_BLOCKS: u64 = 4;
/// Blocks between two polls while sessions are open: for jobs that no validator pushes.
const POLL_BLOCKS: u64 = 8;
/// Blocks without a sign of life until a heartbeat. The chain allows 100.
const HEARTBEAT_BLOCKS: u64 = 40;

/// Refusals that every node would repeat.
const PERMANENT_REFUSALS: [&str; 7] = [
    "too_large",
    "malformed",
    "wrong_chain",
    "bad_signature",
    "limit_too_low",
    "limit_too_high",
    "cost_overflow",
];

/// Heartbeats keep an unattested runner alive where presence is no condition for being drawn.
pub(super) fn heartbeat_due(runner: &RunnerView, policy: &str, height: u64) -> bool {
    let counts = matches!(policy, "shadow" | "prefer");
    let active = runner.status == RunnerStatusName::Active && runner.jailed_until.is_none();
    counts
        && active
        && !runner.present
        && height >= runner.last_seen.0.saturating_add(HEARTBEAT_BLOCKS)
}

impl RunnerCore {
    pub(super) fn chain_status(&mut self, answer: Result<ChainStatus, String>) {
        self.rounds.answered();
        self.chain.reachable = answer.is_ok();
        let status = match answer {
            Ok(status) => status,
            Err(why) => {
                self.chain.problem = Some(why);
                return;
            }
        };
        let account = status.account;
        self.chain.wrong_chain_nodes = status.wrong_chain_nodes;
        if self.chain.height.is_some() && account.chain_id != self.identity.chain_id {
            self.chain.problem = Some(format!(
                "a node is on chain {}, this runner on chain {}: remove it from `nodes`",
                account.chain_id, self.identity.chain_id
            ));
            return self.act(Action::RotateNodes);
        }
        self.identity.chain_id = account.chain_id;
        if self.chain.height.is_none_or(|known| account.height > known) {
            self.chain.problem = None;
            self.chain.policy = status.policy;
            self.chain.block_time = status.block_time;
            self.chain.money = Some((account.balance, FeeBudget::new(account.basefees)));
            for (purpose, hash) in self.outbox.update(account) {
                // The number of attempts matters only while the job is open.
                if let Purpose::Job(job, ..) = purpose
                    && !self.jobs.contains_key(&job)
                {
                    self.outbox.forget(job);
                }
                self.act(Action::GetTxStatus(purpose, hash));
            }
            if self.chain.height.replace(account.height).is_none() {
                info!(chain = account.chain_id, height = account.height, "connected to the chain");
                self.connected();
            }
            self.new_height();
        }
        let announced = self.sessions.common_head();
        if announced.is_some_and(|head| head > self.at()) {
            self.rounds.request();
        }
        if self.chain.lags(announced) {
            self.act(Action::RotateNodes);
        }
    }

    /// The first answer of a node. The journal's jobs are looked up at once.
    fn connected(&mut self) {
        if self.state == RunState::Starting {
            self.state = RunState::Running;
        }
        let at = self.at();
        for job in self.jobs.keys().copied().collect::<Vec<_>>() {
            self.jobs.get_mut(&job).into_iter().for_each(|open| open.claimed_at = at);
            self.ask_for(job);
        }
    }

    fn new_height(&mut self) {
        self.follow_epoch();
        let at = self.at();
        let standing_every =
            if self.pause.changes_soon(self.fitness()) { 1 } else { REGISTRATION_BLOCKS };
        let awaited = self.draining() && self.questions.polling == Polling::Unanswered;
        let poll_every = if self.sessions.any_open() && !awaited { POLL_BLOCKS } else { 1 };
        for (question, every, action) in [
            (Question::Validators, VALIDATORS_BLOCKS, Action::GetValidators),
            (Question::Registration, standing_every, Action::GetRegistration),
            (Question::AssignedJobs, poll_every, Action::GetAssignedJobs),
        ] {
            if self.questions.due(question, every, at) {
                self.act(action);
            }
        }
        let heartbeat = !self.draining()
            && self.standing.view().is_some_and(|view| heartbeat_due(view, &self.chain.policy, at));
        if heartbeat && !self.outbox.has(&Purpose::Heartbeat) {
            self.outbox.want(Purpose::Heartbeat, Instruction::Heartbeat, at);
            self.questions.repeat(Question::Registration);
        }
    }

    pub(super) fn assigned_jobs(&mut self, answer: AssignedJobs) {
        match answer {
            AssignedJobs::PollingOver => self.questions.polling = Polling::Over,
            AssignedJobs::Jobs(jobs) => {
                if self.questions.polling == Polling::Unanswered {
                    self.questions.polling = Polling::Answered;
                }
                for Seat { job, attempt, committed } in jobs {
                    let open = self.jobs.get(&job).is_some_and(|open| !open.probe_only());
                    let known = open || self.history.is_done(job, attempt);
                    // A committed runner answers for the job even if it is about to stop.
                    if known || (self.draining() && !committed) {
                        continue;
                    }
                    self.open(OpenJob::new(job, attempt, None, self.at()));
                    super::trace_learned(job);
                }
            }
        }
        self.check_drained();
    }

    pub(super) fn registration(&mut self, view: Option<Box<RunnerView>>) {
        let status = view.as_ref().map(|view| view.status);
        let at = self.at();
        self.standing =
            Standing::Current(Registration { height: at, view: view.map(|view| *view) });
        if !self.rules.pinnable.is_empty() {
            self.act(Action::GetPinnedPrograms(self.rules.pinnable.clone()));
        }
        let fitness = self.fitness();
        match status {
            Some(RunnerStatusName::Paused) if self.pause.seen_paused(fitness) => {
                self.outbox.want(Purpose::Resume, Instruction::ResumeRunner, at);
            }
            Some(RunnerStatusName::Active) => {
                let paused_before = self.pause.is_by_self();
                if self.pause.seen_active(fitness) {
                    self.outbox.want(Purpose::Pause, Instruction::PauseRunner, at);
                }
                if self.pause.is_by_self() && !paused_before {
                    info!(height = at, "runner unfit for work, pausing on chain");
                }
            }
            _ => {}
        }
        self.check_drained();
    }

    pub(super) fn fitness(&self) -> Fitness {
        Fitness {
            height: self.at(),
            draining: self.draining(),
            unfit: self.short_of_money().is_some() || self.helpless() || self.faults.any(),
            affords_pause: self.funds().is_some_and(|funds| funds.cover_pause()),
            resume: self.rules.resume,
            pausing: self.outbox.has(&Purpose::Pause),
            resuming: self.outbox.has(&Purpose::Resume),
        }
    }

    /// All work needs backends that are gone.
    pub(super) fn helpless(&self) -> bool {
        self.dependencies.all_lost() && !self.rules.abilities.alone()
    }

    /// Adds pinned programs to the offer. Pins do not change while a chain goes on.
    pub(super) fn pinned_programs(&mut self, programs: Vec<B256>) {
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
            info!("draining, accepting no new jobs");
            self.state = RunState::Draining;
            self.standing.mark_stale();
            self.act(Action::GetRegistration);
        }
        self.check_drained();
    }

    /// The runner is drained once the chain shows it inactive, and neither jobs nor transactions are left. A
    /// failed job needs nothing more.
    pub(super) fn check_drained(&mut self) {
        let idle = self.jobs.values().all(|open| matches!(open.work, Work::Failed(_)));
        // After the loss of the journal only a poll tells what the runner is bound by.
        let polled = self.questions.polling != Polling::Unanswered;
        let inactive = match &self.standing {
            Standing::Unknown | Standing::Stale(_) => false,
            Standing::Current(Registration { view, .. }) => {
                view.as_ref().is_none_or(|view| view.status != RunnerStatusName::Active)
            }
        };
        if self.state == RunState::Draining && idle && polled && inactive && self.outbox.is_empty()
        {
            info!("drained");
            self.state = RunState::Drained;
        }
    }

    pub(super) fn send_due(&mut self) {
        for tx in self.outbox.due() {
            self.route(tx);
        }
    }

    /// The first attempt goes to the validator that pushed the job first, the second to all others, later
    /// ones also to nodes by HTTP. So a validator that suppresses a result delays it by two blocks.
    fn route(&mut self, tx: OutgoingTx) {
        let OutgoingTx { purpose, signed, tries } = tx;
        let open = match purpose {
            Purpose::Job(job, ..) => self.jobs.get(&job),
            Purpose::Heartbeat | Purpose::Pause | Purpose::Resume => None,
        };
        let streams = open.map_or(&[][..], |open| &open.streams);
        let streams: Vec<_> =
            streams.iter().filter(|stream| self.sessions.is_open(stream)).copied().collect();
        let (validators, also_http) = match (tries, streams.len()) {
            (0, 1..) => (&streams[..1], false),
            (1, 2..) => (&streams[1..], false),
            _ => (&streams[..], true),
        };
        if let Purpose::Job(job, ..) = purpose {
            for validator in validators {
                self.act(Action::ForwardTx(*validator, job, signed.bytes.clone()));
            }
        }
        if also_http {
            self.act(Action::SubmitTx(signed, tries as usize));
        }
    }

    pub(super) fn tx_refused(&mut self, hash: TxHash, code: &str, reason: String) {
        if PERMANENT_REFUSALS.contains(&code) {
            warn!(%hash, code, %reason, "transaction refused, giving it up");
            self.outbox.refused_for_good(hash);
        }
        if code == "cannot_pay" {
            // Another program spends with this key.
            self.chain.problem = Some(reason);
        }
    }

    pub(super) fn tx_status(&mut self, purpose: Purpose, status: &TransactionStatus) {
        match status {
            TransactionStatus::Included { receipt: Some(receipt), .. } if !receipt.ok => {
                let reason = receipt.refusal.as_ref().map_or("", |it| it.message.as_str());
                warn!(?purpose, reason, "transaction included without effect");
            }
            TransactionStatus::Included { .. } => {}
            TransactionStatus::Pending {} | TransactionStatus::Unknown {} => {
                warn!(?purpose, "nonce taken by another transaction of this key");
                self.foreign_use_ms = Some(self.now_ms);
                self.outbox.not_done(&purpose);
                if purpose == Purpose::Resume {
                    self.pause.resume_lost();
                }
            }
        }
        if matches!(purpose, Purpose::Pause | Purpose::Resume | Purpose::Heartbeat) {
            self.standing.mark_stale();
            self.act(Action::GetRegistration);
        }
        self.check_drained();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::runner_view;
    use remuda_client::types::Uint;

    #[test]
    fn heartbeat_only_if_unattested_and_presence_optional() {
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
