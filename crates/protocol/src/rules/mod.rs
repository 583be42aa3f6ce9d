//! The middle layer: the records of the chain, and pure functions of records. Nothing here reads or
//! writes a state. `rules` uses `base`, never `chain`, and its modules form no cycle.
//!
//! Consensus: a change here forks the chain.
//!
//! `key` is at the top: it says under which key each record is stored, so it names them all.

pub(crate) mod actors;
pub(crate) mod admission;
pub mod agenda;
pub mod beacon;
pub mod block;
pub mod callback;
pub(crate) mod cost;
pub(crate) mod deposit;
pub(crate) mod dispatcher;
pub(crate) mod entitlements;
pub mod event;
pub mod fees;
pub mod key;
pub mod params;
pub(crate) mod presence;
pub mod registry;
pub(crate) mod timers;
pub(crate) mod tip;
pub mod transaction;
pub mod verifier;
pub(crate) mod work;
