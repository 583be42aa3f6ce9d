//! Validators that misbehave, named by what they do wrong.
//!
//! - [`block_forger`]: proposes blocks that break a rule, or none
//! - [`presence_forger`]: attests runners falsely
//! - [`equivocator`], [`withholder`]: do not send everybody what their engine sends

mod block_forger;
mod equivocator;
mod presence_forger;
mod withholder;

use block_forger::BlockForger;
use commonware_p2p::Recipients;
use commonware_p2p::simulated::SplitOrigin;
use commonware_runtime::IoBuf;
use presence_forger::PresenceForger;
use remuda_node::app::FaultInjection;
use remuda_node::scheme::{PresenceSource, PublicKey};
use remuda_protocol::presence::quorum;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! faults {
    ($( $variant:ident $name:literal $about:literal; )*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Misconduct { $( #[doc = $about] $variant, )* }

        impl Misconduct {
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

faults! {
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

/// The channel of votes.
const VOTES: u64 = 0;

/// A validator that misbehaves, and how often it did.
#[derive(Clone)]
pub(super) struct Adversary {
    pub(super) misconduct: Misconduct,
    committed: Arc<AtomicU64>,
}

impl Adversary {
    pub(super) fn new(misconduct: Misconduct) -> Self {
        Self { misconduct, committed: Arc::default() }
    }

    fn count(&self) {
        self.committed.fetch_add(1, Relaxed);
    }

    /// How often it misbehaved: a run without an occasion shows nothing.
    pub(super) fn committed(&self) -> u64 {
        self.committed.load(Relaxed)
    }

    pub(super) fn faults(&self, validators: usize) -> Arc<dyn FaultInjection> {
        Arc::new(BlockForger::new(self.clone(), quorum(validators)))
    }

    pub(super) fn presence(&self, honest: Arc<dyn PresenceSource>) -> Arc<dyn PresenceSource> {
        Arc::new(PresenceForger { adversary: self.clone(), honest })
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
        match self.misconduct {
            Misconduct::Equivocates => {
                if channel == VOTES && origin == SplitOrigin::Secondary {
                    self.count();
                }
                equivocator::recipients(origin, recipients, halves)
            }
            misconduct if channel == VOTES && withholder::withholds(misconduct, message) => {
                self.count();
                None
            }
            _ => Some(recipients.clone()),
        }
    }
}
