//! The orchestrator over HTTP, on a real socket.

#![allow(dead_code, unreachable_pub, reason = "what these modules have is for tests only")]

mod access;
mod bucket;
mod goodbye;
mod objects;
mod openapi;
mod pages;
mod refusals;
mod runs;
mod seed;
pub(crate) mod server;
mod tls;
mod waits;

/// These have none.
fn broker() -> Option<(remuda_fleet::broker::Config, Box<dyn std::any::Any + Send>)> {
    None
}
