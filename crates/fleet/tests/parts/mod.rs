//! The fleet with programs that others wrote: each module is named after the part that it needs, which
//! `scripts/parts/NAME.sh` installs. Without it the module's tests fail; `make test` leaves them out
//! and counts them as skipped.

#![allow(
    clippy::duplicate_mod,
    dead_code,
    unreachable_pub,
    async_fn_in_trait,
    reason = "what these modules share is for tests only, and none uses all of it"
)]

mod browser;
mod bwrap;
mod internet;
mod nats;
mod netns;
use crate::faults::peer;
mod postgres;
mod runc;
mod s3;
use crate::history::suite;
use crate::http::server;
#[path = "../../../runner/tests/parts/support.rs"]
mod support;

/// Most have none.
fn broker() -> Option<(remuda_fleet::broker::Config, Box<dyn std::any::Any + Send>)> {
    None
}
