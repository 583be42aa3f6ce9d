//! What the state keeps of timers.

use super::tree::Entry;
use crate::codec::codec_struct;
use crate::primitives::{Address, B256, Height, keccak256};

/// Fees per unit that a timer may name at most (SPEC §8).
pub const FEE_MAX: u128 = 1_000_000_000_000_000;

/// A timer that has not ended. Its payload is stored apart: becoming due, waiting and being
/// extended do not touch it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timer {
    /// Whose handler it calls.
    pub actor: Address,
    /// When.
    pub due: Height,
    /// The last block in which it may fire.
    pub expires_at: Height,
    /// Who pays for the call: the actor, or who had the actor schedule it.
    pub fee_payer: Address,
    /// Cycles it may use.
    pub gas_limit: u64,
    /// Cells it may use.
    pub max_cells: u64,
    /// The most it pays per cycle in the lane, tip included.
    pub max_fee: u128,
    /// The most it tips per cycle.
    pub max_priority_fee: u128,
    /// The gas bidding agent that names its fees when it is due.
    pub agent: Option<Address>,
    /// Bytes of its payload.
    pub payload_bytes: u32,
}
codec_struct!(Timer {
    actor,
    due,
    expires_at,
    fee_payer,
    gas_limit,
    max_cells,
    max_fee,
    max_priority_fee,
    agent,
    payload_bytes,
});

impl Timer {
    /// What the index keeps of it.
    pub fn entry(&self, id: B256, lot: B256) -> Entry {
        // Fees were held to FEE_MAX, which fits.
        let fee = |fee: u128| u64::try_from(fee).unwrap_or(u64::MAX);
        Entry {
            id,
            lot,
            actor: self.actor,
            due: self.due.get(),
            expires_at: self.expires_at.get(),
            tip: fee(self.max_priority_fee),
            max_fee: fee(self.max_fee),
            gas_limit: self.gas_limit,
            max_cells: self.max_cells,
            fee_payer: self.fee_payer,
            payload_bytes: self.payload_bytes,
            has_agent: self.agent.is_some(),
        }
    }
}

/// `timer_id = keccak256("cowboy-timer-v1:" ‖ actor ‖ height_be8 ‖ keccak256(payload) ‖ counter_be8)`,
/// with the height at which it is due and the actor's own counter.
pub fn timer_id(actor: Address, due: Height, payload: &[u8], counter: u64) -> B256 {
    let payload = keccak256(payload);
    let parts: [&[u8]; 5] = [
        b"cowboy-timer-v1:",
        actor.as_slice(),
        &due.get().to_be_bytes(),
        payload.as_slice(),
        &counter.to_be_bytes(),
    ];
    keccak256(parts.concat())
}

/// An actor's own numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimerActor {
    /// Timers it ever scheduled.
    pub counter: u64,
    /// Timers it has.
    pub live: u32,
}
codec_struct!(TimerActor { counter, live });

/// One height of the calendar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// Places taken in its chunks, those of cancelled timers included.
    pub filed: u32,
    /// Timers that are or were due at this height and have not ended.
    pub live: u32,
    /// Timers that may fire at this height for the last time.
    pub expiring: u32,
    /// Parent beacon of the block at this height, once it is there.
    pub beacon: Option<B256>,
}
codec_struct!(Bucket { filed, live, expiring, beacon });

impl Bucket {
    /// Whether nothing has to be remembered. Chunks stay until their height comes, so their number
    /// does, too.
    pub const fn is_over(&self) -> bool {
        self.filed == 0 && self.live == 0 && self.expiring == 0
    }
}

/// The timer lane between two blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerLane {
    /// What the next block's lane asks per cycle, besides the cycle basefee.
    pub basefee: u128,
    /// Lower median of the tips that the newest block's timers paid; 0 if none fired.
    pub median_tip: u128,
    /// All cycles that the newest block used.
    pub block_cycles: u64,
}
codec_struct!(TimerLane { basefee, median_tip, block_cycles });

impl Default for TimerLane {
    fn default() -> Self {
        Self { basefee: super::lane::MIN_LANE_BASEFEE, median_tip: 0, block_cycles: 0 }
    }
}
