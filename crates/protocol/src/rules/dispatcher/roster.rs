//! The runners, arranged so that a job costs what it rules out, not what is registered.
//!
//! Jobs that ask alike share one pair of tries (a [`Query`] is the key); a block that changes some
//! runners makes each trie rehash their paths, and only when a job asks for it. A query that has
//! not been asked before starts from the trie of its class and takes out whom its price or value
//! rules out, found through ordered indexes. Everything is persistent: a block's roster shares what
//! did not change with its parent's, so forks and waiting snapshots cost a pointer.
//!
//! None of this is state. It follows from the state alone ([`Roster::load`]), and property tests
//! compare the lists with the naive rule ([`naive_lists`]). What it counts is consensus all the same:
//! jobs pay for it.

use crate::base::primitives::{Address, Amount, B256, Height, JobId, Slot};
use crate::rules::dispatcher::filter::{Entry, Query, Rules, Target, coverage};
use crate::rules::dispatcher::prices::Prices;
use crate::rules::dispatcher::trie::{Change, Leaf, Trie};
use crate::rules::presence::PresencePolicy;
use crate::rules::registry::kind::JobKind;
use crate::rules::registry::runner::RateCard;
use imbl::{OrdMap, OrdSet, Vector};
use std::collections::BTreeSet;
use std::sync::Arc;

/// For so long after it was last asked a query's lists are kept, and asking again costs a job
/// nothing extra. A rule of the chain: prices follow from it.
pub const WARM_BLOCKS: u64 = 32;
/// Nodes of all lists that are kept for warm queries, of 128 bytes each: about a gigabyte. What is
/// built beyond that is paid for by each job and dropped. A rule of the chain, too.
pub const WARM_NODES_MAX: u64 = 8_000_000;
/// Nodes of a class's lists for each of its runners.
pub const CLASS_NODES: u64 = 2;
/// Nodes that one runner less in a list makes different from its class's: those on its path.
pub const MOVED_NODES: u64 = 8;
/// Changes that a cached trie may lag behind before it is rebuilt.
const LOG_LENGTH: usize = 1 << 20;

/// The lists that a job draws from, in order. The second is empty unless the policy is `prefer`.
pub type Lists = [Trie; 2];

/// All runners at one moment.
#[derive(Clone, Debug, Default)]
pub struct Roster {
    entries: Vector<Option<Arc<Entry>>>,
    /// Slots by what they can do.
    offers: OrdMap<Offering, OrdSet<u32>>,
    prices: Prices,
    /// Drawable slots by the value that their stake covers.
    coverage: OrdSet<(u128, u32)>,
    /// Slots whose filters turn at a height by themselves.
    turns: OrdMap<u64, OrdSet<u32>>,
    /// Slots in the order in which they changed; the first is number `log_start`.
    log: Vector<u32>,
    log_start: u64,
    /// The lists of all warm queries: a job that was not charged for lists must not need any built.
    /// Queries of one class share what they do not rule out; [`WARM_NODES_MAX`] bounds the rest.
    kept: OrdMap<Query, Kept>,
    /// Lists of the jobs that wait for their round.
    held: OrdMap<B256, Lists>,
    /// What the tries were built under.
    built_for: Option<(Rules, PresencePolicy)>,
    standing: Standing,
}

/// Runners that may be drawn for something: registered, neither paused nor jailed, of the least
/// reputation, and present where only present ones are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    pub runners: u64,
    /// The sum of their weights.
    pub weight: u128,
}

#[derive(Clone, Debug)]
struct Kept {
    lists: Lists,
    /// Number of the first change that it has not seen.
    seen: u64,
    asked_at: Height,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Offering {
    Kind(JobKind),
    Target(Target),
    /// At least this many resolvers.
    Resolvers(u32),
    Tee,
    Pool(B256),
    Unpaid,
    Bonded,
}

impl Roster {
    /// Makes sure that the tries are of these rules.
    pub fn prepare(&mut self, rules: Rules, policy: PresencePolicy) {
        if self.built_for == Some((rules, policy)) {
            return;
        }
        let entries: Vec<_> = self.entries.iter().flatten().cloned().collect();
        *self =
            Self { held: self.held.clone(), built_for: Some((rules, policy)), ..Self::default() };
        for entry in entries {
            self.set((*entry).clone(), Height::ZERO);
        }
    }

    fn rules(&self) -> (Rules, PresencePolicy) {
        self.built_for.expect("prepare runs first")
    }

    /// Takes over a runner's newest profile and standing.
    pub fn set(&mut self, entry: Entry, height: Height) {
        let slot = entry.slot().get();
        while self.entries.len() <= slot as usize {
            self.entries.push_back(None);
        }
        let old = self.entries[slot as usize].take();
        let new = Arc::new(entry);
        self.reindex(slot, old.as_deref(), &new);
        old.iter().for_each(|old| self.count_out(old));
        self.count_in(&new);
        let turn = new.next_turn(&self.rules().0, height);
        let turn_before = old.as_ref().and_then(|old| old.next_turn(&self.rules().0, height));
        if let Some(turn) = turn.filter(|_| turn != turn_before) {
            self.turns.entry(turn.get()).or_default().insert(slot);
        }
        self.entries[slot as usize] = Some(new);
        self.touch(slot);
    }

    /// Forgets a slot whose runner has come back under another.
    pub fn vacate(&mut self, slot: Slot) {
        let slot = slot.get();
        let Some(old) = self.entries.get_mut(slot as usize).and_then(Option::take) else { return };
        self.unindex(slot, &old);
        self.count_out(&old);
    }

    /// Those that may be drawn.
    pub fn standing(&self) -> Standing {
        self.standing
    }

    fn count_in(&mut self, entry: &Entry) {
        if let Some(weight) = self.weight_of(entry) {
            self.standing.runners += 1;
            self.standing.weight += weight;
        }
    }

    fn count_out(&mut self, entry: &Entry) {
        if let Some(weight) = self.weight_of(entry) {
            self.standing.runners -= 1;
            self.standing.weight -= weight;
        }
    }

    /// The weight of a runner that may be drawn for something.
    pub fn weight_of(&self, entry: &Entry) -> Option<u128> {
        let (rules, policy) = self.rules();
        let candidacy = &entry.candidacy;
        let stands = candidacy.available && candidacy.reputation_nano >= rules.min_reputation_nano;
        list_of(entry, policy).filter(|_| stands).map(|_| entry.leaf(&rules).weight)
    }

    fn unindex_offer(&mut self, slot: u32, old: &Entry) {
        for offering in offerings(old) {
            if let Some(slots) = self.offers.get_mut(&offering) {
                slots.remove(&slot);
                if slots.is_empty() {
                    self.offers.remove(&offering);
                }
            }
        }
    }

    fn unindex(&mut self, slot: u32, old: &Entry) {
        self.unindex_offer(slot, old);
        if let Some((rates, covered)) = drawable_facts(old, &self.rules().0) {
            self.coverage.remove(&(covered, slot));
            self.prices.remove(&rates, slot);
        }
    }

    fn touch(&mut self, slot: u32) {
        self.log.push_back(slot);
        if self.log.len() > LOG_LENGTH {
            let surplus = LOG_LENGTH / 2;
            self.log = self.log.skip(surplus);
            self.log_start += surplus as u64;
        }
    }

    /// Moves a slot in the indexes, if what they hold of it changed.
    fn reindex(&mut self, slot: u32, old: Option<&Entry>, new: &Entry) {
        let rules = self.rules().0;
        let same_offer = old.is_some_and(|old| {
            let tee = old.candidacy.tee_until.is_some() == new.candidacy.tee_until.is_some();
            tee && (Arc::ptr_eq(&old.profile, &new.profile) || old.profile == new.profile)
        });
        if !same_offer {
            if let Some(old) = old {
                self.unindex_offer(slot, old);
            }
            for offering in offerings(new) {
                self.offers.entry(offering).or_default().insert(slot);
            }
        }
        let before = old.and_then(|old| drawable_facts(old, &rules));
        let after = drawable_facts(new, &rules);
        let (rates_before, rates_after) = (before.map(|(r, _)| r), after.map(|(r, _)| r));
        if rates_before != rates_after {
            rates_before.inspect(|rates| self.prices.remove(rates, slot));
            rates_after.inspect(|rates| self.prices.insert(*rates, slot));
        }
        if before != after {
            before.inspect(|(_, covered)| {
                self.coverage.remove(&(*covered, slot));
            });
            after.inspect(|(_, covered)| {
                self.coverage.insert((*covered, slot));
            });
        }
    }

    /// Notices the runners whose filters turn by themselves up to this height; says how many.
    pub fn turn(&mut self, height: Height) -> u64 {
        self.cool(height);
        let mut turned = 0;
        let rules = self.rules().0;
        while let Some(&(turn, _)) = self.turns.get_min().filter(|(turn, _)| *turn <= height.get())
        {
            for slot in self.turns.remove(&turn).unwrap_or_default() {
                let Some(entry) = self.entries[slot as usize].clone() else { continue };
                // A turn that a later sign of life has put off is not one.
                if entry.next_turn(&rules, Height(turn).minus(1)) == Some(Height(turn)) {
                    self.touch(slot);
                    turned += 1;
                }
                if let Some(next) = entry.next_turn(&rules, Height(turn)) {
                    self.turns.entry(next.get()).or_default().insert(slot);
                }
            }
        }
        turned
    }

    /// The runner with a slot.
    pub fn entry(&self, slot: Slot) -> Option<&Arc<Entry>> {
        self.entries.get(slot.get() as usize)?.as_ref()
    }

    pub fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> + Clone {
        self.entries.iter().flatten()
    }

    /// Rate cards that have to be compared to tell whom a query does not pay.
    pub fn prices_to_compare(&self, query: &Query) -> u64 {
        query.quote.map_or(0, |quote| self.prices.to_compare(&quote))
    }

    /// Drawable runners that a query does not pay.
    pub fn too_dear(&mut self, query: &Query) -> u64 {
        query.quote.map_or(0, |quote| self.prices.too_dear(&quote).len() as u64)
    }

    /// Runners that offer what a class asks for: as many as its tries can hold.
    pub fn offered(&self, key: &Query) -> u64 {
        self.postings(key).map_or(0, |slots| slots.len() as u64)
    }

    /// Runners that have to be taken out of the tries of its class to get those of a query, or be
    /// put into new ones, whichever is less; at most `most`. Looks at no more of them than it counts.
    pub fn moved(&mut self, key: &Query, most: u64) -> u64 {
        if most == 0 {
            return 0;
        }
        let drawable = self.coverage.len() as u64;
        let dear = self.too_dear(key);
        let mut out = self.uncovered(key.value);
        let mut left = self.coverage.range((key.value.get(), 0)..);
        let mut counted = 0;
        let uncovered = loop {
            match (out.next(), left.next()) {
                // Both sides have so many, whatever the others are.
                (Some(_), Some(_)) if counted == most => return most.min(drawable - dear),
                (Some(_), Some(_)) => counted += 1,
                (None, _) => break counted,
                (Some(_), None) => break drawable - counted,
            }
        };
        (uncovered + dear).min(drawable - uncovered.max(dear)).min(most)
    }

    fn uncovered(&self, value: Amount) -> impl Iterator<Item = u32> + '_ {
        self.coverage.range(..(value.get(), 0)).map(|(_, slot)| *slot)
    }

    /// The candidates of a query, without `excluded`.
    pub fn lists(&mut self, query: &Query, excluded: &[Address], height: Height) -> Lists {
        let key = self.normalise(query);
        let lists = self.kept_lists(&key, height);
        if excluded.is_empty() {
            return lists;
        }
        let mut changes: Vec<Change> = excluded.iter().map(|address| (*address, None)).collect();
        changes.sort_unstable_by_key(|(address, _)| *address);
        changes.dedup_by_key(|(address, _)| *address);
        lists.map(|trie| apply(&trie, &changes))
    }

    /// Queries whose price or value excludes no runner share one key.
    pub fn normalise(&mut self, query: &Query) -> Query {
        let mut key = query.clone();
        if self.uncovered(query.value).next().is_none() {
            key.value = Amount::ZERO;
        }
        key.quote = query.quote.filter(|quote| !self.prices.too_dear(quote).is_empty());
        key
    }

    fn kept_lists(&mut self, key: &Query, height: Height) -> Lists {
        let seen = self.log_start + self.log.len() as u64;
        let behind = self.kept.get(key).map_or(0, |kept| seen - kept.seen);
        // Starting again from the class may be less work than catching up, and shares its nodes.
        let anew = *key != key.base() && behind > 0 && self.moved(key, behind) < behind;
        let lists = match self.kept.get(key).filter(|_| !anew) {
            Some(kept) if kept.seen == seen => kept.lists.clone(),
            Some(kept) if kept.seen >= self.log_start => {
                let (lists, from) = (kept.lists.clone(), kept.seen);
                self.catch_up(key, lists, from, height)
            }
            _ => self.start(key, height),
        };
        self.kept.insert(key.clone(), Kept { lists: lists.clone(), seen, asked_at: height });
        // A query keeps its class warm.
        if let Some(base) = self.kept.get_mut(&key.base()) {
            base.asked_at = height;
        }
        lists
    }

    /// Drops the lists of a query.
    pub fn let_go(&mut self, key: &Query) {
        self.kept.remove(key);
    }

    /// Drops the lists of queries that no job asked within [`WARM_BLOCKS`].
    fn cool(&mut self, height: Height) {
        let cold = |kept: &Kept| kept.asked_at.plus(WARM_BLOCKS) < height;
        let keys = self.kept.iter().filter(|(_, kept)| cold(kept)).map(|(key, _)| key.clone());
        for key in keys.collect::<Vec<_>>() {
            self.kept.remove(&key);
        }
    }

    /// Applies the changes that a trie has not seen.
    fn catch_up(&self, key: &Query, lists: Lists, from: u64, height: Height) -> Lists {
        let skip = (from - self.log_start) as usize;
        let mut slots: Vec<u32> = self.log.skip(skip).iter().copied().collect();
        slots.sort_unstable();
        slots.dedup();
        self.apply_slots(key, lists, &slots, height)
    }

    fn apply_slots(&self, key: &Query, lists: Lists, slots: &[u32], height: Height) -> Lists {
        // Sorted by keys that lie side by side: entries are scattered over the whole memory.
        let mut places: Vec<(Address, Option<(usize, Leaf)>)> = slots
            .iter()
            .filter_map(|slot| self.entry(Slot(*slot)))
            .map(|entry| (entry.address, self.place(key, entry, height)))
            .collect();
        places.sort_unstable_by_key(|(address, _)| *address);
        [0, 1].map(|list| {
            let leaf = |place: &Option<(usize, Leaf)>| {
                place.filter(|(at, _)| *at == list).map(|(_, leaf)| leaf)
            };
            let changes: Vec<Change> =
                places.iter().map(|(address, place)| (*address, leaf(place))).collect();
            apply(&lists[list], &changes)
        })
    }

    /// The list that a runner belongs to, if any, and its leaf there.
    fn place(&self, key: &Query, entry: &Entry, height: Height) -> Option<(usize, Leaf)> {
        let (rules, policy) = self.rules();
        let list = list_of(entry, policy)?;
        key.admits(entry, &rules, height).then(|| (list, entry.leaf(&rules)))
    }

    /// The tries of a query that was not asked lately.
    fn start(&mut self, key: &Query, height: Height) -> Lists {
        let base = key.base();
        if *key == base {
            let slots: Vec<u32> = self.postings(key).into_iter().flatten().copied().collect();
            return self.build(key, &slots, height);
        }
        let dear = key.quote.map(|quote| self.prices.too_dear(&quote)).unwrap_or_default();
        let half = self.coverage.len() / 2;
        if dear.len() > half || self.uncovered(key.value).nth(half).is_some() {
            return self.build(key, &self.fitting(key, &dear), height);
        }
        let lists = self.kept_lists(&base, height);
        let mut slots: Vec<u32> = self.uncovered(key.value).chain(dear.iter().copied()).collect();
        slots.sort_unstable();
        slots.dedup();
        self.apply_slots(key, lists, &slots, height)
    }

    /// The smallest of the sets of runners that offer something which a class asks for.
    fn postings(&self, key: &Query) -> Option<&OrdSet<u32>> {
        let mut smallest: Option<&OrdSet<u32>> = None;
        for offering in demands(key) {
            let slots = self.offers.get(&offering)?;
            if smallest.is_none_or(|smallest| slots.len() < smallest.len()) {
                smallest = Some(slots);
            }
        }
        smallest
    }

    /// A superset of the slots of a query, found from its value and its price.
    fn fitting(&self, key: &Query, dear: &[u32]) -> Vec<u32> {
        let covered = self.coverage.range((key.value.get(), 0)..).map(|(_, slot)| *slot);
        covered.filter(|slot| dear.binary_search(slot).is_err()).collect()
    }

    fn build(&self, key: &Query, slots: &[u32], height: Height) -> Lists {
        let mut leaves: [Vec<Leaf>; 2] = Default::default();
        for entry in slots.iter().filter_map(|slot| self.entry(Slot(*slot))) {
            if let Some((list, leaf)) = self.place(key, entry, height) {
                leaves[list].push(leaf);
            }
        }
        leaves.map(|mut leaves| {
            leaves.sort_unstable_by_key(|leaf| leaf.address);
            Trie::build(&leaves).expect("the supply is capped so that weights fit")
        })
    }

    /// Keeps the lists of a job that waits for its round.
    pub fn hold(&mut self, job: JobId, lists: Lists) {
        self.held.insert(job, lists);
    }

    pub fn release(&mut self, job: &JobId) -> Option<Lists> {
        self.held.remove(job)
    }

    /// Jobs whose lists are kept.
    pub fn held(&self) -> impl Iterator<Item = (&JobId, &Lists)> {
        self.held.iter()
    }
}

/// Everything that a runner offers, as a class may ask for it.
fn offerings(entry: &Entry) -> Vec<Offering> {
    let offer = &entry.profile.offer;
    let kinds = offer.kinds.iter().map(|kind| Offering::Kind(*kind));
    let models = offer.models.iter().map(|name| Target::Model { name: name.clone() });
    let executors = offer.executors.iter().map(|hash| Target::Executor { hash: *hash });
    let chains = offer.eth_chains.iter().map(|id| Target::EthChain { id: *id });
    let targets = models.chain(executors).chain(chains).map(Offering::Target);
    let resolvers = (1..=offer.resolvers.len() as u32).map(Offering::Resolvers);
    let pools = entry.profile.pools.iter().map(|membership| Offering::Pool(membership.pool));
    let tee = entry.candidacy.tee_until.map(|_| Offering::Tee);
    let unpaid = offer.accepts_unpaid.then_some(Offering::Unpaid);
    let bonded = offer.accept_bonded.then_some(Offering::Bonded);
    let flags = tee.into_iter().chain(unpaid).chain(bonded);
    kinds.chain(targets).chain(resolvers).chain(pools).chain(flags).collect()
}

/// Everything that a class asks for.
fn demands(key: &Query) -> impl Iterator<Item = Offering> {
    let class = &key.class;
    let target = Some(class.target.clone()).filter(|target| *target != Target::Any);
    let resolvers = (class.min_resolvers > 0).then_some(Offering::Resolvers(class.min_resolvers));
    [Some(Offering::Kind(class.kind)), target.map(Offering::Target), resolvers]
        .into_iter()
        .chain([class.tee.then_some(Offering::Tee), class.pool.map(Offering::Pool)])
        .chain([class.unpaid.then_some(Offering::Unpaid)])
        .chain([class.bonded.then_some(Offering::Bonded)])
        .flatten()
}

/// What the indexes hold of a runner that can be drawn: its prices, and what its stake covers.
fn drawable_facts(entry: &Entry, rules: &Rules) -> Option<(RateCard, u128)> {
    let covered = coverage(&entry.candidacy, rules).filter(|_| entry.drawable(rules))?;
    Some((entry.profile.offer.rates, covered.get()))
}

fn apply(trie: &Trie, changes: &[Change]) -> Trie {
    trie.update(changes).expect("the supply is capped so that weights fit")
}

/// Filter 1.5: the list that a runner is drawn from under a policy.
fn list_of(entry: &Entry, policy: PresencePolicy) -> Option<usize> {
    match policy {
        PresencePolicy::Shadow => Some(0),
        PresencePolicy::Prefer => Some(usize::from(!entry.candidacy.present)),
        PresencePolicy::Require | PresencePolicy::Sunset => entry.candidacy.present.then_some(0),
    }
}

/// The naive rule: walk over all runners, filter, sort. What the roster must equal.
pub fn naive_lists<'a>(
    entries: impl IntoIterator<Item = &'a Entry>,
    query: &Query,
    excluded: &[Address],
    rules: &Rules,
    policy: PresencePolicy,
    height: Height,
) -> [Vec<Leaf>; 2] {
    let excluded: BTreeSet<Address> = excluded.iter().copied().collect();
    let mut lists: [Vec<Leaf>; 2] = Default::default();
    for entry in entries {
        let wanted = !excluded.contains(&entry.address) && query.admits(entry, rules, height);
        if let Some(list) = list_of(entry, policy).filter(|_| wanted) {
            lists[list].push(entry.leaf(rules));
        }
    }
    for list in &mut lists {
        list.sort_unstable_by_key(|leaf| leaf.address);
    }
    lists
}

#[cfg(test)]
mod tests;
