//! The Result Verifier (0x03): how results are signed, read, compared and paid for. `chain/verifier`
//! takes them in and settles.
//!
//! Consensus: a change here forks the chain.

pub mod aggregator;
pub mod challenge;
pub mod check;
pub mod commitment;
pub mod decide;
pub mod dns;
pub mod excuse;
pub mod json;
pub mod path;
pub mod payout;
pub mod schema;
pub mod settle;
