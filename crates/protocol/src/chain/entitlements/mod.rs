//! The Entitlement Registry (0x07): rights are granted, passed on, used and revoked.
//!
//! Consensus: a change here forks the chain.

mod authority;
pub mod check;
mod grant;
mod roles;
mod table;
