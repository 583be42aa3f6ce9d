//! Proposes blocks that break a rule, blocks that are only unkind, or none.

use super::{Adversary, Misconduct};
use remuda_node::app::FaultInjection;
use remuda_protocol::block::{Block, presence_hash, seeds_root};
use remuda_protocol::execute::Draft;
use remuda_protocol::presence::{Attestation, PresenceCertificate};
use remuda_protocol::primitives::B256;
use remuda_protocol::state::MemoryState;
use std::sync::Mutex;

pub(super) struct BlockForger {
    adversary: Adversary,
    quorum: usize,
    /// The first certificate that it carried.
    carried: Mutex<Option<PresenceCertificate>>,
}

impl BlockForger {
    pub(super) fn new(adversary: Adversary, quorum: usize) -> Self {
        Self { adversary, quorum, carried: Mutex::default() }
    }
}

impl FaultInjection for BlockForger {
    fn proposes(&self) -> bool {
        let mute = self.adversary.misconduct == Misconduct::Mute;
        if mute {
            self.adversary.count();
        }
        !mute
    }

    /// What the rules do not see: the block follows from it, and is valid but for its signatures, or
    /// altogether valid and only unkind.
    fn draft(&self, draft: &mut Draft, _: &MemoryState) {
        match self.adversary.misconduct {
            Misconduct::ForeignSeed => {
                // A valid signature of the network, on another round.
                let other = draft.presence.as_ref().map(|carried| carried.seed_signature);
                if let (Some(last), Some(bytes)) = (draft.seeds.last_mut(), other) {
                    last.bytes = bytes;
                    self.adversary.count();
                }
            }
            Misconduct::EditedCertificate => {
                let Some(certificate) = &mut draft.presence else { return };
                for attestation in &mut certificate.attestations {
                    attestation.bits.0 = if attestation.bits.is_empty() { vec![1] } else { vec![] };
                }
                self.adversary.count();
            }
            Misconduct::NoCertificate if draft.presence.take().is_some() => self.adversary.count(),
            Misconduct::ChoosyCertificate => {
                let Some(certificate) = &mut draft.presence else { return };
                let seen =
                    |a: &Attestation| a.bits.iter().map(|byte| byte.count_ones()).sum::<u32>();
                while certificate.attestations.len() > self.quorum {
                    let most = (0..certificate.attestations.len())
                        .max_by_key(|i| seen(&certificate.attestations[*i]));
                    certificate.attestations.remove(most.unwrap_or(0));
                }
                self.adversary.count();
            }
            _ => {}
        }
    }

    fn built(&self, block: &mut Block) {
        let honest = block.clone();
        self.change(block);
        block.header.seeds_root = seeds_root(&block.seeds);
        block.header.presence_hash = presence_hash(block.presence.as_ref());
        if *block != honest {
            self.adversary.count();
        }
    }
}

impl BlockForger {
    fn change(&self, block: &mut Block) {
        let seeds = &mut block.seeds;
        match self.adversary.misconduct {
            Misconduct::MissingSeed => drop(seeds.pop()),
            Misconduct::RepeatedSeed => seeds.extend(seeds.last().copied()),
            Misconduct::OldCertificate => {
                let mut carried = self.carried.lock().expect("one thread");
                let old = carried.take().or(block.presence.clone());
                *carried = old.clone();
                block.presence = old;
            }
            Misconduct::SmallCertificate => {
                if let Some(certificate) = &mut block.presence {
                    certificate.attestations.truncate(1);
                }
            }
            Misconduct::WrongRoot => block.header.state.root = B256::repeat_byte(0x11),
            Misconduct::Hasty => block.header.timestamp_ms -= 20,
            Misconduct::FutureTime => block.header.timestamp_ms = u64::MAX / 4,
            _ => {}
        }
    }
}
