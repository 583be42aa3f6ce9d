//! Timers in JSON.

use super::scalar::{BigUint, HexAddress, HexBytes, HexHash, Uint};
use super::view::{ToView, view};
use remuda_protocol::primitives::{B256, Height};
use remuda_protocol::timers::config::TimerConfig;
use remuda_protocol::timers::host::ScheduleTimer;
use remuda_protocol::timers::record::{Timer, TimerLane};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

view! {
    /// Limits on timers.
    #[derive(Copy)]
    pub struct TimerConfigView of TimerConfig {
        /// A timer expires at most so many blocks after it is scheduled or extended.
        ttl_blocks_max: Uint,
        /// Timers that an actor may have at a time.
        live_per_actor_max: u32,
        /// Bytes of a payload.
        payload_bytes_max: u32,
        /// Cycles that a timer may ask for.
        gas_limit_max: Uint,
        /// Cells that a timer may ask for.
        cells_max: Uint,
        /// Cycles of the cleaning lane.
        gc_cycles_per_block: Uint,
    }
}

view! {
    /// When a timer is due, and on what terms. What is left out is as the chain sees fit.
    pub struct ScheduleTimerView of ScheduleTimer {
        /// Height at which it is due.
        height: Uint,
        /// Argument of the handler.
        payload: HexBytes,
        /// Account that pays the fees.
        fee_payer: Option<HexAddress>,
        /// Most cycles it may use.
        gas_limit: Option<Uint>,
        /// Most cells it may use.
        max_cells: Option<Uint>,
        /// The last block in which it may fire.
        expires_at: Option<Uint>,
        /// The most it pays per cycle in the lane.
        max_fee_per_cycle: Option<BigUint>,
        /// The most of it that is tip.
        max_priority_fee_per_cycle: Option<BigUint>,
        /// An agent that names its fees when it is due.
        agent: Option<HexAddress>,
        /// Withdrawn: must be absent.
        bid: Option<BigUint>,
    }
}

/// The timer lane between two blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TimersView {
    /// What the next block's lane asks per cycle, besides the cycle basefee.
    pub basefee: BigUint,
    /// Lower median of the tips that the newest block's timers paid.
    pub median_tip: BigUint,
    /// Timers that are due and have not fired.
    pub waiting: Uint,
    /// Timers that expired and are not cleaned away yet.
    pub uncollected: Uint,
    pub limits: TimerConfigView,
    /// Who may cancel and extend any timer and change the limits.
    pub system_deployers: Vec<HexAddress>,
    /// The height that all of this is from.
    pub height: Uint,
}

impl TimersView {
    /// The lane and the limits after the block of `height`, with nobody in it.
    pub fn new(lane: &TimerLane, limits: &TimerConfig, height: Height) -> Self {
        Self {
            basefee: lane.basefee.to_view(),
            median_tip: lane.median_tip.to_view(),
            waiting: Uint(0),
            uncollected: Uint(0),
            limits: limits.to_view(),
            system_deployers: Vec::new(),
            height: height.to_view(),
        }
    }
}

/// A timer that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TimerView {
    pub id: HexHash,
    /// Actor whose handler is called.
    pub actor: HexAddress,
    /// Height at which it is due.
    pub due: Uint,
    /// The last block in which it may fire.
    pub expires_at: Uint,
    /// Account that pays the fees.
    pub fee_payer: HexAddress,
    /// Most cycles it may use.
    pub gas_limit: Uint,
    /// Most cells it may use.
    pub max_cells: Uint,
    /// The most it pays per cycle in the lane.
    pub max_fee_per_cycle: BigUint,
    /// The most of it that is tip.
    pub max_priority_fee_per_cycle: BigUint,
    /// The agent that names its fees when it is due.
    pub agent: Option<HexAddress>,
    /// What it is held against; the actor gets it when the timer ends.
    #[serde(default)]
    pub deposit: BigUint,
    /// Argument of the handler.
    pub payload: HexBytes,
    /// The height that all of this is from.
    pub height: Uint,
}

impl TimerView {
    /// The timer after the block of `height`.
    pub fn new(id: B256, timer: &Timer, payload: &[u8], height: Height) -> Self {
        Self {
            id: HexHash(id),
            actor: HexAddress(timer.actor),
            due: timer.due.to_view(),
            expires_at: timer.expires_at.to_view(),
            fee_payer: HexAddress(timer.fee_payer),
            gas_limit: timer.gas_limit.to_view(),
            max_cells: timer.max_cells.to_view(),
            max_fee_per_cycle: timer.max_fee.to_view(),
            max_priority_fee_per_cycle: timer.max_priority_fee.to_view(),
            agent: timer.agent.to_view(),
            deposit: timer.deposit.to_view(),
            payload: HexBytes(payload.to_vec()),
            height: height.to_view(),
        }
    }
}
