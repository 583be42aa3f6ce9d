//! A Remuda validator: consensus, storage, mempool and API around the rules of `remuda-protocol`.
//!
//! Each module says in its first lines whether it is consensus or local; the line in a folder's `mod.rs`
//! holds for all its files that say nothing else.

pub mod api;
pub mod app;
pub mod backend;
pub mod block;
pub mod chain;
pub mod config;
pub mod engine;
pub mod gate;
pub mod gossip;
pub mod history;
pub mod index;
pub mod mempool;
pub mod network;
pub mod node_view;
pub mod pool;
pub mod process;
pub mod rate;
pub mod runners;
pub mod scheme;
pub mod seeds;
pub mod store;
pub mod validator;
