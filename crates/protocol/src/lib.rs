//! The rules of the Remuda chain: verifiable off-chain computation as a pure state machine.
//!
//! [`execute::apply_block`] takes the state after a block's parent and the block, and returns what
//! changes. Nothing here does I/O, sees a clock, uses a float or draws a random number: the same
//! input gives the same bytes on every machine.
//!
//! # Layout
//! - [`primitives`], [`codec`], [`crypto`], [`math`], [`merkle`]: what everything is made of
//! - [`params`]: every number that consensus depends on
//! - [`transaction`], [`block`], [`event`], [`error`]: what goes in and what comes out
//! - [`state`], [`key`], [`entries`], [`small`], `sorted`: the key space; [`account`], [`chain`], [`fees`], [`agenda`], `forget`, [`deposit`], [`callback`]
//! - [`execute`]: the way of a block
//! - [`registry`]: Runner Registry (0x01)
//! - [`dispatcher`]: Job Dispatcher (0x02)
//! - [`verifier`]: Result Verifier (0x03)
//! - [`entitlements`]: Entitlement Registry (0x07)
//! - [`actors`]: code on the chain, without the machine that runs it
//! - [`beacon`], [`presence`], [`timers`]: rules of CIP-11 and CIP-1 that others build on
//! - [`genesis`]: the first state; [`local`]: a chain of one; [`supply`]: where all the money is;
//!   [`fuzz`]: what fuzzers call

pub mod account;
pub mod actors;
pub mod agenda;
pub mod beacon;
pub mod block;
pub mod callback;
pub mod chain;
pub mod codec;
pub mod crypto;
pub mod deposit;
pub mod dispatcher;
pub mod entitlements;
pub mod entries;
pub mod error;
pub mod event;
pub mod execute;
pub mod fees;
mod forget;
pub mod fuzz;
pub mod genesis;
pub mod key;
pub mod local;
pub mod math;
pub mod merkle;
pub mod params;
pub mod presence;
pub mod primitives;
pub mod registry;
pub mod small;
mod sorted;
pub mod state;
pub mod supply;
pub mod system;
pub mod timers;
pub mod transaction;
pub mod verifier;
