//! Chains with many timers, for benchmarks: the state is written directly, without the blocks in
//! which the timers would have been scheduled.
