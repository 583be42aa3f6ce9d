//! Workers and an orchestrator in one process: real steps, real sockets.

#![allow(dead_code, unreachable_pub, reason = "what these modules have is for tests only")]

mod between;
mod bounds;
mod calls;
mod client;
mod cut;
mod goodbye;
mod jobs;
mod refused;
use crate::http::server;

/// These have none.
fn broker() -> Option<(remuda_fleet::broker::Config, Box<dyn std::any::Any + Send>)> {
    None
}
