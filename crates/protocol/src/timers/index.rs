//! Everything that is due, arranged so that a block costs what fires and expires.
//!
//! Not state: it follows from the state alone ([`TimerIndex::load`]), views carry it along, and
//! versions share what did not change. Timers that are not due yet are not here at all.
//!
//! Actors with the same number of recent fires have the same weight, so they form a *group*. What
//! an actor has waiting goes along when it changes groups, which every fire makes it do. Therefore:
//! - an actor with one or two waiting timers has them in the one tree of its group: a group of a
//!   million such actors is searched like a single one;
//! - an actor with more has a tree of its own, so moving is one step whatever it holds. Each block
//!   walks over these actors, and looks at no more of them than a few numbers until their turn comes.
//!
//! Maps hold entries themselves and not pointers to them: a version of a map that is changed copies
//! the leaf it changes, and copying bytes is cheaper than counting references in cold memory.

use super::fairness::{self, FAIRNESS_WINDOW_BLOCKS};
use super::order::lot;
use super::recent::Recent;
use super::record::Timer;
use super::search::Search;
use super::tree::{Bounds, Entry, Tree};
use crate::codec::Decode;
use crate::key::{BucketKey, ChainKey, FiresKey, TimerConfigKey, TimerKey};
use crate::primitives::{Address, B256, Height};
use crate::state::{Key, MemoryState, Value, read};
use imbl::{OrdMap, OrdSet};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Up to so many waiting timers share the tree of their actor's group.
pub const FEW: usize = 2;

/// What an actor with few timers has waiting.
type Few = [Option<Entry>; FEW];

/// The timers of an actor with more.
#[derive(Clone, Debug)]
struct Own {
    /// Its recent fires.
    count: u64,
    bounds: Bounds,
    tree: Tree,
}

/// By expiry.
type ByExpiry = OrdMap<(Height, B256), Entry>;
/// Stored max_fee ↓, due height ↑, lot ↑: the order in which agents are asked.
type AgentPlace = (Reverse<u64>, u64, B256);

/// The due timers.
#[derive(Clone, Debug, Default)]
pub struct TimerIndex {
    /// Timers that ask for more than this are not offered the lane (CIP-1 §10).
    gas_cap: u64,
    /// Actors with few timers, which are in the tree of their group.
    few: OrdMap<Address, Few>,
    /// By recent fires.
    groups: OrdMap<u64, Tree>,
    /// Actors with more.
    many: OrdMap<Address, Own>,
    /// All that are due and have not expired.
    living: ByExpiry,
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
        self.living.insert((expires_at, entry.id), entry);
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
            self.offer(*entry);
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
    pub fn with_agent(&self) -> impl Iterator<Item = &Entry> {
        self.with_agent.values()
    }

    /// All timers that are offered the lane, in the order of SPEC §8.
    pub fn search(&self, basefee: u64) -> Search<'_> {
        let median = self.recent.median();
        let groups = self.groups.iter().map(|(count, tree)| (tree, tree.bounds(), *count));
        let many = self.many.values().map(|own| (&own.tree, own.bounds, own.count));
        let sets = groups.chain(many).map(|(tree, bounds, count)| {
            let weight = fairness::weight(count, median);
            (tree, bounds, weight)
        });
        Search::new(basefee, sets)
    }

    fn offer(&mut self, entry: Entry) {
        if entry.gas_limit > self.gas_cap {
            return;
        }
        if entry.has_agent {
            self.with_agent.insert(agent_place(&entry), entry);
        }
        let actor = entry.actor;
        if let Some(own) = self.many.get_mut(&actor) {
            own.tree.insert(entry);
            own.bounds = own.tree.bounds();
            return;
        }
        let count = self.recent.of(&actor);
        let few = self.few.entry(actor).or_default();
        if few.iter().any(Option::is_none) {
            return self.put_few(actor, count, entry);
        }
        let mut tree = Tree::default();
        tree.insert(entry);
        for entry in few.iter().flatten() {
            tree.insert(*entry);
            self.groups.entry(count).or_default().remove(entry);
        }
        self.few.remove(&actor);
        self.many.insert(actor, Own { count, bounds: tree.bounds(), tree });
        self.drop_if_empty(count);
    }

    fn withdraw(&mut self, entry: &Entry) {
        if entry.gas_limit > self.gas_cap {
            return;
        }
        if entry.has_agent {
            self.with_agent.remove(&agent_place(entry));
        }
        let actor = entry.actor;
        let count = self.recent.of(&actor);
        if let Some(own) = self.many.get_mut(&actor) {
            own.tree.remove(entry);
            own.bounds = own.tree.bounds();
            // One less, so that an actor at the limit does not go back and forth.
            if own.tree.len() < FEW {
                let left = own.tree.entries();
                self.many.remove(&actor);
                left.into_iter().for_each(|entry| self.put_few(actor, count, entry));
            }
            return;
        }
        let Some(few) = self.few.get_mut(&actor) else { return };
        for place in few.iter_mut() {
            if place.is_some_and(|other| other.id == entry.id) {
                *place = None;
            }
        }
        if few.iter().all(Option::is_none) {
            self.few.remove(&actor);
        }
        if let Some(tree) = self.groups.get_mut(&count) {
            tree.remove(entry);
        }
        self.drop_if_empty(count);
    }

    fn put_few(&mut self, actor: Address, count: u64, entry: Entry) {
        let few = self.few.entry(actor).or_default();
        if let Some(place) = few.iter_mut().find(|place| place.is_none()) {
            *place = Some(entry);
            self.groups.entry(count).or_default().insert(entry);
        }
    }

    fn regroup(&mut self, actor: Address, before: u64, after: u64) {
        if let Some(few) = self.few.get(&actor) {
            for entry in few.iter().flatten() {
                if let Some(tree) = self.groups.get_mut(&before) {
                    tree.remove(entry);
                }
                self.groups.entry(after).or_default().insert(*entry);
            }
            self.drop_if_empty(before);
        } else if let Some(own) = self.many.get_mut(&actor) {
            own.count = after;
        }
    }

    fn drop_if_empty(&mut self, count: u64) {
        if self.groups.get(&count).is_some_and(Tree::is_empty) {
            self.groups.remove(&count);
        }
    }

    /// Everything that the index says, in one comparable form: for tests that carry one along and
    /// load another.
    pub fn picture(&self) -> Picture {
        let mut offered = Vec::new();
        let groups = self.groups.iter().map(|(count, tree)| (*count, tree));
        for (count, tree) in groups.chain(self.many.values().map(|own| (own.count, &own.tree))) {
            offered.extend(tree.entries().into_iter().map(|entry| (count, entry.id)));
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
