//! How validators misbehave, by name.

use commonware_codec::DecodeExt as _;
use commonware_consensus::simplex::types::Vote;
use commonware_consensus::types::Round;
use commonware_cryptography::keccak256::Digest;
use commonware_p2p::Recipients;
use commonware_p2p::simulated::SplitOrigin;
use commonware_runtime::IoBuf;
use remuda_node::app::FaultInjection;
use remuda_node::scheme::{Bits, PRESENCE_BYTES, PresenceSource, PublicKey, Scheme};
use remuda_protocol::block::{Block, presence_hash, seeds_root};
use remuda_protocol::execute::Draft;
use remuda_protocol::presence::{Attestation, PresenceCertificate, quorum};
use remuda_protocol::primitives::B256;
use remuda_protocol::state::MemoryState;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

macro_rules! conducts {
    ($( $variant:ident $name:literal $about:literal; )*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Conduct { $( #[doc = $about] $variant, )* }

        impl Conduct {
            pub const ALL: &'static [Self] = &[$( Self::$variant ),*];

            pub const fn name(self) -> &'static str {
                match self { $( Self::$variant => $name ),* }
            }

            pub const fn about(self) -> &'static str {
                match self { $( Self::$variant => $about ),* }
            }
        }
    };
}

conducts! {
    Equivocates "equivocates" "Runs twice with one key and tells one half of the others other things than the other.";
    WrongBits "wrong-bits" "Attests whom it does not see, and not whom it sees.";
    ForeignBits "foreign-bits" "Sets every bit there is, also beyond its own list.";
    ForgedVotes "forged-votes" "Signs its votes with a key that is not its own.";
    WithholdsFinalize "withholds-finalize" "Never sends a finalize vote, so that its bits are in no certificate.";
    WithholdsVotes "withholds-votes" "Sends no votes at all.";
    Mute "mute" "Never proposes.";
    MissingSeed "missing-seed" "Leaves the last seed out.";
    RepeatedSeed "repeated-seed" "Carries a seed twice.";
    ForeignSeed "foreign-seed" "Carries a seed of another round.";
    OldCertificate "old-certificate" "Carries a certificate that was carried before.";
    SmallCertificate "small-certificate" "Carries a certificate of fewer than a quorum.";
    EditedCertificate "edited-certificate" "Clears the bits of others in the certificate that it carries.";
    NoCertificate "no-certificate" "Never carries a certificate.";
    ChoosyCertificate "choosy-certificate" "Leaves those who see most out of the certificate, down to a quorum.";
    WrongRoot "wrong-root" "Commits to a state that does not follow.";
    Hasty "hasty" "Makes blocks as if the block time were nothing.";
    FutureTime "future-time" "Makes blocks that are from the far future.";
}

/// A validator that misbehaves, and how often it did.
#[derive(Clone)]
pub(super) struct Liar {
    pub(super) conduct: Conduct,
    told: Arc<AtomicU64>,
}

impl Liar {
    pub(super) fn new(conduct: Conduct) -> Self {
        Self { conduct, told: Arc::default() }
    }

    fn tell(&self) {
        self.told.fetch_add(1, Relaxed);
    }

    /// How often it has lied: a run in which a liar had no occasion shows nothing.
    pub(super) fn told(&self) -> u64 {
        self.told.load(Relaxed)
    }

    /// What it does to the blocks that it makes.
    pub(super) fn faults(&self, validators: usize) -> Arc<dyn FaultInjection> {
        let quorum = quorum(validators);
        Arc::new(BlockForger { liar: self.clone(), quorum, carried: Mutex::default() })
    }

    /// What it says it sees.
    pub(super) fn presence(&self, honest: Arc<dyn PresenceSource>) -> Arc<dyn PresenceSource> {
        Arc::new(PresenceForger { liar: self.clone(), honest })
    }

    /// To whom it really sends what its engine sends.
    pub(super) fn forward(
        &self,
        channel: u64,
        origin: SplitOrigin,
        recipients: &Recipients<PublicKey>,
        message: &IoBuf,
        halves: &[Vec<PublicKey>; 2],
    ) -> Option<Recipients<PublicKey>> {
        match self.conduct {
            Conduct::Equivocates => {
                let half = match origin {
                    SplitOrigin::Primary => &halves[0],
                    SplitOrigin::Secondary => &halves[1],
                };
                if channel == VOTES && origin == SplitOrigin::Secondary {
                    self.tell();
                }
                let wanted = match recipients {
                    Recipients::All => half.clone(),
                    Recipients::Some(some) => {
                        some.iter().filter(|key| half.contains(key)).cloned().collect()
                    }
                    Recipients::One(one) if half.contains(one) => vec![one.clone()],
                    Recipients::One(_) => Vec::new(),
                };
                (!wanted.is_empty()).then_some(Recipients::Some(wanted))
            }
            Conduct::WithholdsVotes if channel == VOTES => {
                self.tell();
                None
            }
            Conduct::WithholdsFinalize if channel == VOTES => {
                let vote = Vote::<Scheme, Digest>::decode(message.clone());
                let finalize = matches!(vote, Ok(Vote::Finalize(_)));
                if finalize {
                    self.tell();
                }
                (!finalize).then(|| recipients.clone())
            }
            _ => Some(recipients.clone()),
        }
    }
}

const VOTES: u64 = 0;

struct BlockForger {
    liar: Liar,
    quorum: usize,
    /// The first certificate that it carried.
    carried: Mutex<Option<PresenceCertificate>>,
}

impl FaultInjection for BlockForger {
    fn proposes(&self) -> bool {
        let mute = self.liar.conduct == Conduct::Mute;
        if mute {
            self.liar.tell();
        }
        !mute
    }

    /// What the rules do not see: the block follows from it, and is valid but for its signatures, or
    /// altogether valid and only unkind.
    fn draft(&self, draft: &mut Draft, _: &MemoryState) {
        match self.liar.conduct {
            Conduct::ForeignSeed => {
                // A valid signature of the network, on another round.
                let other = draft.presence.as_ref().map(|carried| carried.seed_signature);
                if let (Some(last), Some(bytes)) = (draft.seeds.last_mut(), other) {
                    last.bytes = bytes;
                    self.liar.tell();
                }
            }
            Conduct::EditedCertificate => {
                let Some(certificate) = &mut draft.presence else { return };
                for attestation in &mut certificate.attestations {
                    attestation.bits.0 = if attestation.bits.is_empty() { vec![1] } else { vec![] };
                }
                self.liar.tell();
            }
            Conduct::NoCertificate if draft.presence.take().is_some() => self.liar.tell(),
            Conduct::ChoosyCertificate => {
                let Some(certificate) = &mut draft.presence else { return };
                let seen =
                    |a: &Attestation| a.bits.iter().map(|byte| byte.count_ones()).sum::<u32>();
                while certificate.attestations.len() > self.quorum {
                    let most = (0..certificate.attestations.len())
                        .max_by_key(|i| seen(&certificate.attestations[*i]));
                    certificate.attestations.remove(most.unwrap_or(0));
                }
                self.liar.tell();
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
            self.liar.tell();
        }
    }
}

impl BlockForger {
    fn change(&self, block: &mut Block) {
        let seeds = &mut block.seeds;
        match self.liar.conduct {
            Conduct::MissingSeed => drop(seeds.pop()),
            Conduct::RepeatedSeed => seeds.extend(seeds.last().copied()),
            Conduct::OldCertificate => {
                let mut carried = self.carried.lock().expect("one thread");
                let old = carried.take().or(block.presence.clone());
                *carried = old.clone();
                block.presence = old;
            }
            Conduct::SmallCertificate => {
                if let Some(certificate) = &mut block.presence {
                    certificate.attestations.truncate(1);
                }
            }
            Conduct::WrongRoot => block.header.state.root = B256::repeat_byte(0x11),
            Conduct::Hasty => block.header.timestamp_ms -= 20,
            Conduct::FutureTime => block.header.timestamp_ms = u64::MAX / 4,
            _ => {}
        }
    }
}

struct PresenceForger {
    liar: Liar,
    honest: Arc<dyn PresenceSource>,
}

impl PresenceSource for PresenceForger {
    fn bits(&self, block: &[u8], round: Round) -> Bits {
        let honest = self.honest.bits(block, round);
        let bits = match self.liar.conduct {
            Conduct::WrongBits => {
                let mut bits = honest.as_slice().to_vec();
                bits.resize(4, 0);
                Bits::new(bits.into_iter().map(|byte| !byte).collect())
            }
            Conduct::ForeignBits => Bits::new(vec![0xff; PRESENCE_BYTES]),
            Conduct::ForgedVotes => {
                self.liar.tell();
                return honest;
            }
            _ => return honest,
        };
        self.liar.tell();
        bits
    }
}
