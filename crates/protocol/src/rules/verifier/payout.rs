//! How a job's money is split on success (SPEC §7): winners, burn, treasury; every unit ends somewhere.

use crate::base::math::mul_div;
use crate::base::primitives::{Address, BPS};
use thiserror::Error;

/// Parts of the gross in basis points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayoutBps {
    /// For the winning group, the aggregator's bonus included.
    pub runners: u32,
    /// Burned; all dust is burned besides.
    pub burn: u32,
    pub treasury: u32,
    /// Taken out of the runners' part for an aggregator that is among the winners.
    pub aggregator_bonus: u32,
}

impl Default for PayoutBps {
    fn default() -> Self {
        Self { runners: 8_900, burn: 1_000, treasury: 100, aggregator_bonus: 150 }
    }
}

impl PayoutBps {
    /// Whether the parts make up the whole and the bonus fits into the runners' part.
    pub fn is_sound(&self) -> bool {
        let sum = u128::from(self.runners) + u128::from(self.burn) + u128::from(self.treasury);
        sum == BPS && self.aggregator_bonus <= self.runners
    }
}

/// Where the gross went. The parts add up to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// What each winner gets, in the order given.
    pub payouts: Vec<(Address, u128)>,
    /// What is burned, dust included.
    pub burn: u128,
    pub treasury: u128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PayoutError {
    /// Without winners there is a refund, not a payout.
    #[error("a payout needs at least one winner")]
    NoWinners,
    #[error("{0} is listed twice among the winners")]
    DuplicateWinner(Address),
    /// The parts of the whole are not a whole.
    #[error(
        "payout parts must add up to {BPS} bps, with the aggregator's bonus inside the runners' part"
    )]
    UnsoundParts,
}

/// Splits `gross` over the winning group.
pub fn split(
    gross: u128,
    winners: &[Address],
    aggregator: Option<Address>,
    bps: &PayoutBps,
) -> Result<Split, PayoutError> {
    if !bps.is_sound() {
        return Err(PayoutError::UnsoundParts);
    }
    if let Some(twice) = duplicate(winners) {
        return Err(PayoutError::DuplicateWinner(twice));
    }
    let part = |bps: u32| mul_div(gross, u128::from(bps), BPS).ok_or(PayoutError::UnsoundParts);
    let treasury = part(bps.treasury)?;
    let pool = part(bps.runners)?;
    let aggregator = aggregator.filter(|address| winners.contains(address));
    let bonus = if aggregator.is_some() { part(bps.aggregator_bonus)? } else { 0 };
    // The parts are sound, so no difference below is negative and no sum passes the gross.
    let heads = winners.len() as u128;
    let share = (pool - bonus).checked_div(heads).ok_or(PayoutError::NoWinners)?;
    let burn = gross - treasury - share * heads - bonus;
    let payout = |address: &Address| {
        (*address, if aggregator == Some(*address) { share + bonus } else { share })
    };
    Ok(Split { payouts: winners.iter().map(payout).collect(), burn, treasury })
}

fn duplicate(winners: &[Address]) -> Option<Address> {
    let mut sorted = winners.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn winners(n: u8) -> Vec<Address> {
        (1..=n).map(Address::repeat_byte).collect()
    }

    fn pay(gross: u128, n: u8, aggregator: Option<u8>) -> Split {
        let aggregator = aggregator.map(Address::repeat_byte);
        split(gross, &winners(n), aggregator, &PayoutBps::default()).expect("there are winners")
    }

    #[test]
    fn every_unit_ends_somewhere() {
        for gross in [0, 1, 9, 66, 67, 100, 9_999, 10_001, u128::MAX] {
            for (n, aggregator) in [(1, None), (1, Some(1)), (3, Some(2)), (7, Some(99)), (9, None)]
            {
                let split = pay(gross, n, aggregator);
                let paid: u128 = split.payouts.iter().map(|(_, amount)| amount).sum();
                assert_eq!(paid + split.burn + split.treasury, gross);
            }
        }
    }

    #[test]
    fn aggregator_among_the_winners_gets_the_bonus_on_top() {
        let split = pay(10_000, 2, Some(1));
        let amounts: Vec<u128> = split.payouts.iter().map(|(_, amount)| *amount).collect();
        assert_eq!((amounts, split.burn, split.treasury), (vec![4_525, 4_375], 1_000, 100));
    }

    #[test]
    fn aggregator_outside_the_group_takes_nothing_from_it() {
        assert_eq!(pay(10_000, 2, Some(9)), pay(10_000, 2, None));
    }

    #[test]
    fn impossible_payouts_are_refused() {
        let bps = PayoutBps::default();
        assert_eq!(split(1, &[], None, &bps), Err(PayoutError::NoWinners));
        let twice = [Address::ZERO, Address::ZERO];
        assert_eq!(split(1, &twice, None, &bps), Err(PayoutError::DuplicateWinner(Address::ZERO)));
        let unsound = PayoutBps { burn: 1_001, ..bps };
        assert_eq!(split(1, &winners(1), None, &unsound), Err(PayoutError::UnsoundParts));
    }
}
