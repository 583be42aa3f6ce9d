//! Tests of the runner through its public interface. One binary: linking takes longer than most tests.

mod case;
mod daemon;
mod executors;
mod journal;
mod parts;
