//! Validators on a simulated network: crashes, restarts, partitions, bad links, and some that lie.
//!
//! ```text
//! seed → plan (who lies and how, what happens when) → cluster (real validators, simulated network,
//! clock and disk) → turmoil → calm → checks
//! ```
//!
//! What must hold at the end of every run is in `check`.

mod adversary;
mod cast;
mod check;
mod cluster;
mod log;
mod plan;
mod run;
mod scenarios;

pub use adversary::Misconduct;
pub use check::Counts;
pub use plan::{Fault, Plan};
pub use run::{Report, run};
pub use scenarios::{blackouts, dark_drought, drought, late_joiner, no_time_to_fill, stopped};
