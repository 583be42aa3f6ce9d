//! Timers (CIP-1): what the state keeps of them, which of them fire, and how those that are due are
//! arranged. `chain/timers` schedules and fires them.
//!
//! Consensus: a change here forks the chain.
//!
//! # Layout
//! - [`lane`], [`fairness`], [`order`]: the plain rules, which audits use and the rest is tested against
//! - [`record`], [`config`]: what the state keeps
//! - [`calendar`], [`host`]: limits, arguments and prices of host calls; [`agents`]: what is asked of code
//! - [`tree`], [`search`], [`recent`], [`counts`], `numbers`, `holding`, `arrange`, [`index`]: the due
//!   timers, arranged, and what is counted; not state

pub mod agents;
mod arrange;
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
pub mod tree;
