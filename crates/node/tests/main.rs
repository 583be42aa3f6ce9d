//! Tests of the node through its public interface. One binary: linking takes longer than most tests.

mod api;
mod files;
mod mempool;
