//! Timers (CIP-1).

pub mod fairness;
pub mod lane;
pub mod order;
