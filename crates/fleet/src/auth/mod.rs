//! Authentication: tokens, keys and signatures; the audit log.
//!
//! People and programs send a token ([`Access`]), which has a name and a [`Scope`]. A machine sends an
//! enrolment token once, to register the public key that it generated, and signs every request from then on
//! ([`Signature`]). Nothing that the orchestrator stores lets anybody act as a worker.
//!
//! A runner's id begins with its machine's key id, and a lease belongs to a runner id. A leaked lease id is
//! useless without the key.
//!
//! Signatures do not hide anything: that is TLS's task ([`crate::http`]).

mod audit;
mod key;
mod random;
mod replay;
mod signature;
mod token;

pub use audit::{Audit, Entry, NOBODY, OK};
pub use key::{KeyError, KeyPair};
pub use random::{random_hex, random_id};
pub use replay::Replays;
pub(crate) use signature::sha256_of;
pub use signature::{CLOCK_WINDOW, Signature, SignatureError, Signed, sha256_hex};
pub use token::{Access, Scope, Token, TokenHash};
