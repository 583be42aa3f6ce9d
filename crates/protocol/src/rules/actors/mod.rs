//! Actors: what the state keeps of them, how their addresses follow, and what the host's calls cost.
//!
//! Consensus: a change here forks the chain.

pub(crate) mod deploy;
pub mod price;
pub mod record;
