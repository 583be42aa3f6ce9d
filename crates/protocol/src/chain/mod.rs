//! The upper layer: everything that reads and writes a state, block by block. `chain` uses `rules` and
//! `base`; neither uses `chain`.
//!
//! Consensus: a change here forks the chain, except in modules that say `Local`.
//!
//! [`execute`] owns `Exec`, the state of a block under way. Every other module that runs in a block
//! extends `Exec` by methods in an `impl` block of its own, and these methods call each other across
//! modules: a settlement schedules a task, the task ends a job, and the end of a job wakes a call. So the
//! modules depend on each other by design. They are one state machine, divided by subject. Only
//! [`execute`] and [`actors`] also name each other's types: execution holds the machine that runs code,
//! and code gets a host that holds the execution.
//!
//! What does not run in a block stays outside of that: `index` and `memory`, [`genesis`], [`supply`],
//! [`local`] and [`fuzz`].

pub mod actors;
mod agenda;
mod callback;
mod dispatcher;
pub(crate) mod entitlements;
pub mod execute;
mod forget;
pub mod fuzz;
pub mod genesis;
pub(crate) mod index;
pub mod local;
pub(crate) mod memory;
pub(crate) mod presence;
mod registry;
pub mod supply;
pub(crate) mod timers;
mod verifier;

pub use crate::rules::tip::{ChainState, EpochCommittee, Supply, Validator, Warm};
