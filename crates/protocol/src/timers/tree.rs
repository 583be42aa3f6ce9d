//! Waiting timers of one fairness weight, in an order that no basefee disturbs.
//!
//! A timer's priority at lane basefee `b` is `min(tip, max_fee − b)`. With its *slack*
//! `s = max_fee − tip` that is its tip while `s ≥ b`, and `max_fee − b` below. So a tree ordered by
//! slack falls into two parts at any `b`: in the upper part the greatest tip is first, in the lower
//! the greatest maximal fee, and both are static. Every node knows the first of its subtree in
//! either order and the least gas limit in it; a basefee that swings moves nothing.
//!
//! The tree is a persistent treap whose heat is taken from the timers' lots. Nobody knows a lot
//! when he schedules, so nobody can shape the tree; its depth, and so the recursion here, is
//! logarithmic. Nodes hold what is compared: following pointers to it is what would take the time.
//! Up to [`SMALL`] timers are a plain list, which is faster than any tree.

use crate::primitives::{Address, B256};
use std::sync::Arc;

/// Up to so many timers are a plain list.
pub const SMALL: usize = 64;

/// What the index keeps of a due timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The timer.
    pub id: B256,
    /// `keccak256(beacon of its due block ‖ id)`: the last word among equals.
    pub lot: B256,
    /// Whose it is.
    pub actor: Address,
    /// When it was due first.
    pub due: u64,
    /// The most it tips per cycle. Fees are capped when scheduled, so 64 bits hold them.
    pub tip: u64,
    /// The most it pays per cycle in the lane.
    pub max_fee: u64,
    /// The cycles it may use.
    pub gas_limit: u64,
    /// Whether a gas bidding agent of its own prices it.
    pub has_agent: bool,
}

impl Entry {
    /// Up to this basefee its tip is what limits its priority.
    pub const fn slack(&self) -> u64 {
        self.max_fee.saturating_sub(self.tip)
    }

    /// Its priority at a basefee; `None` if it cannot pay that and waits.
    pub fn priority(&self, basefee: u64) -> Option<u64> {
        Some(self.max_fee.checked_sub(basefee)?.min(self.tip))
    }

    fn key(&self) -> (u64, &B256) {
        (self.slack(), &self.lot)
    }

    fn heat(&self) -> (&[u8], &B256) {
        (&self.lot[24..], &self.lot)
    }
}

/// Which limit of a timer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Its tip.
    Tip,
    /// Its maximal fee.
    Fee,
}

/// The first timer of a subtree in one of the two orders.
#[derive(Clone, Copy, Debug)]
pub(super) struct First {
    pub(super) bid: u64,
    pub(super) due: u64,
    pub(super) lot: B256,
}

impl First {
    fn of(entry: &Entry, side: Side) -> Self {
        let bid = match side {
            Side::Tip => entry.tip,
            Side::Fee => entry.max_fee,
        };
        Self { bid, due: entry.due, lot: entry.lot }
    }

    fn or(self, other: Self) -> Self {
        let other_first = (self.bid, other.due, &other.lot) < (other.bid, self.due, &self.lot);
        if other_first { other } else { self }
    }
}

pub(super) type Link = Option<Arc<Node>>;

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) entry: Entry,
    pub(super) left: Link,
    pub(super) right: Link,
    by_tip: First,
    by_fee: First,
    pub(super) gas_min: u64,
    len: usize,
}

impl Node {
    fn new(entry: Entry, left: Link, right: Link) -> Self {
        let (by_tip, by_fee) = (First::of(&entry, Side::Tip), First::of(&entry, Side::Fee));
        let gas_min = entry.gas_limit;
        let mut node = Self { entry, left, right, by_tip, by_fee, gas_min, len: 1 };
        node.refresh();
        node
    }

    /// The first of the subtree, if this limit counts for all of it.
    pub(super) fn first(&self, side: Side) -> &First {
        match side {
            Side::Tip => &self.by_tip,
            Side::Fee => &self.by_fee,
        }
    }

    fn refresh(&mut self) {
        self.by_tip = First::of(&self.entry, Side::Tip);
        self.by_fee = First::of(&self.entry, Side::Fee);
        (self.gas_min, self.len) = (self.entry.gas_limit, 1);
        for child in [&self.left, &self.right].into_iter().flatten() {
            self.by_tip = self.by_tip.or(child.by_tip);
            self.by_fee = self.by_fee.or(child.by_fee);
            self.gas_min = self.gas_min.min(child.gas_min);
            self.len += child.len;
        }
    }
}

/// A set of due timers.
#[derive(Clone, Debug)]
pub(super) enum Tree {
    /// Few: a list in no order.
    Small(Arc<Vec<Entry>>),
    /// Many.
    Large(Link),
}

/// What is known of a set without looking into it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The greatest tip.
    pub(super) tip: u64,
    /// The greatest maximal fee.
    pub(super) max_fee: u64,
    /// The least gas limit.
    pub(super) gas_min: u64,
}

impl Default for Tree {
    fn default() -> Self {
        Self::Small(Arc::default())
    }
}

impl Tree {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Small(list) => list.len(),
            Self::Large(link) => link.as_ref().map_or(0, |root| root.len),
        }
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn bounds(&self) -> Bounds {
        let none = Bounds { tip: 0, max_fee: 0, gas_min: u64::MAX };
        match self {
            Self::Small(list) => list.iter().fold(none, |bounds, entry| Bounds {
                tip: bounds.tip.max(entry.tip),
                max_fee: bounds.max_fee.max(entry.max_fee),
                gas_min: bounds.gas_min.min(entry.gas_limit),
            }),
            Self::Large(link) => link.as_ref().map_or(none, |root| Bounds {
                tip: root.by_tip.bid,
                max_fee: root.by_fee.bid,
                gas_min: root.gas_min,
            }),
        }
    }

    /// Puts a timer in that is not there.
    pub(super) fn insert(&mut self, entry: Entry) {
        match self {
            Self::Small(list) if list.len() < SMALL => Arc::make_mut(list).push(entry),
            Self::Small(list) => {
                let mut link = None;
                list.iter().chain([&entry]).for_each(|entry| insert(&mut link, *entry));
                *self = Self::Large(link);
            }
            Self::Large(link) => insert(link, entry),
        }
    }

    /// Takes a timer out.
    pub(super) fn remove(&mut self, entry: &Entry) {
        match self {
            Self::Small(list) => {
                if let Some(at) = list.iter().position(|other| other.id == entry.id) {
                    Arc::make_mut(list).swap_remove(at);
                }
            }
            Self::Large(link) => {
                remove(link, entry);
                // Half, so that a set at the limit does not go back and forth.
                if self.len() <= SMALL / 2 {
                    *self = Self::Small(Arc::new(self.entries()));
                }
            }
        }
    }

    /// All timers, in no order that matters.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let link = match self {
            Self::Small(list) => return list.to_vec(),
            Self::Large(link) => link,
        };
        let mut found = Vec::with_capacity(self.len());
        let mut open: Vec<&Arc<Node>> = link.iter().collect();
        while let Some(node) = open.pop() {
            found.push(node.entry);
            open.extend(node.left.iter().chain(&node.right));
        }
        found
    }
}

fn insert(link: &mut Link, entry: Entry) {
    match link {
        None => *link = Some(Arc::new(Node::new(entry, None, None))),
        Some(node) if node.entry.heat() < entry.heat() => {
            let (left, right) = split(link.take(), entry.key());
            *link = Some(Arc::new(Node::new(entry, left, right)));
        }
        Some(node) => {
            let node = Arc::make_mut(node);
            let left = entry.key() < node.entry.key();
            insert(if left { &mut node.left } else { &mut node.right }, entry);
            node.refresh();
        }
    }
}

fn remove(link: &mut Link, entry: &Entry) {
    let Some(node) = link else { return };
    let side = entry.key().cmp(&node.entry.key());
    if side == core::cmp::Ordering::Equal {
        let (left, right) = (node.left.clone(), node.right.clone());
        *link = None;
        *link = merge(left, right);
        return;
    }
    let node = Arc::make_mut(node);
    remove(if side.is_lt() { &mut node.left } else { &mut node.right }, entry);
    node.refresh();
}

/// What is below a key, and what is not.
fn split(link: Link, key: (u64, &B256)) -> (Link, Link) {
    let Some(node) = link else { return (None, None) };
    let mut node = Arc::unwrap_or_clone(node);
    if node.entry.key() < key {
        let (low, high) = split(node.right.take(), key);
        node.right = low;
        node.refresh();
        (Some(Arc::new(node)), high)
    } else {
        let (low, high) = split(node.left.take(), key);
        node.left = high;
        node.refresh();
        (low, Some(Arc::new(node)))
    }
}

/// Two trees, all of the first below all of the second.
fn merge(low: Link, high: Link) -> Link {
    match (low, high) {
        (None, link) | (link, None) => link,
        (Some(mut low), Some(mut high)) => Some(if low.entry.heat() > high.entry.heat() {
            let node = Arc::make_mut(&mut low);
            node.right = merge(node.right.take(), Some(high));
            node.refresh();
            low
        } else {
            let node = Arc::make_mut(&mut high);
            node.left = merge(Some(low), node.left.take());
            node.refresh();
            high
        }),
    }
}
