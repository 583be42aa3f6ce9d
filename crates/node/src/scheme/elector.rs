//! Elects the leader of a round from the seed of the previous round alone. The equivalent upstream
//! elector supports only the upstream scheme.

use super::{Bls, PublicKey, Scheme};
use commonware_consensus::simplex::elector::{
    Config, Dynamic, Elector, Input, Random, RandomVersion, Terms,
};
use commonware_consensus::types::Round;
use commonware_utils::{Participant, ordered::Set};

#[derive(Clone, Debug, Default)]
pub struct SeedElection;

#[derive(Clone, Debug)]
pub struct SeedElector {
    participants: u32,
}

impl Config<Scheme> for SeedElection {
    type Elector = SeedElector;

    fn build(self, participants: &Set<PublicKey>) -> SeedElector {
        // At most VALIDATORS_MAX.
        SeedElector { participants: participants.len() as u32 }
    }
}

impl Elector<Scheme> for SeedElector {
    type Mode = Dynamic;

    /// One view each: in longer terms skipped views would have no certificate, so no seed.
    fn terms(&self) -> Terms {
        Terms::rotating()
    }

    fn elect(&self, round: Round, certificate: Input<'_, Scheme, Self>) -> Participant {
        let seed = certificate.map(|certificate| certificate.seed().expect("it was verified"));
        let random: Random = Random::new(RandomVersion::V1);
        random.select_leader::<Bls>(round, self.participants, seed)
    }
}
