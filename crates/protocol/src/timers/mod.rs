//! Timers (CIP-1): the chain calls an actor at a height.
//!
//! A timer is scheduled ([`host`]), waits in the bucket of its height ([`calendar`]), becomes due, and
//! is offered the lane in every block from then on ([`step`]) until it ends in one of four ways: it
//! fires, it expires, its payer cannot pay, it is cancelled. Each has its event; there is no fifth.
//!
//! # Layout
//! - [`lane`], [`fairness`], [`order`]: the plain rules, which audits use and the rest is tested against
//! - [`record`], [`config`]: what the state keeps
//! - [`calendar`]: what is due when; [`host`]: schedule, cancel, extend; [`agents`]: what is asked of code
//! - [`tree`], [`search`], [`recent`], [`counts`], `numbers`, `holding`, `arrange`, [`index`]: the due
//!   timers, arranged, and what is counted; not state
//! - [`step`]: the end of a block; `bids`: what agents say in it
//! - [`mod@bench`]: chains with many timers, for benchmarks

pub mod agents;
mod arrange;
pub mod bench;
mod bids;
pub mod calendar;
pub mod config;
pub mod counts;
pub mod fairness;
mod holding;
pub mod host;
pub mod index;
pub mod lane;
mod numbers;
pub mod order;
pub mod recent;
pub mod record;
pub mod search;
pub mod step;
pub mod tree;
