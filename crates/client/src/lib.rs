//! The way into a Remuda node from outside: the API's JSON and a typed client for it.
//!
//! # Layout
//! - [`types`]: what the API sends and takes; the node uses the same types
//! - [`client`]: the client: several nodes, retries, events that resume
//! - [`amount`]: money as people write it; [`money`]: as they read it
//! - [`sign`]: from an instruction to a signed transaction
//! - [`wallet`]: keys in files

pub mod amount;
pub mod client;
pub mod money;
pub mod sign;
pub mod types;
pub mod wallet;

pub use client::{BlockId, Client, ClientError, Config, EventFilter, Events};
