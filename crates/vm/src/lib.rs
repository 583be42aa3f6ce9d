//! Deterministic, exactly metered Python.
mod cost;
mod front;
mod limits;
pub use front::{CompileError, Program, compile};
