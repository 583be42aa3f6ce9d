//! The Job Dispatcher (0x02): what a job may ask for, who may be drawn for it, and who is.

pub mod committee;
pub mod draw;
pub mod file;
pub mod filter;
pub mod job;
pub mod naive;
mod prices;
pub mod roster;
pub mod select;
pub mod spec;
pub mod submit;
pub mod trie;
pub mod validate;
pub mod weight;
