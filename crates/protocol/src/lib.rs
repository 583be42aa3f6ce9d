//! The rules of the Remuda chain: verifiable off-chain computation as a pure state machine.
//!
//! [`execute::apply_block`] takes the state after a block's parent and the block, and returns what
//! changes. Nothing here does I/O, sees a clock, uses a float or draws a random number: the same
//! input gives the same bytes on every machine.
//!
//! # Layout
//! Three layers. Each uses those below it and none above; `tests/modules.rs` checks that. The first
//! lines of each module say whether it is *consensus* (a change forks the chain) or *local*.
//!
//! `src/base`: what everything is made of
//! - [`primitives`], [`codec`], [`crypto`], [`math`], [`merkle`], [`account`], [`error`], [`system`]
//! - [`mod@state`], [`entries`], [`small`], `sorted`: the key space
//!
//! `src/rules`: records, and pure functions of records
//! - [`params`]: every number that consensus depends on
//! - [`transaction`], [`block`], [`event`]: what goes in and what comes out
//! - `admission`, `cost`, `work`, [`fees`], [`mod@deposit`]: what it takes and costs to do something
//! - [`beacon`], [`presence`], [`registry`], [`dispatcher`], [`verifier`], [`timers`],
//!   [`entitlements`], `actors`: the subjects
//! - [`agenda`], [`callback`], `tip`: the queues, and where the chain stands
//! - [`key`]: the table of all records, above all others
//!
//! `src/chain`: what reads and writes the state
//! - [`execute`]: the way of a block
//! - `registry`: Runner Registry (0x01), `dispatcher`: Job Dispatcher (0x02), `verifier`: Result
//!   Verifier (0x03), `entitlements`: Entitlement Registry (0x07), `presence`, `timers`
//! - [`actors`]: code on the chain, without the machine that runs it
//! - `agenda`, `callback`, `forget`: what happens by itself, and in a later block
//! - `index`, `memory`: what follows from the state, and the state in memory
//! - [`genesis`]: the first state; [`local`]: a chain of one; [`supply`]: where all the money is;
//!   [`fuzz`]: what fuzzers call
//!
//! Other crates see one module for each subject. Where two layers have a part in it, the module below
//! puts them together.

mod base;
pub mod chain;
mod rules;

pub use base::{account, codec, crypto, entries, error, math, merkle, primitives, small, system};
pub use chain::{execute, fuzz, genesis, local, supply};
pub use rules::{
    agenda, beacon, block, callback, event, fees, key, params, registry, transaction, verifier,
};

/// The state: one key space, typed keys, views of it, and the whole of it in memory.
pub mod state {
    pub use crate::base::state::{Diff, Key, Overlay, SmallKey, StateKey, Value, View, read};
    pub use crate::chain::index::Indexed;
    pub use crate::chain::memory::MemoryState;
}

/// Deposits: what bytes of the state are held against.
pub mod deposit {
    pub use crate::rules::cost::state_bytes;
    pub use crate::rules::deposit::{Held, PROGRAM_BYTES, RECORD_BYTES, price, price_of};
}

/// The Job Dispatcher (0x02): what a job may ask for, who may be drawn for it, and who is.
pub mod dispatcher {
    pub use crate::rules::dispatcher::*;

    /// The runners, arranged so that a job costs what it rules out, not what is registered.
    pub mod roster {
        pub use crate::chain::index::roster::load_entry;
        pub use crate::rules::dispatcher::roster::*;
    }
}

/// The Entitlement Registry (0x07): who may do what, by whose word (CIP-2 §7, SPEC §10).
pub mod entitlements {
    pub use crate::chain::entitlements::check;
    pub use crate::rules::entitlements::*;
}

/// Timers (CIP-1): the chain calls an actor at a height.
pub mod timers {
    pub use crate::chain::timers::bench;
    pub use crate::rules::timers::*;
}

/// Presence (SPEC §9): which validators attest a runner, and which runners count as present.
pub mod presence {
    pub use crate::chain::index::subsets::{LIST_MAX, Subsets};
    pub use crate::chain::presence::{acceptable, ancestor};
    pub use crate::rules::presence::*;
}

/// Actors: code on the chain.
pub mod actors {
    pub use crate::chain::actors::*;
    pub use crate::rules::actors::deploy::{BODY, actor_address};
    pub use crate::rules::actors::{price, record};
}
