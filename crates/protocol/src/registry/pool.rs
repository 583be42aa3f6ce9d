//! Money that many own together, by shares.

use crate::codec::codec_struct;
use crate::math::mul_div;
use crate::primitives::Amount;

/// What is added or taken counts for every share alike, so nobody has to be walked over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// The money.
    pub amount: Amount,
    /// Shares in it.
    pub shares: u128,
}
codec_struct!(Pool { amount, shares });

impl Pool {
    /// Puts money in; says how many shares that is. None if it is not worth one.
    pub fn deposit(&mut self, amount: Amount) -> Option<u128> {
        let shares = match self.shares {
            0 => amount.get(),
            shares => mul_div(amount.get(), shares, self.amount.get())?,
        };
        let total = self.shares.checked_add(shares).filter(|_| shares > 0)?;
        self.amount = self.amount.plus(amount)?;
        self.shares = total;
        Some(shares)
    }

    /// What shares are worth, rounded down.
    pub fn worth(&self, shares: u128) -> Amount {
        self.amount.scale(shares, self.shares).unwrap_or_default()
    }

    /// Takes shares out, with their worth and, if they are the last, what rounding left behind.
    pub fn withdraw(&mut self, shares: u128) -> Amount {
        let shares = shares.min(self.shares);
        let amount = if shares == self.shares { self.amount } else { self.worth(shares) };
        self.amount = self.amount.minus(amount).unwrap_or_default();
        self.shares -= shares;
        amount
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
