//! Timers (CIP-1): the chain calls an actor at a height.
//!
//! Consensus: a change here forks the chain.
//!
//! A timer is scheduled ([`host`]), waits in the bucket of its height ([`calendar`]), becomes due, and
//! is offered the lane in every block from then on ([`step`]) until it ends in one of four ways: it
//! fires, it expires, its payer cannot pay, it is cancelled. Each has its event; there is no fifth.
//!
//! # Layout
//! - [`calendar`]: what is due when; [`host`]: schedule, cancel, extend
//! - [`step`]: the end of a block; `bids`: what agents say in it
//! - [`mod@bench`]: chains with many timers, for benchmarks

pub mod bench;
mod bids;
pub(crate) mod calendar;
pub(crate) mod host;
pub(crate) mod step;
