//! The executors against programs that others wrote: each module is named after the part that it
//! needs, which `scripts/parts/NAME.sh` installs. Without it the module's tests fail; `make test`
//! leaves them out and counts them as skipped.

mod eth;
mod knot;
mod llm;
mod mcp;
mod netns;
mod rlp;
mod support;
mod wasm;

/// The jobs are those of the tests with servers of our own, which need more kinds of them.
use crate::executors::job;
