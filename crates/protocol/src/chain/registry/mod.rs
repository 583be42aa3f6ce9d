//! The Runner Registry (0x01): runners join and leave, stake, are scored and jailed.
//!
//! Consensus: a change here forks the chain.

pub(crate) mod register;
pub(crate) mod stake;
pub(crate) mod standing;
