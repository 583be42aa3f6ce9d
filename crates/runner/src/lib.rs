//! The runner: accepts jobs from its validators, executes them, commits, reveals, and is paid.
//!
//! - `case`: the next step about a job, as a function of what the runner holds and of what the chain says
//! - [`executor`]: the kinds of work, each with its limits
//! - [`backend`]: who executes a job; [`fleet`]: the backend whose workers are on other machines
//! - [`journal`], [`private`]: what must survive a restart, in files of the runner's own user
//! - [`backoff`]: pauses between attempts
//! - [`daemon`]: puts these together with the link (`remuda-link`) and the chain

pub mod backend;
pub mod backoff;
mod case;
pub mod daemon;
pub mod executor;
pub mod fleet;
pub mod journal;
pub mod private;
#[cfg(test)]
pub(crate) mod testing;
