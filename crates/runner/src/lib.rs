//! The runner: takes jobs from its validators, does the work, commits, reveals, and is paid.
//!
//! - [`case`]: what to do next about a job; a function of what is held and of what the chain says
//! - [`executor`]: the kinds of work, each with its limits
//! - [`backend`]: who executes a job; the executors of this process
//! - [`fleet`]: the backend whose workers are on other machines
//! - [`journal`]: what must survive a restart
//! - [`private`]: files that only the runner's own user may read
//! - [`backoff`]: pauses between attempts
//! - [`daemon`]: puts these together with the link (`remuda-link`) and the chain

pub mod backend;
pub mod backoff;
pub mod case;
pub mod daemon;
pub mod executor;
pub mod fleet;
pub mod journal;
pub mod private;
#[cfg(test)]
pub(crate) mod testing;
