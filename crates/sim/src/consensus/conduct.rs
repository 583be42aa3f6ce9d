//! How validators misbehave, by name.

use commonware_codec::DecodeExt as _;
use commonware_consensus::simplex::types::Vote;
use commonware_consensus::types::Round;
use commonware_cryptography::keccak256::Digest;
use commonware_p2p::Recipients;
use commonware_p2p::simulated::SplitOrigin;
use commonware_runtime::IoBuf;
use remuda_node::app::Tamper;
use remuda_node::scheme::{Bits, PRESENCE_BYTES, PublicKey, Scheme, Sight};
use remuda_protocol::block::{Block, presence_hash, seeds_root};
use remuda_protocol::presence::PresenceCertificate;
use remuda_protocol::primitives::B256;
use std::sync::{Arc, Mutex};

macro_rules! conducts {
    ($( $variant:ident $name:literal $about:literal; )*) => {
        /// A way to misbehave.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Conduct { $( #[doc = $about] $variant, )* }

        impl Conduct {
            /// All of them.
            pub const ALL: &'static [Self] = &[$( Self::$variant ),*];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$variant => $name ),* }
            }

            /// What it does.
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
    WrongRoot "wrong-root" "Commits to a state that does not follow.";
    Hasty "hasty" "Makes blocks as if the block time were nothing.";
    FutureTime "future-time" "Makes blocks that are from the far future.";
}

impl Conduct {
    /// Its hand on the blocks it makes.
    pub(super) fn tamper(self) -> Option<Arc<dyn Tamper>> {
        let blocks = matches!(
            self,
            Self::Mute
                | Self::MissingSeed
                | Self::RepeatedSeed
                | Self::ForeignSeed
                | Self::OldCertificate
                | Self::SmallCertificate
                | Self::EditedCertificate
                | Self::NoCertificate
                | Self::WrongRoot
                | Self::Hasty
                | Self::FutureTime
        );
        blocks.then(|| Arc::new(Hand { conduct: self, carried: Mutex::default() }) as _)
    }

    /// What it says it sees.
    pub(super) fn sight(self, honest: Arc<dyn Sight>) -> Arc<dyn Sight> {
        match self {
            Self::WrongBits => Arc::new(Inverted(honest)),
            Self::ForeignBits => Arc::new(Everybody),
            _ => honest,
        }
    }

    /// To whom it really sends what its engine sends; `half` of the others are the first half.
    pub(super) fn forward(
        self,
        channel: u64,
        origin: SplitOrigin,
        recipients: &Recipients<PublicKey>,
        message: &IoBuf,
        halves: &[Vec<PublicKey>; 2],
    ) -> Option<Recipients<PublicKey>> {
        match self {
            Self::Equivocates => {
                let half = match origin {
                    SplitOrigin::Primary => &halves[0],
                    SplitOrigin::Secondary => &halves[1],
                };
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
            Self::WithholdsVotes if channel == 0 => None,
            Self::WithholdsFinalize if channel == 0 => {
                let vote = Vote::<Scheme, Digest>::decode(message.clone());
                let finalize = matches!(vote, Ok(Vote::Finalize(_)));
                (!finalize).then(|| recipients.clone())
            }
            _ => Some(recipients.clone()),
        }
    }
}

struct Hand {
    conduct: Conduct,
    carried: Mutex<Option<PresenceCertificate>>,
}

impl Tamper for Hand {
    fn proposes(&self) -> bool {
        self.conduct != Conduct::Mute
    }

    fn built(&self, block: &mut Block) {
        let seeds = &mut block.seeds;
        match self.conduct {
            Conduct::MissingSeed => drop(seeds.pop()),
            Conduct::RepeatedSeed => seeds.extend(seeds.last().copied()),
            Conduct::ForeignSeed => {
                // A valid signature of the network, on another round.
                let other = block.presence.as_ref().map(|carried| carried.seed_signature);
                if let (Some(last), Some(bytes)) = (seeds.last_mut(), other) {
                    last.bytes = bytes;
                }
            }
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
            Conduct::EditedCertificate => {
                for attestation in block.presence.iter_mut().flat_map(|c| &mut c.attestations) {
                    attestation.bits.0.clear();
                }
            }
            Conduct::NoCertificate => block.presence = None,
            Conduct::WrongRoot => block.header.state.root = B256::repeat_byte(0x11),
            Conduct::Hasty => block.header.timestamp_ms -= 20,
            Conduct::FutureTime => block.header.timestamp_ms = u64::MAX / 4,
            _ => {}
        }
        block.header.seeds_root = seeds_root(&block.seeds);
        block.header.presence_hash = presence_hash(block.presence.as_ref());
    }
}

struct Inverted(Arc<dyn Sight>);

impl Sight for Inverted {
    fn bits(&self, block: &[u8], round: Round) -> Bits {
        let mut bits = self.0.bits(block, round).as_slice().to_vec();
        bits.resize(4, 0);
        Bits::new(bits.into_iter().map(|byte| !byte).collect())
    }
}

struct Everybody;

impl Sight for Everybody {
    fn bits(&self, _: &[u8], _: Round) -> Bits {
        Bits::new(vec![0xff; PRESENCE_BYTES])
    }
}
