//! The backend whose workers are on other machines.
//!
//! ```text
//!  daemon ─ Job ─▶ FleetBackend ─ run ─▶ orchestrator ─ lease ─▶ worker ─▶ executor (http, llm, mcp, dns, eth, wasm)
//!                      ◀── result ──          ◀── complete, under the lease's fence ──┘
//! ```
//!
//! With `[fleet]` in `runner.toml` a job becomes a run with one job, whose work is a *call* with a [`JobCall`]
//! as its input. A worker that has the job's [`tags`] leases it, executes it, and completes it with the encoded
//! result under its fence. Only what the orchestrator has accepted reaches the daemon: a worker whose
//! lease was lost is refused as stale, whatever its result is, so it cannot cause a commit.
//!
//! Workers are `remuda worker`s whose own settings say where models, tools and nodes are. They are the
//! operator's, and are trusted like the runner: the runner signs what they return. The runner's key
//! stays with the runner.
//!
//! # Forms of a job
//!
//! `Task` and [`Job`](crate::backend::Job) as without a fleet; then `FleetJob`, the run that is
//! submitted, the rows and messages of the lease, [`JobCall`] on the worker, and
//! [`Work`](crate::executor::Work).
//!
//! # Rules
//!
//! **The result travels in `Complete`**, not as an object: it has at most 64 KiB, as the chain allows, so
//! the message that is accepted or refused carries what it is about. The sizes of the message, the text
//! and the result are checked before they are decoded.
//!
//! **Time.** The executor has the job's own time limit; the run as a whole has until the last block in
//! which a commit can be sent. A lease lives for a quarter of that, between 3 and 30 seconds, or as long as
//! the orchestrator's leases live if that is less: a worker that dies at once leaves another three quarters.
//!
//! **Once.** What must not be done twice (a POST, a tool) is marked so, and a lost lease ends it: the same
//! rule that the journal has for a runner that was killed.
//!
//! **What the fleet cannot do is no excuse for a job.** A job that itself is why there is no result has an
//! error as its result. An orchestrator that cannot be reached, or a job that no worker finished, is the
//! operator's to fix: the job is missed, validators hear what cannot be done (`CapabilityDelta`), and new
//! jobs are refused.
//!
//! **Progress and cancellation.** Executors report to their worker, the worker's heartbeats to the
//! orchestrator, and the orchestrator to the daemon. Dropping
//! [`Backend::execute`](crate::backend::Backend::execute) cancels the run. The answer to the worker's next heartbeat
//! says so, and the worker drops the execution.

mod backend;
mod job;
mod job_executor;
mod settings;
pub mod tags;
mod token;
mod wire;

pub use backend::FleetBackend;
pub use job::FleetError;
pub use job_executor::calls;
pub use settings::FleetSettings;
pub use token::TokenError;
pub use wire::{JobCall, KIND, WireError, decode_result, encode_result};
