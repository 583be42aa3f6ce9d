//! Everything that is due, arranged so that a block costs what fires and expires.
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

use super::fairness::{self, FAIRNESS_WINDOW_BLOCKS};
use super::holding::Waiting;
use super::order::lot;
use super::recent::Recent;
use super::record::Timer;
use super::search::Search;
use super::tree::{Entry, Own, Place, Summary};
use crate::codec::Decode;
use crate::key::{BucketKey, ChainKey, FiresKey, TimerConfigKey, TimerKey};
use crate::primitives::{Address, B256, Height};
use crate::sorted::{Edit, Item, Node, Sorted};
use crate::state::{MemoryState, read};
use imbl::{OrdMap, OrdSet};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Where an actor's waiting timers are in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holding {
    /// Its only one is among the group's timers.
    One(Place),
    /// It is among the group's actors.
    Several(Place),
}

/// Actors with one number of recent fires, and what they have waiting.
#[derive(Clone, Debug, Default)]
struct Group {
    timers: Sorted<Entry>,
    actors: Sorted<Own>,
}

/// Edits of a group.
#[derive(Default)]
struct GroupEdits {
    timers: Vec<Edit<Entry>>,
    actors: Vec<Edit<Own>>,
}

/// Stored max_fee ↓, due height ↑, lot ↑: the order in which agents are asked.
type AgentPlace = (Reverse<u64>, u64, B256);

/// A change to what an actor has.
#[derive(Clone, Copy, Debug)]
enum Change {
    Add(Entry),
    /// The same timer with another expiry, if it is here.
    Replace(Entry),
    End(Entry),
    /// Recent fires from now on.
    Count(u64),
}

/// The due timers.
#[derive(Clone, Debug, Default)]
pub struct TimerIndex {
    /// Timers that ask for more than this are not offered the lane (CIP-1 §10).
    gas_cap: u64,
    actors: OrdMap<Address, Holding>,
    /// By recent fires.
    groups: OrdMap<u64, Group>,
    /// How many are in the groups.
    waiting: usize,
    /// Expired, and not collected yet.
    expired: OrdSet<(Height, B256)>,
    with_agent: OrdMap<AgentPlace, Entry>,
    recent: Recent,
}

impl TimerIndex {
    /// From the entries of a state.
    pub fn load(state: &MemoryState) -> Self {
        let config = read(state, &TimerConfigKey {}).unwrap_or_default();
        let mut index = Self { gas_cap: config.gas_limit_max, ..Self::default() };
        let Some(chain) = read(state, &ChainKey {}) else { return index };
        let first = chain.height.minus(FAIRNESS_WINDOW_BLOCKS - 1).get();
        for height in (first..=chain.height.get()).map(Height) {
            index.count_fires(&read(state, &FiresKey { height }).unwrap_or_default(), &[]);
        }
        let mut beacons: BTreeMap<Height, Option<B256>> = BTreeMap::new();
        let mut due = Vec::new();
        for (key, value) in state.entries_of(TimerKey::TAG) {
            let timer = Timer::from_bytes(value).expect("the state holds encodings");
            if timer.due > chain.height {
                continue;
            }
            let beacon = *beacons.entry(timer.due).or_insert_with(|| {
                read(state, &BucketKey { height: timer.due }).and_then(|bucket| bucket.beacon)
            });
            let id = B256::from_slice(&key[1..]);
            due.push(timer.entry(id, lot(&beacon.unwrap_or_default(), &id)));
        }
        index.take_in(due, chain.height);
        index
    }

    /// Takes in timers that are due. `height` is that of the block.
    pub fn take_in(&mut self, due: Vec<Entry>, height: Height) {
        let mut changes = Vec::with_capacity(due.len());
        for entry in due {
            match entry.expires_at < height.get() {
                true => drop(self.expired.insert((Height(entry.expires_at), entry.id))),
                false => changes.push((entry.actor, Change::Add(entry))),
            }
        }
        self.apply(changes);
    }

    /// Takes out a timer, wherever it is, if it is here.
    pub fn remove(&mut self, entry: &Entry) {
        self.forget_expired(entry.id, Height(entry.expires_at));
        self.apply(vec![(entry.actor, Change::End(*entry))]);
    }

    /// Moves a timer's expiry.
    pub fn extend(&mut self, entry: &Entry, to: Height) {
        let extended = Entry { expires_at: to.get(), ..*entry };
        self.apply(vec![(entry.actor, Change::Replace(extended))]);
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
        self.apply(late.into_iter().map(|entry| (entry.actor, Change::End(entry))).collect());
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

    /// The end of a block: what ended in it, what fired in it, and the fires of the block that
    /// leaves the window.
    pub fn close(&mut self, ended: &[Entry], fired: &[(Address, u32)], left: &[(Address, u32)]) {
        let ended = ended.iter().map(|entry| (entry.actor, Change::End(*entry)));
        let changes = ended.chain(self.counts(fired, left)).collect();
        self.apply(changes);
    }

    /// Adds the fires of a block and takes off those of the block that leaves the window.
    pub fn count_fires(&mut self, fired: &[(Address, u32)], left: &[(Address, u32)]) {
        self.close(&[], fired, left);
    }

    /// Recent fires.
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

    fn counts(
        &self,
        fired: &[(Address, u32)],
        left: &[(Address, u32)],
    ) -> BTreeMap<Address, Change> {
        let mut counts: BTreeMap<Address, u64> = BTreeMap::new();
        for (actor, count) in fired {
            *counts.entry(*actor).or_insert_with(|| self.recent.of(actor)) += u64::from(*count);
        }
        for (actor, count) in left {
            let sum = counts.entry(*actor).or_insert_with(|| self.recent.of(actor));
            *sum = sum.saturating_sub(u64::from(*count));
        }
        counts.into_iter().map(|(actor, count)| (actor, Change::Count(count))).collect()
    }

    /// Applies changes: to each actor those that concern it, then to each group those of its actors.
    fn apply(&mut self, mut changes: Vec<(Address, Change)>) {
        // Stable: what is done to one timer stays in order.
        changes.sort_by_key(|(actor, _)| *actor);
        let mut edits: BTreeMap<u64, GroupEdits> = BTreeMap::new();
        for changes in changes.chunk_by(|a, b| a.0 == b.0) {
            self.apply_to(changes[0].0, changes, &mut edits);
        }
        for (count, mut edits) in edits {
            edits.timers.sort_unstable_by_key(|edit| edit.0);
            edits.actors.sort_unstable_by_key(|edit| edit.0);
            let group = self.groups.entry(count).or_default();
            group.timers.edit(edits.timers);
            group.actors.edit(edits.actors);
            if group.timers.is_empty() && group.actors.is_empty() {
                self.groups.remove(&count);
            }
        }
    }

    /// Applies an actor's changes to what it has waiting; what that changes in groups goes to `edits`.
    fn apply_to(
        &mut self,
        actor: Address,
        changes: &[(Address, Change)],
        edits: &mut BTreeMap<u64, GroupEdits>,
    ) {
        let before = self.recent.of(&actor);
        let held = self.actors.get(&actor).copied();
        let waiting = held.map(|held| self.held(before, held)).unwrap_or_default();
        let (mut after, mut own) = (before, BTreeMap::new());
        for (_, change) in changes {
            match change {
                Change::Add(entry) => self.put_in(entry, &mut own),
                // What is not here neither ends here nor is extended.
                Change::Replace(entry) if waiting.has(&entry.key()) => self.put_in(entry, &mut own),
                Change::End(entry) if waiting.has(&entry.key()) => {
                    own.insert(entry.key(), None);
                    if entry.has_agent {
                        self.with_agent.remove(&agent_place(entry));
                    }
                }
                Change::Replace(_) | Change::End(_) => {}
                Change::Count(count) => after = *count,
            }
        }
        if own.is_empty() && after == before {
            return;
        }
        let was = waiting.len();
        let waiting = waiting.edit(own);
        self.waiting = self.waiting + waiting.len() - was;
        self.recent.set(actor, after);
        self.place(actor, (before, held), (after, waiting), edits);
    }

    fn put_in(&mut self, entry: &Entry, own: &mut BTreeMap<Place, Option<Entry>>) {
        own.insert(entry.key(), Some(*entry));
        if entry.has_agent {
            self.with_agent.insert(agent_place(entry), *entry);
        }
    }

    /// What an actor of so many recent fires has waiting.
    fn held(&self, count: u64, held: Holding) -> Waiting {
        let group = self.groups.get(&count).expect("whoever has timers has a group");
        let waiting = match held {
            Holding::One(place) => group.timers.get(&place).copied().map(Waiting::One),
            Holding::Several(place) => {
                group.actors.get(&place).map(|own| Waiting::Several(own.timers().clone()))
            }
        };
        waiting.expect("places are kept up to date")
    }

    /// Moves an actor's timers from where they were.
    fn place(
        &mut self,
        actor: Address,
        (before, held): (u64, Option<Holding>),
        (after, waiting): (u64, Waiting),
        edits: &mut BTreeMap<u64, GroupEdits>,
    ) {
        let now = match waiting {
            Waiting::Nothing => None,
            Waiting::One(entry) => {
                edits.entry(after).or_default().timers.push((entry.key(), Some(entry)));
                Some(Holding::One(entry.key()))
            }
            Waiting::Several(timers) => Own::new(actor, timers).map(|own| {
                let place = own.key();
                edits.entry(after).or_default().actors.push((place, Some(own)));
                Holding::Several(place)
            }),
        };
        // What is put in at the same place takes the place of what was there.
        if (before, held) != (after, now) {
            match held {
                None => {}
                Some(Holding::One(at)) => {
                    edits.entry(before).or_default().timers.push((at, None));
                }
                Some(Holding::Several(at)) => {
                    edits.entry(before).or_default().actors.push((at, None));
                }
            }
        }
        match now {
            _ if now == held => {}
            Some(now) => drop(self.actors.insert(actor, now)),
            None => drop(self.actors.remove(&actor)),
        }
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
        }
    }
}

/// See [`TimerIndex::picture`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    gas_cap: u64,
    waiting: usize,
    offered: Vec<(u64, Height, B256)>,
    expired: Vec<(Height, B256)>,
    with_agent: Vec<Entry>,
    recent: Recent,
}

fn agent_place(entry: &Entry) -> AgentPlace {
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
