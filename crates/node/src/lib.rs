//! A Remuda validator: consensus, storage, mempool and API around the rules of `remuda-protocol`.

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
pub mod ledger;
pub mod mempool;
pub mod network;
pub mod process;
pub mod runners;
pub mod scheme;
pub mod seeds;
pub mod store;
pub mod validator;
