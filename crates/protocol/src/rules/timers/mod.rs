//! Timers (CIP-1): what the state keeps of them, which of them fire, and how those that are due are
//! arranged. `chain/timers` schedules and fires them.
//!
//! Consensus: a change here forks the chain.
//!
//! ```text
//! schedule at H   H < height ≤ expires_at ≤ H + ttl_blocks_max; 1,000 ≤ gas_limit ≤ min(gas_limit_max, lane)
//!                 max_fee ≥ lane_basefee; tip = min(tip, max_fee − lane_basefee)
//!                 id = keccak256("cowboy-timer-v1:" ‖ actor ‖ height_be8 ‖ keccak256(payload) ‖ counter_be8)
//!
//! end of block H
//!   due           height ≤ H, until it has ended
//!   expired       expires_at < H: removed in the cleaning lane, first expired first, in at most half of it
//!   agents        those of 256 due timers, greatest stored max_fee first, name fees for this block;
//!                 where an agent fails or bids more than the payer has, the stored fees hold
//!   priority      min(tip, max_fee − lane_basefee); max_fee < lane_basefee → waits
//!   order         priority · W ↓, W ↓, height ↑, keccak256(parent beacon of the block it became due in ‖ id) ↑
//!   for each in that order, until fewer than 1,000 cycles are left
//!     gas_limit > min(cycles left, gas_limit_max), or max_cells > cells left unless none are used yet → passed over
//!     max_cost = gas_limit · (cycle_basefee + lane_basefee + priority) + max_cells · cell_basefee
//!     balance < max_cost → removed in the cleaning lane; once that is used up passed over, and after 1,024 of
//!                          these the lane closes
//!     otherwise          → take max_cost, end the timer, call its actor (at least 1,000 cycles), return what was
//!                          not used; burn the basefees, credit the tip to the proposer
//!   passed over   stays due
//!
//! W(actor)        clamp(2 − recent / max(1, median), 1, 2)
//!                 recent = its fires in the FAIRNESS_WINDOW_BLOCKS blocks before; median = the lower one over
//!                 actors that fired
//! lane_basefee'   max(1,000, lane_basefee · (1 + clamp((u − 1/2) · 2 / quotient, ±1/8))), plus 1 if it should rise
//!                 and did not; u = max(cycles used / lane, cells used / cells_target)
//! ```
//!
//! # Layout
//! - [`lane`], [`fairness`], [`order`]: the plain rules, which audits use and the rest is tested against
//! - [`record`], [`config`]: what the state keeps
//! - [`calendar`], [`host`]: limits, arguments and prices of host calls; [`agents`]: what is asked of code
//! - [`tree`], [`search`], [`recent`], [`counts`], `numbers`, `holding`, `arrange`, [`index`]: the due
//!   timers, arranged, and what is counted; not state

pub mod agents;
mod arrange;
pub mod calendar;
pub mod config;
pub mod counts;
pub mod fairness;
mod holding;
pub mod host;
pub mod index;
pub mod lane;
mod numbers;
pub mod order;
pub mod recent;
pub mod record;
pub mod search;
pub mod tree;
