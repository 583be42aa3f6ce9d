//! Tests of the machine through its public interface. One binary: linking takes longer than most tests.

mod actors;
mod attacks;
mod attacks_depth;
mod attacks_numbers;
mod attacks_patterns;
mod attacks_prices;
mod attacks_room;
mod attacks_sizes;
mod attacks_source;
mod attacks_tables;
mod chain;
mod codec;
mod continuations;
mod corpus;
mod frozen;
mod fuzz;
mod generated;
mod handlers;
mod parts;
mod rehearsal;
mod script;
mod stars;
mod world;
mod writer;
