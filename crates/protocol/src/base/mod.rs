//! The lowest layer: bytes, numbers, hashes, signatures, error codes, and a key space to store values in.
//! Nothing here knows what is stored or why. No module of `base` uses `rules` or `chain`.
//!
//! Consensus: a change here forks the chain, except in modules that say `Local`.

pub mod account;
pub mod codec;
pub mod crypto;
pub mod entries;
pub mod error;
pub mod math;
pub mod merkle;
pub mod primitives;
pub mod small;
pub(crate) mod sorted;
pub(crate) mod state;
pub mod system;
