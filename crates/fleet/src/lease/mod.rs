//! The rules of leases: pure decisions over a few rows each.
//!
//! ```text
//! handle(rows, policy, now, event) -> { reply, actions }
//! ```
//!
//! No clock, no randomness, no I/O: `now`, ids and rows are arguments. `record` has the rows, and
//! one file per message decides about them as a function from rows and message to rows and answer;
//! [`handle`](fn@handle) loads the rows, calls it, and writes them back, through [`Rows`]. A store
//! runs one event as one transaction. That is all a store is; every rule is here.
//!
//! # Rules
//!
//! 1. A job is with nobody, with the holder of one lease, or ended ([`Standing`]). What has ended
//!    never changes.
//! 2. Only a live lease, named by the runner that it was granted to, can change anything. A lease
//!    that is not acknowledged can be acknowledged and nothing else.
//! 3. A lease is over when its time is, whether or not a sweep has noticed ([`expiry`](fn@expiry)).
//! 4. A lease is ended by one thing: the first accepted `Complete` or `CancelAck`, or a deadline. The
//!    message that ended it gets its answer again for as long as the rows are kept.
//! 5. Every grant of a job has a higher fence than the one before it.
//! 6. A runner has one live lease at most. If it asks again before it acknowledged, it gets the same:
//!    its answer was lost.
//! 7. A lost lease costs the attempt nothing, up to a number; then the job is a dead letter. A lease that
//!    a runner gives back because it was told to end is no loss, up to another number. So every job ends:
//!    attempts, losses of an attempt and returns of it are counted, and everything else that is live has
//!    a deadline.
//! 8. Time in which no worker could be heard does not count, and a start gives live leases one TTL: [`LeaseClock`].

mod beat;
mod cancel;
mod clock;
mod event;
mod expiry;
mod finish;
mod follow;
mod forget;
mod grant;
mod handle;
mod keep;
mod policy;
mod queue;
mod record;
mod refusal;
mod rerun;
mod retry;
mod room;
mod rows;
mod state;
mod submit;
mod wait;

pub(crate) use clock::WrittenClock;
pub use clock::{Deadline, LeaseClock};
pub use event::{Action, Event, Handled, Reply};
pub use expiry::{Expiry, expiry};
pub use finish::BodyHash;
pub(crate) use forget::JOBS_MAX;
pub use handle::handle;
pub use policy::Policy;
pub use queue::{Gate, Place, Queue, Waiting};
pub use record::{
    Answer, Cancel, EndReason, Idempotency, JobRecord, LabelRecord, LastUpload, LeaseRecord,
    LogRecord, Outcome, RunRecord, Standing, WorkerRecord,
};
pub use refusal::Refusal;
pub use retry::RetryClass;
pub use room::grantable;
pub use rows::Rows;
pub use state::{AttemptState, LeaseState, RunStatus};
pub use wait::{Reached, Silence, Wait, silence, wait};
