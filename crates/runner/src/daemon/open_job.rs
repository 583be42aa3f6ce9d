//! One open job: what the runner holds, its state on chain, and the transaction that follows.

#[cfg(test)]
mod tests;

use super::fee_budget::{self, FeeBudget, PendingFees, ResultLimit};
use super::handover;
use super::nodes::JobSnapshot;
use super::outbox::TxKind;
use crate::case::{self, Collected, Held, Step};
use crate::executor::repeatable;
use crate::journal::{Entry, Outcome, Stage};
use remuda_client::sign::SPARE_CYCLES;
use remuda_link::frame::{Handover, JobAssignment};
use remuda_link::sign::ValidatorKey;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::job::{Job, SeatState};
use remuda_protocol::dispatcher::judging::judging_cycles;
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::event::CrashSignal;
use remuda_protocol::primitives::{Address, B256, JobId};
use remuda_protocol::transaction::{Instruction, Reveal};
use std::collections::BTreeMap;

/// Bytes of results in one aggregate: a transaction has at most 128 KiB. A single result always fits.
const AGGREGATE_BYTES: usize = 120_000;
/// Cycles for judging an aggregate: well below the runners' share of a block.
const AGGREGATE_CYCLES: u64 = 1_000_000;
/// Blocks between two looks at a job whose work is running or has failed.
const IDLE_BLOCKS: u64 = 5;
/// Blocks until the result is delivered to the aggregator again.
const REDELIVERY_BLOCKS: u64 = 3;

/// Enters every digest.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) chain_id: u64,
    pub(crate) key: SecretKey,
    pub(crate) me: Address,
}

/// Whether the chain agrees that a job is this runner's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChainCheck {
    /// The job was refused. It is looked up once, because the runner may be bound by it all the same.
    ProbeOnly,
    /// The chain has not confirmed the claim of a validator, a poll or the journal yet.
    Pending,
    /// The chain agrees. `pinned`: governance vouches for the job's program.
    Passed { pinned: bool },
}

/// The work on a job.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Waiting,
    Running,
    Done(Outcome),
    Failed(String),
}

/// Deliveries of the result to the aggregator.
#[derive(Debug, Default)]
pub(crate) struct Deliveries {
    /// Height of the last one.
    last: Option<u64>,
    in_flight: bool,
    count: usize,
}

impl Deliveries {
    /// Begins a delivery, unless one is in flight or the last one is recent. Returns its number.
    pub(crate) fn begin(&mut self, height: u64) -> Option<usize> {
        let recent = |last: u64| height < last.saturating_add(REDELIVERY_BLOCKS);
        // One at a time: a validator may take any time to answer.
        if self.in_flight || self.last.is_some_and(recent) {
            return None;
        }
        let number = self.count;
        *self = Self { last: Some(height), in_flight: true, count: number.wrapping_add(1) };
        Some(number)
    }

    pub(crate) fn end(&mut self) {
        self.in_flight = false;
    }
}

#[derive(Debug)]
pub(crate) struct OpenJob {
    pub(crate) job_id: JobId,
    pub(crate) attempt: u32,
    /// As claimed, until the chain has confirmed the job.
    pub(crate) spec: Option<JobSpec>,
    /// The validator whose claim is checked; none for jobs of the journal or a poll.
    pub(crate) pushed_by: Option<ValidatorKey>,
    /// Validators with a stream for it, in order of arrival.
    pub(crate) streams: Vec<ValidatorKey>,
    /// The assigning block, as each of them claims.
    claimed_heights: BTreeMap<ValidatorKey, u64>,
    /// The same, as `pushed_by` claims.
    pub(crate) assigned_at: u64,
    /// The runner's height when the claim arrived.
    pub(crate) claimed_at: u64,
    pub(crate) check: ChainCheck,
    /// Answers of nodes that contradicted the claim. Also picks the node that is asked next.
    pub(crate) refuted_by: usize,
    /// The newest snapshot of the job, and its height.
    pub(crate) view: Option<(u64, Job)>,
    /// A node is being asked for the job.
    pub(crate) reading: bool,
    pub(crate) work: Work,
    pub(crate) percent: u8,
    /// Sealed results of others that no commitment is known for yet.
    sealed: BTreeMap<Address, Handover>,
    /// Results of others, checked against their commitments.
    pub(super) collected: BTreeMap<Address, Reveal>,
    pub(crate) deliveries: Deliveries,
    /// Why the result is an excuse, or what failed last.
    pub(crate) reason: Option<String>,
    /// Failures of the runner's own parts at this job that may be chance.
    pub(crate) failures: u32,
    /// The size of result that money is reserved for, once work has begun.
    pub(crate) result_limit: Option<ResultLimit>,
    /// For people.
    pub(crate) activity: String,
}

impl OpenJob {
    pub(crate) fn new(job_id: JobId, attempt: u32, spec: Option<JobSpec>, height: u64) -> Self {
        Self {
            job_id,
            attempt,
            spec,
            pushed_by: None,
            streams: Vec::new(),
            claimed_heights: BTreeMap::new(),
            assigned_at: 0,
            claimed_at: height,
            check: ChainCheck::Pending,
            refuted_by: 0,
            view: None,
            reading: false,
            work: Work::Waiting,
            percent: 0,
            sealed: BTreeMap::new(),
            collected: BTreeMap::new(),
            deliveries: Deliveries::default(),
            reason: None,
            failures: 0,
            result_limit: None,
            activity: "checking it against the chain".to_owned(),
        }
    }

    /// A job from the journal. Work that was interrupted and must not be repeated has failed.
    pub(crate) fn recalled(entry: Entry, height: u64) -> Self {
        let work = match entry.stage {
            Stage::Begun if !repeatable(&entry.spec.job_type) => Work::Failed(
                "the runner stopped during the work, which must not be repeated".to_owned(),
            ),
            Stage::Taken | Stage::Begun => Work::Waiting,
            Stage::Done(outcome) => Work::Done(outcome),
            Stage::Failed(reason) => Work::Failed(reason),
        };
        Self { work, ..Self::new(entry.job_id, entry.attempt, Some(entry.spec), height) }
    }

    /// A job that a validator pushed.
    pub(crate) fn pushed(
        validator: ValidatorKey,
        assignment: &JobAssignment,
        spec: Option<JobSpec>,
        height: u64,
    ) -> Self {
        Self {
            pushed_by: Some(validator),
            assigned_at: assignment.block_height,
            ..Self::new(assignment.job_id, assignment.attempt, spec, height)
        }
    }

    pub(crate) fn probe_only(&self) -> bool {
        self.check == ChainCheck::ProbeOnly
    }

    pub(crate) fn checked(&self) -> bool {
        matches!(self.check, ChainCheck::Passed { .. })
    }

    pub(crate) fn running(&self) -> bool {
        self.work == Work::Running
    }

    /// The work may begin once there is a slot, money, and no fault.
    pub(crate) fn waiting(&self) -> bool {
        self.checked() && self.work == Work::Waiting
    }

    /// Counts against the slots: the job is running, or may run.
    pub(crate) fn busy(&self) -> bool {
        self.checked() && matches!(self.work, Work::Waiting | Work::Running)
    }

    /// Whether to ask for the job in this round. Less often if nothing is to be done before the work or the
    /// job's time is over.
    pub(crate) fn due(&self, height: u64) -> bool {
        let seen = self.view.as_ref().map_or(0, |(height, _)| *height);
        let failed = self.checked() && matches!(self.work, Work::Failed(_));
        let idle = self.running() || failed;
        !self.reading && (!idle || height >= seen.saturating_add(IDLE_BLOCKS))
    }

    /// Another validator has a stream for the job.
    pub(crate) fn join(&mut self, validator: ValidatorKey, assigned_at: u64) {
        self.claimed_heights.insert(validator, assigned_at);
        if !self.streams.contains(&validator) {
            self.streams.push(validator);
        }
    }

    /// Drops a validator whose claim was false, and takes up the next one's. `false` if there is none.
    pub(crate) fn next_claim(&mut self, refuted: ValidatorKey, height: u64) -> bool {
        self.streams.retain(|stream| *stream != refuted);
        let Some(next) = self.streams.first() else { return false };
        (self.pushed_by, self.claimed_at, self.refuted_by) = (Some(*next), height, 0);
        self.assigned_at = self.claimed_heights.get(next).copied().unwrap_or(height);
        // The specification may be false, too.
        self.spec = None;
        true
    }

    /// What the runner holds, given what it is committed to.
    fn held(&self, identity: &Identity, job: &Job) -> Held {
        let outcome = match &self.work {
            Work::Waiting | Work::Running => return Held::Nothing,
            Work::Failed(_) => return Held::NoResult,
            Work::Done(outcome) => outcome,
        };
        match progress_of(job, identity.me) {
            // The commitment is to a result that was lost, or to one of a copy of this runner. Revealing
            // this one would be false.
            Some(SeatState::Committed { commitment, .. })
                if commitment != self.commitment(identity, outcome) =>
            {
                Held::Lost
            }
            _ => Held::Result,
        }
    }

    fn commitment(&self, identity: &Identity, outcome: &Outcome) -> B256 {
        let Outcome { delivery, salt, result_sig } = outcome;
        let (chain_id, me) = (identity.chain_id, identity.me);
        delivery.commitment(chain_id, self.job_id, self.attempt, me, salt, &result_sig.bytes)
    }

    /// Records a snapshot, unless a newer one is known.
    pub(crate) fn update(&mut self, identity: &Identity, reading: JobSnapshot) {
        let older = self.view.as_ref().is_some_and(|(height, _)| reading.height < *height);
        if let (Some(job), false) = (reading.job, older) {
            self.view = Some((reading.height, job));
            self.unseal(identity);
        }
    }

    /// A sealed result for this runner as the aggregator. Returns whether it is kept: one of each member.
    pub(crate) fn handover(&mut self, identity: &Identity, frame: Handover) -> bool {
        let (Some((_, job)), Some(spec)) = (&self.view, &self.spec) else { return false };
        let max = spec.result_schema.max_return_bytes as usize;
        let from = Address::from(frame.runner);
        let wanted = self.checked()
            && !self.collected.contains_key(&from)
            && handover::genuine(identity.chain_id, identity.me, job, max, &frame);
        if wanted {
            self.sealed.insert(from, frame);
            self.unseal(identity);
        }
        wanted
    }

    /// Keeps what does not match the view yet: the sender may be a block ahead.
    fn unseal(&mut self, identity: &Identity) {
        let Some((_, job)) = &self.view else { return };
        let collected = &mut self.collected;
        self.sealed.retain(|from, frame| {
            match handover::opened(identity.chain_id, &identity.key, job, frame) {
                Some(reveal) => {
                    collected.insert(*from, reveal);
                    false
                }
                None => true,
            }
        });
    }

    /// Whether the aggregator's bonus pays for opening the collected results.
    pub(crate) fn bonus_covers(&self, fees: &FeeBudget) -> bool {
        let others: Vec<usize> = self.collected.values().map(|one| one.result.len()).collect();
        self.spec.as_ref().is_none_or(|spec| fees.bonus_covers(spec, &others))
    }

    /// None before the chain has confirmed the job.
    pub(crate) fn step(&self, identity: &Identity) -> Option<(u64, Step)> {
        let (height, job) = self.view.as_ref().filter(|_| self.checked())?;
        let mode = self.spec.as_ref()?.verification.mode;
        let collected = Collected { from: self.collected.keys().copied().collect() };
        let held = self.held(identity, job);
        Some((*height, case::next(identity.me, job, mode, held, &collected, *height)))
    }

    pub(crate) fn reveal(&self, identity: &Identity) -> Option<Reveal> {
        let Work::Done(outcome) = &self.work else { return None };
        Some(Reveal {
            runner: identity.me,
            result: outcome.delivery.clone(),
            salt: outcome.salt,
            result_sig: outcome.result_sig,
        })
    }

    /// The transaction of a step, if it is one.
    pub(crate) fn transaction(
        &self,
        identity: &Identity,
        step: &Step,
    ) -> Option<(TxKind, Instruction)> {
        let job = self.job_id;
        Some(match step {
            Step::Submit => {
                let Reveal { result, result_sig, .. } = self.reveal(identity)?;
                (TxKind::Submit, Instruction::SubmitResult { job, result, result_sig })
            }
            Step::Commit => {
                let Work::Done(outcome) = &self.work else { return None };
                let commitment = self.commitment(identity, outcome);
                (TxKind::Commit, Instruction::CommitResult { job, commitment })
            }
            Step::RevealOwn => {
                let reveal = self.reveal(identity)?;
                (TxKind::Reveal, Instruction::RevealResult { job, reveal })
            }
            Step::RevealAll(from) => {
                let reveals = self.aggregate(identity, from);
                (TxKind::RevealAll, Instruction::RevealAggregate { job, reveals })
            }
            Step::AttestCrash => {
                let signal = CrashSignal::Other;
                (TxKind::Attest, Instruction::CrashAttestation { job, signal })
            }
            Step::Execute | Step::Wait | Step::HandOver(_) | Step::Close(_) => return None,
        })
    }

    fn judging(&self, reveal: &Reveal) -> u64 {
        self.spec.as_ref().map_or(0, |spec| judging_cycles(spec, reveal.result.len()))
    }

    /// Cycles beyond the price list: for judging the results by the job's checks.
    pub(crate) fn spare(&self, instruction: &Instruction) -> Option<u64> {
        let judged = match instruction {
            Instruction::RevealResult { reveal, .. } => self.judging(reveal),
            Instruction::RevealAggregate { reveals, .. } => {
                reveals.iter().map(|reveal| self.judging(reveal)).sum()
            }
            Instruction::SubmitResult { result, .. } => {
                return Some(fee_budget::single_spare(result.len()));
            }
            _ => return None,
        };
        Some(judged.saturating_add(SPARE_CYCLES))
    }

    /// As many of these results as fit into a transaction.
    fn aggregate(&self, identity: &Identity, from: &[Address]) -> Vec<Reveal> {
        let own = |runner: &Address| (*runner == identity.me).then(|| self.reveal(identity));
        let find =
            |runner: &Address| own(runner).unwrap_or_else(|| self.collected.get(runner).cloned());
        let (mut reveals, mut bytes, mut cycles) = (Vec::new(), 0, 0);
        for reveal in from.iter().filter_map(find) {
            bytes += reveal.result.len();
            cycles += self.judging(&reveal);
            let fits = bytes <= AGGREGATE_BYTES && cycles <= AGGREGATE_CYCLES;
            if fits || reveals.is_empty() {
                reveals.push(reveal);
            }
        }
        reveals
    }

    /// Upper bound of the fees that the job may still cost.
    pub(crate) fn fees(&self, identity: &Identity, budget: &FeeBudget) -> u128 {
        let Some(spec) = &self.spec else { return 0 };
        let bytes = match &self.work {
            Work::Done(outcome) => outcome.delivery.len(),
            _ => self.result_limit.map_or_else(|| fee_budget::least(spec), |limit| limit.bytes),
        };
        budget.job(spec, bytes, self.pending_fees(identity))
    }

    fn pending_fees(&self, identity: &Identity) -> PendingFees {
        let progress = self.view.as_ref().and_then(|(_, job)| progress_of(job, identity.me));
        match (progress, &self.work) {
            (Some(SeatState::Committed { .. }), _) => PendingFees::Opening,
            (Some(SeatState::Waiting), Work::Failed(_)) => PendingFees::Nothing,
            (Some(SeatState::Waiting), _) => PendingFees::All,
            _ => PendingFees::Nothing,
        }
    }

    /// Whether the runner has committed: stake is at risk until the reveal.
    pub(crate) fn bound(&self, identity: &Identity) -> bool {
        self.pending_fees(identity) == PendingFees::Opening
    }

    /// Why there is no result, or only an excuse.
    pub(crate) fn failure(&self) -> Option<String> {
        match &self.work {
            Work::Failed(reason) => Some(reason.clone()),
            Work::Done(outcome) => {
                let code = outcome.delivery.excuse()?.name();
                let reason = self.reason.as_ref().map_or(String::new(), |it| format!(": {it}"));
                Some(format!("submitting an excuse ({code}){reason}"))
            }
            Work::Waiting | Work::Running => self.reason.clone(),
        }
    }

    /// The last block for a commit, or for the result of a single runner.
    pub(crate) fn deadline(&self) -> Option<u64> {
        self.view.as_ref().map(|(_, job)| job.commit_by.get())
    }
}

fn progress_of(job: &Job, runner: Address) -> Option<SeatState> {
    job.taking_part().find(|seat| seat.runner == runner).map(|seat| seat.progress)
}
