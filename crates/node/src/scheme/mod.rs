//! The votes' signatures: the threshold-VRF scheme, and beside each share an Ed25519 signature of
//! the voter's own (SPEC §9).
//!
//! Consensus: a change here forks the chain. This holds for the whole folder.
//!
//! ```text
//! vote         vote share ‖ seed share ‖ kind ‖ bits (1,024 bytes) ‖ own signature
//! certificate  vote signature ‖ seed signature ‖ of a finalization: (signer, bits, own signature)…
//! ```
//!
//! A threshold signature alone does not show which validator saw which runner. The second signature
//! makes a vote attributable: a validator is accountable for its bits, and no other can change them.

mod certificate;
mod elector;
#[cfg(test)]
mod tests;
mod vote;

pub use certificate::{Certificate, Seen, from_carried, to_carried};
pub use elector::{SeedElection, SeedElector};
pub use vote::{Bits, PRESENCE_BYTES, Signature};

use bytes::BufMut;
use commonware_codec::Encode as _;
use commonware_consensus::simplex::{
    scheme::{Namespace, bls12381_threshold::vrf},
    types::Subject,
};
use commonware_consensus::types::{Epoch, Round, View};
use commonware_cryptography::certificate::{
    self as votes, AssemblyError, Attestation, Membership, Subject as _, Verification, Verifier,
};
use commonware_cryptography::{
    BatchEntry, BatchVerifier as _, Digest, Signer as _, Verifier as _,
    bls12381::primitives::{
        group::Share,
        ops::batch,
        sharing::Sharing,
        variant::{MinSig, Variant},
    },
    ed25519,
};
use commonware_parallel::{Sequential, Strategy};
use commonware_utils::{
    N3f1, Participant,
    iter::NonEmpty,
    non_empty,
    ordered::{Quorum, Set},
};
use rand_core::CryptoRng;
use std::{borrow::Cow, collections::BTreeSet, fmt, sync::Arc};
use vote::Kind;

/// Signatures of 48 bytes.
pub type Bls = MinSig;
/// A threshold signature on a round.
pub type SeedPoint = <Bls as Variant>::Signature;
pub type PublicKey = ed25519::PublicKey;
pub type Attribution = ed25519::Signature;

const PRESENCE_NAMESPACE: &[u8] = b"cowboy-presence-v1:";

/// Says whom this validator sees, as the bits of its list after the block that it votes on.
pub trait PresenceSource: Send + Sync {
    /// Called once for each finalize vote. The engine writes the vote to its journal before it
    /// sends it, so a restart repeats the vote and does not ask again.
    fn bits(&self, block: &[u8], round: Round) -> Bits;
}

#[derive(Clone)]
pub struct Scheme {
    inner: vrf::Scheme<PublicKey, Bls>,
    chain_id: u64,
    seed_namespace: Vec<u8>,
    plain_namespace: Namespace,
    own: Option<(ed25519::PrivateKey, Arc<dyn PresenceSource>)>,
}

impl fmt::Debug for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scheme({} participants)", self.inner.participants().len())
    }
}

impl Scheme {
    /// A validator's. `None` if the share is not of this sharing.
    ///
    /// # Panics
    /// If the sharing is not for as many participants.
    pub fn signer(
        chain: (u64, &[u8]),
        participants: Set<PublicKey>,
        sharing: Sharing<Bls>,
        share: Share,
        own: (ed25519::PrivateKey, Arc<dyn PresenceSource>),
    ) -> Option<Self> {
        let inner = vrf::Scheme::signer(chain.1, participants, sharing, share)?;
        Some(Self::wrap(chain, inner, Some(own)))
    }

    /// # Panics
    /// If the sharing is not for as many participants.
    pub fn verifier(
        chain: (u64, &[u8]),
        participants: Set<PublicKey>,
        sharing: Sharing<Bls>,
    ) -> Self {
        Self::wrap(chain, vrf::Scheme::verifier(chain.1, participants, sharing), None)
    }

    fn wrap(
        (chain_id, namespace): (u64, &[u8]),
        inner: vrf::Scheme<PublicKey, Bls>,
        own: Option<(ed25519::PrivateKey, Arc<dyn PresenceSource>)>,
    ) -> Self {
        Self {
            inner,
            chain_id,
            // As the upstream scheme has it; a test holds them together.
            seed_namespace: [namespace, b"_SEED"].concat(),
            plain_namespace: Namespace::new(&[namespace, b"_OWN"].concat()),
            own,
        }
    }

    /// Whether all these are the network's signatures on their rounds. One multi-signature check,
    /// whatever their number.
    pub fn verify_seeds(
        &self,
        rng: &mut impl CryptoRng,
        seeds: impl IntoIterator<Item = (u64, SeedPoint)>,
    ) -> bool {
        let entries: Vec<_> = seeds
            .into_iter()
            .map(|(view, seed)| (Round::new(Epoch::zero(), View::new(view)).encode(), seed))
            .collect();
        if entries.is_empty() {
            return true;
        }
        let entries = entries
            .iter()
            .map(|(message, seed)| (&self.seed_namespace[..], message.as_ref(), *seed));
        let public = self.inner.identity();
        batch::verify_same_signer::<_, Bls, _>(rng, public, non_empty![@entries], &Sequential)
            .is_ok()
    }

    pub fn participants(&self) -> &Set<PublicKey> {
        self.inner.participants()
    }

    /// What a voter's own signature is on: of a finalize vote SPEC §9's, of others their subject.
    fn statement<'s, D: Digest>(&'s self, subject: &Subject<'_, D>) -> Statement<'s> {
        match subject {
            Subject::Finalize { proposal } => {
                let mut head = Vec::with_capacity(56);
                head.put_u64(self.chain_id);
                head.put_slice(proposal.payload.as_ref());
                head.put_u64(proposal.round.epoch().get());
                head.put_u64(proposal.round.view().get());
                Statement { kind: Kind::Presence, namespace: PRESENCE_NAMESPACE, head }
            }
            Subject::Notarize { .. } | Subject::Nullify { .. } => Statement {
                kind: Kind::Plain,
                namespace: subject.namespace(&self.plain_namespace),
                head: subject.message().to_vec(),
            },
        }
    }

    fn shares_of(vote: &Attestation<Self>) -> Option<Attestation<vrf::Scheme<PublicKey, Bls>>> {
        let signature = vote.signature.get()?.shares.clone().into();
        Some(Attestation { signer: vote.signer, signature })
    }
}

/// The bytes under a voter's own signature: all but the bits.
struct Statement<'s> {
    kind: Kind,
    namespace: &'s [u8],
    head: Vec<u8>,
}

impl Statement<'_> {
    fn message(&self, bits: &Bits) -> Cow<'_, [u8]> {
        match self.kind {
            Kind::Plain => Cow::Borrowed(&self.head),
            Kind::Presence => Cow::Owned([&self.head, bits.as_slice()].concat()),
        }
    }

    fn holds(&self, key: &PublicKey, signature: &Signature) -> bool {
        let message = self.message(&signature.bits);
        key.verify(self.namespace, &message, &signature.attribution)
    }
}

impl Verifier for Scheme {
    type Subject<'a, D: Digest> = Subject<'a, D>;
    type Faults = N3f1;
    type PublicKey = PublicKey;
    type Certificate = Certificate;

    fn verify_certificate<R, D>(
        &self,
        rng: &mut R,
        subject: Subject<'_, D>,
        certificate: &Certificate,
        strategy: &impl Strategy,
    ) -> bool
    where
        R: CryptoRng,
        D: Digest,
    {
        let statement = self.statement(&subject);
        let owners = match statement.kind {
            Kind::Plain => certificate.seen.is_empty(),
            Kind::Presence => self.verify_seen(rng, &statement, &certificate.seen, strategy),
        };
        owners
            && self.inner.verify_certificate::<R, D>(rng, subject, &certificate.threshold, strategy)
    }

    fn is_batchable() -> bool {
        true
    }

    fn max_certificate_size(participants: u32) -> usize {
        Certificate::max_size(participants)
    }

    fn certificate_codec_config(&self) -> usize {
        self.inner.participants().len()
    }

    fn certificate_codec_config_unbounded() -> usize {
        u32::MAX as usize
    }
}

impl Scheme {
    /// At least a quorum, each once, each with its own signature.
    fn verify_seen<R: CryptoRng>(
        &self,
        rng: &mut R,
        statement: &Statement<'_>,
        seen: &[Seen],
        strategy: &impl Strategy,
    ) -> bool {
        let participants = self.inner.participants();
        let quorum = participants.quorum::<N3f1>() as usize;
        let ascending = seen.windows(2).all(|pair| pair[0].signer < pair[1].signer);
        if seen.len() < quorum || !ascending {
            return false;
        }
        let entries: Option<Vec<_>> = seen
            .iter()
            .map(|seen| Some((participants.key(seen.signer)?, statement.message(&seen.bits), seen)))
            .collect();
        let Some(entries) = entries else { return false };
        PublicKey::verify_batch(
            rng,
            &entries,
            |_, (key, message, seen)| BatchEntry {
                namespace: statement.namespace,
                message,
                public_key: key,
                signature: &seen.attribution,
            },
            strategy,
        )
    }
}

impl votes::Scheme for Scheme {
    type Signature = Signature;

    fn me(&self) -> Option<Membership> {
        votes::Scheme::me(&self.inner)
    }

    fn participants(&self) -> &Set<PublicKey> {
        self.inner.participants()
    }

    fn sign<D: Digest>(&self, subject: Subject<'_, D>) -> Option<Attestation<Self>> {
        let (key, sight) = self.own.as_ref()?;
        let bits = match &subject {
            Subject::Finalize { proposal } => sight.bits(proposal.payload.as_ref(), proposal.round),
            Subject::Notarize { .. } | Subject::Nullify { .. } => Bits::default(),
        };
        let statement = self.statement(&subject);
        let attribution = key.sign(statement.namespace, &statement.message(&bits));
        let kind = statement.kind;
        let vote = votes::Scheme::sign(&self.inner, subject)?;
        let shares = vote.signature.get()?.clone();
        let signature = Signature { shares, kind, bits, attribution };
        Some(Attestation { signer: vote.signer, signature: signature.into() })
    }

    fn verify_attestation<R, D>(
        &self,
        rng: &mut R,
        subject: Subject<'_, D>,
        vote: &Attestation<Self>,
        strategy: &impl Strategy,
    ) -> bool
    where
        R: CryptoRng,
        D: Digest,
    {
        let statement = self.statement(&subject);
        let (Some(signature), Some(key), Some(shares)) = (
            vote.signature.get(),
            self.inner.participants().key(vote.signer),
            Self::shares_of(vote),
        ) else {
            return false;
        };
        signature.kind == statement.kind
            && statement.holds(key, signature)
            && votes::Scheme::verify_attestation::<R, D>(
                &self.inner,
                rng,
                subject,
                &shares,
                strategy,
            )
    }

    fn verify_attestations<R, D, I>(
        &self,
        rng: &mut R,
        subject: Subject<'_, D>,
        attestations: I,
        strategy: &impl Strategy,
    ) -> Verification<Self>
    where
        R: CryptoRng,
        D: Digest,
        I: IntoIterator<Item = Attestation<Self>>,
        I::IntoIter: Send,
    {
        let statement = self.statement(&subject);
        let (mut votes, mut invalid) = self.check_owners(rng, &statement, attestations, strategy);
        if !votes.is_empty() {
            let shares: Vec<_> = votes.iter().filter_map(Self::shares_of).collect();
            let checked = votes::Scheme::verify_attestations::<R, D, _>(
                &self.inner,
                rng,
                subject,
                shares,
                strategy,
            );
            invalid.extend(checked.invalid);
            votes.retain(|vote| !invalid.contains(&vote.signer));
        }
        Verification::new(votes, invalid.into_iter().collect())
    }

    fn optimistic_assemble<'a, R, D, I, J>(
        &self,
        rng: &mut R,
        subject: Subject<'_, D>,
        pending: I,
        verified: J,
        strategy: &impl Strategy,
    ) -> Result<Certificate, Verification<Self>>
    where
        R: CryptoRng,
        D: Digest,
        I: IntoIterator<Item = Attestation<Self>>,
        I::IntoIter: ExactSizeIterator + Send,
        J: IntoIterator<Item = &'a Attestation<Self>>,
        J::IntoIter: Send,
    {
        votes::optimistic_assemble::<Self, _, D, _, _>(
            self, rng, subject, pending, verified, strategy,
        )
    }

    fn assemble<I>(
        &self,
        votes: NonEmpty<I>,
        strategy: &impl Strategy,
    ) -> Result<Certificate, AssemblyError>
    where
        I: Iterator<Item = Attestation<Self>> + Send,
    {
        let mut shares = Vec::new();
        let mut seen = Vec::new();
        let mut kind = None;
        for vote in votes {
            let malformed = AssemblyError::MalformedSignature(vote.signer);
            let Some(signature) = vote.signature.get() else { return Err(malformed) };
            // Verified votes on one subject are of one kind; a mixture is looked at one by one.
            if *kind.get_or_insert(signature.kind) != signature.kind {
                return Err(malformed);
            }
            if signature.kind == Kind::Presence {
                seen.push(Seen {
                    signer: vote.signer,
                    bits: signature.bits.clone(),
                    attribution: signature.attribution.clone(),
                });
            }
            shares.push(Self::shares_of(&vote).ok_or(malformed)?);
        }
        let shares = non_empty![@shares.into_iter()];
        let threshold = votes::Scheme::assemble(&self.inner, shares, strategy)?;
        seen.sort_by_key(|seen| seen.signer);
        Ok(Certificate { threshold, seen })
    }

    /// Each vote has its owner's signature.
    fn is_attributable() -> bool {
        true
    }
}

impl Scheme {
    /// Splits votes by whether their owners' signatures hold.
    fn check_owners<R: CryptoRng>(
        &self,
        rng: &mut R,
        statement: &Statement<'_>,
        votes: impl IntoIterator<Item = Attestation<Self>>,
        strategy: &impl Strategy,
    ) -> (Vec<Attestation<Self>>, BTreeSet<Participant>) {
        let participants = self.inner.participants();
        let of_kind = |vote: &Attestation<Self>| {
            vote.signature.get().is_some_and(|signature| signature.kind == statement.kind)
                && participants.key(vote.signer).is_some()
        };
        let (votes, wrong): (Vec<_>, Vec<_>) = votes.into_iter().partition(of_kind);
        let mut invalid: BTreeSet<Participant> = wrong.iter().map(|vote| vote.signer).collect();
        let entries: Vec<_> = votes
            .iter()
            .filter_map(|vote| {
                let signature = vote.signature.get()?;
                Some((
                    vote.signer,
                    participants.key(vote.signer)?,
                    signature,
                    statement.message(&signature.bits),
                ))
            })
            .collect();
        let all = entries.is_empty()
            || PublicKey::verify_batch(
                rng,
                &entries,
                |_, (_, key, signature, message)| BatchEntry {
                    namespace: statement.namespace,
                    message,
                    public_key: key,
                    signature: &signature.attribution,
                },
                strategy,
            );
        if !all {
            let bad =
                entries.iter().filter(|(_, key, signature, _)| !statement.holds(key, signature));
            invalid.extend(bad.map(|(signer, ..)| *signer));
        }
        drop(entries);
        let votes = votes.into_iter().filter(|vote| !invalid.contains(&vote.signer)).collect();
        (votes, invalid)
    }
}
