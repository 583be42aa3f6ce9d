//! Own and delegated stake, unbonding, and slashing.
//!
//! Delegators hold shares in a runner's delegated stake. What they earn is added to it and what
//! they lose is taken from it, so every share counts alike and nobody has to be walked over.

use crate::agenda::Task;
use crate::error::Refusal;
use crate::event::Event;
use crate::execute::Exec;
use crate::key::DelegationKey;
use crate::math::mul_div;
use crate::primitives::{Address, Amount, BPS};
use crate::registry::runner::{Offer, Runner, Status};

impl Exec<'_> {
    pub(crate) fn stake(&mut self, who: Address, amount: Amount) -> Result<(), Refusal> {
        let (profile, mut runner) = self.registered(who)?;
        if amount.is_zero() {
            return Err(Refusal::ZeroAmount);
        }
        self.debit(who, amount)?;
        runner.stake = Amount(runner.stake.get() + amount.get());
        self.refresh(&mut runner);
        self.put_runner(who, profile.slot, runner);
        self.emit(Event::Staked { runner: who, amount });
        Ok(())
    }

    pub(crate) fn unstake(&mut self, who: Address, amount: Amount) -> Result<(), Refusal> {
        let (profile, mut runner) = self.registered(who)?;
        if amount.is_zero() {
            return Err(Refusal::ZeroAmount);
        }
        runner.stake = runner.stake.minus(amount).ok_or(Refusal::InsufficientBalance)?;
        self.check_floor(&profile.offer, &runner)?;
        self.refresh(&mut runner);
        self.put_runner(who, profile.slot, runner);
        self.unbond(who, who, amount);
        Ok(())
    }

    /// Stake that answers for something may not leave: open jobs, bonded results, and the floor.
    fn check_floor(&self, offer: &Offer, runner: &Runner) -> Result<(), Refusal> {
        let effective = runner.effective_stake();
        if runner.status != Status::Deregistered && effective < self.stake_floor(offer) {
            return Err(Refusal::StakeBelowFloor);
        }
        let open = runner.open_value.scale(3, 2).ok_or(Refusal::AmountOverflow)?;
        let needed = open.plus(runner.locked).ok_or(Refusal::AmountOverflow)?;
        if effective < needed { Err(Refusal::StakeInUse) } else { Ok(()) }
    }

    /// Starts the unbonding of money that has been taken off a stake.
    pub(crate) fn unbond(&mut self, runner: Address, owner: Address, amount: Amount) {
        if amount.is_zero() {
            return;
        }
        let payable_at = self.env.height.plus(self.params.unbonding_blocks);
        self.schedule(payable_at, &Task::StakeRelease { owner, amount });
        self.emit(Event::Unstaked { runner, owner, amount, payable_at });
    }

    pub(crate) fn release_stake(&mut self, owner: Address, amount: Amount) -> u64 {
        self.credit(owner, amount);
        self.emit(Event::StakeReleased { owner, amount });
        0
    }

    pub(crate) fn delegate(
        &mut self,
        delegator: Address,
        address: Address,
        amount: Amount,
    ) -> Result<(), Refusal> {
        let (profile, mut runner) = self.registered(address)?;
        if amount < Amount::CBY {
            return Err(Refusal::DelegationTooSmall);
        }
        let shares = if runner.shares == 0 {
            amount.get()
        } else {
            mul_div(amount.get(), runner.shares, runner.delegated.get())
                .filter(|shares| *shares > 0)
                .ok_or(Refusal::DelegationTooSmall)?
        };
        self.debit(delegator, amount)?;
        runner.delegated = Amount(runner.delegated.get() + amount.get());
        runner.shares = runner.shares.checked_add(shares).ok_or(Refusal::AmountOverflow)?;
        let key = DelegationKey { runner: address, delegator };
        let held = self.state.get(&key).unwrap_or(0);
        self.state.put(&key, &(held + shares));
        self.put_runner(address, profile.slot, runner);
        self.emit(Event::Delegated { runner: address, delegator, amount, shares });
        Ok(())
    }

    pub(crate) fn undelegate(
        &mut self,
        delegator: Address,
        address: Address,
        shares: u128,
    ) -> Result<(), Refusal> {
        let (profile, mut runner) = self.known(address).ok_or(Refusal::UnknownRunner)?;
        if shares == 0 {
            return Err(Refusal::ZeroAmount);
        }
        let key = DelegationKey { runner: address, delegator };
        let held = self.state.get(&key).unwrap_or(0);
        let left = held.checked_sub(shares).ok_or(Refusal::NotEnoughShares)?;
        let amount = runner.delegated.scale(shares, runner.shares).unwrap_or_default();
        runner.delegated = Amount(runner.delegated.get() - amount.get());
        runner.shares -= shares;
        self.check_floor(&profile.offer, &runner)?;
        // What the last delegator leaves behind by rounding belongs to nobody.
        let dust =
            if runner.shares == 0 { core::mem::take(&mut runner.delegated) } else { Amount::ZERO };
        self.burn(dust);
        if left == 0 {
            self.state.remove(&key)
        } else {
            self.state.put(&key, &left)
        }
        self.put_runner(address, profile.slot, runner);
        self.unbond(address, delegator, amount);
        Ok(())
    }

    /// Takes up to `amount` off a runner, pro rata from own and delegated stake; says how much.
    pub(crate) fn take_stake(&mut self, runner: &mut Runner, amount: Amount) -> Amount {
        let amount = amount.at_most(runner.effective_stake());
        let effective = runner.effective_stake().get();
        let from_delegated = mul_div(amount.get(), runner.delegated.get(), effective).unwrap_or(0);
        let from_own = amount.get() - from_delegated;
        // Floors leave at most one unit to the other side, which may not have it.
        let own = from_own.min(runner.stake.get());
        runner.stake = Amount(runner.stake.get() - own);
        runner.delegated = Amount(runner.delegated.get() - (amount.get() - own));
        runner.locked = runner.locked.at_most(runner.effective_stake());
        amount
    }

    /// Pays a runner; its delegators get their part after its commission. Returns that part.
    pub(crate) fn pay_runner(&mut self, address: Address, amount: Amount) -> Amount {
        let Some((profile, mut runner)) = self.known(address) else {
            self.credit(address, amount);
            return Amount::ZERO;
        };
        let shared = amount.scale(BPS - u128::from(profile.offer.commission_bps), BPS);
        let effective = runner.effective_stake().get();
        let to_delegators = shared
            .and_then(|shared| shared.scale(runner.delegated.get(), effective))
            .filter(|_| runner.shares > 0)
            .unwrap_or_default();
        if !to_delegators.is_zero() {
            runner.delegated = Amount(runner.delegated.get() + to_delegators.get());
            self.put_runner(address, profile.slot, runner);
        }
        self.credit(address, Amount(amount.get() - to_delegators.get()));
        to_delegators
    }
}
