//! Faults that other systems fell over, with real processes that are killed, stopped and starved.

#![allow(dead_code, unreachable_pub, reason = "what these modules have is for tests only")]

mod cancels;
mod clocks;
mod crowd;
mod disk;
mod killed;
mod logs;
mod lost;
mod memory;
pub(crate) mod peer;
mod races;
mod stopped;
mod stubborn;
