//! Signed requests.
//!
//! ```text
//! authorization: Remuda key=<64 hex>,time=<ms>,nonce=<32 hex>,sig=<128 hex>
//! ```
//!
//! The signature covers the method, the path with its query, the time, the nonce and the hash of the body.
//! The time is the orchestrator's, as the worker knows it from earlier answers: a worker whose clock is off
//! by an hour is not locked out.

use crate::id::WorkerKey;
use crate::time::Millis;
use data_encoding::HEXLOWER;
use ring::digest::{Context, SHA256, digest};
use ring::signature::{ED25519, UnparsedPublicKey};
use std::io;
use std::time::Duration;
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;

/// Validity of a signature before and after its time. Nonces are remembered as long.
pub const CLOCK_WINDOW: Duration = Duration::from_secs(60);
const HEADER_BYTES_MAX: usize = 512;
const SCHEME: &str = "Remuda ";

/// Why a signature is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    #[error("the authorization is not `Remuda key=,time=,nonce=,sig=`; sign the request")]
    Malformed,
    #[error("the signature is not of this request; sign method, path, time, nonce and body's hash")]
    Wrong,
    #[error("the signature's time is off; use the time in the answer's `remuda-time`")]
    Clock,
    #[error("this signature was used before; sign each request with a fresh nonce")]
    Replayed,
}

/// The signed parts of a request.
#[derive(Clone, Copy, Debug)]
pub struct Signed<'a> {
    pub method: &'a str,
    /// Path with query.
    pub path: &'a str,
    /// [`sha256_hex`] of the body.
    pub body: &'a str,
}

impl Signed<'_> {
    pub(super) fn text(&self, time: Millis, nonce: &str) -> String {
        let Self { method, path, body } = self;
        format!("remuda-fleet-1\n{method}\n{path}\n{}\n{nonce}\n{body}", time.0)
    }
}

pub fn sha256_hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(digest(&SHA256, bytes).as_ref())
}

/// Size and SHA-256, in hex, of the rest of a file.
pub(crate) async fn sha256_of(file: &mut File) -> io::Result<(u64, String)> {
    let (mut hash, mut bytes, mut buffer) = (Context::new(&SHA256), 0, vec![0; 64 * 1024]);
    loop {
        match file.read(&mut buffer).await? {
            0 => return Ok((bytes, HEXLOWER.encode(hash.finish().as_ref()))),
            read => {
                hash.update(&buffer[..read]);
                bytes += read as u64;
            }
        }
    }
}

/// A parsed `authorization` header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The claimed key.
    pub key: WorkerKey,
    /// Time of signing, by the orchestrator's clock as the worker knows it.
    pub time: Millis,
    /// Unique per request.
    pub nonce: String,
    pub signature: String,
}

impl Signature {
    pub fn header(&self) -> String {
        let Self { key, time, nonce, signature } = self;
        format!("{SCHEME}key={key},time={},nonce={nonce},sig={signature}", time.0)
    }

    /// Whether a header has this scheme.
    pub fn is_one(header: &str) -> bool {
        header.starts_with(SCHEME)
    }

    pub fn parse(header: &str) -> Result<Self, SignatureError> {
        let short = (header.len() <= HEADER_BYTES_MAX).then_some(header);
        let fields = short.and_then(|header| header.strip_prefix(SCHEME));
        let mut fields = fields.ok_or(SignatureError::Malformed)?.split(',');
        let mut field = |name: &str| {
            let field = fields.next().and_then(|field| field.strip_prefix(name));
            field.and_then(|field| field.strip_prefix('=')).ok_or(SignatureError::Malformed)
        };
        let key = WorkerKey::new(field("key")?).map_err(|_| SignatureError::Malformed)?;
        let time = field("time")?.parse().map_err(|_| SignatureError::Malformed)?;
        let (nonce, signature) = (field("nonce")?.to_owned(), field("sig")?.to_owned());
        if nonce.len() != 32 || !nonce.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(SignatureError::Malformed);
        }
        Ok(Self { key, time: Millis(time), nonce, signature })
    }

    /// Verifies request and time. The caller checks that the key is registered and the nonce new.
    pub fn check(&self, now: Millis, request: Signed<'_>) -> Result<(), SignatureError> {
        if u128::from(now.0.abs_diff(self.time.0)) > CLOCK_WINDOW.as_millis() {
            return Err(SignatureError::Clock);
        }
        let key = HEXLOWER.decode(self.key.as_str().as_bytes());
        let signature = HEXLOWER.decode(self.signature.as_bytes());
        let (Ok(key), Ok(signature)) = (key, signature) else {
            return Err(SignatureError::Malformed);
        };
        let text = request.text(self.time, &self.nonce);
        UnparsedPublicKey::new(&ED25519, key)
            .verify(text.as_bytes(), &signature)
            .map_err(|_| SignatureError::Wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::super::KeyPair;
    use super::*;

    const NOW: Millis = Millis(1_000_000_000);

    fn request<'a>(body: &'a str) -> Signed<'a> {
        Signed { method: "POST", path: "/api/v1/internal/lease", body }
    }

    #[test]
    fn a_signature_holds_for_one_request_only() {
        let (key, hash) = (KeyPair::generate(), sha256_hex(b"{}"));
        let nonce = super::super::random_hex::<16>();
        let signed = key.sign(NOW, nonce, request(&hash));
        let read = Signature::parse(&signed.header()).expect("a header");
        assert_eq!(read, signed);
        assert_eq!(read.check(NOW, request(&hash)), Ok(()));
        let other = sha256_hex(b"{ }");
        for bad in [
            Signed { body: &other, ..request(&hash) },
            Signed { method: "PUT", ..request(&hash) },
            Signed { path: "/api/v1/internal/complete", ..request(&hash) },
        ] {
            assert_eq!(read.check(NOW, bad), Err(SignatureError::Wrong), "{bad:?}");
        }
        let stranger = Signature { key: KeyPair::generate().public().clone(), ..read.clone() };
        assert_eq!(stranger.check(NOW, request(&hash)), Err(SignatureError::Wrong));
        let later = Signature { time: Millis(NOW.0 + 1), ..read.clone() };
        assert_eq!(later.check(NOW, request(&hash)), Err(SignatureError::Wrong));
        for off in [NOW.0 - 60_001, NOW.0 + 60_001] {
            assert_eq!(read.check(Millis(off), request(&hash)), Err(SignatureError::Clock));
        }
    }

    #[test]
    fn other_headers_are_malformed() {
        let key = "ab".repeat(32);
        let nonce = "cd".repeat(16);
        for header in [
            String::new(),
            "Bearer x".to_owned(),
            format!("Remuda key={key}"),
            format!("Remuda key={key},time=x,nonce={nonce},sig=00"),
            format!("Remuda time=1,key={key},nonce={nonce},sig=00"),
            format!("Remuda key={key},time=1,nonce=short,sig=00"),
            format!("Remuda key={key},time=1,nonce={nonce},sig={}", "0".repeat(600)),
        ] {
            assert_eq!(Signature::parse(&header), Err(SignatureError::Malformed), "{header}");
        }
    }
}
