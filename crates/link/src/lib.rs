//! The link between validators and runners: validators push jobs in one round trip, and attest as
//! present the runners that they hear (CIP-11; SPEC §13).
//!
//! - [`frame`], [`wire`], [`sign`]: messages, their bytes, and what signatures cover
//! - [`session`]: both ends of a session, free of I/O and clocks
//! - [`admission`], [`token_bucket`], [`handshakes`]: limits per address and per key
//! - [`quic`]: the sockets; behind the feature of that name
//! - [`fuzz`]: entry points of fuzzers

pub mod admission;
mod cbor;
pub mod frame;
pub mod fuzz;
pub mod handshakes;
#[cfg(feature = "quic")]
pub mod quic;
pub mod session;
pub mod sign;
pub mod token_bucket;
pub mod wire;
