//! The commands of `remuda`, one module each; `main.rs` only reads the arguments.
//!
//! # Layout
//! - `status`, `key`, `account`, `block`, `tx`, `runner`, `job`, `timer`, `actor`, `pool`: what users do, over the typed client
//! - `node`, `dev`: what operators run
//! - `orchestrator`, `worker`, `run`, `fleet`: jobs shared over machines under leases
//! - `audit`, `demo`, `vm`: commands that need no running node
//! - `session`, `send`, `failure`: which node, from an instruction to its receipt, what went wrong
//! - `style`, `format`, `event_text`, `timeline`: terminal output

pub mod account;
pub mod actor;
pub mod audit;
pub mod block;
pub mod demo;
pub mod dev;
pub mod duration;
mod event_text;
pub mod exit_with_parent;
pub mod failure;
pub mod fleet;
pub mod format;
pub mod job;
pub mod key;
pub mod node;
pub mod orchestrator;
mod poll;
pub mod pool;
pub mod rng;
pub mod run;
pub mod runner;
mod send;
mod session;
pub mod status;
mod style;
mod timeline;
pub mod timer;
pub mod tx;
mod value;
pub mod vm;
pub mod worker;
