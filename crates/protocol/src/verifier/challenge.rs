//! Bonded results and their challenge (SPEC §5, EconomicBond).
//!
//! A bonded result is paid at once, but 1.5 times its price of the runner's stake stays locked for
//! the dispute window. A challenger puts up a bond and the price of a fresh committee, with a tip of
//! its choice since a committee costs more than one runner, that does the work again under majority
//! vote. If it finds the same, the bond is slashed; if it finds something
//! else, the locked stake is, and first of all gives the challenger its costs back; if it finds
//! nothing, everybody is where they were.

use crate::agenda::Task;
use crate::codec::codec_struct;
use crate::dispatcher::committee::VerificationMode;
use crate::dispatcher::job::Seat;
use crate::dispatcher::spec::{DataFormat, JobSpec, Verification};
use crate::dispatcher::submit::{NewJob, job_id};
use crate::error::Refusal;
use crate::event::Event;
use crate::execute::Exec;
use crate::key::{BondKey, JobKey, JobSpecKey, ResultKey};
use crate::primitives::{Address, Amount, Height, JobId, TxHash};
use crate::registry::runner::Runner;
use crate::registry::stake::delegators_part;
use crate::registry::standing::SCORE_FAILED;
use crate::verifier::check::VerifierCheck;
use crate::verifier::json;
use crate::verifier::settle::VerifiedResult;

/// Runners that do a challenged job again, and how many of them must agree.
const COMMITTEE: (u32, u32) = (3, 2);

/// Challenges of one result under way at once.
const CHALLENGES_MAX: usize = 8;

/// Stake that answers for a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bond {
    /// Whose.
    pub runner: Address,
    /// How much.
    pub locked: Amount,
    /// Last height at which it can be challenged.
    pub until: Height,
    /// Challenges under way, each funded better than the one before it.
    pub challenges: Vec<Challenge>,
    /// The window was kept open once after a challenge that nobody could decide.
    pub extended: bool,
}
codec_struct!(Bond { runner, locked, until, challenges, extended });

/// A challenge under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// By whom.
    pub challenger: Address,
    /// At stake.
    pub bond: Amount,
    /// The price of the fresh committee.
    pub cost: Amount,
    /// The job that does the work again.
    pub by_job: JobId,
}
codec_struct!(Challenge { challenger, bond, cost, by_job });

impl Exec<'_> {
    /// Pays for a bonded result, and locks the stake that answers for it. If the free stake does
    /// not cover it, because draws of one moment overlap, the pay itself becomes stake.
    pub(crate) fn pay_bonded(&mut self, id: &JobId, seat: &Seat, pay: Amount, price: Amount) {
        let runner = seat.runner;
        let Some(mut record) = self.known(runner) else { return self.credit(runner, pay) };
        let wanted = price.scale(3, 2).unwrap_or(Amount(u128::MAX));
        let covered = free_stake(&record) >= wanted;
        let mut to_delegators = Amount::ZERO;
        if !covered {
            to_delegators = delegators_part(seat, &record, pay);
            let (own, theirs) = (pay.get() - to_delegators.get(), to_delegators.get());
            record.stake = Amount(record.stake.get() + own);
            record.delegated.amount = Amount(record.delegated.amount.get() + theirs);
        }
        let locked = wanted.at_most(free_stake(&record));
        record.locked = Amount(record.locked.get() + locked.get());
        self.put_runner(runner, record);
        if covered {
            to_delegators = self.pay_runner(seat, pay);
        }
        self.emit(Event::Paid { job: *id, runner, amount: pay, to_delegators });
        self.lock_bond(id, runner, locked);
    }

    fn lock_bond(&mut self, id: &JobId, runner: Address, locked: Amount) {
        let until = self.env.height.plus(self.params.dispute_blocks);
        let bond = Bond { runner, locked, until, challenges: Vec::new(), extended: false };
        self.state.put(&BondKey { job: *id }, &bond);
        self.schedule(until.plus(1), &Task::BondRelease { job: *id });
        self.emit(Event::BondLocked { job: *id, runner, amount: locked, until });
    }

    /// The dispute window closes; a challenge that is under way keeps the bond until it is decided.
    pub(crate) fn release_bond(&mut self, id: &JobId) -> u64 {
        if let Some(bond) = self.state.get(&BondKey { job: *id })
            && bond.challenges.is_empty()
            && self.env.height > bond.until
        {
            self.unlock(id, &bond);
        }
        0
    }

    fn unlock(&mut self, id: &JobId, bond: &Bond) {
        self.change_runner(bond.runner, |record| {
            record.locked = record.locked.minus(bond.locked).unwrap_or_default();
        });
        self.state.remove(&BondKey { job: *id });
        let Bond { runner, locked: amount, .. } = *bond;
        self.emit(Event::BondReleased { job: *id, runner, amount });
    }

    pub(crate) fn challenge(
        &mut self,
        challenger: Address,
        tx_hash: TxHash,
        id: &JobId,
        tip: Amount,
    ) -> Result<(), Refusal> {
        let spec = self.state.get(&JobSpecKey { job: *id }).ok_or(Refusal::UnknownJob)?;
        let mut bond = self.state.get(&BondKey { job: *id }).ok_or(Refusal::NotChallengeable)?;
        if self.env.height > bond.until {
            return Err(Refusal::NotChallengeable);
        }
        let stake = Amount(self.params.challenge_bond);
        let cost = spec.max_price.plus(tip).ok_or(Refusal::AmountOverflow)?;
        // A cheap challenge, whose committee is its maker's friends, must not keep others out.
        let outbid = bond.challenges.iter().all(|other| other.cost < cost);
        if !outbid || bond.challenges.len() >= CHALLENGES_MAX {
            return Err(Refusal::AlreadyChallenged);
        }
        let total = stake.plus(cost).ok_or(Refusal::AmountOverflow)?;
        self.debit(challenger, total).map_err(|_| Refusal::EscrowNotCovered)?;
        let by_job = job_id(self.params.chain_id, tx_hash, 0);
        let excluded = vec![bond.runner];
        bond.challenges.push(Challenge { challenger, bond: stake, cost, by_job });
        self.state.put(&BondKey { job: *id }, &bond);
        self.emit(Event::ResultChallenged { job: *id, challenger, by_job });
        self.open_job(NewJob {
            id: by_job,
            submitter: challenger,
            spec: again(spec, tip),
            escrow: cost,
            callback_deposit: Amount::ZERO,
            callback_max_fee: 0,
            excluded,
            challenges: Some(*id),
        })
    }

    /// No committee could tell: the bond goes back. Its price has gone back already.
    pub(crate) fn challenge_undecided(&mut self, id: &JobId, by_job: &JobId) {
        let Some((mut bond, challenge)) = self.challenged(id, by_job) else { return };
        self.credit(challenge.challenger, challenge.bond);
        self.emit(Event::ChallengeUndecided { job: *id });
        // A challenge that its own maker lets fizzle out must not use up everybody else's time;
        // nor may a row of them, which cost nothing, hold the runner's stake for ever.
        if !bond.extended {
            bond.extended = self.reopen(id, &mut bond);
        }
        if self.env.height > bond.until && bond.challenges.is_empty() {
            self.unlock(id, &bond);
        } else {
            self.state.put(&BondKey { job: *id }, &bond);
        }
    }

    /// The fresh committee agrees on something.
    pub(crate) fn decide_challenge(&mut self, id: &JobId, by_job: &JobId, found: &VerifiedResult) {
        let Some((bond, challenge)) = self.challenged(id, by_job) else { return };
        let Some(claimed) = self.state.get(&ResultKey { job: *id }) else { return };
        let spec = self.spec_of(id);
        if same_result(&spec, &claimed, found) {
            self.reject_challenge(id, bond, &challenge);
        } else {
            self.unlock(id, &bond);
            for other in &bond.challenges {
                self.credit(other.challenger, other.bond);
            }
            self.uphold_challenge(id, &bond, &challenge, &spec);
        }
    }

    /// Leaves others a quarter of the window; says whether that moved its end.
    fn reopen(&mut self, id: &JobId, bond: &mut Bond) -> bool {
        let until = self.env.height.plus(self.params.dispute_blocks / 4);
        let later = until > bond.until;
        if later {
            bond.until = until;
            self.schedule(until.plus(1), &Task::BondRelease { job: *id });
        }
        later
    }

    /// The bond of a challenged result without one of its challenges, and that challenge.
    fn challenged(&self, id: &JobId, by_job: &JobId) -> Option<(Bond, Challenge)> {
        let mut bond = self.state.get(&BondKey { job: *id })?;
        let at = bond.challenges.iter().position(|challenge| challenge.by_job == *by_job)?;
        let challenge = bond.challenges.remove(at);
        Some((bond, challenge))
    }

    /// The bond is lost. The window stays open for others: a committee of friends that confirms a
    /// lie costs its maker a bond each time and settles nothing.
    fn reject_challenge(&mut self, id: &JobId, mut bond: Bond, challenge: &Challenge) {
        let Challenge { challenger, bond: forfeited, .. } = *challenge;
        self.distribute_slash(forfeited, self.submitter_of(id));
        self.reopen(id, &mut bond);
        self.state.put(&BondKey { job: *id }, &bond);
        self.emit(Event::ChallengeRejected { job: *id, challenger, forfeited });
    }

    fn uphold_challenge(&mut self, id: &JobId, bond: &Bond, challenge: &Challenge, spec: &JobSpec) {
        let Some(mut runner) = self.known(bond.runner) else { return };
        let at_risk = runner.effective_stake();
        let slashed = self.take_stake(&mut runner, bond.locked, at_risk);
        self.put_runner(bond.runner, runner);
        let reimbursed = challenge.cost.at_most(slashed);
        self.credit(challenge.challenger, Amount(challenge.bond.get() + reimbursed.get()));
        let rest = Amount(slashed.get() - reimbursed.get());
        self.distribute_slash(rest, self.submitter_of(id));
        self.score(bond.runner, SCORE_FAILED, spec.max_price);
        self.emit(Event::ChallengeUpheld { job: *id, runner: bond.runner, slashed });
    }

    fn submitter_of(&self, id: &JobId) -> Address {
        self.state.get(&JobKey { job: *id }).map(|job| job.submitter).unwrap_or_default()
    }
}

fn free_stake(runner: &Runner) -> Amount {
    runner.effective_stake().minus(runner.locked).unwrap_or_default()
}

/// The same work under majority vote, on the whole result.
fn again(spec: JobSpec, tip: Amount) -> JobSpec {
    let (runners, threshold) = COMMITTEE;
    let whole = VerifierCheck::MajorityVote { field: String::new() };
    JobSpec {
        verification: Verification {
            mode: VerificationMode::MajorityVote,
            runners,
            threshold,
            checks: vec![whole],
        },
        tip,
        callback: None,
        ..spec
    }
}

fn same_result(spec: &JobSpec, claimed: &VerifiedResult, found: &VerifiedResult) -> bool {
    match spec.result_schema.data_format {
        DataFormat::Json => match (json::parse(&claimed.result), json::parse(&found.result)) {
            (Ok(claimed), Ok(found)) => claimed == found,
            _ => false,
        },
        DataFormat::Text | DataFormat::Bytes => claimed.result == found.result,
    }
}
