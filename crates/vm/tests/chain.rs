//! Actors on a chain: real Python, real rules, every block applied three times and its money counted.

#[path = "../../protocol/tests/common/mod.rs"]
mod common;

#[path = "chain/bounds.rs"]
mod bounds;
#[path = "chain/callbacks.rs"]
mod callbacks;
#[path = "chain/calls.rs"]
mod calls;
#[path = "chain/crowd.rs"]
mod crowd;
#[path = "chain/deposits.rs"]
mod deposits;
#[path = "chain/entitlements.rs"]
mod entitlements;
#[path = "chain/hostile.rs"]
mod hostile;
#[path = "chain/patience.rs"]
mod patience;
#[path = "chain/prices.rs"]
mod prices;
#[path = "chain/setup.rs"]
mod setup;
#[path = "chain/storage.rs"]
mod storage;
#[path = "chain/timers.rs"]
mod timers;
#[path = "chain/waits.rs"]
mod waits;
