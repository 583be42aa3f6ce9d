//! Everything that is due, arranged so that a block costs what fires and expires.
//!
//! Consensus: a change here forks the chain. The order in which agents are asked and expired timers
//! are collected is decided here.
//!
//! Not state: it follows from the state alone ([`TimerIndex::load`]), views carry it along, and
//! versions share what did not change. Timers that are not due yet are not here at all.
//!
//! Actors with the same number of recent fires have the same weight, so they form a *group*. What
//! an actor has waiting goes along when it changes groups, which every fire makes it do: an actor
//! with one waiting timer has it among those of its group, one with more is a single item of its
//! group. A search looks at the few numbers that a group's sets know of themselves, and then only
//! where it must; what expires is found in the same way.
//!
//! A block's changes come in one batch ([`TimerIndex::close`]): all that an actor's fires do to it
//! is done at once, and what many of them touch is copied once.

use super::arrange::Change;
use super::counts::{AtHeight, Counted, Counts};
use super::fairness;
use super::holding::Holding;
use super::numbers::Numbers;
use super::recent::Recent;
use super::record::Timer;
use super::search::Search;
use super::tree::{Entry, Own, Summary};
use crate::base::primitives::{Address, B256, Height};
use crate::base::sorted::{Item, Node, Sorted};
use imbl::{OrdMap, OrdSet};
use std::cmp::Reverse;

/// Actors with one number of recent fires, and what they have waiting.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) timers: Sorted<Entry>,
    pub(super) actors: Sorted<Own>,
}

/// Stored max_fee ↓, due height ↑, lot ↑: the order in which agents are asked.
pub(super) type AgentPlace = (Reverse<u64>, u64, B256);

#[derive(Clone, Debug, Default)]
pub struct TimerIndex {
    /// Timers that ask for more than this are not offered the lane (CIP-1 §10).
    gas_cap: u64,
    /// Where they have what waits, of those who have something.
    pub(super) actors: Numbers<Address, Option<Holding>>,
    pub(super) groups: OrdMap<u64, Group>,
    /// How many are in the groups.
    pub(super) waiting: usize,
    /// Expired, and not collected yet.
    expired: OrdSet<(Height, B256)>,
    pub(super) with_agent: OrdMap<AgentPlace, Entry>,
    pub(super) recent: Recent,
    /// Of timers that are not due, too.
    counts: Counts,
}

impl TimerIndex {
    pub(crate) fn new(gas_cap: u64, counts: Counts) -> Self {
        Self { gas_cap, counts, ..Self::default() }
    }

    /// Timers that an actor has, due or not.
    pub fn live_of(&self, actor: Address) -> u32 {
        self.counts.live(actor)
    }

    /// What a height of the calendar holds.
    pub fn at(&self, height: Height) -> AtHeight {
        self.counts.at(height)
    }

    /// Counts a new timer, which has a place at its height.
    pub(crate) fn schedule(&mut self, id: B256, timer: &Timer) {
        self.counts.schedule(&Counted::new(id, timer));
    }

    /// Counts a timer with another expiry.
    pub(crate) fn note_expiry(&mut self, from: Height, to: Height) {
        self.counts.extend(from, to);
    }

    /// No place at a height is taken any more.
    pub(crate) fn unfile(&mut self, height: Height) {
        self.counts.unfile(height);
    }

    /// Counts timers that ended. Returns what the heights hold that they concern.
    pub(crate) fn end(&mut self, timers: &[Counted]) -> Vec<(Height, AtHeight)> {
        self.counts.end(timers)
    }

    /// Takes in timers that are due. `height` is that of the block.
    pub fn add_due(&mut self, due: Vec<Entry>, height: Height) {
        let (expired, waiting): (Vec<Entry>, Vec<Entry>) =
            due.into_iter().partition(|entry| entry.expires_at < height.get());
        let expired = expired.into_iter().map(|entry| (Height(entry.expires_at), entry.id));
        self.expired.extend(expired);
        self.close(&waiting, &[], &[], &[]);
    }

    /// Takes out a timer, wherever it is, if it is here.
    pub fn remove(&mut self, entry: &Entry) {
        self.forget_expired(entry.id, Height(entry.expires_at));
        self.apply(vec![Change::End(entry)]);
    }

    pub fn extend(&mut self, entry: &Entry, to: Height) {
        let extended = Entry { expires_at: to.get(), ..*entry };
        self.apply(vec![Change::Replace(&extended)]);
    }

    /// From this block on, what expired before it is no longer offered the lane.
    pub fn expire(&mut self, height: Height) {
        let mut late = Vec::new();
        for group in self.groups.values() {
            collect_late(&group.timers, height.get(), &mut |entry: &Entry| late.push(*entry));
            collect_late(&group.actors, height.get(), &mut |own: &Own| {
                collect_late(own.timers(), height.get(), &mut |entry: &Entry| late.push(*entry));
            });
        }
        self.expired.extend(late.iter().map(|entry| (Height(entry.expires_at), entry.id)));
        self.close(&[], &late, &[], &[]);
    }

    /// The timer that expired first and is not collected yet.
    pub fn first_expired(&self) -> Option<B256> {
        self.expired.get_min().map(|(_, id)| *id)
    }

    /// An expired timer was collected.
    pub fn forget_expired(&mut self, id: B256, expires_at: Height) {
        self.expired.remove(&(expires_at, id));
    }

    /// Another cap on what a timer may ask for. Nothing moves: searches leave out what is above it.
    pub fn set_gas_cap(&mut self, gas_cap: u64) {
        self.gas_cap = gas_cap;
    }

    /// The end of a block: what became due and waits, what ended in it, what fired in it, and the
    /// fires of the block that leaves the window.
    pub fn close(
        &mut self,
        waiting: &[Entry],
        ended: &[Entry],
        fired: &[(Address, u32)],
        left: &[(Address, u32)],
    ) {
        let fired = fired.iter().map(|(actor, count)| Change::Fired(*actor, *count));
        let left = left.iter().map(|(actor, count)| Change::Left(*actor, *count));
        let changes = waiting.iter().map(Change::Add).chain(ended.iter().map(Change::End));
        self.apply(changes.chain(fired).chain(left).collect());
    }

    /// Adds the fires of a block and takes off those of the block that leaves the window.
    pub fn count_fires(&mut self, fired: &[(Address, u32)], left: &[(Address, u32)]) {
        self.close(&[], &[], fired, left);
    }

    pub fn recent(&self) -> &Recent {
        &self.recent
    }

    /// Due timers that have not expired.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Expired timers that wait to be collected.
    pub fn uncollected(&self) -> usize {
        self.expired.len()
    }

    /// The timers whose agents are asked first.
    pub fn with_agent(&self) -> impl Iterator<Item = &Entry> {
        self.with_agent.values().filter(|entry| entry.gas_limit <= self.gas_cap)
    }

    /// All timers that are offered the lane, in the order of SPEC §8.
    pub fn search(&self, basefee: u64) -> Search<'_> {
        let median = self.recent.median();
        let mut search = Search::new(basefee, self.gas_cap);
        for (count, group) in &self.groups {
            let weight = fairness::weight(*count, median);
            search.add_timers(&group.timers, weight);
            search.add_actors(&group.actors, weight);
        }
        search
    }

    /// Everything that the index says, in one comparable form: for tests that carry one along and
    /// load another.
    pub fn picture(&self) -> Picture {
        let mut offered = Vec::new();
        for (count, group) in &self.groups {
            let several = group.actors.iter().flat_map(|own| own.timers().iter());
            let all = group.timers.iter().chain(several);
            offered.extend(all.map(|entry| (*count, Height(entry.expires_at), entry.id)));
        }
        offered.sort_unstable();
        Picture {
            gas_cap: self.gas_cap,
            waiting: self.waiting,
            offered,
            expired: self.expired.iter().copied().collect(),
            with_agent: self.with_agent.values().copied().collect(),
            recent: self.recent.clone(),
            counts: self.counts.clone(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    gas_cap: u64,
    waiting: usize,
    offered: Vec<(u64, Height, B256)>,
    expired: Vec<(Height, B256)>,
    with_agent: Vec<Entry>,
    recent: Recent,
    counts: Counts,
}

pub(super) fn agent_place(entry: &Entry) -> AgentPlace {
    (Reverse(entry.max_fee), entry.due, entry.lot)
}

/// The items of which something expired before a height; nothing else is looked at.
fn collect_late<T: Item<Summary = Summary>>(
    set: &Sorted<T>,
    height: u64,
    found: &mut impl FnMut(&T),
) {
    let mut open: Vec<_> = set.root().into_iter().collect();
    while let Some(child) = open.pop().filter(|child| child.summary.expires_min < height) {
        match &child.node {
            Node::Leaf(items) => {
                items
                    .iter()
                    .filter(|item| item.summary().expires_min < height)
                    .for_each(&mut *found);
            }
            Node::Branch(children) => {
                open.extend(children.iter().filter(|child| child.summary.expires_min < height));
            }
        }
    }
}
