//! A validator.

pub mod mempool;
