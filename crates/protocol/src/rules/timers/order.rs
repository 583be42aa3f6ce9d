//! Which due timers run in a block, and in which order (SPEC §8).
//!
//! Order: effective priority ↓, weight ↓, due height ↑, keccak256(parent_beacon ‖ timer_id) ↑. The lane is filled
//! greedily: a timer that does not fit by its gas limit is passed over, smaller ones after it may run. A due timer that
//! does not run stays due.

use super::lane::LANE_TIMER_CYCLES;
use crate::base::math::wide_mul;
use crate::base::primitives::{Address, B256, U256, keccak256};
use std::cmp::Reverse;

/// The least cycles that a timer may ask for.
pub const GAS_LIMIT_MIN: u64 = 1_000;
/// The most cycles that a timer may ask for.
pub const MAX_CYCLES_PER_FIRE_AUCTION_PHASE: u64 = 250_000;

const _: () = assert!(
    GAS_LIMIT_MIN <= MAX_CYCLES_PER_FIRE_AUCTION_PHASE
        && MAX_CYCLES_PER_FIRE_AUCTION_PHASE <= LANE_TIMER_CYCLES
);

/// What the order of timers depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerBid {
    pub timer_id: B256,
    pub actor: Address,
    /// The cycles it may use.
    pub gas_limit: u64,
    /// The most it pays per cycle in the lane, tip included.
    pub max_fee: u128,
    /// The most it tips per cycle.
    pub max_priority: u128,
    /// The height at which it is due.
    pub schedule_block: u64,
}

impl TimerBid {
    /// Whether it is due at `height`. It stays so until it runs.
    pub const fn is_due(&self, height: u64) -> bool {
        self.schedule_block <= height
    }

    /// The tip at this lane basefee; `None` if the timer cannot pay the basefee and waits.
    pub fn priority(&self, basefee_lane: u128) -> Option<u128> {
        Some(self.max_fee.checked_sub(basefee_lane)?.min(self.max_priority))
    }
}

/// Sort key of a timer; ascending is the order of execution.
type Rank = (Reverse<U256>, Reverse<u64>, u64, B256);

/// `keccak256(parent_beacon ‖ timer_id)`: the last word among equals.
pub fn lot(parent_beacon: &B256, timer_id: &B256) -> B256 {
    let mut bytes = [0; 64];
    bytes[..32].copy_from_slice(parent_beacon.as_slice());
    bytes[32..].copy_from_slice(timer_id.as_slice());
    keccak256(bytes)
}

/// The timers that are due and can pay, in the order in which the lane offers itself to them.
///
/// `weight_of` gives an actor's fairness weight in nano.
pub fn queue<'a>(
    height: u64,
    basefee_lane: u128,
    parent_beacon: &B256,
    timers: impl IntoIterator<Item = &'a TimerBid>,
    weight_of: impl Fn(&Address) -> u64,
) -> Vec<&'a TimerBid> {
    queue_by(height, basefee_lane, timers, weight_of, |timer| lot(parent_beacon, &timer.timer_id))
}

/// [`queue`] with a lot for each timer: on chain the beacon is that of the block at which a
/// timer was due first, so that a timer that waits keeps its lot.
pub fn queue_by<'a>(
    height: u64,
    basefee_lane: u128,
    timers: impl IntoIterator<Item = &'a TimerBid>,
    weight_of: impl Fn(&Address) -> u64,
    lot_of: impl Fn(&TimerBid) -> B256,
) -> Vec<&'a TimerBid> {
    let rank = |timer: &TimerBid, priority: u128| -> Rank {
        let weight = weight_of(&timer.actor);
        let lot = lot_of(timer);
        (
            Reverse(wide_mul(priority, u128::from(weight))),
            Reverse(weight),
            timer.schedule_block,
            lot,
        )
    };
    let mut ranked: Vec<(Rank, &TimerBid)> = timers
        .into_iter()
        .filter(|timer| timer.is_due(height))
        .filter_map(|timer| Some((rank(timer, timer.priority(basefee_lane)?), timer)))
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, timer)| timer).collect()
}

/// The lane of one block while it fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    limit: u64,
    used: u64,
}

impl Default for Lane {
    fn default() -> Self {
        Self::with_limit(LANE_TIMER_CYCLES)
    }
}

impl Lane {
    /// An empty lane of this many cycles.
    pub const fn with_limit(limit: u64) -> Self {
        Self { limit, used: 0 }
    }

    pub const fn limit(&self) -> u64 {
        self.limit
    }

    pub const fn room(&self) -> u64 {
        self.limit.saturating_sub(self.used)
    }

    pub const fn used(&self) -> u64 {
        self.used
    }

    /// Whether a timer with this limit may run now.
    pub const fn fits(&self, gas_limit: u64) -> bool {
        gas_limit <= self.room()
    }

    /// Counts what a timer has consumed.
    pub fn consume(&mut self, cycles: u64) {
        self.used = self.used.saturating_add(cycles);
    }
}

/// Fills the lane from a queue; `run` executes a timer and says how many cycles it consumed. Returns those that ran.
pub fn fill(queue: Vec<&TimerBid>, mut run: impl FnMut(&TimerBid) -> u64) -> Vec<&TimerBid> {
    let mut lane = Lane::default();
    let mut fired = Vec::new();
    for timer in queue {
        if lane.fits(timer.gas_limit) {
            // A timer never consumes more than its limit, whatever the caller says.
            lane.consume(run(timer).min(timer.gas_limit));
            fired.push(timer);
        }
    }
    fired
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEACON: B256 = B256::repeat_byte(9);

    fn timer(n: u8) -> TimerBid {
        let (timer_id, actor) = (B256::repeat_byte(n), Address::repeat_byte(n));
        TimerBid {
            timer_id,
            actor,
            gas_limit: 250_000,
            max_fee: 2_000,
            max_priority: 10,
            schedule_block: 50,
        }
    }

    fn order(timers: &[TimerBid], weight_of: impl Fn(&Address) -> u64) -> Vec<u8> {
        queue(100, 1_000, &BEACON, timers, weight_of).iter().map(|t| t.timer_id[0]).collect()
    }

    #[test]
    fn larger_effective_priority_runs_first() {
        let timers = [timer(1), TimerBid { max_priority: 15, ..timer(2) }];
        assert_eq!(order(&timers, |_| 1), [2, 1]);
        assert_eq!(order(&timers, |actor| if actor[0] == 1 { 2 } else { 1 }), [1, 2]);
    }

    #[test]
    fn without_tips_weight_then_age_decide() {
        let free = |n, schedule_block| TimerBid { max_priority: 0, schedule_block, ..timer(n) };
        let timers = [free(1, 9), free(2, 8), free(3, 10)];
        assert_eq!(order(&timers, |_| 1), [2, 1, 3]);
        assert_eq!(order(&timers, |actor| u64::from(actor[0])), [3, 2, 1]);
    }

    #[test]
    fn equal_timers_are_ordered_by_the_beacon() {
        let timers = [timer(1), timer(2), timer(3)];
        let mut lots: Vec<_> = timers
            .iter()
            .map(|t| (keccak256([BEACON.0, t.timer_id.0].concat()), t.timer_id[0]))
            .collect();
        lots.sort_unstable();
        let expected: Vec<u8> = lots.into_iter().map(|(_, n)| n).collect();
        assert_eq!(order(&timers, |_| 1), expected);
    }

    #[test]
    fn undue_and_unpaying_timers_are_not_offered_the_lane() {
        let early = TimerBid { schedule_block: 101, ..timer(1) };
        let poor = TimerBid { max_fee: 999, ..timer(2) };
        let exact = TimerBid { max_fee: 1_000, schedule_block: 100, ..timer(3) };
        assert_eq!(order(&[early, poor, exact], |_| 1), [3]);
        assert_eq!(exact.priority(1_000), Some(0));
    }

    #[test]
    fn smaller_timers_run_after_one_that_does_not_fit() {
        let mut timers: Vec<TimerBid> = (1..=9).map(timer).collect();
        timers[8].gas_limit = 1_000;
        let queue: Vec<&TimerBid> = timers.iter().collect();
        let fired: Vec<u8> =
            fill(queue, |t| t.gas_limit.min(249_900)).iter().map(|t| t.timer_id[0]).collect();
        assert_eq!(fired, [1, 2, 3, 4, 5, 6, 7, 8]);
        let queue: Vec<&TimerBid> = timers.iter().collect();
        let fired: Vec<u8> =
            fill(queue, |t| t.gas_limit.min(249_000)).iter().map(|t| t.timer_id[0]).collect();
        assert_eq!(fired, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn lane_is_filled_to_the_last_cycle_and_no_further() {
        let timers: Vec<TimerBid> = (1..=10).map(timer).collect();
        assert_eq!(fill(timers.iter().collect(), |t| t.gas_limit).len(), 8);
        assert_eq!(fill(timers.iter().collect(), |_| u64::MAX).len(), 8);
        assert_eq!(fill(timers.iter().collect(), |_| 0).len(), 10);
    }

    #[test]
    fn largest_fees_do_not_overflow() {
        let rich = TimerBid { max_fee: u128::MAX, max_priority: u128::MAX, ..timer(1) };
        let richer = TimerBid { max_fee: u128::MAX, max_priority: u128::MAX, ..timer(2) };
        assert_eq!(order(&[rich, richer], |actor| u64::MAX - 2 + u64::from(actor[0])), [2, 1]);
    }
}
