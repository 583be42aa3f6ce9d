//! Validators on this machine's own network, clock and disk, in one process: to measure them.
//!
//! The same network runs with our application and with a *hollow* one, which makes empty blocks and
//! executes nothing: what is left between the two is our own cost.

mod hollow;
mod keeper;
mod load;
mod record;
mod sizes;
mod start;
mod validators;

pub use keeper::Keeper;
pub use record::Figures;
pub use sizes::{Sizes, sizes};
pub use start::{StartTimes, measure_start};
pub use validators::{Application, Measure, measure};
