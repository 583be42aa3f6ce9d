//! What a validator signs: a threshold share for the network's signature, and an own signature that
//! says who it was, and in a finalize vote also whom it sees.

use super::{Attribution, Bls};
use bytes::BufMut;
use commonware_codec::{Buf, Error, FixedSize, Read, ReadExt, Write};
use commonware_consensus::simplex::scheme::bls12381_threshold::vrf;
use commonware_cryptography::ed25519;
use std::fmt;

/// Bytes of the presence field: one bit for each runner of a validator's own list (SPEC §9).
/// The engine wants votes of one size, so it is there in every vote; certificates trim it.
pub const PRESENCE_BYTES: usize = 1024;

/// Which vote it is. A certificate is put together without a look at what was voted on, so the vote
/// itself must tell whether its bits are to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Notarize or nullify: no bits. Every retry signs a nullify again, and peers block a signer of two
    /// that differ.
    Plain = 0,
    Presence = 1,
}

/// The bits of a vote, without zero bytes at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bits(Vec<u8>);

impl Bits {
    /// Bits that fit into a vote; what is beyond is cut off, and zero bytes at the end are dropped.
    pub fn new(mut bytes: Vec<u8>) -> Self {
        bytes.truncate(PRESENCE_BYTES);
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        Self(bytes)
    }

    /// Bits as another wrote them; `None` unless that is their only form.
    pub fn canonical(bytes: &[u8]) -> Option<Self> {
        let fits = bytes.len() <= PRESENCE_BYTES && bytes.last() != Some(&0);
        fits.then(|| Self(bytes.to_vec()))
    }

    pub fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Signature {
    pub(super) shares: vrf::Signature<Bls>,
    pub(super) kind: Kind,
    pub(super) bits: Bits,
    pub(super) attribution: Attribution,
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({:?}, {} bytes of bits)", self.kind, self.bits.0.len())
    }
}

impl Write for Signature {
    fn write(&self, buf: &mut impl BufMut) {
        self.shares.write(buf);
        (self.kind as u8).write(buf);
        buf.put_slice(&self.bits.0);
        buf.put_bytes(0, PRESENCE_BYTES - self.bits.0.len());
        self.attribution.write(buf);
    }
}

impl Read for Signature {
    type Cfg = ();

    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        let shares = vrf::Signature::read(buf)?;
        let kind = match u8::read(buf)? {
            0 => Kind::Plain,
            1 => Kind::Presence,
            other => return Err(Error::InvalidEnum(other)),
        };
        let bits = Bits::new(<[u8; PRESENCE_BYTES]>::read(buf)?.to_vec());
        let attribution = Attribution::read(buf)?;
        if kind == Kind::Plain && !bits.0.is_empty() {
            return Err(Error::Invalid("vote", "bits in a vote that is not a finalize"));
        }
        Ok(Self { shares, kind, bits, attribution })
    }
}

impl FixedSize for Signature {
    const SIZE: usize = vrf::Signature::<Bls>::SIZE + 1 + PRESENCE_BYTES + ed25519::Signature::SIZE;
}
