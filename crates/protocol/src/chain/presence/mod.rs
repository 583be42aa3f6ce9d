//! Presence (SPEC §9): the certificates that a block may carry, and the recent blocks they finalize.
//! `execute` applies them when a block opens.
//!
//! Consensus: a change here forks the chain.

mod certificate;
mod window;

pub use certificate::acceptable;
pub(crate) use certificate::finalized;
pub use window::ancestor;
pub(crate) use window::{parent_record, place_of};
