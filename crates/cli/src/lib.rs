//! The commands of `remuda`, one module each; `main.rs` only reads the arguments.

pub mod audit;
pub mod bench;
pub mod demo;
pub mod dev;
pub mod duration;
pub mod entropy;
pub mod node;
pub mod sim;
