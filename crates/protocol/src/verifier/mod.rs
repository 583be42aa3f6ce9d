//! The Result Verifier (0x03): commits, reveals, verdicts, money.

pub mod aggregator;
pub mod challenge;
pub mod check;
pub mod commit;
pub mod commitment;
pub mod crash;
pub mod decide;
pub mod dns;
pub mod excuse;
pub mod json;
pub mod path;
pub mod payout;
pub mod resolve;
pub mod reveal;
pub mod schema;
pub mod settle;
pub mod single;
