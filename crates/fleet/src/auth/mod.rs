//! Who may do what.
//!
//! People and programs that submit or look show a token ([`Access`]); each token has a name and a
//! [`Scope`]. Machines that work show no token but once: with an enrolment token they bring the public
//! half of a key that they made themselves, and from then on they sign every request with it
//! ([`Signature`]). Nothing that the orchestrator keeps lets anybody act as a worker.
//!
//! A runner's id begins with the name of its machine's key, and a lease belongs to a runner's id: so
//! a lease is of no use to anybody who does not have the key, even if its id leaks.
//!
//! Signatures prove who sent what; they hide nothing. That is what TLS is for ([`crate::http`]).

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
pub use signature::{CLOCK_WINDOW, Signature, SignatureError, Signed, sha256_hex};
pub use token::{Access, Scope, Token, TokenHash};
