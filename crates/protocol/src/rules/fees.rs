//! Two meters, each with an EIP-1559 basefee, and the lanes that share the cycles (SPEC §2).
//!
//! Consensus: a change here forks the chain.

use crate::base::codec::codec_struct;
use crate::base::primitives::{Amount, Cells, Cycles};
use crate::rules::params::ChainParams;

/// Price of a cycle and of a cell; burned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Basefees {
    pub cycle: u128,
    pub cell: u128,
}
codec_struct!(Basefees { cycle, cell });

impl Basefees {
    /// What the next block asks.
    pub fn next(&self, params: &ChainParams, used: Usage) -> Self {
        let step = |basefee, used, target| next_basefee(basefee, used, target, params.min_basefee);
        Self {
            cycle: step(self.cycle, used.cycles.get(), params.cycles_target),
            cell: step(self.cell, used.cells.get(), params.cells_target),
        }
    }
}

/// `delta = basefee · |used − target| / target / 8`, at most basefee / 8.
fn next_basefee(basefee: u128, used: u64, target: u64, floor: u128) -> u128 {
    let distance = u128::from(used.abs_diff(target).min(target));
    let delta = crate::base::math::mul_div(basefee, distance, u128::from(target))
        .map_or(basefee / 8, |scaled| scaled / 8);
    if used > target { basefee.saturating_add(delta) } else { (basefee - delta).max(floor) }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub cycles: Cycles,
    pub cells: Cells,
}
codec_struct!(Usage { cycles, cells });

/// Which share of a block's cycles an instruction draws on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// What people order.
    User,
    /// What runners report, and callbacks.
    Runner,
    /// What keeps the chain itself going.
    System,
}

impl Lane {
    /// Cycles that a block may spend in this lane: twice its share of the target, as the whole
    /// block may spend twice the target. (A lane limited to its share could never raise a basefee.)
    pub fn limit(self, params: &ChainParams) -> u64 {
        let share = match self {
            Self::User => params.lane_user,
            Self::Runner => params.lane_runner,
            Self::System => params.lane_system,
        };
        share.saturating_mul(2)
    }
}

/// What a transaction offers for one meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bid {
    /// Most it pays per unit, everything included.
    pub max_fee: u128,
    /// Most of it that goes to the proposer.
    pub max_priority: u128,
}
codec_struct!(Bid { max_fee, max_priority });

impl Bid {
    /// The proposer's part per unit; `None` if the bid is under the basefee.
    pub fn tip(&self, basefee: u128) -> Option<u128> {
        Some(self.max_priority.min(self.max_fee.checked_sub(basefee)?))
    }
}

/// `units · price`, unless it overflows.
pub fn cost(units: u64, price: u128) -> Option<Amount> {
    u128::from(units).checked_mul(price).map(Amount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_basefee_moves_by_at_most_an_eighth() {
        assert_eq!(next_basefee(8_000, 0, 100, 1_000), 7_000);
        assert_eq!(next_basefee(8_000, 100, 100, 1_000), 8_000);
        assert_eq!(next_basefee(8_000, 200, 100, 1_000), 9_000);
        assert_eq!(next_basefee(8_000, 10_000, 100, 1_000), 9_000);
        assert_eq!(next_basefee(1_001, 0, 100, 1_000), 1_000);
        assert_eq!(next_basefee(u128::MAX, u64::MAX, 100, 1_000), u128::MAX);
    }

    #[test]
    fn a_tip_never_takes_the_price_over_the_maximum() {
        let bid = Bid { max_fee: 100, max_priority: 30 };
        assert_eq!(bid.tip(50), Some(30));
        assert_eq!(bid.tip(90), Some(10));
        assert_eq!(bid.tip(101), None);
    }
}
