//! What the state keeps of timers.

use super::tree::Entry;
use crate::base::codec::{Decode, DecodeError, Encode, Reader, codec_struct};
use crate::base::primitives::{Address, Amount, B256, Height, keccak256};

/// Fees per unit that a timer may name at most (SPEC §8).
pub const FEE_MAX: u128 = 1_000_000_000_000_000;

/// Bytes of a payload that a timer's record holds itself. Longer ones are stored apart.
pub const PAYLOAD_IN_RECORD: usize = 32;

/// Whether a payload of this many bytes is stored apart.
pub(crate) const fn is_apart(bytes: u32) -> bool {
    bytes as usize > PAYLOAD_IN_RECORD
}

/// What a timer carries: in its record if that is short, which saves a key of the state.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Payload {
    bytes: u32,
    /// Filled up with zeros; all of it if the payload is stored apart.
    short: [u8; PAYLOAD_IN_RECORD],
}

impl Payload {
    /// Of these bytes. A long payload is stored apart from its timer.
    pub fn new(payload: &[u8]) -> Self {
        let mut short = [0; PAYLOAD_IN_RECORD];
        if let Some(here) = short.get_mut(..payload.len()) {
            here.copy_from_slice(payload);
        }
        Self { bytes: payload.len() as u32, short }
    }

    pub const fn len(&self) -> u32 {
        self.bytes
    }

    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Whether it is stored apart.
    pub const fn is_apart(&self) -> bool {
        is_apart(self.bytes)
    }

    /// The bytes, if the record has them.
    pub fn here(&self) -> Option<&[u8]> {
        self.short.get(..self.bytes as usize)
    }
}

impl core::fmt::Debug for Payload {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} bytes {:?}", self.bytes, self.here())
    }
}

impl Encode for Payload {
    fn encode(&self, out: &mut Vec<u8>) {
        self.bytes.encode(out);
        out.extend_from_slice(self.here().unwrap_or_default());
    }
}

impl Decode for Payload {
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let bytes = u32::decode(input)?;
        let mut payload = Self { bytes, short: [0; PAYLOAD_IN_RECORD] };
        if let Some(here) = payload.short.get_mut(..bytes as usize) {
            here.copy_from_slice(input.take(bytes as usize)?);
        }
        Ok(payload)
    }
}

/// A timer that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timer {
    pub actor: Address,
    pub due: Height,
    /// The last block in which it may fire.
    pub expires_at: Height,
    /// Who pays for the call: the actor, or who had the actor schedule it.
    pub fee_payer: Address,
    pub gas_limit: u64,
    pub max_cells: u64,
    /// The most it pays per cycle in the lane, tip included.
    pub max_fee: u128,
    /// The most it tips per cycle.
    pub max_priority_fee: u128,
    /// The gas bidding agent that names its fees when it is due.
    pub agent: Option<Address>,
    /// What it is held against until it ends.
    pub deposit: Amount,
    pub payload: Payload,
}

/// Shorter than field by field: limits and fees are bounded when a timer is scheduled, and mostly
/// the actor pays. A record that a leaf of the state holds in place is read without a detour.
impl Encode for Timer {
    fn encode(&self, out: &mut Vec<u8>) {
        let other_payer = (self.fee_payer != self.actor).then_some(self.fee_payer);
        self.actor.encode(out);
        self.due.encode(out);
        self.expires_at.encode(out);
        other_payer.encode(out);
        narrow::<u32>(self.gas_limit.into()).encode(out);
        narrow::<u32>(self.max_cells.into()).encode(out);
        narrow::<u64>(self.max_fee).encode(out);
        narrow::<u64>(self.max_priority_fee).encode(out);
        self.agent.encode(out);
        narrow::<u64>(self.deposit.get()).encode(out);
        self.payload.encode(out);
    }
}

fn narrow<T: TryFrom<u128>>(number: u128) -> T {
    T::try_from(number).ok().expect("limits and fees are checked when a timer is scheduled")
}

impl Decode for Timer {
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let actor = Address::decode(input)?;
        let (due, expires_at) = (Height::decode(input)?, Height::decode(input)?);
        let other_payer = Option::<Address>::decode(input)?;
        if other_payer == Some(actor) {
            return Err(DecodeError::OutOfRange("payer other than the actor"));
        }
        Ok(Self {
            actor,
            due,
            expires_at,
            fee_payer: other_payer.unwrap_or(actor),
            gas_limit: u32::decode(input)?.into(),
            max_cells: u32::decode(input)?.into(),
            max_fee: u64::decode(input)?.into(),
            max_priority_fee: u64::decode(input)?.into(),
            agent: Option::decode(input)?,
            deposit: Amount(u64::decode(input)?.into()),
            payload: Payload::decode(input)?,
        })
    }
}

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
            payload_bytes: self.payload.len(),
            // As narrow as its encoding.
            deposit: u64::try_from(self.deposit.get()).unwrap_or(u64::MAX),
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
