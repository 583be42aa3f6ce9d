//! Which validators attest which runners, arranged so that a vote can be packed and unpacked.
//!
//! It follows from the state alone ([`Subsets::load`]); views carry it along, like the roster.

use crate::primitives::Slot;
use crate::state::View;

/// Every validator's list of runners, for the subset epochs that count.
#[derive(Clone, Debug, Default)]
pub struct Subsets {}

impl Subsets {
    /// From the state after a block, as a node starts.
    pub fn load(_view: &(impl View + ?Sized)) -> Self {
        Self {}
    }

    /// The bits of a finalize vote by `validator` on the block after which these lists hold: those
    /// of its own list for which `present` says yes, without zero bytes at the end.
    pub fn pack(&self, _validator: u32, _present: impl Fn(Slot) -> bool) -> Vec<u8> {
        Vec::new()
    }
}
