//! Money that many own together, by shares.
//!
//! A pool begins with [`VIRTUAL_SHARES`] that belong to no delegator. An attacker that raises the price of a
//! share by a gift to the pool gives most of the gift to them. So it cannot inflate the first share until
//! the next delegation is rounded away.

use crate::base::codec::codec_struct;
use crate::base::math::mul_div;
use crate::base::primitives::Amount;

/// Shares without an owner; in an empty pool all of them are worth one unit.
pub const VIRTUAL_SHARES: u128 = 1_000;

/// What is added or taken counts for every share alike, so no walk over delegators is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    pub amount: Amount,
    pub shares: u128,
}
codec_struct!(Pool { amount, shares });

impl Pool {
    /// The shares that an amount would be now. None if it is not worth one.
    pub fn quote(&self, amount: Amount) -> Option<u128> {
        let shares = self.shares.checked_add(VIRTUAL_SHARES)?;
        let shares = mul_div(amount.get(), shares, self.amount.get().checked_add(1)?)?;
        (shares > 0).then_some(shares)
    }

    /// Puts money in; says how many shares that is. None if it is not worth one.
    pub fn deposit(&mut self, amount: Amount) -> Option<u128> {
        let shares = self.quote(amount)?;
        let total = self.shares.checked_add(shares)?;
        self.amount = self.amount.plus(amount)?;
        self.shares = total;
        Some(shares)
    }

    /// What shares are worth, rounded down.
    pub fn worth(&self, shares: u128) -> Amount {
        let whole = Amount(self.amount.get().saturating_add(1));
        whole.scale(shares, self.shares.saturating_add(VIRTUAL_SHARES)).unwrap_or_default()
    }

    /// Takes shares out, with their worth.
    pub fn withdraw(&mut self, shares: u128) -> Amount {
        let shares = shares.min(self.shares);
        let amount = self.worth(shares).at_most(self.amount);
        self.amount = self.amount.minus(amount).unwrap_or_default();
        self.shares -= shares;
        amount
    }

    /// Whether nothing was ever earned or lost, so that its shares are worth what they were at first.
    pub fn is_whole(&self) -> bool {
        self.amount.get().checked_mul(VIRTUAL_SHARES) == Some(self.shares)
    }

    /// Merges two pools that never earned or lost. Each share keeps its worth.
    pub fn joined(&self, other: &Self) -> Self {
        Self {
            amount: Amount(self.amount.get() + other.amount.get()),
            shares: self.shares + other.shares,
        }
    }

    /// Takes up to an amount from all shares alike; says how much. The last unit stays, so that
    /// shares keep a worth and others can still join.
    pub fn take(&mut self, amount: Amount) -> Amount {
        let most = self.amount.minus(Amount(1)).unwrap_or_default();
        let taken = amount.at_most(most);
        self.amount = self.amount.minus(taken).unwrap_or_default();
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Deposit(u64),
        Withdraw(usize),
        Earn(u64),
        Lose(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (1u64..1 << 40).prop_map(Step::Deposit),
            (0usize..8).prop_map(Step::Withdraw),
            (0u64..1 << 30).prop_map(Step::Earn),
            (0u64..1 << 30).prop_map(Step::Lose),
        ]
    }

    #[test]
    fn money_given_to_a_pool_is_lost_to_the_giver_and_not_to_the_next_delegator() {
        let donation = Amount::cby(100_000);
        let mut pool = Pool::default();
        let first = pool.deposit(Amount::CBY).unwrap();
        // All but one share leave, and the pool earns.
        let mut attacker = pool.withdraw(first - 1).get();
        pool.amount = Amount(pool.amount.get() + donation.get());
        let deposit = Amount::cby(1_000);
        let lost = match pool.deposit(deposit) {
            Some(shares) => deposit.get() - pool.worth(shares).get(),
            None => 0,
        };
        attacker += pool.withdraw(1).get();
        assert!(lost <= deposit.get() / 5, "lost {lost}");
        let spent = Amount::CBY.get() + donation.get() - attacker;
        assert!(spent > 500 * lost, "spent {spent} to take {lost}");
    }

    #[test]
    fn the_only_owner_of_all_shares_gets_everything_back() {
        for amount in [1, 999, 1_000_000_007, 1 << 90] {
            let mut pool = Pool::default();
            let shares = pool.deposit(Amount(amount)).unwrap();
            assert!(pool.is_whole());
            assert_eq!(pool.withdraw(shares), Amount(amount));
        }
    }

    proptest! {
        #[test]
        fn no_unit_appears_or_vanishes_and_nobody_gains_by_rounding(
            steps in proptest::collection::vec(step(), 0..60)
        ) {
            let mut pool = Pool::default();
            let mut held: Vec<u128> = Vec::new();
            let (mut put, mut got) = (0u128, 0u128);
            for step in steps {
                match step {
                    Step::Deposit(amount) => {
                        let amount = Amount(amount.into());
                        if let Some(shares) = pool.deposit(amount) {
                            prop_assert!(pool.worth(shares) <= amount);
                            held.push(shares);
                            put += amount.get();
                        }
                    }
                    Step::Withdraw(i) if !held.is_empty() => {
                        let shares = held.remove(i % held.len());
                        got += pool.withdraw(shares).get();
                    }
                    Step::Withdraw(_) => {}
                    Step::Earn(amount) if pool.shares > 0 => {
                        pool.amount = Amount(pool.amount.get() + u128::from(amount));
                        put += u128::from(amount);
                    }
                    Step::Earn(_) => {}
                    Step::Lose(amount) => got += pool.take(Amount(amount.into())).get(),
                }
                prop_assert_eq!(put, got + pool.amount.get());
                prop_assert_eq!(pool.shares, held.iter().sum::<u128>());
            }
        }
    }
}
