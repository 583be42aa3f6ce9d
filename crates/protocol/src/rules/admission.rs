//! What can be said of a transaction without a state: whether its bids and limits are possible, and what
//! it has to prepay.
//!
//! Consensus: a change here forks the chain.

use crate::base::error::Inadmissible;
use crate::base::primitives::Amount;
use crate::rules::cost;
use crate::rules::fees::cost as price;
use crate::rules::params::ChainParams;
use crate::rules::transaction::Transaction;

/// Whether the bids contradict themselves. No state is asked, so a pool can refuse at the door
/// with the very check that blocks are held to; so with the two functions below.
pub fn check_bids(body: &Transaction) -> Result<(), Inadmissible> {
    if [body.cycle_bid, body.cell_bid].iter().any(|bid| bid.max_priority > bid.max_fee) {
        return Err(Inadmissible::PriorityAboveMaximum);
    }
    Ok(())
}

/// Whether the limits cover the least that a transaction of `bytes` bytes costs, and fit a block.
pub fn check_limits(
    body: &Transaction,
    bytes: usize,
    params: &ChainParams,
) -> Result<(), Inadmissible> {
    let least = cost::intrinsic(&body.instruction, bytes);
    if body.cycles_limit < least.cycles || body.cells_limit < least.cells {
        return Err(Inadmissible::LimitTooLow);
    }
    let lane = body.instruction.lane().limit(params);
    if body.cycles_limit > lane || body.cells_limit > params.cells_target.saturating_mul(2) {
        return Err(Inadmissible::LimitTooHigh);
    }
    Ok(())
}

/// Limits times maximal fees: what is taken before the instruction runs. `None` if it overflows.
pub fn deposit(body: &Transaction) -> Option<Amount> {
    let cycles = price(body.cycles_limit, body.cycle_bid.max_fee)?;
    let cells = price(body.cells_limit, body.cell_bid.max_fee)?;
    cycles.plus(cells)
}
