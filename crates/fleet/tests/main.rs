//! Tests of the fleet through its public interface. One binary: linking takes longer than most tests.

mod common;
mod faults;
mod history;
mod http;
mod lease;
mod messages;
mod model;
mod once;
mod parts;
mod sqlite;
mod worker;
