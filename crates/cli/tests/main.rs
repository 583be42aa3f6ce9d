//! Tests of the command line through its public interface. One binary: linking takes longer than most tests.

mod actors;
mod agents;
mod behind;
mod commands;
mod demo;
mod dev;
mod fleet;
mod flood;
mod followed;
mod jobs;
mod killed;
mod parts;
mod pools;
mod readme;
mod support;
mod vectors;
