//! Timers on a whole chain: each ends in exactly one way, and nothing is lost on the way there.

#[path = "timers/agents.rs"]
mod agents;
#[path = "timers/attacks.rs"]
mod attacks;
#[path = "timers/chaos.rs"]
mod chaos;
use crate::common;
#[path = "timers/ends.rs"]
mod ends;
#[path = "timers/lives.rs"]
mod lives;
#[path = "timers/scripts.rs"]
mod scripts;
