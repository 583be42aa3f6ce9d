//! The Runner Registry (0x01): what a runner offers, what it owns, and how well it works.
//!
//! Consensus: a change here forks the chain.

pub mod kind;
pub mod pool;
pub mod register;
pub mod reputation;
pub mod runner;
pub mod unbonding;
pub mod versioned;
