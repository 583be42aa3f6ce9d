//! Results that only one runner can read: sealed to its key.
//!
//! ```text
//! sealed = ephemeral public key (33) ‖ ChaCha20-Poly1305(reveal)
//! key    = BLAKE3 derive_key(context, shared ‖ ephemeral ‖ chain ‖ job ‖ sender ‖ recipient)
//! ```
//! `shared` is what the ephemeral key and the recipient's agree on. Everything that a sealed result
//! belongs to goes into the key, so it opens nowhere else. The ephemeral key is used once, so the
//! nonce may be zero. Who sent it, its signature says (`remuda_link::sign::handover`).

use remuda_protocol::crypto::{PublicKey, SecretKey};
use remuda_protocol::primitives::{Address, JobId};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use zeroize::Zeroizing;

/// Names what keys are derived for.
const CONTEXT: &str = "remuda 2026 handover of a result to its aggregator v1";
/// Bytes of the ephemeral key.
const EPHEMERAL: usize = 33;
/// Bytes that sealing adds.
pub const OVERHEAD: usize = EPHEMERAL + 16;

/// What a sealed result belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    pub chain_id: u64,
    pub job_id: JobId,
    pub from: Address,
    pub to: PublicKey,
}

/// Seals. `random` must be random, and used for nothing else. `None` if the recipient's key is no
/// point, or the random bytes are no key (of which there are 2^-127).
pub fn seal(envelope: &Envelope, plain: &[u8], random: &[u8; 32]) -> Option<Vec<u8>> {
    let ephemeral = SecretKey::from_bytes(random)?;
    let shared = Zeroizing::new(ephemeral.agree(&envelope.to)?);
    let public = ephemeral.public_key();
    let mut body = plain.to_vec();
    let key = key(envelope, &shared, &public)?;
    key.seal_in_place_append_tag(nonce(), Aad::empty(), &mut body).ok()?;
    let mut sealed = public.bytes.to_vec();
    sealed.append(&mut body);
    Some(sealed)
}

/// `None` if it was sealed for another key or envelope.
pub fn open(envelope: &Envelope, sealed: &[u8], key_of_recipient: &SecretKey) -> Option<Vec<u8>> {
    let (public, body) = sealed.split_at_checked(EPHEMERAL)?;
    let public = PublicKey { bytes: public.try_into().ok()? };
    let shared = Zeroizing::new(key_of_recipient.agree(&public)?);
    let key = key(envelope, &shared, &public)?;
    let mut body = body.to_vec();
    let plain = key.open_in_place(nonce(), Aad::empty(), &mut body).ok()?;
    Some(plain.to_vec())
}

fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}

fn key(envelope: &Envelope, shared: &[u8; 32], ephemeral: &PublicKey) -> Option<LessSafeKey> {
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    // Every part has its own fixed length.
    hasher
        .update(shared)
        .update(&ephemeral.bytes)
        .update(&envelope.chain_id.to_be_bytes())
        .update(envelope.job_id.as_slice())
        .update(envelope.from.as_slice())
        .update(&envelope.to.bytes);
    let bytes = Zeroizing::new(*hasher.finalize().as_bytes());
    Some(LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &bytes[..]).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use remuda_protocol::primitives::B256;

    const RANDOM: [u8; 32] = [7; 32];

    fn keys() -> (SecretKey, SecretKey) {
        (SecretKey::from_label("sender"), SecretKey::from_label("aggregator"))
    }

    fn envelope() -> Envelope {
        let (sender, aggregator) = keys();
        Envelope {
            chain_id: 7,
            job_id: B256::repeat_byte(1),
            from: sender.address(),
            to: aggregator.public_key(),
        }
    }

    #[test]
    fn the_aggregator_reads_what_was_sealed_for_it() {
        let sealed = seal(&envelope(), b"42", &RANDOM).unwrap();
        assert_eq!(sealed.len(), 2 + OVERHEAD);
        assert!(!sealed.windows(2).any(|pair| pair == b"42"), "not by others");
        assert_eq!(open(&envelope(), &sealed, &keys().1).as_deref(), Some(&b"42"[..]));
    }

    #[test]
    fn nobody_else_does() {
        let sealed = seal(&envelope(), b"42", &RANDOM).unwrap();
        assert_eq!(open(&envelope(), &sealed, &keys().0), None);
        assert_eq!(open(&envelope(), &sealed, &SecretKey::from_label("validator")), None);
    }

    #[test]
    fn what_was_tampered_with_does_not_open() {
        let sealed = seal(&envelope(), b"42", &RANDOM).unwrap();
        for i in 0..sealed.len() {
            let mut other = sealed.clone();
            other[i] ^= 1;
            assert_eq!(open(&envelope(), &other, &keys().1), None, "byte {i}");
            assert_eq!(open(&envelope(), &sealed[..i], &keys().1), None, "{i} bytes");
        }
    }

    #[test]
    fn it_opens_in_no_other_place() {
        let sealed = seal(&envelope(), b"42", &RANDOM).unwrap();
        let base = envelope();
        let others = [
            Envelope { chain_id: 8, ..base },
            Envelope { job_id: B256::repeat_byte(2), ..base },
            Envelope { from: keys().1.address(), ..base },
            Envelope { to: keys().0.public_key(), ..base },
        ];
        for other in others {
            assert_eq!(open(&other, &sealed, &keys().1), None, "{other:?}");
        }
    }

    #[test]
    fn a_key_that_is_none_is_refused() {
        let to = PublicKey { bytes: [9; 33] };
        assert_eq!(seal(&Envelope { to, ..envelope() }, b"42", &RANDOM), None);
        assert_eq!(seal(&envelope(), b"42", &[0; 32]), None);
    }
}
