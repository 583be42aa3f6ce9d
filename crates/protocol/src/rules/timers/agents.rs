//! What timers ask of code: handlers, and gas bidding agents (CIP-1 §7).

use crate::base::primitives::{Address, B256, Height};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimerCall {
    pub timer: B256,
    pub actor: Address,
    /// The height it was scheduled for.
    pub due: Height,
    pub payload: Vec<u8>,
    pub gas_limit: u64,
    pub max_cells: u64,
}

/// The context of an agent's call (CIP-1 §7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GbaContext {
    /// The chain's number, for whatever the code signs or checks.
    pub chain_id: u64,
    /// The height that the timer was scheduled for.
    pub trigger_block_height: u64,
    pub current_block_height: u64,
    pub basefee_cycle: u128,
    pub basefee_cell: u128,
    /// Per cycle in the lane.
    pub basefee_lane_timer: u128,
    /// All cycles of the block before.
    pub last_block_cycle_usage: u64,
    /// Median tip of the timers that fired in the block before.
    pub previous_block_p50_priority_tip_per_cycle: u128,
    /// Money of the timer's actor.
    pub owner_actor_balance: u128,
}

/// What an agent offers. Timers are bound by cycles, so fees per cell are not asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxFeeParams {
    /// The most it pays per cycle in the lane.
    pub max_fee_per_cycle: u128,
    /// The most of it that is tip.
    pub max_priority_fee_per_cycle: u128,
}

/// How a call of an agent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BidAnswer {
    /// Cycles it took; more than [`GBA_CYCLES`] is a failure.
    pub cycles: u64,
    /// The bid, or why there is none.
    pub bid: Result<TxFeeParams, AgentFault>,
}

/// Why an agent's word does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentFault {
    /// No code at its address.
    NoCode,
    /// It did not come to an end within its cycles.
    OutOfCycles,
    Failed,
    Wrote,
    /// It named fees that no timer may have, or that the payer does not have.
    BadBid,
}

impl AgentFault {
    /// The code that receipts carry.
    pub const fn code(self) -> u16 {
        self as u16 + 1
    }
}

/// Cycles of one call of an agent (SPEC §8).
pub const GBA_CYCLES: u64 = 10_000;
/// Calls of agents in one block.
pub const GBA_CALLS_PER_BLOCK: usize = 256;

/// The default agent (CIP-1 §7.1).
pub const fn default_bid(basefee_lane: u128, median_tip: u128) -> TxFeeParams {
    TxFeeParams {
        max_fee_per_cycle: basefee_lane.saturating_mul(2),
        max_priority_fee_per_cycle: median_tip,
    }
}
