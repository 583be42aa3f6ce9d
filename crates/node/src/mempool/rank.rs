//! What a transaction is worth to the next proposer.

use remuda_protocol::execute::Cost;
use remuda_protocol::fees::{Basefees, Bid};
use remuda_protocol::math::mul_div;
use remuda_protocol::params::ChainParams;
use std::cmp::Reverse;

/// Fields are compared in their order; greater is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// Whether every nonce before it is here.
    reachable: bool,
    /// What its bids lack to the basefees.
    shortfall: Reverse<u128>,
    /// Whether a job waits for it: then nobody outbids it.
    on_duty: bool,
    /// What it pays the proposer.
    tip: u128,
}

impl Rank {
    pub(super) const UNREACHABLE: Self =
        Self { reachable: false, shortfall: Reverse(u128::MAX), on_duty: false, tip: 0 };

    /// The rank of one transaction, as if it could run at once.
    pub(super) fn of(offer: &Offer, basefees: &Basefees, params: &ChainParams) -> Self {
        let tip = offer.tip(basefees, params);
        let lacks = |bid: Bid, basefee: u128| basefee.saturating_sub(bid.max_fee);
        let shortfall =
            lacks(offer.cycle, basefees.cycle).saturating_add(lacks(offer.cell, basefees.cell));
        let (shortfall, on_duty, tip) = (Reverse(shortfall), offer.on_duty, tip.unwrap_or(0));
        Self { reachable: true, shortfall, on_duty, tip }
    }
}

/// What a transaction bids, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    pub(super) cycle: Bid,
    pub(super) cell: Bid,
    /// What it consumes for certain.
    pub(super) least: Cost,
    /// What it may consume, and so keeps from others in its block.
    pub(super) limits: Cost,
    /// It is a report that a job waits for.
    pub(super) on_duty: bool,
}

impl Offer {
    /// The tip that is certain for the room that is blocked: per block that is filled up to its
    /// targets with the like. `None` if a bid is under the basefee.
    ///
    /// The unused part of a limit is given back, so limits must not earn a place, and must not be
    /// free either: a few transactions with limits as large as a block would keep all others out.
    /// Each meter weighs as much as the share of the block's that is blocked.
    pub(super) fn tip(&self, basefees: &Basefees, params: &ChainParams) -> Option<u128> {
        let (cycle, cell) = (self.cycle.tip(basefees.cycle)?, self.cell.tip(basefees.cell)?);
        let (cycles, cells) = (u128::from(self.least.cycles), u128::from(self.least.cells));
        let targets = (u128::from(params.cycles_target), u128::from(params.cells_target));
        let pays = cycles.saturating_mul(cycle).saturating_add(cells.saturating_mul(cell));
        let (cycles, cells) = (u128::from(self.limits.cycles), u128::from(self.limits.cells));
        let blocks =
            cycles.saturating_mul(targets.1).saturating_add(cells.saturating_mul(targets.0));
        Some(mul_div(pays, targets.0.saturating_mul(targets.1), blocks).unwrap_or(u128::MAX))
    }

    /// Whether all four fees are at least `percent` above those of `old`, and at least 1.
    pub(super) fn outbids(&self, old: &Self, percent: u128) -> bool {
        let enough = |new: u128, old: u128| {
            let bump = mul_div(old, percent, 100).unwrap_or(u128::MAX).max(1);
            old.checked_add(bump).is_some_and(|least| new >= least)
        };
        [(self.cycle, old.cycle), (self.cell, old.cell)].iter().all(|(new, old)| {
            enough(new.max_fee, old.max_fee) && enough(new.max_priority, old.max_priority)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEES: Basefees = Basefees { cycle: 1_000, cell: 1_000 };

    fn offer(max_fee: u128, max_priority: u128) -> Offer {
        let bid = Bid { max_fee, max_priority };
        let least = Cost { cycles: 2_200, cells: 200 };
        Offer { cycle: bid, cell: bid, least, limits: least, on_duty: false }
    }

    fn rank(offer: &Offer) -> Rank {
        Rank::of(offer, &FEES, &ChainParams::one_second())
    }

    #[test]
    fn a_bid_under_the_basefee_ranks_below_every_bid_over_it_and_above_a_gap() {
        let (far, near, none, some) =
            (offer(500, 500), offer(999, 1), offer(1_000, 0), offer(2_000, 1));
        let ranks = [Rank::UNREACHABLE, rank(&far), rank(&near), rank(&none), rank(&some)];
        assert!(ranks.windows(2).all(|pair| pair[0] < pair[1]), "{ranks:?}");
    }

    #[test]
    fn no_tip_ranks_above_a_duty_that_pays_the_basefee() {
        let duty = Offer { on_duty: true, ..offer(1_000, 0) };
        assert!(rank(&duty) > rank(&offer(2_000, 1_000)));
        assert!(rank(&Offer { on_duty: true, ..offer(999, 0) }) < rank(&offer(1_000, 0)));
    }

    #[test]
    fn larger_limits_never_rank_higher() {
        let modest = offer(2_000, 10);
        let limits = Cost { cycles: 22_000, cells: 200 };
        assert!(rank(&Offer { limits, ..modest }) < rank(&modest));
        let limits = Cost { cycles: 2_200, cells: 1_000_000 };
        assert!(rank(&Offer { limits, ..modest }) < rank(&modest));
    }

    #[test]
    fn a_tip_that_does_not_fit_is_the_largest() {
        let params = ChainParams::one_second();
        assert_eq!(offer(u128::MAX, u128::MAX).tip(&FEES, &params), Some(u128::MAX));
    }

    #[test]
    fn a_replacement_must_raise_all_four_fees() {
        assert!(offer(1_100, 110).outbids(&offer(1_000, 100), 10));
        assert!(!offer(1_099, 110).outbids(&offer(1_000, 100), 10));
        assert!(!offer(1_100, 109).outbids(&offer(1_000, 100), 10));
        assert!(!offer(1_100, 0).outbids(&offer(1_000, 0), 10), "nothing more is not a bump");
        assert!(!offer(u128::MAX, 9).outbids(&offer(u128::MAX, 1), 10));
        let one_sided = Offer { cell: offer(1_000, 100).cell, ..offer(2_000, 200) };
        assert!(!one_sided.outbids(&offer(1_000, 100), 10));
    }
}
