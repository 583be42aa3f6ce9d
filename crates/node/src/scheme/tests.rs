//! What the votes and certificates let through, and what not.

use super::*;
use crate::network::{Network, Secrets};
use commonware_codec::{Decode as _, DecodeExt as _, FixedSize as _};
use commonware_consensus::simplex::scheme::bls12381_threshold::vrf;
use commonware_consensus::simplex::types::{Finalization, Finalize, Notarize, Nullify, Proposal};
use commonware_cryptography::keccak256::Digest as BlockDigest;
use commonware_cryptography::{Hasher as _, Keccak256};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use remuda_protocol::genesis::Genesis;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::Height;

/// Sees what it is told to.
struct Fixed(Vec<u8>);

impl PresenceSource for Fixed {
    fn bits(&self, _: &[u8], _: Round) -> Bits {
        Bits::new(self.0.clone())
    }
}

struct Committee {
    network: Network,
    secrets: Vec<Secrets>,
    schemes: Vec<Scheme>,
    rng: StdRng,
}

fn committee(n: usize) -> Committee {
    let mut rng = StdRng::seed_from_u64(n as u64);
    let (network, secrets) = Network::deal(&mut rng, n, |validators, threshold_key| Genesis {
        params: ChainParams::development(),
        timestamp_ms: 0,
        balances: Vec::new(),
        pinned_executors: Vec::new(),
        system_deployers: Vec::new(),
        validators,
        threshold_key,
    });
    let schemes = secrets
        .iter()
        .enumerate()
        .map(|(i, secrets)| {
            let sight = Arc::new(Fixed(vec![i as u8 + 1]));
            network.signer(secrets, sight).expect("its own share")
        })
        .collect();
    Committee { network, secrets, schemes, rng }
}

fn proposal(view: u64) -> Proposal<BlockDigest> {
    let payload = Keccak256::hash(&[b"block", &view.to_be_bytes()]);
    Proposal::new(Round::new(Epoch::zero(), View::new(view)), View::new(view - 1), payload)
}

impl Committee {
    fn finalization(&self, view: u64) -> Finalization<Scheme, BlockDigest> {
        let quorum = self.network.participants().quorum::<N3f1>() as usize;
        let votes: Vec<_> = self.schemes[..quorum]
            .iter()
            .map(|scheme| Finalize::sign(scheme, proposal(view)).expect("a signer"))
            .collect();
        let votes = non_empty![@votes.iter()];
        Finalization::from_finalizes(&self.schemes[0], votes, &Sequential).expect("a quorum")
    }

    fn holds(&mut self, finalization: &Finalization<Scheme, BlockDigest>) -> bool {
        finalization.verify(&mut self.rng, &self.network.verifier(), &Sequential)
    }
}

#[test]
fn finalization_keeps_what_each_signer_saw() {
    let mut all = committee(4);
    let finalization = all.finalization(5);
    assert!(all.holds(&finalization));
    let seen: Vec<_> = finalization.certificate.seen().iter().map(|s| s.bits.clone()).collect();
    assert_eq!(seen, [Bits::new(vec![1]), Bits::new(vec![2]), Bits::new(vec![3])]);
}

#[test]
fn nobody_can_change_anothers_bits() {
    let mut all = committee(4);
    let honest = all.finalization(5);
    let mut changed = honest.clone();
    changed.certificate.seen[1].bits = Bits::default();
    assert!(!all.holds(&changed));
    let mut swapped = honest.clone();
    let (one, two) = (swapped.certificate.seen[0].signer, swapped.certificate.seen[1].signer);
    swapped.certificate.seen[0].signer = two;
    swapped.certificate.seen[1].signer = one;
    swapped.certificate.seen.swap(0, 1);
    assert!(!all.holds(&swapped));
    // A signature of the same validator on another round does not fit this one.
    let mut old = honest;
    old.certificate.seen[1] = all.finalization(4).certificate.seen[1].clone();
    assert!(!all.holds(&old));
}

#[test]
fn fewer_than_a_quorum_certify_nothing() {
    let mut all = committee(7);
    let mut certificate = all.finalization(5);
    assert_eq!(certificate.certificate.seen.len(), 5);
    certificate.certificate.seen.pop();
    assert!(!all.holds(&certificate));
    let again = certificate.certificate.seen[3].clone();
    certificate.certificate.seen.push(again);
    assert!(!all.holds(&certificate), "a signer twice");
}

#[test]
fn vote_of_a_borrowed_identity_is_invalid() {
    let mut all = committee(4);
    let mut mixed = all.secrets[0].clone();
    mixed.identity = all.secrets[1].identity.clone();
    assert!(all.network.signer(&mixed, Arc::new(Fixed(vec![]))).is_none());
    let forger = all.network.signer_unchecked(&mixed, Arc::new(Fixed(vec![]))).unwrap();
    let forged = Finalize::sign(&forger, proposal(5)).unwrap();
    assert!(!forged.verify(&mut all.rng, &all.schemes[0], &Sequential));
    let honest = Finalize::sign(&all.schemes[0], proposal(5)).unwrap();
    assert!(honest.verify(&mut all.rng, &all.schemes[1], &Sequential));
}

/// What comes first decides what is checked: one bad vote among good ones is named, and only it.
#[test]
fn bad_vote_in_a_batch_is_told_from_good_ones() {
    let mut all = committee(4);
    let subject = proposal(5);
    let mut votes: Vec<_> = all
        .schemes
        .iter()
        .map(|scheme| Finalize::sign(scheme, subject.clone()).unwrap().attestation)
        .collect();
    let mut bad = votes[2].signature.get().unwrap().clone();
    bad.bits = Bits::new(vec![0xff]);
    votes[2].signature = bad.into();
    let checked = votes::Scheme::verify_attestations::<_, BlockDigest, _>(
        &all.schemes[0],
        &mut all.rng,
        Subject::Finalize { proposal: &subject },
        votes,
        &Sequential,
    );
    let good: Vec<u32> = checked.verified.iter().map(|vote| vote.signer.get()).collect();
    let bad: Vec<u32> = checked.invalid.iter().map(|signer| signer.get()).collect();
    assert_eq!((good, bad), (vec![0, 1, 3], vec![2]));
}

#[test]
fn only_finalize_votes_carry_bits() {
    let all = committee(4);
    let notarize = Notarize::sign(&all.schemes[0], proposal(5)).unwrap();
    let round = Round::new(Epoch::zero(), View::new(5));
    let nullify = Nullify::sign::<BlockDigest>(&all.schemes[0], round).unwrap();
    for vote in [&notarize.attestation, &nullify.attestation] {
        let signature = vote.signature.get().unwrap();
        assert_eq!((signature.kind, signature.bits.as_slice()), (Kind::Plain, &[][..]));
    }
    // Signed again, byte by byte the same: two that differ would get the signer blocked.
    let again = Nullify::sign::<BlockDigest>(&all.schemes[0], round).unwrap();
    assert_eq!(again.encode(), nullify.encode());

    let mut bytes = notarize.attestation.signature.get().unwrap().encode().to_vec();
    bytes[vrf::Signature::<Bls>::SIZE + 1] = 1;
    assert!(Signature::decode(bytes::Bytes::from(bytes)).is_err(), "bits in a notarize vote");
}

#[test]
fn carried_certificate_is_the_one_that_was_made() {
    let mut all = committee(7);
    let finalization = all.finalization(9);
    let carried = to_carried(Height(8), &finalization).unwrap();
    assert_eq!((carried.height, carried.round.view, carried.parent_view), (Height(8), 9, 8));
    let back = from_carried(&carried).unwrap();
    assert_eq!(back, finalization);
    assert!(all.holds(&back));

    let mut longer = carried.clone();
    longer.attestations[0].bits.0.push(0);
    assert_eq!(from_carried(&longer), None, "bits have one form");
    let mut other = carried.clone();
    other.parent_view = 7;
    assert!(!all.holds(&from_carried(&other).unwrap()), "the vote was on another parent");
    let mut no_point = carried;
    no_point.vote_signature = [0xff; 48];
    assert_eq!(from_carried(&no_point), None);
}

#[test]
fn seeds_are_the_upstream_ones_and_of_their_round_only() {
    let mut all = committee(4);
    let seeds: Vec<(u64, SeedPoint)> =
        (2..7).map(|view| (view, all.finalization(view).certificate.seed().unwrap())).collect();
    for (view, seed) in &seeds {
        let round = Round::new(Epoch::zero(), View::new(*view));
        assert!(vrf::Seed::<Bls>::new(round, *seed).verify(&all.schemes[0].inner));
    }
    let verifier = all.network.verifier();
    assert!(verifier.verify_seeds(&mut all.rng, seeds.clone()));
    assert!(verifier.verify_seeds(&mut all.rng, []));
    let mut swapped = seeds.clone();
    swapped[1].1 = seeds[2].1;
    swapped[2].1 = seeds[1].1;
    assert!(!verifier.verify_seeds(&mut all.rng, swapped));
}

#[test]
fn certificates_announce_no_more_than_they_bring() {
    let all = committee(4);
    let bytes = all.finalization(5).certificate.encode();
    assert!(Certificate::decode_cfg(bytes.clone(), &4).is_ok());
    assert!(Certificate::decode_cfg(bytes.clone(), &2).is_err(), "more signers than there are");
    let mut huge = bytes[..vrf::Certificate::<Bls>::SIZE].to_vec();
    huge.extend([0xff, 0xff, 0xff, 0xff, 0x0f]);
    assert!(Certificate::decode_cfg(bytes::Bytes::from(huge), &usize::MAX).is_err());
    assert!(bytes.len() <= Certificate::max_size(4));
}
