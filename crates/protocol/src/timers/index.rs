//! Everything that is due, arranged so that a block costs what fires and expires.
//!
//! Not state: it follows from the state alone ([`TimerIndex::load`]), views carry it along, and
//! versions share what did not change. Timers that are not due yet are not here at all.
//!
//! Actors with the same number of recent fires have the same weight, so they form a *group*. What
//! an actor has waiting goes along when it changes groups, which every fire makes it do. Therefore:
//! - an actor with few waiting timers has them in the one tree of its group: a group of a million
//!   such actors is searched like a single one, and moving costs at most [`FEW`] steps;
//! - an actor with many has a tree of its own, which its group holds: moving is one step, and each
//!   block asks each such tree for its first timer. There are at most `waiting / FEW · 2` of them.

use super::fairness::{self, FAIRNESS_WINDOW_BLOCKS};
use super::order::lot;
use super::recent::Recent;
use super::record::Timer;
use super::search::Search;
use super::tree::{Entry, Tree};
use crate::codec::Decode;
use crate::key::{BucketKey, ChainKey, FiresKey, TimerConfigKey, TimerKey};
use crate::primitives::{Address, B256, Height};
use crate::state::{Key, MemoryState, Value, read};
use imbl::{OrdMap, OrdSet};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Up to so many waiting timers share the tree of their actor's group.
pub const FEW: usize = 16;

/// What an actor has waiting.
#[derive(Clone, Debug)]
enum Queue {
    /// Few timers; they are in the group's common tree.
    Few(Arc<Vec<Arc<Entry>>>),
    /// Many timers; the group holds their tree.
    Many,
}

/// Actors with the same number of recent fires.
#[derive(Clone, Debug, Default)]
struct Group {
    common: Tree,
    own: OrdMap<Address, Tree>,
}

/// By expiry.
type ByExpiry = OrdMap<(Height, B256), Arc<Entry>>;
/// Stored max_fee ↓, due height ↑, lot ↑: the order in which agents are asked.
type AgentPlace = (Reverse<u64>, u64, B256);

/// The due timers.
#[derive(Clone, Debug, Default)]
pub struct TimerIndex {
    /// Timers that ask for more than this are not offered the lane (CIP-1 §10).
    gas_cap: u64,
    queues: OrdMap<Address, Queue>,
    groups: OrdMap<u64, Group>,
    /// All that are due and have not expired.
    living: ByExpiry,
    /// Expired, and not collected yet.
    expired: OrdSet<(Height, B256)>,
    with_agent: OrdMap<AgentPlace, Arc<Entry>>,
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
        for (key, value) in entries_of(state, TimerKey::TAG) {
            let timer = Timer::from_bytes(value).expect("the state holds encodings");
            if timer.due > chain.height {
                continue;
            }
            let beacon = *beacons.entry(timer.due).or_insert_with(|| {
                read(state, &BucketKey { height: timer.due }).and_then(|bucket| bucket.beacon)
            });
            let id = B256::from_slice(&key[1..]);
            let entry = timer.entry(id, lot(&beacon.unwrap_or_default(), &id));
            index.insert(entry, timer.expires_at, chain.height);
        }
        index
    }

    /// Takes in a timer that is due. `height` is that of the block.
    pub fn insert(&mut self, entry: Entry, expires_at: Height, height: Height) {
        if expires_at < height {
            self.expired.insert((expires_at, entry.id));
            return;
        }
        let entry = Arc::new(entry);
        self.living.insert((expires_at, entry.id), entry.clone());
        self.offer(entry);
    }

    /// Takes out a timer, wherever it is.
    pub fn remove(&mut self, id: B256, expires_at: Height) {
        match self.living.remove(&(expires_at, id)) {
            Some(entry) => self.withdraw(&entry),
            None => {
                self.expired.remove(&(expires_at, id));
            }
        }
    }

    /// Moves a timer's expiry.
    pub fn extend(&mut self, id: B256, from: Height, to: Height) {
        if let Some(entry) = self.living.remove(&(from, id)) {
            self.living.insert((to, id), entry);
        }
    }

    /// From this block on, what expired before it is no longer offered the lane.
    pub fn expire(&mut self, height: Height) {
        while let Some((place, entry)) = self.living.get_min().cloned() {
            if place.0 >= height {
                return;
            }
            self.living.remove(&place);
            self.withdraw(&entry);
            self.expired.insert(place);
        }
    }

    /// The timer that expired first and is not collected yet.
    pub fn first_expired(&self) -> Option<B256> {
        self.expired.get_min().map(|(_, id)| *id)
    }

    /// Another cap on what a timer may ask for: a walk over everything, at governance's request.
    pub fn set_gas_cap(&mut self, gas_cap: u64) {
        if gas_cap == self.gas_cap {
            return;
        }
        let living = core::mem::take(&mut self.living);
        for entry in living.values() {
            self.withdraw(entry);
        }
        self.gas_cap = gas_cap;
        for entry in living.values() {
            self.offer(entry.clone());
        }
        self.living = living;
    }

    /// Adds the fires of a block and takes off those of the block that leaves the window.
    pub fn count_fires(&mut self, fired: &[(Address, u32)], left: &[(Address, u32)]) {
        let mut counts: BTreeMap<Address, u64> = BTreeMap::new();
        for (actor, count) in fired {
            *counts.entry(*actor).or_insert_with(|| self.recent.of(actor)) += u64::from(*count);
        }
        for (actor, count) in left {
            let sum = counts.entry(*actor).or_insert_with(|| self.recent.of(actor));
            *sum = sum.saturating_sub(u64::from(*count));
        }
        for (actor, count) in counts {
            let before = self.recent.of(&actor);
            if before != count {
                self.recent.set(actor, count);
                self.regroup(actor, before, count);
            }
        }
    }

    /// Recent fires.
    pub fn recent(&self) -> &Recent {
        &self.recent
    }

    /// Due timers that have not expired.
    pub fn waiting(&self) -> usize {
        self.living.len()
    }

    /// Expired timers that wait to be collected.
    pub fn uncollected(&self) -> usize {
        self.expired.len()
    }

    /// The timers whose agents are asked first.
    pub fn with_agent(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.with_agent.values()
    }

    /// All timers that are offered the lane, in the order of SPEC §8.
    pub fn search(&self, basefee: u64) -> Search<'_> {
        let median = self.recent.median();
        let mut search = Search::new(basefee);
        for (count, group) in &self.groups {
            let weight = fairness::weight(*count, median);
            let roots = group.own.values().chain([&group.common]).filter_map(Tree::root);
            roots.for_each(|root| search.add_tree(root, weight));
        }
        search
    }

    fn offer(&mut self, entry: Arc<Entry>) {
        if entry.gas_limit > self.gas_cap {
            return;
        }
        if entry.has_agent {
            self.with_agent.insert(agent_place(&entry), entry.clone());
        }
        let actor = entry.actor;
        let group = self.groups.entry(self.recent.of(&actor)).or_default();
        match self.queues.get_mut(&actor) {
            None => {
                group.common.insert(entry.clone());
                self.queues.insert(actor, Queue::Few(Arc::new(vec![entry])));
            }
            Some(Queue::Few(few)) if few.len() < FEW => {
                Arc::make_mut(few).push(entry.clone());
                group.common.insert(entry);
            }
            Some(queue) => {
                if let Queue::Few(few) = queue {
                    let mut tree = Tree::default();
                    for entry in few.iter() {
                        group.common.remove(entry);
                        tree.insert(entry.clone());
                    }
                    group.own.insert(actor, tree);
                    *queue = Queue::Many;
                }
                group.own.entry(actor).or_default().insert(entry);
            }
        }
    }

    fn withdraw(&mut self, entry: &Entry) {
        if entry.has_agent {
            self.with_agent.remove(&agent_place(entry));
        }
        let actor = entry.actor;
        let count = self.recent.of(&actor);
        let (Some(queue), Some(group)) = (self.queues.get_mut(&actor), self.groups.get_mut(&count))
        else {
            return;
        };
        match queue {
            Queue::Few(few) => {
                if !few.iter().any(|other| other.id == entry.id) {
                    return;
                }
                Arc::make_mut(few).retain(|other| other.id != entry.id);
                group.common.remove(entry);
                if few.is_empty() {
                    self.queues.remove(&actor);
                }
            }
            Queue::Many => {
                let Some(tree) = group.own.get_mut(&actor) else { return };
                tree.remove(entry);
                // Half, so that an actor at the limit does not go back and forth.
                if tree.len() <= FEW / 2 {
                    let few = tree.entries();
                    group.own.remove(&actor);
                    few.iter().for_each(|entry| group.common.insert(entry.clone()));
                    *queue = Queue::Few(Arc::new(few));
                }
            }
        }
        self.drop_if_empty(count);
    }

    fn regroup(&mut self, actor: Address, before: u64, after: u64) {
        let (Some(queue), Some(old)) = (self.queues.get(&actor), self.groups.get_mut(&before))
        else {
            return;
        };
        match queue {
            Queue::Few(few) => {
                few.iter().for_each(|entry| old.common.remove(entry));
                let new = self.groups.entry(after).or_default();
                few.iter().for_each(|entry| new.common.insert(entry.clone()));
            }
            Queue::Many => {
                let tree = old.own.remove(&actor).unwrap_or_default();
                self.groups.entry(after).or_default().own.insert(actor, tree);
            }
        }
        self.drop_if_empty(before);
    }

    fn drop_if_empty(&mut self, count: u64) {
        let empty = |group: &Group| group.common.is_empty() && group.own.is_empty();
        if self.groups.get(&count).is_some_and(empty) {
            self.groups.remove(&count);
        }
    }

    /// Everything that the index says, in one comparable form: for tests that carry one along and
    /// load another.
    pub fn picture(&self) -> Picture {
        let mut offered = Vec::new();
        for (count, group) in &self.groups {
            for tree in group.own.values().chain([&group.common]) {
                offered.extend(tree.entries().into_iter().map(|entry| (*count, entry.id)));
            }
        }
        offered.sort_unstable();
        Picture {
            gas_cap: self.gas_cap,
            offered,
            living: self.living.keys().copied().collect(),
            expired: self.expired.iter().copied().collect(),
            with_agent: self.with_agent.values().map(|entry| entry.id).collect(),
            recent: self.recent.clone(),
        }
    }
}

/// See [`TimerIndex::picture`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    gas_cap: u64,
    offered: Vec<(u64, B256)>,
    living: Vec<(Height, B256)>,
    expired: Vec<(Height, B256)>,
    with_agent: Vec<B256>,
    recent: Recent,
}

fn agent_place(entry: &Entry) -> AgentPlace {
    (Reverse(entry.max_fee), entry.due, entry.lot)
}

/// The entries of one kind of key.
fn entries_of(state: &MemoryState, tag: u8) -> impl Iterator<Item = (&Key, &Value)> {
    state.entries().range(vec![tag]..vec![tag + 1])
}
