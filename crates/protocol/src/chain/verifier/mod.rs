//! The Result Verifier (0x03): commits, reveals, verdicts, money, and the trials of bonded results.
//!
//! Consensus: a change here forks the chain.

pub(crate) mod challenge;
pub(crate) mod commit;
pub(crate) mod crash;
pub(crate) mod resolve;
pub(crate) mod reveal;
pub(crate) mod settle;
pub(crate) mod single;
