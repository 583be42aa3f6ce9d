//! Deterministic, exactly metered Python.
mod cost;
mod front;
mod heap;
mod host;
mod limits;
mod prelude;
mod run;
mod types;

pub use front::{CompileError, Program, compile};
pub use host::{Host, HostError, HostReply, HostValue};
pub use limits::Limits;
pub use run::Vm;
pub use run::embed::{Ending, Output, Raised, run_script};
pub use run::fault::Fatal;
