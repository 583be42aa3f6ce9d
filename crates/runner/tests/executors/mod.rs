//! The executors against real sockets: servers of this process on loopback addresses, which the
//! operator's rules open for the tests that are not about attacks.

mod attacks;
mod bombs;
mod dns;
mod eth;
mod file;
mod http;
pub(crate) mod job;
mod llm;
mod mcp;
mod mcp_web;
mod program;
mod resolver;
mod server;
mod tls;
mod tools;
mod wasm;
