//! Tests of benchmarks and simulations. One binary: linking takes longer than most tests.

mod bench;
mod consensus;
