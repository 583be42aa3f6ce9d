//! Validators on this machine's own network, clock and disk, in one process: to measure them.
//!
//! The same network runs with our application and with a *hollow* one, which makes empty blocks and
//! executes nothing: what is left between the two is our own cost.

mod hollow;
mod load;
mod record;
mod sizes;
mod start;
mod state_db;
mod validators;

pub use record::Figures;
pub use sizes::{Sizes, sizes};
pub use start::{StartTimes, measure_start};
pub use state_db::StateDbBench;
pub use validators::{Application, Measure, measure};
