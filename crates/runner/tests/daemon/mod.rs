//! The daemon against the chain's own rules: a `LocalChain` makes blocks, real QUIC servers stand
//! for its validators, and a small HTTP server answers as a node does. Only consensus is missing.

mod api;
mod committee;
mod faults;
mod fleet;
mod local;
mod malice;
mod network;
mod operator;
mod programs;
mod restart;
mod rotation;
mod single;
mod undoable;
mod web;
