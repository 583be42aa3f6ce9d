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
//! logarithmic.

use crate::primitives::{Address, B256};
use std::sync::Arc;

/// What the index keeps of a due timer.
#[derive(Clone, Debug, PartialEq, Eq)]
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

pub(super) type Link = Option<Arc<Node>>;

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) entry: Arc<Entry>,
    pub(super) left: Link,
    pub(super) right: Link,
    first_by_tip: Arc<Entry>,
    first_by_fee: Arc<Entry>,
    pub(super) gas_min: u64,
    len: usize,
}

impl Node {
    fn new(entry: Arc<Entry>, left: Link, right: Link) -> Self {
        let (first_by_tip, first_by_fee) = (entry.clone(), entry.clone());
        let gas_min = entry.gas_limit;
        let mut node = Self { entry, left, right, first_by_tip, first_by_fee, gas_min, len: 1 };
        node.refresh();
        node
    }

    /// The first of the subtree, if this limit counts for all of it.
    pub(super) fn first(&self, side: Side) -> &Arc<Entry> {
        match side {
            Side::Tip => &self.first_by_tip,
            Side::Fee => &self.first_by_fee,
        }
    }

    fn refresh(&mut self) {
        let mut by_tip = &self.entry;
        let mut by_fee = &self.entry;
        let (mut gas_min, mut len) = (self.entry.gas_limit, 1);
        for child in [&self.left, &self.right].into_iter().flatten() {
            if before(&child.first_by_tip, by_tip, Side::Tip) {
                by_tip = &child.first_by_tip;
            }
            if before(&child.first_by_fee, by_fee, Side::Fee) {
                by_fee = &child.first_by_fee;
            }
            gas_min = gas_min.min(child.gas_min);
            len += child.len;
        }
        let (by_tip, by_fee) = (by_tip.clone(), by_fee.clone());
        (self.first_by_tip, self.first_by_fee) = (by_tip, by_fee);
        (self.gas_min, self.len) = (gas_min, len);
    }
}

/// Whether `a` comes before `b` where this limit counts for both.
fn before(a: &Entry, b: &Entry, side: Side) -> bool {
    let bid = |entry: &Entry| match side {
        Side::Tip => entry.tip,
        Side::Fee => entry.max_fee,
    };
    (bid(b), a.due, &a.lot) < (bid(a), b.due, &b.lot)
}

/// A set of due timers.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    root: Link,
}

impl Tree {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.root.as_ref().map_or(0, |node| node.len)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    pub(super) fn root(&self) -> Option<&Node> {
        self.root.as_deref()
    }

    /// Puts a timer in; one with the same lot is put in its place.
    pub fn insert(&mut self, entry: Arc<Entry>) {
        insert(&mut self.root, entry);
    }

    /// Takes a timer out.
    pub fn remove(&mut self, entry: &Entry) {
        remove(&mut self.root, entry);
    }

    /// All timers, in no order that matters.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        let mut found = Vec::with_capacity(self.len());
        let mut open: Vec<&Arc<Node>> = self.root.iter().collect();
        while let Some(node) = open.pop() {
            found.push(node.entry.clone());
            open.extend(node.left.iter().chain(&node.right));
        }
        found
    }
}

fn insert(link: &mut Link, entry: Arc<Entry>) {
    match link {
        None => *link = Some(Arc::new(Node::new(entry, None, None))),
        Some(node) if node.entry.heat() < entry.heat() => {
            let (left, right) = split(link.take(), entry.key());
            *link = Some(Arc::new(Node::new(entry, left, right)));
        }
        Some(node) => {
            let node = Arc::make_mut(node);
            match entry.key().cmp(&node.entry.key()) {
                core::cmp::Ordering::Less => insert(&mut node.left, entry),
                core::cmp::Ordering::Greater => insert(&mut node.right, entry),
                core::cmp::Ordering::Equal => node.entry = entry,
            }
            node.refresh();
        }
    }
}

fn remove(link: &mut Link, entry: &Entry) {
    let Some(node) = link else { return };
    let side = entry.key().cmp(&node.entry.key());
    if side == core::cmp::Ordering::Equal {
        let (left, right) = (node.left.clone(), node.right.clone());
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
