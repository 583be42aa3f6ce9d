//! How large votes and certificates are.

use commonware_codec::{Encode as _, EncodeSize as _};
use commonware_consensus::simplex::types::{Finalization, Finalize, Proposal};
use commonware_consensus::types::{Epoch, Round, View};
use commonware_cryptography::{Hasher as _, Keccak256};
use commonware_parallel::Sequential;
use commonware_utils::non_empty;
use remuda_node::scheme::{Bits, PresenceSource, Scheme};
use remuda_protocol::params::ChainParams;
use remuda_protocol::presence::{quorum, subset_size};
use std::sync::Arc;

/// Bytes of what validators send, measured on real ones.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub validators: usize,
    /// How many runners they attest.
    pub runners: usize,
    pub vote: usize,
    /// A finalization certificate: what a block carries.
    pub certificate: usize,
}

struct Seeing(usize);

impl PresenceSource for Seeing {
    fn bits(&self, _: &[u8], _: Round) -> Bits {
        Bits::new(vec![0xff; self.0])
    }
}

/// Signs for a network of `validators` that attest `runners`, evenly spread over their lists.
pub fn sizes(validators: usize, runners: usize) -> Sizes {
    let seed = validators as u64;
    let (network, secrets) = crate::deal(seed, validators, &ChainParams::development(), 0, &[]);
    let list = (runners * subset_size(validators)).div_ceil(validators);
    let sight = Arc::new(Seeing(list.div_ceil(8)));
    let round = Round::new(Epoch::zero(), View::new(1000));
    let proposal = Proposal::new(round, View::new(999), Keccak256::hash(&[b"a block"]));
    let schemes: Vec<Scheme> = secrets[..quorum(validators)]
        .iter()
        .map(|secrets| network.signer(secrets, sight.clone()).expect("a validator's secrets"))
        .collect();
    let votes: Vec<_> = schemes
        .iter()
        .map(|scheme| Finalize::sign(scheme, proposal.clone()).expect("a signer"))
        .collect();
    let certificate =
        Finalization::from_finalizes(&schemes[0], non_empty![@votes.iter()], &Sequential)
            .expect("a quorum");
    let (vote, certificate) = (votes[0].encode().len(), certificate.encode_size());
    Sizes { validators, runners, vote, certificate }
}
