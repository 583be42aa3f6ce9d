//! Numbers of timers that rules ask for: how many an actor has, and what a height holds.
//!
//! Not state, but a part of the index: they follow from the timers and chunks that the state has
//! (`Counts::load`). As records, every fire would write two more: that of its actor and that of
//! the height at which the timer would have expired.

use super::numbers::{NumberKey, Numbers};
use super::record::Timer;
use super::tree::Entry;
use crate::base::primitives::{Address, B256, Height};
use std::fmt::Debug;

/// Timers that are counted at a time when a state is loaded.
const PORTION: usize = 1 << 18;

/// What a height of the calendar holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtHeight {
    /// Places taken in its chunks, those of cancelled timers included.
    pub filed: u32,
    /// Timers that are or were due at this height and have not ended.
    pub live: u32,
    /// Timers that may fire at this height for the last time.
    pub expiring: u32,
}

impl AtHeight {
    const DUE: Self = Self { filed: 0, live: 1, expiring: 0 };
    const EXPIRY: Self = Self { filed: 0, live: 0, expiring: 1 };

    fn plus(self, other: Self) -> Self {
        Self {
            filed: self.filed + other.filed,
            live: self.live + other.live,
            expiring: self.expiring + other.expiring,
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            filed: self.filed.saturating_sub(other.filed),
            live: self.live.saturating_sub(other.live),
            expiring: self.expiring.saturating_sub(other.expiring),
        }
    }
}

/// What counting needs to know of a timer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    pub(crate) id: B256,
    pub(super) actor: Address,
    pub(super) due: Height,
    pub(super) expires_at: Height,
    pub(crate) payload_bytes: u32,
}

impl Counted {
    pub(crate) fn new(id: B256, timer: &Timer) -> Self {
        let Timer { actor, due, expires_at, payload, .. } = *timer;
        Self { id, actor, due, expires_at, payload_bytes: payload.len() }
    }

    pub(crate) const fn of_entry(entry: &Entry) -> Self {
        let Entry { id, actor, due, expires_at, payload_bytes, .. } = *entry;
        Self { id, actor, due: Height(due), expires_at: Height(expires_at), payload_bytes }
    }
}

/// Changes numbers, the keys of which need not be in order. Returns the new ones, in order.
fn change<K, N>(
    numbers: &mut Numbers<K, N>,
    mut changes: Vec<(K, N)>,
    join: impl Fn(N, N) -> N,
    apply: impl Fn(N, N) -> N,
) -> Vec<(K, N)>
where
    K: NumberKey,
    N: Copy + Debug + Default + PartialEq,
{
    changes.sort_unstable_by_key(|(key, _)| *key);
    changes.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 = join(kept.1, next.1);
        }
        same
    });
    let keys: Vec<K> = changes.iter().map(|(key, _)| *key).collect();
    for (change, before) in changes.iter_mut().zip(numbers.get_many(&keys)) {
        change.1 = apply(before, change.1);
    }
    numbers.set(changes.iter().copied());
    changes
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    actors: Numbers<Address, u32>,
    heights: Numbers<Height, AtHeight>,
}

impl Counts {
    /// From all timers, and the ids that the chunks of each height hold.
    pub(crate) fn of(
        mut timers: impl Iterator<Item = Counted>,
        filed: impl Iterator<Item = (Height, u32)>,
    ) -> Self {
        let mut counts = Self::default();
        loop {
            let portion: Vec<Counted> = timers.by_ref().take(PORTION).collect();
            if portion.is_empty() {
                break;
            }
            counts.add(&portion);
        }
        let filed =
            filed.map(|(height, filed)| (height, AtHeight { filed, ..AtHeight::default() }));
        change(&mut counts.heights, filed.collect(), AtHeight::plus, AtHeight::plus);
        counts
    }

    /// Timers that an actor has.
    pub(super) fn live(&self, actor: Address) -> u32 {
        self.actors.get(actor)
    }

    pub(super) fn at(&self, height: Height) -> AtHeight {
        self.heights.get(height)
    }

    pub(super) fn add(&mut self, timers: &[Counted]) {
        let actors = timers.iter().map(|timer| (timer.actor, 1)).collect();
        change(&mut self.actors, actors, |a, b| a + b, |a, b| a + b);
        change(&mut self.heights, at_heights(timers), AtHeight::plus, AtHeight::plus);
    }

    /// Takes off timers that ended. Returns heights, among them those at which no timer is left.
    pub(super) fn end(&mut self, timers: &[Counted]) -> Vec<(Height, AtHeight)> {
        let actors = timers.iter().map(|timer| (timer.actor, 1)).collect();
        change(&mut self.actors, actors, |a, b| a + b, u32::saturating_sub);
        change(&mut self.heights, at_heights(timers), AtHeight::plus, AtHeight::minus)
    }

    /// Enters a timer that has a place at the height at which it is due.
    pub(super) fn schedule(&mut self, timer: &Counted) {
        change(&mut self.actors, vec![(timer.actor, 1)], |a, b| a + b, |a, b| a + b);
        let filed = AtHeight { filed: 1, ..AtHeight::DUE };
        let heights = vec![(timer.due, filed), (timer.expires_at, AtHeight::EXPIRY)];
        change(&mut self.heights, heights, AtHeight::plus, AtHeight::plus);
    }

    /// Notes that the chunks of a height are gone.
    pub(super) fn unfile(&mut self, height: Height) {
        let all = AtHeight { filed: u32::MAX, ..AtHeight::default() };
        change(&mut self.heights, vec![(height, all)], AtHeight::plus, AtHeight::minus);
    }

    pub(super) fn extend(&mut self, from: Height, to: Height) {
        let expiry = AtHeight::EXPIRY;
        change(&mut self.heights, vec![(from, expiry)], AtHeight::plus, AtHeight::minus);
        change(&mut self.heights, vec![(to, expiry)], AtHeight::plus, AtHeight::plus);
    }
}

fn at_heights(timers: &[Counted]) -> Vec<(Height, AtHeight)> {
    let mut heights = Vec::with_capacity(2 * timers.len());
    heights.extend(timers.iter().map(|timer| (timer.due, AtHeight::DUE)));
    heights.extend(timers.iter().map(|timer| (timer.expires_at, AtHeight::EXPIRY)));
    heights
}
