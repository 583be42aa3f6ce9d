//! Attests runners falsely, or signs with a key that is not its own.

use super::{Adversary, Misconduct};
use commonware_consensus::types::Round;
use remuda_node::scheme::{Bits, PRESENCE_BYTES, PresenceSource};
use std::sync::Arc;

pub(super) struct PresenceForger {
    pub(super) adversary: Adversary,
    pub(super) honest: Arc<dyn PresenceSource>,
}

impl PresenceSource for PresenceForger {
    fn bits(&self, block: &[u8], round: Round) -> Bits {
        let honest = self.honest.bits(block, round);
        let bits = match self.adversary.misconduct {
            Misconduct::WrongBits => {
                let mut bits = honest.as_slice().to_vec();
                bits.resize(4, 0);
                Bits::new(bits.into_iter().map(|byte| !byte).collect())
            }
            Misconduct::ForeignBits => Bits::new(vec![0xff; PRESENCE_BYTES]),
            Misconduct::ForgedVotes => {
                self.adversary.count();
                return honest;
            }
            _ => return honest,
        };
        self.adversary.count();
        bits
    }
}
