//! What a piece of work costs, in cycles and cells: the units that prices are put together from.
//!
//! Consensus: a change here forks the chain.

/// A price in both meters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub cycles: u64,
    pub cells: u64,
}

/// Another signature inside the transaction.
pub(crate) const SIGNATURE_CYCLES: u64 = 1_500;
/// Judging one byte of a result by one check: parse, look up, compare.
pub(crate) const CHECKED_BYTE_CYCLES: u64 = 1;
/// Taking one runner out of a trie, or putting it into one: a hash or a few, and finding it.
pub(crate) const MOVED_RUNNER_CYCLES: u64 = 40;
/// Putting a runner into the trie of a class that no recent job asked for.
pub(crate) const CLASS_RUNNER_CYCLES: u64 = 20;
/// Leaving one runner out of the lists of a single job, whose hashes are not shared.
pub(crate) const EXCLUDED_RUNNER_CYCLES: u64 = 150;
/// Prices compared per cycle.
pub(crate) const PRICES_PER_CYCLE: u64 = 4;
/// Drawing and seating one runner, and settling with it.
pub(crate) const SEAT_CYCLES: u64 = 1_000;
