//! Own and delegated stake, unbonding, slashing, and the runners' pay.
//!
//! Delegators hold shares in a runner's delegated stake: what they earn is added to it, what they
//! lose is taken from it. Unbonding stake waits in batches by the height at which it left
//! (`rules/registry/unbonding`). A slash for an older duty still reaches it, so stake cannot escape between
//! a draw and its end, and is not liable for later draws.

use crate::base::error::Refusal;
use crate::base::math::mul_div;
use crate::base::primitives::{Address, Amount, BPS, Height};
use crate::chain::execute::Exec;
use crate::rules::agenda::Task;
use crate::rules::dispatcher::job::Seat;
use crate::rules::event::Event;
use crate::rules::key::DelegationKey;
use crate::rules::registry::runner::Runner;

impl Exec<'_> {
    pub(crate) fn stake(&mut self, who: Address, amount: Amount) -> Result<(), Refusal> {
        let mut runner = self.registered(who)?;
        if amount.is_zero() {
            return Err(Refusal::ZeroAmount);
        }
        self.debit(who, amount)?;
        runner.stake = Amount(runner.stake.get() + amount.get());
        self.refresh(&mut runner);
        self.put_runner(who, runner);
        self.emit(Event::Staked { runner: who, amount });
        Ok(())
    }

    pub(crate) fn unstake(&mut self, who: Address, amount: Amount) -> Result<(), Refusal> {
        let mut runner = self.registered(who)?;
        if amount.is_zero() {
            return Err(Refusal::ZeroAmount);
        }
        let left = runner.stake.minus(amount).ok_or(Refusal::InsufficientBalance)?;
        if left < runner.terms.stake_floor {
            return Err(Refusal::StakeBelowFloor);
        }
        runner.stake = left;
        if runner.effective_stake() < in_use(&runner).ok_or(Refusal::AmountOverflow)? {
            return Err(Refusal::StakeInUse);
        }
        if runner.unbonding.is_full() {
            return Err(Refusal::TooManyUnbonding);
        }
        self.refresh(&mut runner);
        self.unbond(who, &mut runner, who, amount)?;
        self.put_runner(who, runner);
        Ok(())
    }

    /// Moves money that was taken off a stake into the pool of what leaves.
    pub(crate) fn unbond(
        &mut self,
        address: Address,
        runner: &mut Runner,
        owner: Address,
        amount: Amount,
    ) -> Result<(), Refusal> {
        if amount.is_zero() {
            return Ok(());
        }
        let (now, settled) = (self.env.height, self.settled_candidates());
        let entered = runner.unbonding.deposit(amount, now, settled);
        let (began, shares) = entered.ok_or(Refusal::DelegationTooSmall)?;
        let payable_at = now.plus(self.params.unbonding_blocks);
        let task = Task::StakeRelease { runner: address, owner, shares, began };
        self.schedule(payable_at, &task);
        self.emit(Event::Unstaked { runner: address, owner, amount, payable_at });
        Ok(())
    }

    /// Pays out unbonded stake, or waits for duties for which it is still liable. Every seat and dispute
    /// ends, and later ones do not reach it.
    pub(crate) fn release_stake(
        &mut self,
        address: Address,
        owner: Address,
        shares: u128,
        began: Height,
    ) -> u64 {
        let settled = self.settled_candidates();
        let Some(mut runner) = self.known(address) else { return 0 };
        if runner.unbonding.answers(began) {
            let again = self.env.height.plus(self.params.dispute_blocks);
            let task = Task::StakeRelease { runner: address, owner, shares, began };
            self.schedule(again, &task);
            return 0;
        }
        let amount = runner.unbonding.withdraw(began, shares, settled);
        self.put_runner(address, runner);
        self.credit(owner, amount);
        self.emit(Event::StakeReleased { owner, amount });
        0
    }

    pub(crate) fn delegate(
        &mut self,
        delegator: Address,
        address: Address,
        amount: Amount,
        min_shares: u128,
    ) -> Result<(), Refusal> {
        let mut runner = self.registered(address)?;
        if amount < Amount::CBY {
            return Err(Refusal::DelegationTooSmall);
        }
        self.debit(delegator, amount)?;
        let shares = runner.delegated.deposit(amount).ok_or(Refusal::DelegationTooSmall)?;
        if shares < min_shares {
            return Err(Refusal::TooFewShares);
        }
        let key = DelegationKey { runner: address, delegator };
        let held = self.state.get(&key).unwrap_or(0);
        self.state.put(&key, &(held + shares));
        self.put_runner(address, runner);
        self.emit(Event::Delegated { runner: address, delegator, amount, shares });
        Ok(())
    }

    /// Delegators may leave whenever they like; a slash for what the runner is doing now still
    /// reaches them while they unbond.
    pub(crate) fn undelegate(
        &mut self,
        delegator: Address,
        address: Address,
        shares: u128,
    ) -> Result<(), Refusal> {
        let mut runner = self.known(address).ok_or(Refusal::UnknownRunner)?;
        if shares == 0 {
            return Err(Refusal::ZeroAmount);
        }
        let key = DelegationKey { runner: address, delegator };
        let held = self.state.get(&key).unwrap_or(0);
        let left = held.checked_sub(shares).ok_or(Refusal::NotEnoughShares)?;
        let amount = runner.delegated.withdraw(shares);
        // Each withdrawal may be a batch of its own; dust must not use them up.
        if amount < Amount::CBY && left > 0 {
            return Err(Refusal::DelegationTooSmall);
        }
        if left == 0 {
            self.state.remove(&key)
        } else {
            self.state.put(&key, &left)
        }
        self.unbond(address, &mut runner, delegator, amount)?;
        self.put_runner(address, runner);
        Ok(())
    }

    /// Slashes up to `amount` for a duty that began at `from`: pro rata from own and delegated stake
    /// and from what has begun to unbond since. What left before pays nothing. Says how much was
    /// there.
    pub(crate) fn take_stake(
        &mut self,
        runner: &mut Runner,
        amount: Amount,
        from: Height,
    ) -> Amount {
        let leaving = runner.unbonding.exposed(from);
        let all = Amount(runner.effective_stake().get().saturating_add(leaving.get()));
        let amount = amount.at_most(all);
        let theirs = amount.scale(leaving.get(), all.get()).unwrap_or_default();
        let first = runner.unbonding.take(from, theirs);
        let rest = Amount(amount.get() - first.get());
        let second = take_active(runner, rest);
        let third = runner.unbonding.take(from, Amount(rest.get() - second.get()));
        [first, second, third].into_iter().sum()
    }

    /// Pays a runner for a seat; its delegators get the part that was theirs at the draw, after its
    /// commission. Returns that part.
    pub(crate) fn pay_runner(&mut self, seat: &Seat, amount: Amount) -> Amount {
        let Some(mut runner) = self.known(seat.runner) else {
            self.credit(seat.runner, amount);
            return Amount::ZERO;
        };
        let to_delegators = delegators_part(seat, &runner, amount);
        if !to_delegators.is_zero() {
            let delegated = runner.delegated.amount.get();
            runner.delegated.amount = Amount(delegated + to_delegators.get());
            self.put_runner(seat.runner, runner);
        }
        self.credit(seat.runner, Amount(amount.get() - to_delegators.get()));
        to_delegators
    }
}

/// What of a payment is the delegators', if any are left.
pub(crate) fn delegators_part(seat: &Seat, runner: &Runner, amount: Amount) -> Amount {
    let shared = amount.scale(BPS - u128::from(seat.commission_bps), BPS);
    shared
        .and_then(|shared| shared.scale(seat.delegated.get(), seat.effective.get()))
        .filter(|_| runner.delegated.shares > 0)
        .unwrap_or_default()
}

/// Takes up to an amount pro rata from own and delegated stake.
fn take_active(runner: &mut Runner, amount: Amount) -> Amount {
    let effective = runner.effective_stake();
    let amount = amount.at_most(effective);
    let delegated = runner.delegated.amount.get();
    let share = mul_div(amount.get(), delegated, effective.get()).unwrap_or(0);
    // Rounding may leave one unit to the own stake that only the delegated one has.
    let from_own = (amount.get() - share).min(runner.stake.get());
    runner.stake = Amount(runner.stake.get() - from_own);
    let from_delegated = runner.delegated.take(Amount(amount.get() - from_own));
    Amount(from_own + from_delegated.get())
}

/// Stake that answers for open jobs and for bonded results.
fn in_use(runner: &Runner) -> Option<Amount> {
    runner.open_value.scale(3, 2)?.plus(runner.locked)
}
