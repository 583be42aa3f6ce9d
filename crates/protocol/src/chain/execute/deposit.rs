//! Deposits: what a place in the state costs for as long as it is taken.
//!
//! Whatever does not leave the state by itself is held against money:
//! ```text
//! a record comes, or grows         price of its bytes: from the payer of the call to the record
//! it shrinks by b of its B bytes   deposit · b / B: from the record to its owner
//! it goes                          all of it
//! ```
//! The price is `state_deposit_per_kib`. A record knows what it holds ([`Held`]), so a deposit is
//! returned as it was paid, whatever the price has become.
//!
//! # When
//! During a call, records only note what they took and gave back (`Dues`); money moves once, after the
//! call has succeeded. Amounts of the same owner are set off, so a program that rewrites its data does
//! not charge its caller.
//!
//! # Who pays
//! | call | payer | at most |
//! |---|---|---|
//! | a transaction | its signer | `max_deposit` |
//! | a callback, a message, an answer, a timer | the payer of its cycles | the unused prepayment |
//! | the same, into the payer's own code | the payer of its cycles | for the payer's own records, its balance |
//!
//! The limits are fixed when the transaction is signed or the call is ordered, so called code cannot
//! take more than the payer has put at risk. The payer's own code decides what it stores, and its money
//! stays its own; other actors cannot enter it again during the call. If the payer cannot pay, the call
//! fails and leaves nothing. Frames and answers of a waiting call are paid by its actor alone
//! ([`crate::chain::actors::wait`]).
//!
//! A returned deposit goes to the owner of the record, who is not always the one that paid it.

use crate::base::error::Refusal;
use crate::base::math::mul_div;
use crate::base::primitives::{Address, Amount};
use crate::chain::execute::Exec;
use crate::rules::deposit::{Held, price};
use crate::rules::event::Event;
use imbl::OrdMap;

/// What the records of each owner took and gave back since the call began.
/// Every part of a call that may be taken back keeps a copy, so a copy is a pointer.
pub(crate) type Dues = OrdMap<Address, Due>;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Due {
    took: u128,
    gave: u128,
}

/// The payer of a call's deposits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Purse {
    pub(crate) payer: Address,
    pub(crate) limit: Amount,
    /// Whether the payer's own records count towards the limit.
    pub(crate) own_counts: bool,
}

impl Exec<'_> {
    pub(crate) fn deposit_for(&self, bytes: u64) -> Amount {
        price(self.params, bytes)
    }

    /// A record of this owner takes a deposit.
    pub(crate) fn hold(&mut self, owner: Address, amount: Amount) {
        self.dues.entry(owner).or_default().took += amount.get();
    }

    /// A record of this owner gives back what it held.
    pub(crate) fn give_back(&mut self, owner: Address, amount: Amount) {
        self.dues.entry(owner).or_default().gave += amount.get();
    }

    /// A record of this owner has this many bytes from now on.
    pub(crate) fn resize(&mut self, owner: Address, held: &mut Held, bytes: u64) {
        let before = held.amount().get();
        if let Some(more) = bytes.checked_sub(held.bytes) {
            held.parts += self.params.state_deposit_per_kib * u128::from(more);
        } else {
            let (less, all) = (u128::from(held.bytes - bytes), u128::from(held.bytes));
            held.parts -= mul_div(held.parts, less, all).unwrap_or(held.parts);
        }
        held.bytes = bytes;
        let after = held.amount().get();
        self.hold(owner, Amount(after.saturating_sub(before)));
        self.give_back(owner, Amount(before.saturating_sub(after)));
    }

    /// Moves the money that a call's records took and gave back. The last step of every call.
    pub(crate) fn settle_dues(&mut self, purse: Purse) -> Result<(), Refusal> {
        let Purse { payer, mut limit, own_counts } = purse;
        let dues = core::mem::take(&mut self.dues);
        // What comes back may be what is needed.
        for (owner, due) in &dues {
            let (owner, amount) = (*owner, Amount(due.gave.saturating_sub(due.took)));
            if !amount.is_zero() {
                self.credit(owner, amount);
                self.emit(Event::DepositReturned { owner, amount });
            }
        }
        for (owner, due) in dues {
            let amount = Amount(due.took.saturating_sub(due.gave));
            if amount.is_zero() {
                continue;
            }
            if own_counts || owner != payer {
                limit = limit.minus(amount).ok_or(Refusal::DepositAboveLimit)?;
            }
            self.debit(payer, amount).map_err(|_| Refusal::DepositNotCovered)?;
            self.emit(Event::DepositTaken { payer, owner, amount });
        }
        Ok(())
    }
}
