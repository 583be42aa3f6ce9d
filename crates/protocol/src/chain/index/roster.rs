//! The roster as the state gives it: all runners, and the lists of the jobs that wait.
//!
//! Consensus: a change here forks the chain. Which version of a profile counts is decided here.

use crate::base::primitives::{Address, Height, Slot};
use crate::base::state::{View, read};
use crate::rules::dispatcher::filter::{Entry, Query, Rules};
use crate::rules::dispatcher::job::{PendingSelection, Status};
use crate::rules::dispatcher::roster::{Lists, Roster, naive_lists};
use crate::rules::dispatcher::select::{barred, query_of};
use crate::rules::dispatcher::trie::Trie;
use crate::rules::key::{ChainKey, JobKey, JobSpecKey, PendingKey, ProfileKey, RunnerKey, SlotKey};
use crate::rules::params::ChainParams;
use crate::rules::registry::versioned::Stamp;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Roster {
    /// Reads all runners, and rebuilds the lists of the jobs that wait, from the state alone.
    pub fn load(view: &(impl View + ?Sized), params: &ChainParams) -> Self {
        let mut roster = Self::default();
        let Some(chain) = read(view, &ChainKey {}) else { return roster };
        let rules = Rules::of(params);
        roster.prepare(rules, params.policy());
        for slot in 0..chain.next_slot.get() {
            if let Some(entry) = load_entry(view, Slot(slot), None) {
                roster.set(entry, chain.height);
            }
        }
        reload_held(&mut roster, view, params);
        roster
    }
}

/// A runner as it was at a stamp, or as it is.
pub fn load_entry(view: &(impl View + ?Sized), slot: Slot, at: Option<Stamp>) -> Option<Entry> {
    let address = read(view, &SlotKey { slot })?.runner;
    let profile = read(view, &ProfileKey { runner: address })?;
    let runner = read(view, &RunnerKey { runner: address })?;
    let (profile, candidacy) = match at {
        None => (profile.current(), runner.candidacy.current()),
        Some(stamp) => (profile.at(stamp)?, runner.candidacy.at(stamp)?),
    };
    // A runner that came back has a new slot; its old one is vacant.
    (profile.slot == slot).then(|| Entry {
        address,
        profile: Arc::new(profile.clone()),
        candidacy: *candidacy,
    })
}

/// Heights of the snapshots that waiting jobs draw from, oldest first.
pub(crate) fn pending(view: &(impl View + ?Sized)) -> Vec<PendingSelection> {
    let Some(chain) = read(view, &ChainKey {}) else { return Vec::new() };
    (chain.pending_head..chain.pending_tail)
        .filter_map(|index| read(view, &PendingKey { index }))
        .collect()
}

/// After a restart: the lists of the waiting jobs, from the versions that the state keeps.
pub(crate) fn reload_held(roster: &mut Roster, view: &(impl View + ?Sized), params: &ChainParams) {
    let Some(chain) = read(view, &ChainKey {}) else { return };
    let mut at: BTreeMap<Height, Vec<Entry>> = BTreeMap::new();
    // Jobs that ask alike share their lists, as they do on a node that was there.
    let mut built: BTreeMap<(Height, Query, Vec<Address>), Lists> = BTreeMap::new();
    let rules = Rules::of(params);
    for pending in pending(view) {
        let (Some(job), Some(spec)) = (
            read(view, &JobKey { job: pending.job }),
            read(view, &JobSpecKey { job: pending.job }),
        ) else {
            continue;
        };
        let height = pending.snapshot_height;
        let entries = at.entry(height).or_insert_with(|| {
            let stamp = Some(Stamp::opening(height));
            let slots = 0..chain.next_slot.get();
            slots.filter_map(|slot| load_entry(view, Slot(slot), stamp)).collect()
        });
        let query = query_of(&job, &spec, params, u64::from(job.snapshot.bound));
        let barred = barred(&job);
        let lists =
            built.entry((height, query, barred)).or_insert_with_key(|(_, query, barred)| {
                naive_lists(&*entries, query, barred, &rules, params.policy(), height).map(
                    |leaves| {
                        Trie::build(&leaves).expect("the supply is capped so that weights fit")
                    },
                )
            });
        let roots: Vec<_> = lists.iter().map(|trie| (trie.root(), trie.sum())).collect();
        let bound = &job.snapshot.roots;
        let same = !matches!(job.status, Status::Pending { .. }) || roots.starts_with(bound);
        assert!(same, "the state does not hold the candidates of a waiting job");
        roster.hold(pending.job, lists.clone());
    }
}
