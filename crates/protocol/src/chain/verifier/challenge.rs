//! Bonded results, their challenge and its trial (SPEC §5, EconomicBond).
//!
//! ```text
//! draw       locks L of the runner's stake: the price of a trial and 1.5 times the job's
//! result     pays at once; L stays locked for the dispute window and all trials
//! challenge  pays for a trial, and puts up a bond of L/10
//! trial      JUDGES runners do the work again, JUDGES_NEEDED of them must give the same result
//!              something else  → L is lost: the trial's price goes back out of it, the rest as slashes do
//!              the same        → the bond is lost, as slashes are
//!              nothing agreed  → everything goes back
//! ```
//! If a party could choose the judges, a trial would be a way to steal stake: judges that are friends of
//! the challenger would find against an honest runner, and be paid out of its stake. So neither
//! chooses. They are drawn from all runners that would do the job at its price, in any pool, by a seed that
//! is unknown when the challenge is made. And these runners must be many: together they have two thirds
//! of the weight of all other runners. An attacker with less than a third of the network then has less
//! than half of that weight, so it is at most as likely to get four of the five seats as others are.
//! With all judges its own the attacker gains 89 % of the trial's price. With four judges against it,
//! it loses all of that price and the bond, and earns at most one seat of the price. So it loses more
//! than it gains. `tests/trials.rs` searches for a split of roles that comes out ahead.

use crate::base::error::Refusal;
use crate::base::primitives::{Address, Amount, JobId, TxHash};
use crate::chain::dispatcher::submit::NewJob;
use crate::chain::execute::Exec;
use crate::chain::registry::standing::SCORE_FAILED;
use crate::rules::agenda::Task;
use crate::rules::cost::excluding_cycles;
use crate::rules::dispatcher::filter::Query;
use crate::rules::dispatcher::job::{Job, Seat};
use crate::rules::dispatcher::spec::JobSpec;
use crate::rules::dispatcher::submit::job_id;
use crate::rules::dispatcher::trial::{
    BOND_PART, FAIR, Judges, REOPENED_PART, SURELY_FAIR, again, same_result,
};
use crate::rules::dispatcher::trie::Trie;
use crate::rules::event::Event;
use crate::rules::key::{BondKey, JobKey, JobSpecKey, ResultKey};
use crate::rules::verifier::challenge::{Bond, Challenge, JUDGES, TRIALS_MAX};
use crate::rules::verifier::settle::VerifiedResult;

impl Exec<'_> {
    /// Whether so much of a runner's stake is free.
    pub(crate) fn can_lock(&self, runner: Address, locked: Amount) -> bool {
        locked.is_zero()
            || self.known(runner).is_some_and(|runner| {
                let open = runner.open_value.scale(3, 2).unwrap_or(Amount(u128::MAX));
                let free = runner.effective_stake().minus(runner.locked);
                free.and_then(|free| free.minus(open)).is_some_and(|free| free >= locked)
            })
    }

    /// The stake that a seat has locked answers for its result from now on.
    pub(crate) fn keep_bond(&mut self, id: &JobId, seat: &mut Seat) {
        let runner = seat.runner;
        let amount = core::mem::take(&mut seat.stakes.locked);
        let until = self.env.height.plus(self.params.dispute_blocks);
        let since = seat.since;
        self.change_runner(runner, |record| record.unbonding.begin_duty(since));
        let bond = Bond { runner, locked: amount, since, until, trials: 0, trial: None };
        self.state.put(&BondKey { job: *id }, &bond);
        self.schedule(until.plus(1), &Task::BondRelease { job: *id });
        self.emit(Event::BondLocked { job: *id, runner, amount, until });
    }

    /// The dispute window closes; a trial that is under way keeps the bond until it is over.
    pub(crate) fn release_bond(&mut self, id: &JobId) -> u64 {
        if let Some(bond) = self.state.get(&BondKey { job: *id })
            && bond.trial.is_none()
            && self.env.height > bond.until
        {
            self.unlock(id, &bond);
            let Bond { runner, locked: amount, .. } = bond;
            self.emit(Event::BondReleased { job: *id, runner, amount });
        }
        0
    }

    fn unlock(&mut self, id: &JobId, bond: &Bond) {
        let settled = self.settled_candidates();
        self.change_runner(bond.runner, |record| {
            record.locked = record.locked.minus(bond.locked).unwrap_or_default();
            record.unbonding.end_duty(bond.since, settled);
        });
        self.state.remove(&BondKey { job: *id });
    }

    /// A bonded job is taken only while a result of it could be tried.
    pub(crate) fn expect_fair_trial(&mut self, spec: &JobSpec) -> Result<(), Refusal> {
        let query = Query::of_judges(spec, self.params);
        self.charge_selection(&query)?;
        // One of them may be the runner itself.
        let judges = self.judges(&query, None);
        if judges.are(JUDGES + 1, SURELY_FAIR) { Ok(()) } else { Err(Refusal::NoFairTrial) }
    }

    /// Whether a trial that has to draw again still draws from enough of the network, and what it
    /// takes to tell, in cycles.
    pub(crate) fn is_fair_trial(&mut self, job: &Job, spec: &JobSpec) -> (bool, u64) {
        let challenged = job.excluded.first().copied();
        let mut one = spec.clone();
        one.max_price = Amount(spec.max_price.get() / u128::from(JUDGES));
        one.tip = Amount(spec.tip.get() / u128::from(JUDGES));
        let query = Query::of_judges(&one, self.params);
        let cycles = self.selection_cycles(&query) + excluding_cycles(1);
        (self.judges(&query, challenged).are(JUDGES, FAIR), cycles)
    }

    fn judges(&mut self, query: &Query, challenged: Option<Address>) -> Judges {
        let lists = self.candidates(query, challenged.as_slice());
        let own = challenged
            .and_then(|runner| self.known(runner))
            .and_then(|runner| self.roster.entry(runner.slot).cloned())
            .and_then(|entry| self.roster.weight_of(&entry));
        Judges {
            number: lists.iter().map(Trie::len).sum(),
            weight: lists.iter().map(Trie::sum).sum(),
            of: self.roster.standing().weight - own.unwrap_or(0),
        }
    }

    pub(crate) fn challenge(
        &mut self,
        challenger: Address,
        tx_hash: TxHash,
        id: &JobId,
    ) -> Result<(), Refusal> {
        let spec = self.state.get(&JobSpecKey { job: *id }).ok_or(Refusal::UnknownJob)?;
        let mut bond = self.state.get(&BondKey { job: *id }).ok_or(Refusal::NotChallengeable)?;
        if self.env.height > bond.until && bond.trial.is_none() {
            return Err(Refusal::NotChallengeable);
        }
        if bond.trial.is_some() || bond.trials >= TRIALS_MAX {
            return Err(Refusal::AlreadyChallenged);
        }
        let query = Query::of_judges(&spec, self.params);
        self.charge_selection(&query)?;
        self.charge(excluding_cycles(1), 0)?;
        if !self.judges(&query, Some(bond.runner)).are(JUDGES, FAIR) {
            return Err(Refusal::NoFairTrial);
        }
        let stake = Amount(bond.locked.get() / BOND_PART).max(Amount(self.params.challenge_bond));
        let again = again(spec);
        let cost = again.max_price.plus(again.tip).ok_or(Refusal::AmountOverflow)?;
        let total = stake.plus(cost).ok_or(Refusal::AmountOverflow)?;
        self.debit(challenger, total).map_err(|_| Refusal::EscrowNotCovered)?;
        let by_job = job_id(self.params.chain_id, tx_hash, 0);
        let excluded = vec![bond.runner];
        bond.trials += 1;
        bond.trial = Some(Challenge { challenger, bond: stake, cost, by_job });
        self.state.put(&BondKey { job: *id }, &bond);
        self.emit(Event::ResultChallenged { job: *id, challenger, by_job });
        self.open_job(NewJob {
            id: by_job,
            submitter: challenger,
            spec: again,
            escrow: cost,
            callback_deposit: Amount::ZERO,
            callback_max_fee: 0,
            excluded,
            challenges: Some(*id),
        })
    }

    /// No committee could tell: the bond goes back. The price of the trial has gone back already.
    pub(crate) fn challenge_undecided(&mut self, id: &JobId, by_job: &JobId) {
        let Some((bond, challenge)) = self.tried(id, by_job) else { return };
        self.credit(challenge.challenger, challenge.bond);
        self.emit(Event::ChallengeUndecided { job: *id });
        self.reopen(id, bond);
    }

    /// The judges agree on something.
    pub(crate) fn decide_challenge(&mut self, id: &JobId, by_job: &JobId, found: &VerifiedResult) {
        let Some((bond, challenge)) = self.tried(id, by_job) else { return };
        let Some(claimed) = self.state.get(&ResultKey { job: *id }) else { return };
        let spec = self.spec_of(id);
        if same_result(&spec, &claimed, found) {
            let Challenge { challenger, bond: forfeited, .. } = challenge;
            self.distribute_slash(forfeited, self.submitter_of(id));
            self.emit(Event::ChallengeRejected { job: *id, challenger, forfeited });
            self.reopen(id, bond);
        } else {
            self.uphold_challenge(id, &bond, &challenge);
        }
    }

    /// Others have at least a part of the window after a trial, as long as there may be another.
    fn reopen(&mut self, id: &JobId, mut bond: Bond) {
        let now = self.env.height;
        if bond.trials < TRIALS_MAX {
            bond.until = bond.until.max(now.plus(self.params.dispute_blocks / REOPENED_PART));
        }
        self.schedule(bond.until.max(now).plus(1), &Task::BondRelease { job: *id });
        self.state.put(&BondKey { job: *id }, &bond);
    }

    /// The bond of a result whose trial is over, and the challenge that asked for the trial.
    fn tried(&self, id: &JobId, by_job: &JobId) -> Option<(Bond, Challenge)> {
        let mut bond = self.state.get(&BondKey { job: *id })?;
        let challenge = bond.trial.take().filter(|challenge| challenge.by_job == *by_job)?;
        Some((bond, challenge))
    }

    fn uphold_challenge(&mut self, id: &JobId, bond: &Bond, challenge: &Challenge) {
        let Some(mut runner) = self.known(bond.runner) else { return };
        let slashed = self.take_stake(&mut runner, bond.locked, bond.since);
        self.put_runner(bond.runner, runner);
        self.unlock(id, bond);
        let reimbursed = challenge.cost.at_most(slashed);
        self.credit(challenge.challenger, Amount(challenge.bond.get() + reimbursed.get()));
        let rest = Amount(slashed.get() - reimbursed.get());
        self.distribute_slash(rest, self.submitter_of(id));
        // It counts at every price, as a reveal of something else does.
        self.score(bond.runner, SCORE_FAILED);
        self.emit(Event::ChallengeUpheld { job: *id, runner: bond.runner, slashed });
    }

    fn submitter_of(&self, id: &JobId) -> Address {
        self.state.get(&JobKey { job: *id }).map(|job| job.submitter).unwrap_or_default()
    }
}
