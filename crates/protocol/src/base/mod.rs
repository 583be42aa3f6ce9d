//! The lowest layer: bytes, numbers, hashes, signatures, error codes, and a key space to store values in.
//! Nothing here knows what is stored or why. No module of `base` uses `rules` or `chain`.
//!
//! Consensus, but for the modules that say that they are local.

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
