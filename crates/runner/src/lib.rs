//! The runner: takes jobs from its validators, does the work, commits, reveals, and is paid.
//!
//! - [`executor`]: the kinds of work, each with its limits

pub mod case;
pub mod executor;
pub mod journal;
