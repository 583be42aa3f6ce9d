//! The due timers in the order of SPEC §8, found one after the other.
//!
//! A heap holds parts of trees by the rank of their first timer. Taking the first part apart until
//! a single timer is on top costs the logarithm of what waits; what nobody asks for stays whole.
//! Room in the lane only shrinks, so a part whose least gas limit does not fit is dropped for the
//! rest of the block: a lane that is nearly full does not look at those that are too large for it.

use super::tree::{Entry, Node, Side};
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

impl<'a> Rank<'a> {
    fn new(entry: &'a Entry, priority: u64, weight: u64) -> Self {
        let effective_priority = u128::from(priority) * u128::from(weight);
        Self { effective_priority, weight, due: entry.due, lot: &entry.lot }
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
    /// Both sides of the basefee.
    Whole(&'a Node),
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
    /// Nothing to look at yet.
    pub(super) fn new(basefee: u64) -> Self {
        Self { basefee, heap: BinaryHeap::new(), parts: 0 }
    }

    /// Adds a tree of timers of this weight.
    pub(super) fn add_tree(&mut self, root: &'a Node, weight: u64) {
        if let Some((entry, priority)) = first(root, self.basefee) {
            let rank = Rank::new(entry, priority, weight);
            self.heap.push(Head { rank, part: Part::Whole(root) });
        }
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
                Part::Whole(node) if node.gas_min <= room => self.cut(node, rank.weight),
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
        // Nobody in a subtree pays the basefee if the one with the greatest maximal fee does not.
        if let Some(priority) = node.first(side).priority(self.basefee) {
            let rank = Rank::new(node.first(side), priority, weight);
            self.heap.push(Head { rank, part: Part::Sided(node, side) });
        }
    }
}

/// The first timer of a tree at a basefee, without taking it apart.
fn first(root: &Node, basefee: u64) -> Option<(&Entry, u64)> {
    let mut found: Option<(&Entry, u64)> = None;
    let mut open = Some(root);
    while let Some(node) = open {
        let (sided, side, next) = if node.entry.slack() >= basefee {
            (&node.right, Side::Tip, &node.left)
        } else {
            (&node.left, Side::Fee, &node.right)
        };
        for entry in [Some(&node.entry), sided.as_deref().map(|node| node.first(side))] {
            let Some(entry) = entry else { continue };
            let Some(priority) = entry.priority(basefee) else { continue };
            let rank = Rank::new(entry, priority, 1);
            if found.is_none_or(|(entry, priority)| Rank::new(entry, priority, 1) < rank) {
                found = Some((entry, priority));
            }
        }
        open = next.as_deref();
    }
    found
}
