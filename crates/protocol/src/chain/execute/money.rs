//! Balances and the supply.

use super::Exec;
use crate::base::account::Account;
use crate::base::error::Refusal;
use crate::base::primitives::{Address, Amount};
use crate::base::system::{TREASURY, is_system};
use crate::rules::event::Event;
use crate::rules::key::AccountKey;

impl Exec<'_> {
    pub(crate) fn account(&self, address: Address) -> Account {
        self.state.get(&AccountKey { address }).unwrap_or_default()
    }

    /// Adds to a balance. Cannot overflow: the supply is a `u128` and this money is part of it.
    pub(crate) fn credit(&mut self, address: Address, amount: Amount) {
        if amount.is_zero() {
            return;
        }
        let mut account = self.account(address);
        account.balance = Amount(account.balance.get() + amount.get());
        self.state.put(&AccountKey { address }, &account);
    }

    pub(crate) fn debit(&mut self, address: Address, amount: Amount) -> Result<(), Refusal> {
        let mut account = self.account(address);
        account.balance = account.balance.minus(amount).ok_or(Refusal::InsufficientBalance)?;
        self.state.put(&AccountKey { address }, &account);
        Ok(())
    }

    /// Destroys money that was taken from somewhere.
    pub(crate) fn burn(&mut self, amount: Amount) {
        self.supply.total = Amount(self.supply.total.get() - amount.get());
        self.supply.burned = Amount(self.supply.burned.get() + amount.get());
    }

    /// Shares out slashed money (SPEC §7).
    pub(crate) fn distribute_slash(&mut self, amount: Amount, submitter: Address) {
        let part = |bps: u16| amount.scale(u128::from(bps), 10_000).unwrap_or_default();
        let to_submitter = part(self.params.slash_submitter_bps);
        let to_treasury = part(self.params.slash_treasury_bps);
        self.credit(submitter, to_submitter);
        self.credit(TREASURY, to_treasury);
        self.burn(Amount(amount.get() - to_submitter.get() - to_treasury.get()));
    }

    pub(crate) fn transfer(
        &mut self,
        from: Address,
        to: Address,
        amount: Amount,
    ) -> Result<(), Refusal> {
        if amount.is_zero() {
            return Err(Refusal::ZeroAmount);
        }
        if is_system(to) {
            return Err(Refusal::SystemAddress);
        }
        self.debit(from, amount)?;
        self.credit(to, amount);
        self.emit(Event::Transferred { from, to, amount });
        Ok(())
    }
}
