//! secp256k1 keys and signatures: 65 bytes r ‖ s ‖ v, v ∈ {0, 1}, low-s only (SPEC §1).
//!
//! Consensus: a change here forks the chain.

use crate::base::codec::codec_struct;
use crate::base::primitives::{Address, B256, keccak256};
use k256::ProjectivePoint;
use k256::ecdsa::{RecoveryId, Signature as EcdsaSignature, SigningKey, VerifyingKey};
use k256::elliptic_curve::point::AffineCoordinates as _;
use thiserror::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// r ‖ s ‖ v.
    pub bytes: [u8; 65],
}
codec_struct!(Signature { bytes });

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey {
    /// SEC1 compressed.
    pub bytes: [u8; 33],
}
codec_struct!(PublicKey { bytes });

/// Why a signature names no signer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SignatureError {
    /// v is neither 0 nor 1.
    #[error("v must be 0 or 1")]
    RecoveryId,
    /// s is in the upper half of the group order: the same signature in its second form.
    #[error("s must be in the lower half of the group order")]
    HighS,
    /// r or s is out of range, or no key gives this signature.
    #[error("the signature belongs to no key")]
    NoKey,
}

impl Signature {
    /// The key that signed `digest`.
    pub fn recover(&self, digest: &B256) -> Result<PublicKey, SignatureError> {
        let key = self.recover_key(digest)?;
        let point = key.to_sec1_point(true);
        let bytes = point.as_bytes().try_into().map_err(|_| SignatureError::NoKey)?;
        Ok(PublicKey { bytes })
    }

    /// The address of the key that signed `digest`.
    pub fn recover_address(&self, digest: &B256) -> Result<Address, SignatureError> {
        self.recover_key(digest).map(|key| address_of(&key))
    }

    fn recover_key(&self, digest: &B256) -> Result<VerifyingKey, SignatureError> {
        let [rs @ .., v] = &self.bytes;
        if *v > 1 {
            return Err(SignatureError::RecoveryId);
        }
        let id = RecoveryId::from_byte(*v).ok_or(SignatureError::RecoveryId)?;
        let signature = EcdsaSignature::from_slice(rs).map_err(|_| SignatureError::NoKey)?;
        if signature.normalize_s() != signature {
            return Err(SignatureError::HighS);
        }
        VerifyingKey::recover_from_prehash(digest.as_slice(), &signature, id)
            .map_err(|_| SignatureError::NoKey)
    }
}

impl PublicKey {
    /// Last 20 bytes of the hash of the uncompressed point; `None` if this is no point.
    pub fn address(&self) -> Option<Address> {
        VerifyingKey::from_sec1_bytes(&self.bytes).ok().map(|key| address_of(&key))
    }
}

fn address_of(key: &VerifyingKey) -> Address {
    let point = key.to_sec1_point(false);
    let hash = keccak256(&point.as_bytes()[1..]);
    Address::from_slice(&hash[12..])
}

/// A signing key. Never encoded, never printed.
#[derive(Clone)]
pub struct SecretKey(SigningKey);

impl core::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "SecretKey({})", self.address())
    }
}

impl SecretKey {
    /// From 32 bytes; `None` for zero and for numbers beyond the group order.
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        SigningKey::from_slice(bytes).ok().map(Self)
    }

    /// A key for tests and demonstrations, from a word.
    pub fn from_label(label: &str) -> Self {
        let bytes = keccak256(label.as_bytes());
        Self::from_bytes(&bytes).expect("a hash is a valid key but for a chance of 2^-127")
    }

    /// Signs a digest; deterministic (RFC 6979).
    pub fn sign(&self, digest: &B256) -> Signature {
        let (signature, id) = self.0.sign_prehash_recoverable(digest.as_slice());
        let mut bytes = [0; 65];
        bytes[..64].copy_from_slice(&signature.to_bytes());
        bytes[64] = id.to_byte();
        Signature { bytes }
    }

    pub fn public_key(&self) -> PublicKey {
        let point = self.0.verifying_key().to_sec1_point(true);
        PublicKey { bytes: point.as_bytes().try_into().expect("33 bytes when compressed") }
    }

    pub fn address(&self) -> Address {
        address_of(self.0.verifying_key())
    }

    /// What this key and another's share (ECDH): the x coordinate of their product, the same from
    /// both sides. It is no key by itself; derive one from it. `None` if the other
    /// is no point.
    pub fn agree(&self, with: &PublicKey) -> Option<[u8; 32]> {
        let other = VerifyingKey::from_sec1_bytes(&with.bytes).ok()?;
        let product = ProjectivePoint::from(*other.as_affine()) * **self.0.as_nonzero_scalar();
        Some(product.to_affine().x().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_names_its_signer() {
        let key = SecretKey::from_label("a");
        let digest = keccak256(b"text");
        let signature = key.sign(&digest);
        assert_eq!(signature.recover_address(&digest), Ok(key.address()));
        assert_eq!(signature.recover(&digest), Ok(key.public_key()));
        assert_eq!(key.public_key().address(), Some(key.address()));
    }

    #[test]
    fn the_second_form_of_a_signature_is_refused() {
        use k256::elliptic_curve::scalar::IsHigh;
        let key = SecretKey::from_label("a");
        let digest = keccak256(b"text");
        let mut signature = key.sign(&digest);
        let low = EcdsaSignature::from_slice(&signature.bytes[..64]).unwrap();
        let high = EcdsaSignature::from_scalars(low.r(), -low.s()).unwrap();
        assert!(bool::from(high.s().is_high()));
        signature.bytes[..64].copy_from_slice(&high.to_bytes());
        signature.bytes[64] ^= 1;
        assert_eq!(signature.recover_address(&digest), Err(SignatureError::HighS));
    }

    #[test]
    fn both_sides_agree_and_a_third_does_not() {
        let [a, b, c] = ["a", "b", "c"].map(SecretKey::from_label);
        let shared = a.agree(&b.public_key()).unwrap();
        assert_eq!(b.agree(&a.public_key()), Some(shared));
        assert_ne!(c.agree(&a.public_key()), Some(shared));
        assert_eq!(a.agree(&PublicKey { bytes: [9; 33] }), None);
    }

    #[test]
    fn a_v_beyond_one_is_refused() {
        let mut signature = SecretKey::from_label("a").sign(&B256::ZERO);
        for v in [2, 3, 27, 28] {
            signature.bytes[64] = v;
            assert_eq!(signature.recover_address(&B256::ZERO), Err(SignatureError::RecoveryId));
        }
    }
}
