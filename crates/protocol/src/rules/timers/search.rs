//! The due timers in the order of SPEC §8, found one after the other.
//!
//! Local: a change here needs no agreement among validators. `tests/timer_index.rs` compares the
//! results with the plain rules in `order` and `fairness`.
//!
//! A heap holds parts of sets by the rank of their first timer. Taking the first part apart until
//! a single timer is on top costs the logarithm of what waits; parts that are not reached stay whole.
//! Room in the lane only shrinks, so a part whose least gas limit does not fit is dropped for the
//! rest of the block: a lane that is nearly full does not look at those that are too large for it.
//!
//! Timers that become due in the block itself are not in any set: most of those that come first fire
//! at once, and what is entered and taken out again costs more than ranking a list.

use super::tree::{Entry, First, Own, Summary, lot_head};
use crate::base::primitives::B256;
use crate::base::sorted::{BRANCHES, Item, Node, Sorted};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Parts that are open at a time, usually.
const HEADS: usize = 1_024;

/// Where a timer stands in the order, but for the rest of its lot; the greatest is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// High and low half: a number of 128 bits would make heads larger.
    effective_priority: (u64, u64),
    weight: u64,
    due: Reverse<u64>,
    lot_head: Reverse<u64>,
}

impl Rank {
    fn new(first: &First, weight: u64) -> Self {
        let product = u128::from(first.bid) * u128::from(weight);
        let effective_priority = ((product >> 64) as u64, product as u64);
        let (due, lot_head) = (Reverse(first.due), Reverse(first.lot_head));
        Self { effective_priority, weight, due, lot_head }
    }
}

/// Which parts of a node were taken, and which is next.
#[derive(Clone, Copy, Debug)]
struct Marks {
    taken: u32,
    next: u8,
}

impl Marks {
    fn new(taken: u32, next: usize) -> Self {
        Self { taken: taken | 1 << next, next: next as u8 }
    }
}

const _: () = assert!(BRANCHES <= 32 && Entry::WIDTH <= 32 && Own::WIDTH <= 32, "a mark for each");

enum Part<'a> {
    /// Nobody has looked at it.
    Timers(&'a Node<Entry>),
    Actors(&'a Node<Own>),
    /// Opened: its rank is that of the part that is next.
    OpenTimers(&'a Node<Entry>, Marks),
    OpenActors(&'a Node<Own>, Marks),
    /// One timer at fees that its agent named for this block, which give this priority.
    Priced(&'a Entry, u64),
    /// The first of those that became due in this block.
    New(&'a Entry, usize),
}

impl Part<'_> {
    /// The lot, if a single timer is next.
    fn lot(&self) -> Option<&B256> {
        match self {
            Self::OpenTimers(Node::Leaf(timers), marks) => Some(&timers[marks.next as usize].lot),
            Self::Priced(entry, _) | Self::New(entry, _) => Some(&entry.lot),
            _ => None,
        }
    }
}

struct Head<'a> {
    rank: Rank,
    part: Part<'a>,
}

impl Ord for Head<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        // A part without a lot is a bound and goes before the timers that it may hold.
        self.rank.cmp(&other.rank).then_with(|| other.part.lot().cmp(&self.part.lot()))
    }
}
impl PartialOrd for Head<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Head<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Head<'_> {}

/// What a block has left for fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    pub cycles: u64,
    pub cells: u64,
}

impl Room {
    /// Whether a timer's limits are within it.
    pub const fn fits(&self, entry: &Entry) -> bool {
        entry.gas_limit <= self.cycles && entry.max_cells <= self.cells
    }

    /// Whether one of a part's timers may be.
    const fn may_fit(&self, part: &Summary) -> bool {
        part.gas_min <= self.cycles && part.cells_min <= self.cells
    }
}

/// The next timer to be offered the lane.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    pub entry: &'a Entry,
    /// Its priority at the block's basefee.
    pub priority: u64,
    /// Whether an agent named its fees.
    pub priced: bool,
    /// Where it is in the list of those that became due in this block, if it did.
    pub new: Option<usize>,
}

/// A walk over everything that is due.
pub struct Search<'a> {
    basefee: u64,
    gas_cap: u64,
    heap: BinaryHeap<Head<'a>>,
    /// Those that became due in this block, but for the first.
    new: BinaryHeap<Head<'a>>,
    parts: u64,
}

impl<'a> Search<'a> {
    /// Nothing to search yet. Timers that ask for more than the cap are left out.
    pub(super) fn new(basefee: u64, gas_cap: u64) -> Self {
        let heap = BinaryHeap::with_capacity(HEADS);
        Self { basefee, gas_cap, heap, new: BinaryHeap::new(), parts: 0 }
    }

    /// Adds timers of actors of one weight.
    pub(super) fn add_timers(&mut self, timers: &'a Sorted<Entry>, weight: u64) {
        let Some(root) = timers.root() else { return };
        if let Some(first) = root.summary.first(self.basefee) {
            self.push(&first, weight, Part::Timers(&root.node));
        }
    }

    /// Adds actors of one weight.
    pub(super) fn add_actors(&mut self, actors: &'a Sorted<Own>, weight: u64) {
        let Some(root) = actors.root() else { return };
        if let Some(first) = root.summary.first(self.basefee) {
            self.push(&first, weight, Part::Actors(&root.node));
        }
    }

    /// Adds a timer at the priority that its agent's fees give.
    pub fn add_priced(&mut self, entry: &'a Entry, priority: u64, weight: u64) {
        let first = First { bid: priority, due: entry.due, lot_head: lot_head(&entry.lot) };
        self.push(&first, weight, Part::Priced(entry, priority));
    }

    /// Adds timers that became due in this block; once.
    pub fn add_new(&mut self, entries: &'a [Entry], weight_of: impl Fn(&Entry) -> u64) {
        let heads = entries.iter().enumerate().filter_map(|(at, entry)| {
            let bid = entry.priority(self.basefee)?;
            let first = First { bid, due: entry.due, lot_head: lot_head(&entry.lot) };
            Some(Head { rank: Rank::new(&first, weight_of(entry)), part: Part::New(entry, at) })
        });
        self.new = heads.collect();
        self.heap.extend(self.new.pop());
    }

    pub fn open(&self) -> usize {
        self.heap.len()
    }

    /// Parts that were looked at so far: the work done.
    pub fn parts(&self) -> u64 {
        self.parts
    }

    /// The next in order that fits; there must not become more room between calls.
    pub fn next(&mut self, room: Room) -> Option<Candidate<'a>> {
        let room = Room { cycles: room.cycles.min(self.gas_cap), ..room };
        loop {
            let Head { rank, part } = self.heap.pop()?;
            self.parts += 1;
            let weight = rank.weight;
            match part {
                Part::Timers(node) => self.open_timers(node, 0, weight, room),
                Part::Actors(node) => self.open_actors(node, 0, weight, room),
                Part::OpenTimers(node, marks) => {
                    self.open_timers(node, marks.taken, weight, room);
                    match node {
                        Node::Leaf(timers) => {
                            let entry = &timers[marks.next as usize];
                            if let Some(found) = self.candidate(entry, room) {
                                return Some(found);
                            }
                        }
                        Node::Branch(children) => {
                            self.open_timers(&children[marks.next as usize].node, 0, weight, room);
                        }
                    }
                }
                Part::OpenActors(node, marks) => {
                    self.open_actors(node, marks.taken, weight, room);
                    let at = marks.next as usize;
                    match node {
                        Node::Leaf(actors) => {
                            let root = actors[at].timers().root().map(|root| &root.node);
                            root.into_iter()
                                .for_each(|node| self.open_timers(node, 0, weight, room));
                        }
                        Node::Branch(children) => {
                            self.open_actors(&children[at].node, 0, weight, room);
                        }
                    }
                }
                Part::Priced(entry, priority) if room.fits(entry) => {
                    return Some(Candidate { entry, priority, priced: true, new: None });
                }
                Part::Priced(..) => {}
                Part::New(entry, at) => {
                    self.heap.extend(self.new.pop());
                    if let Some(found) = self.candidate(entry, room) {
                        return Some(Candidate { new: Some(at), ..found });
                    }
                }
            }
        }
    }

    /// What was first when its leaf was opened; there may be less room now.
    fn candidate(&self, entry: &'a Entry, room: Room) -> Option<Candidate<'a>> {
        let priority = entry.priority(self.basefee).filter(|_| room.fits(entry))?;
        Some(Candidate { entry, priority, priced: false, new: None })
    }

    /// Looks for the first part of a node that was not taken yet.
    fn open_timers(&mut self, node: &'a Node<Entry>, taken: u32, weight: u64, room: Room) {
        let next = match node {
            Node::Leaf(timers) => first_timer(timers, taken, self.basefee, room),
            Node::Branch(children) => {
                first_part(children.iter().map(|child| &child.summary), taken, self.basefee, room)
            }
        };
        if let Some((at, first)) = next {
            self.push(&first, weight, Part::OpenTimers(node, Marks::new(taken, at)));
        }
    }

    fn open_actors(&mut self, node: &'a Node<Own>, taken: u32, weight: u64, room: Room) {
        let next = match node {
            Node::Leaf(actors) => {
                first_part(actors.iter().map(Own::summary_ref), taken, self.basefee, room)
            }
            Node::Branch(children) => {
                first_part(children.iter().map(|child| &child.summary), taken, self.basefee, room)
            }
        };
        if let Some((at, first)) = next {
            self.push(&first, weight, Part::OpenActors(node, Marks::new(taken, at)));
        }
    }

    fn push(&mut self, first: &First, weight: u64, part: Part<'a>) {
        self.heap.push(Head { rank: Rank::new(first, weight), part });
    }
}

/// The first of a leaf's timers that fit and were not taken.
fn first_timer(timers: &[Entry], taken: u32, basefee: u64, room: Room) -> Option<(usize, First)> {
    let open = timers.iter().enumerate().filter(|(at, _)| taken & 1 << at == 0);
    let paying = open
        .filter(|(_, entry)| room.fits(entry))
        .filter_map(|(at, entry)| Some((entry.priority(basefee)?, at, entry)));
    let order = |(bid, _, entry): &(u64, usize, &Entry)| (*bid, Reverse(entry.due));
    let (bid, at, entry) = paying.reduce(|best, other| {
        let order = order(&other).cmp(&order(&best)).then_with(|| best.2.lot.cmp(&other.2.lot));
        if order.is_gt() { other } else { best }
    })?;
    Some((at, First { bid, due: entry.due, lot_head: lot_head(&entry.lot) }))
}

/// The first of some parts, by what is known of them.
fn first_part<'s>(
    parts: impl Iterator<Item = &'s Summary>,
    taken: u32,
    basefee: u64,
    room: Room,
) -> Option<(usize, First)> {
    let open = parts.enumerate().filter(|(at, _)| taken & 1 << at == 0);
    let fitting = open.filter(|(_, part)| room.may_fit(part));
    let firsts = fitting.filter_map(|(at, part)| Some((at, part.first(basefee)?)));
    firsts.reduce(|best, other| if other.1.is_before(&best.1) { other } else { best })
}
