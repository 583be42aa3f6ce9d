//! The link between validators and runners: jobs are pushed in one round trip, presence is told by
//! whom a validator really hears (CIP-11; SPEC §13).
//!
//! - [`frame`], [`wire`], [`sign`]: what is said, its bytes, and what signatures cover
//! - [`session`]: both ends of a connection, without I/O and without a clock
//! - [`admission`]: how often one address may knock, and one key may come in
//! - [`hall`]: where connections wait that have not proven themselves
//! - [`quic`]: the sockets, known nowhere else; without the feature of that name they are left out
//! - [`fuzz`]: what fuzzers call

pub mod admission;
mod cbor;
pub mod frame;
pub mod fuzz;
pub mod hall;
#[cfg(feature = "quic")]
pub mod quic;
pub mod session;
pub mod sign;
pub mod wire;
