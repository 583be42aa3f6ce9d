//! The fleet: jobs shared over many machines under leases, so that each is finalised once.
//!
//! The protocol is Delta's (seed 002 with SPEC §14). Its words are kept: here a *runner* is a worker,
//! one process that does one job at a time, and the *orchestrator* is the authority on who may.
//!
//! # Layout
//!
//! - [`message`]: what travels, read with limits, typed errors for the rest
//! - [`lease`]: every rule, as pure decisions over a few rows each; no clock, no I/O, no randomness
//! - [`store`]: where the rows are: memory, SQLite, PostgreSQL
//! - [`orchestrator`]: the rules behind HTTP, pages for people, `/openapi.json` for programs;
//!   [`orchestrator::serve`]
//! - [`worker`]: asks for work, does it, says how it went; [`worker::run`]
//! - [`auth`]: tokens, workers' keys and signatures, the audit log
//! - [`object`]: files that jobs leave behind, written once
//! - [`client`], [`view`]: what people do with an orchestrator, and what they see
//! - [`id`], [`time`]: a type for each thing that could be taken for another
//! - [`bench`](mod@bench): figures
//!
//! # Design
//!
//! **Rows, decisions, transactions.** An event (a message, a sweep, a wish of a person) reads a
//! handful of rows: a lease, its job, the job's run and labels, the jobs that need it. A pure function
//! maps rows and event to rows and answer. A store supplies the rows and makes the whole atomic; it
//! decides nothing. So one set of rules, one model and one set of histories serve every store.
//!
//! **One row per heartbeat.** What a runner does under a lease (STARTING, RUNNING, progress, log
//! position, a request to stop) is in the lease's row, and a job's row only says who has it. Thousands
//! of runners that beat write one small row each.
//!
//! **A grant is a row.** An attempt that loses its lease goes on under a new lease with a higher
//! fence; the old lease's row stays, STALE. The table of leases is the history of what was tried.
//!
//! **Time is judged when a message arrives.** A lease ends at its deadline. Sweeps only make it
//! visible, so they may be late, bounded and many, and racing with a `Complete` cannot matter.
//!
//! **Nothing else must arrive.** [`lease::Action`]s (wake a poller, push a cancellation, publish a
//! job) save time; each can be lost and is found again from rows.
//!
//! # Departures from the seed
//!
//! | here | seed | reason |
//! |---|---|---|
//! | `LeaseGranted.fence`, `.attempt` | only `lease_id` | a random id does not order writes |
//! | `Heartbeat.seq`, optional | none | a beat that was overtaken must not extend a lease |
//! | `Heartbeat.phase`, optional | states without a message | STARTING and UPLOADING must be told |
//! | `Complete.failure`, optional | exit code and summary | only the runner can tell its own full disk from a failing test; what follows is still the orchestrator's to say |
//! | `LogChunk`, `UploadRequest`, `Enrol` and their answers | left to others | logs resume, objects are bound to the lease, and a worker has a key |
//! | a worker that cannot reach the orchestrator works on | may | after an outage leases are given grace, so its work is not lost; before it reports, a heartbeat must have been answered |
//! | `AckLeaseAck`, `CancelAckAck` | no answer | a runner resends until it has one |
//! | `StaleLease` has `stale: true, extend_lease: false` | two different answers to a stale heartbeat | it is both |
//! | only an acknowledged lease can complete | open | a grant that nobody took has no result |
//! | a lost lease keeps its attempt | open | a crashed machine is not the job's failure |
//! | a job whose need failed is CANCELED | no needs | every job ends |

pub mod auth;
pub mod bench;
pub mod broker;
pub mod client;
pub mod id;
pub mod lease;
pub mod message;
pub mod object;
pub mod orchestrator;
pub mod store;
mod text;
pub mod time;
pub mod view;
pub mod worker;
