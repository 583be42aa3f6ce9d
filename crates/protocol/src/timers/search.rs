//! The due timers in the order of SPEC §8, found one after the other.
//!
//! A heap holds parts of trees by the rank of their first timer. Taking the first part apart until
//! a single timer is on top costs the logarithm of what waits; what nobody asks for stays whole.
//! Room in the lane only shrinks, so a part whose least gas limit does not fit is dropped for the
//! rest of the block: a lane that is nearly full does not look at those that are too large for it.

use super::tree::{Bounds, Entry, First, Node, Side, Tree};
use crate::primitives::B256;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Where a timer stands in the order; the greatest is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rank<'a> {
    effective_priority: u128,
    weight: u64,
    due: u64,
    lot: &'a B256,
}

/// Before every lot.
const NO_LOT: B256 = B256::ZERO;

impl<'a> Rank<'a> {
    fn new(entry: &'a Entry, priority: u64, weight: u64) -> Self {
        let effective_priority = u128::from(priority) * u128::from(weight);
        Self { effective_priority, weight, due: entry.due, lot: &entry.lot }
    }

    fn of_first(first: &'a First, priority: u64, weight: u64) -> Self {
        let effective_priority = u128::from(priority) * u128::from(weight);
        Self { effective_priority, weight, due: first.due, lot: &first.lot }
    }

    /// Before everybody whose priority is at most this.
    fn bound(priority: u64, weight: u64) -> Self {
        let effective_priority = u128::from(priority) * u128::from(weight);
        Self { effective_priority, weight, due: 0, lot: &NO_LOT }
    }
}

impl Ord for Rank<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.effective_priority, self.weight, other.due, other.lot).cmp(&(
            other.effective_priority,
            other.weight,
            self.due,
            self.lot,
        ))
    }
}

impl PartialOrd for Rank<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Part of a tree.
enum Part<'a> {
    /// All of it; its rank is a bound.
    Whole(&'a Tree),
    /// A subtree on one side of it.
    Sided(&'a Node, Side),
    /// One timer and its priority.
    One(&'a Entry, u64),
    /// The same, at fees that its agent named for this block.
    Priced(&'a Entry, u64),
}

struct Head<'a> {
    rank: Rank<'a>,
    part: Part<'a>,
}

impl Ord for Head<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank)
    }
}
impl PartialOrd for Head<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Head<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}
impl Eq for Head<'_> {}

/// The next timer to be offered the lane.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Which.
    pub entry: &'a Entry,
    /// Its priority at the block's basefee.
    pub priority: u64,
    /// Whether an agent named its fees.
    pub priced: bool,
}

/// A walk over everything that is due.
pub struct Search<'a> {
    basefee: u64,
    heap: BinaryHeap<Head<'a>>,
    parts: u64,
}

impl<'a> Search<'a> {
    /// Sets of timers and their weights. Nothing in them is looked at yet: no timer has a greater
    /// priority than its set's greatest tip and greatest fee together allow.
    pub(super) fn new(basefee: u64, sets: impl Iterator<Item = (&'a Tree, Bounds, u64)>) -> Self {
        let heads: Vec<Head<'a>> = sets
            .filter_map(|(tree, bounds, weight)| {
                let spare = bounds.max_fee.checked_sub(basefee)?;
                let rank = Rank::bound(spare.min(bounds.tip), weight);
                Some(Head { rank, part: Part::Whole(tree) })
            })
            .collect();
        Self { basefee, heap: heads.into(), parts: 0 }
    }

    /// Adds a timer at the priority that its agent's fees give.
    pub fn add_priced(&mut self, entry: &'a Entry, priority: u64, weight: u64) {
        let rank = Rank::new(entry, priority, weight);
        self.heap.push(Head { rank, part: Part::Priced(entry, priority) });
    }

    /// Parts that were looked at so far: the work done.
    pub fn parts(&self) -> u64 {
        self.parts
    }

    /// The next in order whose gas limit is at most `room`, which must not grow between calls.
    pub fn next(&mut self, room: u64) -> Option<Candidate<'a>> {
        loop {
            let Head { rank, part } = self.heap.pop()?;
            self.parts += 1;
            match part {
                Part::Whole(Tree::Small(list)) => {
                    let fitting = list.iter().filter(|entry| entry.gas_limit <= room);
                    fitting.for_each(|entry| self.push_one(entry, rank.weight));
                }
                Part::Whole(Tree::Large(Some(root))) if root.gas_min <= room => {
                    self.cut(root, rank.weight);
                }
                Part::Sided(node, side) if node.gas_min <= room => {
                    self.push_one(&node.entry, rank.weight);
                    self.push_sided(node.left.as_deref(), side, rank.weight, room);
                    self.push_sided(node.right.as_deref(), side, rank.weight, room);
                }
                Part::One(entry, priority) if entry.gas_limit <= room => {
                    return Some(Candidate { entry, priority, priced: false });
                }
                Part::Priced(entry, priority) if entry.gas_limit <= room => {
                    return Some(Candidate { entry, priority, priced: true });
                }
                _ => {}
            }
        }
    }

    /// Cuts a tree at the basefee.
    fn cut(&mut self, root: &'a Node, weight: u64) {
        let mut open = Some(root);
        while let Some(node) = open {
            self.push_one(&node.entry, weight);
            if node.entry.slack() >= self.basefee {
                self.push_sided(node.right.as_deref(), Side::Tip, weight, u64::MAX);
                open = node.left.as_deref();
            } else {
                self.push_sided(node.left.as_deref(), Side::Fee, weight, u64::MAX);
                open = node.right.as_deref();
            }
        }
    }

    fn push_one(&mut self, entry: &'a Entry, weight: u64) {
        if let Some(priority) = entry.priority(self.basefee) {
            let rank = Rank::new(entry, priority, weight);
            self.heap.push(Head { rank, part: Part::One(entry, priority) });
        }
    }

    fn push_sided(&mut self, node: Option<&'a Node>, side: Side, weight: u64, room: u64) {
        let Some(node) = node.filter(|node| node.gas_min <= room) else { return };
        let first = node.first(side);
        let priority = match side {
            Side::Tip => Some(first.bid),
            // Nobody pays the basefee if the one with the greatest maximal fee does not.
            Side::Fee => first.bid.checked_sub(self.basefee),
        };
        if let Some(priority) = priority {
            let rank = Rank::of_first(first, priority, weight);
            self.heap.push(Head { rank, part: Part::Sided(node, side) });
        }
    }
}
