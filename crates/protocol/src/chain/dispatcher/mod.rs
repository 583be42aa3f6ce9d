//! The Job Dispatcher (0x02): jobs are submitted, get their candidates, and are drawn.
//!
//! Consensus: a change here forks the chain.

pub(crate) mod select;
pub(crate) mod submit;
