//! The runner: takes jobs from its validators, does the work, commits, reveals, and is paid.
//!
//! - [`case`]: what to do next about a job; a function of what is held and of what the chain says
//! - [`executor`]: the kinds of work, each with its limits
//! - [`fleet`]: who does the work: this process, or workers on other machines
//! - [`journal`]: what must survive a restart
//! - [`private`]: files that only the runner's own user may read
//! - [`daemon`]: puts these together with the link (`remuda-link`) and the chain

pub mod case;
pub mod daemon;
pub mod executor;
pub mod fleet;
pub mod journal;
pub mod private;
