//! The runners, arranged so that a job costs what it rules out, not what is registered.
//!
//! Jobs that ask alike share one pair of tries (a [`Query`] is the key); a block that changes some
//! runners makes each trie rehash their paths, and only when a job asks for it. A query that has
//! not been asked before starts from the trie of its class and takes out whom its price or value
//! rules out, found through ordered indexes. Everything is persistent: a block's roster shares what
//! did not change with its parent's, so forks and waiting snapshots cost a pointer.
//!
//! None of this is consensus state. It follows from the state alone ([`Roster::load`]), and
//! property tests hold it against the naive rule ([`naive_lists`]).

use crate::dispatcher::filter::{Entry, Query, Rules, Target, coverage};
use crate::dispatcher::prices::Prices;
use crate::dispatcher::spec::JobKind;
use crate::dispatcher::trie::{Change, Leaf, Trie};
use crate::key::{ChainKey, PendingKey, ProfileKey, RunnerKey, SlotKey};
use crate::presence::PresencePolicy;
use crate::primitives::{Address, Amount, B256, Height, JobId, Slot};
use crate::registry::runner::{Offer, RateCard};
use crate::registry::versioned::Stamp;
use crate::state::{View, read};
use imbl::{OrdMap, OrdSet, Vector};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Queries whose tries are kept. A trie of 10^6 runners takes about 200 MB of its own; queries of
/// one class share most of it.
const KEPT_QUERIES: usize = 32;
/// Changes that a kept trie may be behind before it is built anew.
const LOG_LENGTH: usize = 1 << 20;

/// The lists that a job draws from, in order. The second is empty unless the policy is `prefer`.
pub type Lists = [Trie; 2];

/// All runners at one moment.
#[derive(Clone, Debug, Default)]
pub struct Roster {
    /// By slot.
    entries: Vector<Option<Arc<Entry>>>,
    /// Slots by what they can do.
    offers: OrdMap<Offering, OrdSet<u32>>,
    /// Drawable slots by prices.
    prices: Prices,
    /// Drawable slots by the value that their stake covers.
    coverage: OrdSet<(u128, u32)>,
    /// Slots whose filters turn at a height by themselves.
    turns: OrdMap<u64, OrdSet<u32>>,
    /// Slots in the order in which they changed; the first is number `log_start`.
    log: Vector<u32>,
    log_start: u64,
    kept: OrdMap<Query, Kept>,
    /// Lists of the jobs that wait for their round.
    held: OrdMap<B256, Lists>,
    /// What the tries were built under.
    built_for: Option<(Rules, PresencePolicy)>,
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
}

impl Roster {
    /// Reads all runners, and rebuilds the lists of the jobs that wait, from the state alone.
    pub fn load(view: &(impl View + ?Sized), params: &crate::params::ChainParams) -> Self {
        let mut roster = Self::default();
        let Some(chain) = read(view, &ChainKey {}) else { return roster };
        let rules = Rules::of(params);
        roster.prepare(rules, params.policy());
        for slot in 0..chain.next_slot.get() {
            if let Some(entry) = load_entry(view, Slot(slot), None) {
                roster.set(entry, chain.height);
            }
        }
        crate::dispatcher::select::reload_held(&mut roster, view, params);
        roster
    }

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
        if let Some(turn) = new.next_turn(&self.rules().0, height) {
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
    }

    fn unindex_offer(&mut self, slot: u32, old: &Entry) {
        for offering in offerings(&old.profile.offer) {
            if let Some(slots) = self.offers.get_mut(&offering) {
                slots.remove(&slot);
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
        if old.is_none_or(|old| old.profile.offer != new.profile.offer) {
            if let Some(old) = old {
                self.unindex_offer(slot, old);
            }
            for offering in offerings(&new.profile.offer) {
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

    /// Notices the runners whose filters turn by themselves up to this height.
    pub fn turn(&mut self, height: Height) {
        let rules = self.rules().0;
        while let Some(&(turn, _)) = self.turns.get_min().filter(|(turn, _)| *turn <= height.get())
        {
            for slot in self.turns.remove(&turn).unwrap_or_default() {
                let Some(entry) = self.entries[slot as usize].clone() else { continue };
                // A turn that a later sign of life has put off is not one.
                if entry.next_turn(&rules, Height(turn).minus(1)) == Some(Height(turn)) {
                    self.touch(slot);
                }
                if let Some(next) = entry.next_turn(&rules, Height(turn)) {
                    self.turns.entry(next.get()).or_default().insert(slot);
                }
            }
        }
    }

    /// The runner with a slot.
    pub fn entry(&self, slot: Slot) -> Option<&Arc<Entry>> {
        self.entries.get(slot.get() as usize)?.as_ref()
    }

    /// All runners.
    pub fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> + Clone {
        self.entries.iter().flatten()
    }

    /// Drawable runners that the price or the value of a query rules out, counted through the
    /// indexes; and how many are drawable. What a job pays for its selection follows from these.
    pub fn ruled_out(&mut self, query: &Query) -> (u64, u64) {
        let by_value = self.uncovered(query.value).count();
        let by_price = query.quote.map_or(0, |quote| self.prices.too_dear(&quote).len());
        ((by_value + by_price) as u64, self.coverage.len() as u64)
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

    /// Queries whose price or value rules nobody out share one key.
    fn normalise(&mut self, query: &Query) -> Query {
        let mut key = query.clone();
        if self.uncovered(query.value).next().is_none() {
            key.value = Amount::ZERO;
        }
        key.quote = query.quote.filter(|quote| !self.prices.too_dear(quote).is_empty());
        key
    }

    fn kept_lists(&mut self, key: &Query, height: Height) -> Lists {
        let seen = self.log_start + self.log.len() as u64;
        let lists = match self.kept.get(key) {
            Some(kept) if kept.seen == seen => kept.lists.clone(),
            Some(kept) if kept.seen >= self.log_start => {
                let (lists, from) = (kept.lists.clone(), kept.seen);
                self.catch_up(key, lists, from, height)
            }
            _ => self.start(key, height),
        };
        self.kept.insert(key.clone(), Kept { lists: lists.clone(), seen, asked_at: height });
        self.forget_queries();
        lists
    }

    fn forget_queries(&mut self) {
        while self.kept.len() > KEPT_QUERIES {
            let oldest = self.kept.iter().min_by_key(|(_, kept)| kept.asked_at);
            let Some(key) = oldest.map(|(key, _)| key.clone()) else { return };
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
        let entries = slots.iter().filter_map(|slot| self.entry(Slot(*slot)));
        let mut entries: Vec<&Arc<Entry>> = entries.collect();
        entries.sort_unstable_by_key(|entry| entry.address);
        let places: Vec<_> = entries.iter().map(|entry| self.place(key, entry, height)).collect();
        [0, 1].map(|list| {
            let changes: Vec<Change> = entries
                .iter()
                .zip(&places)
                .map(|(entry, place)| {
                    let leaf = place.filter(|(at, _)| *at == list).map(|(_, leaf)| leaf);
                    (entry.address, leaf)
                })
                .collect();
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
        let base = Query { class: key.class.clone(), quote: None, value: Amount::ZERO };
        if *key == base {
            return self.build(key, &self.offered(key), height);
        }
        let (ruled_out, drawable) = self.ruled_out(key);
        if ruled_out * 2 > drawable {
            let fitting = self.fitting(key);
            return self.build(key, &fitting, height);
        }
        let lists = self.kept_lists(&base, height);
        let mut slots: Vec<u32> = self.uncovered(key.value).collect();
        if let Some(quote) = &key.quote {
            slots.extend(self.prices.too_dear(quote).iter());
        }
        slots.sort_unstable();
        slots.dedup();
        self.apply_slots(key, lists, &slots, height)
    }

    /// A superset of the slots of a class: the smaller of those that offer its kind or its target.
    fn offered(&self, key: &Query) -> Vec<u32> {
        let target = match &key.class.target {
            Target::Any => Offering::Kind(key.class.kind),
            target => Offering::Target(target.clone()),
        };
        self.offers.get(&target).map(|slots| slots.iter().copied().collect()).unwrap_or_default()
    }

    /// A superset of the slots of a query, found from its value and its price.
    fn fitting(&self, key: &Query) -> Vec<u32> {
        let by_value = self.coverage.range((key.value.get(), 0)..).map(|(_, slot)| *slot);
        let mut slots: Vec<u32> = by_value.collect();
        slots.sort_unstable();
        slots
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

    /// Hands them out.
    pub fn release(&mut self, job: &JobId) -> Option<Lists> {
        self.held.remove(job)
    }

    /// Jobs whose lists are kept.
    pub fn held(&self) -> impl Iterator<Item = (&JobId, &Lists)> {
        self.held.iter()
    }
}

fn offerings(offer: &Offer) -> Vec<Offering> {
    let kinds = offer.kinds.iter().map(|kind| Offering::Kind(*kind));
    let models = offer.models.iter().map(|model| Target::Model(model.clone()));
    let executors = offer.executors.iter().map(|hash| Target::Executor(*hash));
    let chains = offer.eth_chains.iter().map(|id| Target::EthChain(*id));
    kinds.chain(models.chain(executors).chain(chains).map(Offering::Target)).collect()
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

/// A runner as it was at a stamp, or as it is.
pub fn load_entry(view: &(impl View + ?Sized), slot: Slot, at: Option<Stamp>) -> Option<Entry> {
    let address = read(view, &SlotKey { slot })?;
    let profile = read(view, &ProfileKey { runner: address })?;
    let runner = read(view, &RunnerKey { runner: address })?;
    let (profile, candidacy) = match at {
        None => (profile.current(), runner.candidacy.current()),
        Some(stamp) => (profile.at(stamp)?, runner.candidacy.at(stamp)?),
    };
    // A runner that came back has a new slot; its old one is nobody's.
    (profile.slot == slot).then(|| Entry {
        address,
        profile: Arc::new(profile.clone()),
        candidacy: *candidacy,
    })
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

/// Heights of the snapshots that waiting jobs draw from, oldest first.
pub(crate) fn pending(
    view: &(impl View + ?Sized),
) -> Vec<crate::dispatcher::job::PendingSelection> {
    let Some(chain) = read(view, &ChainKey {}) else { return Vec::new() };
    (chain.pending_head..chain.pending_tail)
        .filter_map(|index| read(view, &PendingKey { index }))
        .collect()
}

#[cfg(test)]
mod tests;
