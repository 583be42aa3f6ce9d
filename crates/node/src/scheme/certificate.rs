//! What a quorum's votes become: the network's two signatures and, of a finalization, everybody's
//! bits with their own signatures.

use super::{Attribution, Bits, Bls, SeedPoint, vote::PRESENCE_BYTES};
use bytes::BufMut;
use commonware_codec::{
    Buf, DecodeExt, Encode, EncodeSize, Error, FixedSize, RangeCfg, Read, ReadExt, Write,
    varint::UInt,
};
use commonware_consensus::simplex::{
    scheme::bls12381_threshold::vrf,
    types::{Finalization, Proposal},
};
use commonware_consensus::types::{Epoch, Round, View};
use commonware_cryptography::{ed25519, keccak256};
use commonware_utils::Participant;
use remuda_protocol::beacon::Round as ChainRound;
use remuda_protocol::codec::Bytes;
use remuda_protocol::presence::{Attestation, PresenceCertificate};
use remuda_protocol::primitives::{B256, Height};
use std::fmt;

/// What one signer of a finalization saw.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Seen {
    pub signer: Participant,
    /// The bits of its list.
    pub bits: Bits,
    pub attribution: Attribution,
}

impl Seen {
    const MAX_SIZE: usize = 5 + 2 + PRESENCE_BYTES + ed25519::Signature::SIZE;
}

impl Write for Seen {
    fn write(&self, buf: &mut impl BufMut) {
        self.signer.write(buf);
        self.bits.as_slice().write(buf);
        self.attribution.write(buf);
    }
}

impl EncodeSize for Seen {
    fn encode_size(&self) -> usize {
        self.signer.encode_size()
            + self.bits.as_slice().encode_size()
            + self.attribution.encode_size()
    }
}

impl Read for Seen {
    type Cfg = ();

    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        let signer = Participant::read(buf)?;
        let bytes = Vec::<u8>::read_cfg(buf, &(RangeCfg::new(0..=PRESENCE_BYTES), ()))?;
        let bits = Bits::canonical(&bytes).ok_or(Error::Invalid("bits", "zero at the end"))?;
        Ok(Self { signer, bits, attribution: Attribution::read(buf)? })
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Certificate {
    pub(super) threshold: vrf::Certificate<Bls>,
    /// Ascending by signer; empty unless it certifies a finalization.
    pub(super) seen: Vec<Seen>,
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Certificate({} signers' bits)", self.seen.len())
    }
}

impl Certificate {
    /// The network's signature on the round. Every kind of certificate has it, so every round that
    /// ends has a seed. `None` for bytes that are no point, which never verify.
    pub fn seed(&self) -> Option<SeedPoint> {
        self.threshold.get().map(|signature| signature.seed_signature)
    }

    pub fn seen(&self) -> &[Seen] {
        &self.seen
    }

    pub(super) const fn max_size(participants: u32) -> usize {
        vrf::Certificate::<Bls>::SIZE + 5 + participants as usize * Seen::MAX_SIZE
    }
}

impl Write for Certificate {
    fn write(&self, buf: &mut impl BufMut) {
        self.threshold.write(buf);
        self.seen.write(buf);
    }
}

impl EncodeSize for Certificate {
    fn encode_size(&self) -> usize {
        self.threshold.encode_size() + self.seen.encode_size()
    }
}

impl Read for Certificate {
    /// Signers at most.
    type Cfg = usize;

    fn read_cfg(buf: &mut impl Buf, signers: &usize) -> Result<Self, Error> {
        let threshold = vrf::Certificate::read(buf)?;
        let count = u32::from(UInt::<u32>::read(buf)?) as usize;
        if count > *signers {
            return Err(Error::InvalidLength(count));
        }
        // Grows with what was really sent, not with what was announced.
        let mut seen = Vec::new();
        for _ in 0..count {
            seen.push(Seen::read(buf)?);
        }
        Ok(Self { threshold, seen })
    }
}

/// A finalization, as the next blocks carry it. `height` is not part of what was voted on: it is
/// that of the block, which the chain knows.
pub fn to_carried(
    height: Height,
    finalization: &Finalization<super::Scheme, keccak256::Digest>,
) -> Option<PresenceCertificate> {
    let proposal = &finalization.proposal;
    let signature = finalization.certificate.threshold.get()?;
    let attestations = finalization.certificate.seen.iter().map(|seen| Attestation {
        validator: seen.signer.get(),
        bits: Bytes(seen.bits.as_slice().to_vec()),
        signature: to_array(&seen.attribution),
    });
    Some(PresenceCertificate {
        height,
        round: ChainRound {
            epoch: proposal.round.epoch().get(),
            view: proposal.round.view().get(),
        },
        parent_view: proposal.parent.get(),
        block: B256::from(to_array(&proposal.payload)),
        vote_signature: to_array(&signature.vote_signature),
        seed_signature: to_array(&signature.seed_signature),
        attestations: attestations.collect(),
    })
}

/// The finalization that a block carries; `None` for bytes that no honest validator would carry.
pub fn from_carried(
    carried: &PresenceCertificate,
) -> Option<Finalization<super::Scheme, keccak256::Digest>> {
    let signature = vrf::Signature::<Bls> {
        vote_signature: parse(&carried.vote_signature)?,
        seed_signature: parse(&carried.seed_signature)?,
    };
    let seen = carried.attestations.iter().map(|attestation| {
        Some(Seen {
            signer: Participant::new(attestation.validator),
            bits: Bits::canonical(&attestation.bits)?,
            attribution: parse(&attestation.signature)?,
        })
    });
    let round = Round::new(Epoch::new(carried.round.epoch), View::new(carried.round.view));
    let proposal = Proposal::new(
        round,
        View::new(carried.parent_view),
        keccak256::Digest::from(carried.block.0),
    );
    let seen = seen.collect::<Option<Vec<Seen>>>()?;
    Some(Finalization { proposal, certificate: Certificate { threshold: signature.into(), seen } })
}

fn parse<T: DecodeExt<()>>(bytes: &[u8]) -> Option<T> {
    T::decode(bytes::Bytes::copy_from_slice(bytes)).ok()
}

/// The bytes of something of known size.
fn to_array<const N: usize>(value: &impl Encode) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&value.encode());
    out
}
