//! The Job Dispatcher (0x02): what a job may ask for, who may be drawn for it, and how its results are
//! judged. `chain/dispatcher` binds, draws and seats.
//!
//! Consensus: a change here forks the chain.

pub mod committee;
pub mod draw;
pub mod file;
pub mod filter;
pub mod job;
pub mod judging;
pub mod naive;
mod prices;
pub(crate) mod roster;
pub(crate) mod select;
pub mod spec;
pub mod submit;
pub(crate) mod trial;
pub mod trie;
pub mod validate;
pub(crate) mod verdict;
pub mod weight;
