//! Waiting timers of one fairness weight, in an order that no basefee disturbs.
//!
//! Local: a change here needs no agreement among validators. `tests/timer_index.rs` compares the
//! results with the plain rules in `order` and `fairness`.
//!
//! A timer's priority at lane basefee `b` is `min(tip, max_fee − b)`. With its *slack*
//! `s = max_fee − tip` that is its tip while `s ≥ b`, and `max_fee − b` below. So a set sorted by
//! slack falls into two parts at any `b`: in the upper part the greatest tip is first, in the lower
//! the greatest maximal fee, and both are static. Every subtree knows its first in either order; a
//! basefee that swings moves nothing.
//!
//! An actor with several timers is an item itself (`Own`), so that it changes groups in one step
//! whatever it holds. Such items are sorted by slack, too: those that `b` divides are neighbours.

use crate::base::primitives::{Address, B256};
use crate::base::sorted::{Item, Sorted};
use std::cmp::Ordering;

/// What the index keeps of a due timer: enough to order and to fire it without its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub id: B256,
    /// `keccak256(beacon of its due block ‖ id)`: the last word among equals.
    pub lot: B256,
    pub actor: Address,
    /// When it was due first.
    pub due: u64,
    /// The last block in which it may fire.
    pub expires_at: u64,
    /// The most it tips per cycle. Fees are capped when scheduled, so 64 bits hold them.
    pub tip: u64,
    /// The most it pays per cycle in the lane.
    pub max_fee: u64,
    /// The cycles it may use.
    pub gas_limit: u64,
    /// The cells it may use.
    pub max_cells: u64,
    /// Who pays for the call.
    pub fee_payer: Address,
    pub payload_bytes: u32,
    /// What its actor gets back when it ends.
    pub deposit: u64,
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
}

/// Where an item is: slack, then lot, or the actor.
pub(super) type Place = (u64, B256);

/// The first eight bytes of a lot: enough to tell almost all apart.
pub(super) fn lot_head(lot: &B256) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = lot.0;
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// The first timer of a part in one of the two orders, as far as it is needed to bound the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct First {
    pub(super) bid: u64,
    pub(super) due: u64,
    pub(super) lot_head: u64,
}

impl First {
    pub(super) fn is_before(&self, other: &Self) -> bool {
        (other.bid, self.due, self.lot_head) < (self.bid, other.due, other.lot_head)
    }

    fn or(self, other: Self) -> Self {
        if other.is_before(&self) { other } else { self }
    }
}

/// What is known of a part without looking into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(super) slack_min: u64,
    slack_max: u64,
    by_tip: First,
    by_fee: First,
    pub(super) gas_min: u64,
    pub(super) cells_min: u64,
    pub(super) expires_min: u64,
}

impl Summary {
    /// Nothing in the part comes before this at a basefee; `None` if nothing in it can pay that.
    /// Where one limit counts for all of it, this *is* its first.
    pub(super) fn first(&self, basefee: u64) -> Option<First> {
        if self.slack_min >= basefee {
            return Some(self.by_tip);
        }
        // Nobody pays the basefee if the one with the greatest maximal fee does not.
        let spare = self.by_fee.bid.checked_sub(basefee)?;
        Some(if self.slack_max < basefee {
            First { bid: spare, ..self.by_fee }
        } else {
            First { bid: spare.min(self.by_tip.bid), due: 0, lot_head: 0 }
        })
    }

    fn join(&mut self, other: &Self) {
        self.slack_min = self.slack_min.min(other.slack_min);
        self.slack_max = self.slack_max.max(other.slack_max);
        self.by_tip = self.by_tip.or(other.by_tip);
        self.by_fee = self.by_fee.or(other.by_fee);
        self.gas_min = self.gas_min.min(other.gas_min);
        self.cells_min = self.cells_min.min(other.cells_min);
        self.expires_min = self.expires_min.min(other.expires_min);
    }
}

impl Item for Entry {
    type Key = Place;
    type Summary = Summary;
    const WIDTH: usize = 16;

    fn key(&self) -> Place {
        (self.slack(), self.lot)
    }

    fn cmp_key(&self, key: &Place) -> Ordering {
        self.slack().cmp(&key.0).then_with(|| self.lot.cmp(&key.1))
    }

    fn head(key: &Place) -> u64 {
        key.0
    }

    fn own_head(&self) -> u64 {
        self.slack()
    }

    fn summary(&self) -> Summary {
        let first = |bid| First { bid, due: self.due, lot_head: lot_head(&self.lot) };
        Summary {
            slack_min: self.slack(),
            slack_max: self.slack(),
            by_tip: first(self.tip),
            by_fee: first(self.max_fee),
            gas_min: self.gas_limit,
            cells_min: self.max_cells,
            expires_min: self.expires_at,
        }
    }

    fn join(summary: &mut Summary, other: &Summary) {
        summary.join(other);
    }
}

/// An actor with several waiting timers.
#[derive(Clone, Debug)]
pub(super) struct Own {
    actor: Address,
    /// Never empty.
    timers: Sorted<Entry>,
}

impl Own {
    /// `None` for an actor without timers.
    pub(super) fn new(actor: Address, timers: Sorted<Entry>) -> Option<Self> {
        (!timers.is_empty()).then_some(Self { actor, timers })
    }

    pub(super) const fn timers(&self) -> &Sorted<Entry> {
        &self.timers
    }

    pub(super) fn summary_ref(&self) -> &Summary {
        self.timers.summary().expect("an actor in the tree has timers")
    }
}

impl Item for Own {
    type Key = Place;
    type Summary = Summary;
    /// Narrow: a copied leaf counts one more reference for each of its actors.
    const WIDTH: usize = 8;

    fn key(&self) -> Place {
        (self.summary_ref().slack_min, self.actor.into_word())
    }

    fn cmp_key(&self, key: &Place) -> Ordering {
        self.own_head().cmp(&key.0).then_with(|| self.actor.into_word().cmp(&key.1))
    }

    fn head(key: &Place) -> u64 {
        key.0
    }

    fn own_head(&self) -> u64 {
        self.summary_ref().slack_min
    }

    fn summary(&self) -> Summary {
        *self.summary_ref()
    }

    fn join(summary: &mut Summary, other: &Summary) {
        summary.join(other);
    }
}
