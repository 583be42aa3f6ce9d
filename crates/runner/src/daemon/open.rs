//! One job that this runner sits on: what it holds, what the chain says, and what it would send.

#[cfg(test)]
mod tests;

use super::handover;
use super::nodes::Reading;
use super::purse::{self, Ahead, Most, Purse};
use super::sender::Deed;
use crate::case::{self, Collected, Held, Step};
use crate::executor::repeatable;
use crate::journal::{Entry, Outcome, Stage};
use remuda_client::sign::SPARE_CYCLES;
use remuda_link::frame::Handover;
use remuda_link::sign::ValidatorKey;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::job::{Job, SeatState};
use remuda_protocol::dispatcher::judging::judging_cycles;
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::event::CrashSignal;
use remuda_protocol::primitives::{Address, B256, JobId};
use remuda_protocol::transaction::{Instruction, Reveal};
use std::collections::BTreeMap;

/// Bytes of results in one aggregate; a transaction has 128 KiB at most. Of several results at
/// least the first goes, since one alone always fits.
const AGGREGATE_BYTES: usize = 120_000;
/// And cycles of judging them: well below what runners have of a block.
const AGGREGATE_CYCLES: u64 = 1_000_000;

/// Who this is, for every digest.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) chain_id: u64,
    pub(crate) key: SecretKey,
    pub(crate) me: Address,
}

#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) job_id: JobId,
    pub(crate) attempt: u32,
    /// As it was pushed or written down; none until the chain has told.
    pub(crate) spec: Option<JobSpec>,
    /// Who sent it first, if anybody did.
    pub(crate) from: Option<ValidatorKey>,
    /// Whose session has a stream for it, first come first.
    pub(crate) streams: Vec<ValidatorKey>,
    /// The block that assigned it, by the word of each of them.
    told: BTreeMap<ValidatorKey, u64>,
    /// The same, by the word of whoever is believed for now.
    pub(crate) assigned_at: u64,
    /// Our height when it came.
    pub(crate) since: u64,
    /// Whether governance vouches for its program, says the chain.
    pub(crate) pinned: bool,
    /// Whether the chain agrees that it is ours.
    pub(crate) checked: bool,
    /// How often the chain did not.
    pub(crate) doubts: usize,
    /// The newest view of the job, and the height that it is of.
    pub(crate) view: Option<(u64, Job)>,
    /// Somebody is asking the chain.
    pub(crate) reading: bool,
    pub(crate) working: bool,
    pub(crate) progress: (u8, String),
    pub(crate) stage: Stage,
    handovers: BTreeMap<Address, Handover>,
    pub(super) collected: BTreeMap<Address, Reveal>,
    /// When the result was last given to the aggregator.
    pub(crate) handed: Option<u64>,
    pub(crate) handing: bool,
    /// How often it was given.
    pub(crate) handings: usize,
    /// Why its result is an excuse, if it is and that is known; or what broke at it.
    pub(crate) why: Option<String>,
    /// How often a part of the runner's own failed at it, perhaps by chance.
    pub(crate) failures: u32,
    /// What its result may have, since work has begun: so much money is kept for it.
    pub(crate) most: Option<Most>,
    /// It was refused, and is only looked up: if it is bound, something is due all the same.
    pub(crate) glance: bool,
    /// What it does now, for people.
    pub(crate) doing: String,
}

impl Open {
    /// A job that is new here.
    pub(crate) fn new(job_id: JobId, attempt: u32, spec: Option<JobSpec>, height: u64) -> Self {
        Self {
            job_id,
            attempt,
            spec,
            from: None,
            streams: Vec::new(),
            told: BTreeMap::new(),
            assigned_at: 0,
            since: height,
            pinned: false,
            checked: false,
            doubts: 0,
            view: None,
            reading: false,
            working: false,
            progress: (0, String::new()),
            stage: Stage::Taken,
            handovers: BTreeMap::new(),
            collected: BTreeMap::new(),
            handed: None,
            handing: false,
            handings: 0,
            why: None,
            failures: 0,
            most: None,
            glance: false,
            doing: "checks it against the chain".to_owned(),
        }
    }

    /// A job from the journal. Work that had begun and must not be done twice is over.
    pub(crate) fn recalled(entry: Entry, height: u64) -> Self {
        let stage = match entry.stage {
            Stage::Begun if !repeatable(&entry.spec.job_type) => {
                let reason =
                    "the runner stopped while it was at work, and it may be done once only";
                Stage::Failed(reason.to_owned())
            }
            Stage::Begun => Stage::Taken,
            stage => stage,
        };
        Self { stage, ..Self::new(entry.job_id, entry.attempt, Some(entry.spec), height) }
    }

    /// A validator has a stream for it, too.
    pub(crate) fn join(&mut self, validator: ValidatorKey, assigned_at: u64) {
        self.told.insert(validator, assigned_at);
        if !self.streams.contains(&validator) {
            self.streams.push(validator);
        }
    }

    /// Who sent it told a lie. Whether somebody else is left; then it is that one's from now on.
    pub(crate) fn ask_next(&mut self, liar: ValidatorKey, height: u64) -> bool {
        self.streams.retain(|stream| *stream != liar);
        let Some(next) = self.streams.first() else { return false };
        (self.from, self.since, self.doubts) = (Some(*next), height, 0);
        self.assigned_at = self.told.get(next).copied().unwrap_or(height);
        // The liar's may be a lie as well.
        self.spec = None;
        true
    }

    /// What it holds, in view of what it is bound to.
    fn held(&self, identity: &Identity, job: &Job) -> Held {
        let outcome = match &self.stage {
            Stage::Taken | Stage::Begun => return Held::Nothing,
            Stage::Failed(_) => return Held::NoResult,
            Stage::Done(outcome) => outcome,
        };
        let mut seats = job.taking_part().filter(|seat| seat.runner == identity.me);
        match seats.next().map(|seat| seat.progress) {
            // Bound to something else, by a copy of this runner or by a result that is gone. To
            // open this one would be a lie.
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

    /// Takes in what the chain says; an older view than the last one is no news.
    pub(crate) fn learn(&mut self, identity: &Identity, reading: Reading) {
        let older = self.view.as_ref().is_some_and(|(height, _)| reading.height < *height);
        if let (Some(job), false) = (reading.job, older) {
            self.view = Some((reading.height, job));
            self.open_handovers(identity);
        }
    }

    /// Somebody's result for this runner as the aggregator. One of each member is kept.
    pub(crate) fn handover(&mut self, identity: &Identity, frame: Handover) -> bool {
        let (Some((_, job)), Some(spec)) = (&self.view, &self.spec) else { return false };
        let max = spec.result_schema.max_return_bytes as usize;
        let from = Address::from(frame.runner);
        let wanted = self.checked
            && !self.collected.contains_key(&from)
            && handover::genuine(identity.chain_id, identity.me, job, max, &frame);
        if wanted {
            self.handovers.insert(from, frame);
            self.open_handovers(identity);
        }
        wanted
    }

    /// The sender may be a block ahead: what does not fit the view yet is kept for the next one.
    fn open_handovers(&mut self, identity: &Identity) {
        let Some((_, job)) = &self.view else { return };
        let collected = &mut self.collected;
        self.handovers.retain(|from, frame| {
            match handover::opened(identity.chain_id, &identity.key, job, frame) {
                Some(reveal) => {
                    collected.insert(*from, reveal);
                    false
                }
                None => true,
            }
        });
    }

    /// Whether the bonus pays for opening the results of others, as far as they are here.
    pub(crate) fn bonus_covers(&self, purse: &Purse) -> bool {
        let others: Vec<usize> = self.collected.values().map(|one| one.result.len()).collect();
        self.spec.as_ref().is_none_or(|spec| purse.bonus_covers(spec, &others))
    }

    /// How many results of others it has.
    pub(crate) fn collected(&self) -> usize {
        self.collected.len()
    }

    /// The next step, once the chain has been asked.
    pub(crate) fn step(&self, identity: &Identity) -> Option<(u64, Step)> {
        let (height, job) = self.view.as_ref().filter(|_| self.checked)?;
        let mode = self.spec.as_ref()?.verification.mode;
        let collected = Collected { from: self.collected.keys().copied().collect() };
        let held = self.held(identity, job);
        Some((*height, case::next(identity.me, job, mode, held, &collected, *height)))
    }

    pub(crate) fn reveal(&self, identity: &Identity) -> Option<Reveal> {
        let Stage::Done(outcome) = &self.stage else { return None };
        Some(Reveal {
            runner: identity.me,
            result: outcome.delivery.clone(),
            salt: outcome.salt,
            result_sig: outcome.result_sig,
        })
    }

    /// The transaction of a step, if it is one.
    pub(crate) fn deed(&self, identity: &Identity, step: &Step) -> Option<(Deed, Instruction)> {
        let job = self.job_id;
        Some(match step {
            Step::Submit => {
                let Reveal { result, result_sig, .. } = self.reveal(identity)?;
                (Deed::Submit, Instruction::SubmitResult { job, result, result_sig })
            }
            Step::Commit => {
                let Stage::Done(outcome) = &self.stage else { return None };
                let commitment = self.commitment(identity, outcome);
                (Deed::Commit, Instruction::CommitResult { job, commitment })
            }
            Step::RevealOwn => {
                let reveal = self.reveal(identity)?;
                (Deed::Reveal, Instruction::RevealResult { job, reveal })
            }
            Step::RevealAll(from) => {
                let reveals = self.aggregate(identity, from);
                (Deed::RevealAll, Instruction::RevealAggregate { job, reveals })
            }
            Step::AttestCrash => {
                let signal = CrashSignal::Other;
                (Deed::Attest, Instruction::CrashAttestation { job, signal })
            }
            Step::Execute | Step::Wait | Step::HandOver(_) | Step::Close(_) => return None,
        })
    }

    fn judging(&self, reveal: &Reveal) -> u64 {
        self.spec.as_ref().map_or(0, |spec| judging_cycles(spec, reveal.result.len()))
    }

    /// Cycles that a deed costs beyond the price list: what judging its results takes, by what the
    /// job compares.
    pub(crate) fn spare(&self, instruction: &Instruction) -> Option<u64> {
        let judged = match instruction {
            Instruction::RevealResult { reveal, .. } => self.judging(reveal),
            Instruction::RevealAggregate { reveals, .. } => {
                reveals.iter().map(|reveal| self.judging(reveal)).sum()
            }
            Instruction::SubmitResult { result, .. } => {
                return Some(purse::single_spare(result.len()));
            }
            _ => return None,
        };
        Some(judged.saturating_add(SPARE_CYCLES))
    }

    /// As many of these results as a transaction holds.
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

    /// What it may still cost in fees; nothing once it needs no more transactions.
    pub(crate) fn fees(&self, identity: &Identity, purse: &Purse) -> u128 {
        let Some(spec) = &self.spec else { return 0 };
        let bytes = match &self.stage {
            Stage::Done(outcome) => outcome.delivery.len(),
            _ => self.most.map_or_else(|| purse::least(spec), |most| most.bytes),
        };
        purse.job(spec, bytes, self.ahead(identity))
    }

    fn ahead(&self, identity: &Identity) -> Ahead {
        let seat = self.view.as_ref().and_then(|(_, job)| {
            job.taking_part().find(|seat| seat.runner == identity.me).map(|seat| seat.progress)
        });
        match (seat, &self.stage) {
            (Some(SeatState::Committed { .. }), _) => Ahead::Opening,
            (Some(SeatState::Waiting), Stage::Failed(_)) => Ahead::Nothing,
            (Some(SeatState::Waiting), _) => Ahead::All,
            _ => Ahead::Nothing,
        }
    }

    /// Whether it has committed, so that stake answers for what comes next.
    pub(crate) fn bound(&self, identity: &Identity) -> bool {
        self.ahead(identity) == Ahead::Opening
    }

    /// Why there is no result, or only an excuse.
    pub(crate) fn failure(&self) -> Option<String> {
        match &self.stage {
            Stage::Failed(reason) => Some(reason.clone()),
            Stage::Done(outcome) => {
                let code = outcome.delivery.excuse()?.name();
                let why = self.why.as_ref().map_or(String::new(), |why| format!(": {why}"));
                Some(format!("it cannot be done, so the runner submits an excuse ({code}){why}"))
            }
            Stage::Taken | Stage::Begun => self.why.clone(),
        }
    }

    /// The last block for a commit, or for the result of a single runner.
    pub(crate) fn deadline(&self) -> Option<u64> {
        self.view.as_ref().map(|(_, job)| job.commit_by.get())
    }

    /// Whether it has, or may yet have, a place among those at work.
    pub(crate) fn busy(&self) -> bool {
        self.checked && (self.working || matches!(self.stage, Stage::Taken | Stage::Begun))
    }
}
