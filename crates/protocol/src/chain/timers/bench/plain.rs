//! What one would take instead of the scheduler, as plainly as it is usually written.
//!
//! [`Heap`] knows the market but not the trick: everything that is due is ranked and heaped again in
//! every block, because basefee and weights have changed. [`Wheel`] is a timing wheel of 4,096
//! places with an overflow list and no market: first due, first fired. Neither is in a state root,
//! survives a crash, has versions, or takes anybody's money.

use std::collections::{BTreeSet, BinaryHeap, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Plain {
    pub due: u64,
    /// Its number, which is also the last word among equals.
    pub id: u64,
    pub actor: u32,
    /// The most it pays per cycle.
    pub max_fee: u64,
    pub tip: u64,
}

pub trait Scheduler {
    fn schedule(&mut self, timer: Plain);
    fn cancel(&mut self, id: u64);
    /// Fires at most `room` timers of a height. Returns how many.
    fn block(&mut self, height: u64, basefee: u64, room: usize) -> usize;
}

/// Pending timers in a heap by height; due timers in a list that every block turns into a heap again.
#[derive(Debug, Default)]
pub struct Heap {
    pending: BinaryHeap<std::cmp::Reverse<Plain>>,
    due: Vec<Plain>,
    cancelled: BTreeSet<u64>,
    fires: Vec<u64>,
}

impl Scheduler for Heap {
    fn schedule(&mut self, timer: Plain) {
        self.pending.push(std::cmp::Reverse(timer));
    }

    fn cancel(&mut self, id: u64) {
        self.cancelled.insert(id);
    }

    fn block(&mut self, height: u64, basefee: u64, room: usize) -> usize {
        while let Some(first) = self.pending.peek().filter(|first| first.0.due <= height) {
            self.due.push(first.0);
            self.pending.pop();
        }
        let mut counts: Vec<u64> = self.fires.iter().copied().filter(|fires| *fires > 0).collect();
        counts.sort_unstable();
        let median = counts.get(counts.len().saturating_sub(1) / 2).copied().unwrap_or(0);
        let rank = |timer: &Plain| {
            let spare = timer.max_fee.checked_sub(basefee)?;
            let fires = self.fires.get(timer.actor as usize).copied().unwrap_or(0);
            let weight = crate::rules::timers::fairness::weight(fires, median);
            Some(u128::from(spare.min(timer.tip)) * u128::from(weight))
        };
        let (mut ranked, mut rest) = (Vec::with_capacity(self.due.len()), Vec::new());
        for timer in core::mem::take(&mut self.due) {
            match rank(&timer) {
                _ if self.cancelled.remove(&timer.id) => {}
                Some(rank) => ranked.push((rank, std::cmp::Reverse(timer))),
                None => rest.push(timer),
            }
        }
        let mut ranked = BinaryHeap::from(ranked);
        let mut fired = 0;
        while fired < room {
            let Some((_, timer)) = ranked.pop() else { break };
            let at = timer.0.actor as usize;
            self.fires.resize(self.fires.len().max(at + 1), 0);
            self.fires[at] += 1;
            fired += 1;
        }
        self.due = ranked.into_iter().map(|(_, timer)| timer.0).chain(rest).collect();
        fired
    }
}

const PLACES: u64 = 4_096;

/// Lists by height modulo the wheel's size; what is further away waits in a list of its own.
#[derive(Debug)]
pub struct Wheel {
    places: Vec<Vec<Plain>>,
    overflow: Vec<Plain>,
    cancelled: BTreeSet<u64>,
    waiting: VecDeque<Plain>,
    height: u64,
}

impl Default for Wheel {
    fn default() -> Self {
        Self {
            places: vec![Vec::new(); PLACES as usize],
            overflow: Vec::new(),
            cancelled: BTreeSet::new(),
            waiting: VecDeque::new(),
            height: 0,
        }
    }
}

impl Scheduler for Wheel {
    fn schedule(&mut self, timer: Plain) {
        match timer.due < self.height + PLACES {
            true => self.places[(timer.due % PLACES) as usize].push(timer),
            false => self.overflow.push(timer),
        }
    }

    fn cancel(&mut self, id: u64) {
        self.cancelled.insert(id);
    }

    fn block(&mut self, height: u64, _: u64, room: usize) -> usize {
        self.height = height;
        if height.is_multiple_of(PLACES) {
            for timer in core::mem::take(&mut self.overflow) {
                self.schedule(timer);
            }
        }
        self.waiting.extend(core::mem::take(&mut self.places[(height % PLACES) as usize]));
        let mut fired = 0;
        while fired < room {
            let Some(timer) = self.waiting.pop_front() else { break };
            fired += usize::from(!self.cancelled.remove(&timer.id));
        }
        fired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer(id: u64, due: u64, tip: u64) -> Plain {
        Plain { due, id, actor: id as u32, max_fee: 5_000, tip }
    }

    #[test]
    fn both_fire_what_is_due_and_not_cancelled() {
        let schedulers: [&mut dyn Scheduler; 2] = [&mut Heap::default(), &mut Wheel::default()];
        for scheduler in schedulers {
            for n in 1..=10 {
                scheduler.schedule(timer(n, 1 + n % 2, n));
            }
            scheduler.schedule(timer(11, PLACES + 9, 0));
            scheduler.schedule(timer(12, 2 * PLACES, 0));
            scheduler.cancel(2);
            assert_eq!(scheduler.block(1, 1_000, 3), 3);
            assert_eq!(scheduler.block(2, 1_000, 100), 6);
            let mut late = (3..).map(|height| scheduler.block(height, 1_000, 9));
            assert_eq!(late.by_ref().take(PLACES as usize + 7).sum::<usize>(), 1);
            assert_eq!(late.take(PLACES as usize - 9).sum::<usize>(), 1, "in time");
        }
    }
}
