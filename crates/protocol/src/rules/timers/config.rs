//! TimerConfig (0x06): what governance may tune about timers with instruction 49 (CIP-1 §9, §12).

use super::order::{GAS_LIMIT_MIN, MAX_CYCLES_PER_FIRE_AUCTION_PHASE};
use crate::base::codec::codec_struct;
use crate::base::error::Refusal;

/// Limits on timers. A change holds for what is scheduled or extended after it; only the cap on
/// gas also holds back timers that exist: those above it wait (CIP-1 §10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerConfig {
    /// A timer expires at most this many blocks after it is scheduled or extended.
    pub ttl_blocks_max: u64,
    /// Timers that an actor may have at a time.
    pub live_per_actor_max: u32,
    pub payload_bytes_max: u32,
    /// Cycles that a timer may ask for.
    pub gas_limit_max: u64,
    /// Cells that a timer may ask for.
    pub cells_max: u64,
    /// Cycles of the cleaning lane (`TIMER_GC_CYCLES`).
    pub gc_cycles_per_block: u64,
}
codec_struct!(TimerConfig {
    ttl_blocks_max,
    live_per_actor_max,
    payload_bytes_max,
    gas_limit_max,
    cells_max,
    gc_cycles_per_block,
});

impl TimerConfig {
    /// What a chain starts with (SPEC §8).
    pub const GENESIS: Self = Self {
        ttl_blocks_max: 2_592_000,
        live_per_actor_max: 1_024,
        payload_bytes_max: 65_536,
        gas_limit_max: MAX_CYCLES_PER_FIRE_AUCTION_PHASE,
        cells_max: 65_536,
        gc_cycles_per_block: 5_000_000,
    };

    /// Whether the chain can live with these numbers.
    pub fn validate(&self) -> Result<(), Refusal> {
        let sound = (1..=1 << 32).contains(&self.ttl_blocks_max)
            && (1..=65_536).contains(&self.live_per_actor_max)
            && self.payload_bytes_max <= 65_536
            && (GAS_LIMIT_MIN..=MAX_CYCLES_PER_FIRE_AUCTION_PHASE).contains(&self.gas_limit_max)
            && self.cells_max <= 1 << 20
            && (10_000..=1_000_000_000).contains(&self.gc_cycles_per_block);
        if sound { Ok(()) } else { Err(Refusal::BadTimerConfig) }
    }
}

impl Default for TimerConfig {
    fn default() -> Self {
        Self::GENESIS
    }
}
