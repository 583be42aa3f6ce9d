//! Sockets: the only place that knows them.

pub mod client;
pub mod server;
mod stream;
mod tls;

pub use tls::{IDLE, KEEP_ALIVE, TlsError};
