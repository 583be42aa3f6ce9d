//! Tests of the runner through its public interface. One binary: linking takes longer than most tests.

mod daemon;
mod executors;
mod journal;
mod namespace;
mod parts;
