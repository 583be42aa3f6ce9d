//! The arguments of the host calls for timers, their defaults and their prices (CIP-1 §6).

use crate::base::codec::{Bytes, codec_struct};
use crate::base::primitives::{Address, Height};

/// Cycles of a timer that names no limit.
pub const GAS_LIMIT_DEFAULT: u64 = 100_000;
/// Cells of a timer that names none: room for a handler that waits, whose frames are kept.
pub const MAX_CELLS_DEFAULT: u64 = 16_384;
/// What a handler pays for scheduling: the records, becoming due, and being cleaned away.
pub const SCHEDULE_CYCLES: u64 = 4_000;
/// Cells of a timer's records; its payload comes on top.
pub const SCHEDULE_CELLS: u64 = 300;
/// What a handler pays for cancelling or extending.
pub const CHANGE_CYCLES: u64 = 1_000;

/// Arguments of `schedule_timer` and `schedule_timer_ex`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleTimer {
    /// When it is due: the next block at the earliest.
    pub height: Height,
    pub payload: Bytes,
    /// The actor pays if this is `None`.
    pub fee_payer: Option<Address>,
    pub gas_limit: Option<u64>,
    pub max_cells: Option<u64>,
    /// The last block in which it may fire: as late as allowed if none is named.
    pub expires_at: Option<Height>,
    /// The most it pays per cycle in the lane: the default agent's word if none is named.
    pub max_fee_per_cycle: Option<u128>,
    /// The most of it that is tip: likewise.
    pub max_priority_fee_per_cycle: Option<u128>,
    /// An agent that names its fees when it is due.
    pub agent: Option<Address>,
    /// Withdrawn; a call that has it is refused.
    pub bid: Option<u128>,
}
codec_struct!(ScheduleTimer {
    height,
    payload,
    fee_payer,
    gas_limit,
    max_cells,
    expires_at,
    max_fee_per_cycle,
    max_priority_fee_per_cycle,
    agent,
    bid,
});
