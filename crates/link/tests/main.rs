//! Tests of the link through its public interface. One binary: linking takes longer than most tests.

mod fuzz_seeds;
#[cfg(feature = "quic")]
mod quic;
mod session;
mod spec;
mod wire;
