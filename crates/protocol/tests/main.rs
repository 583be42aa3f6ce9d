//! Tests of the rules through its public interface. One binary: linking takes longer than most tests.

mod attacks;
mod bad_input;
mod chaos;
mod closing;
mod common;
mod deposits;
mod dust;
mod encodings;
mod entitlements;
mod excuses;
mod forgetting;
mod fuzz_seeds;
mod job_file;
mod leavers;
mod liars;
mod loopholes;
mod modules;
mod presence;
mod presence_lie;
mod spec;
mod timer_index;
mod timers;
mod trials;
