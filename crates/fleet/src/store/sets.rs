//! Counts the distinct sets of tags and labels of each submitter's open jobs: a request for work may scan every set,
//! and so may a limit that is reached.

use crate::lease::JobRecord;
use crate::message::{Label, Tag};
use std::collections::{BTreeMap, BTreeSet};

/// What jobs have in common that wait together.
type Set = (BTreeSet<Tag>, BTreeSet<Label>);

/// For each submitter its sets, and how many jobs have each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Sets(BTreeMap<String, BTreeMap<Set, u64>>);

fn set(job: &JobRecord) -> Set {
    (job.order.tags.clone(), job.order.labels.clone())
}

impl Sets {
    /// How many a submitter has.
    pub(super) fn of(&self, submitter: &str) -> usize {
        self.0.get(submitter).map_or(0, BTreeMap::len)
    }

    /// A submitter's job as it was, and as it is now.
    pub(super) fn change(&mut self, submitter: &str, old: Option<&JobRecord>, new: &JobRecord) {
        let open = |job: &JobRecord| job.outcome().is_none();
        // What was submitted never changes, so most changes are none here.
        match (old.is_some_and(open), open(new)) {
            (false, true) => self.add(submitter, set(new)),
            (true, false) => self.remove(submitter, &set(new)),
            _ => {}
        }
    }

    fn add(&mut self, submitter: &str, set: Set) {
        if !self.0.contains_key(submitter) {
            self.0.insert(submitter.to_owned(), BTreeMap::new());
        }
        let Some(sets) = self.0.get_mut(submitter) else { return };
        *sets.entry(set).or_default() += 1;
    }

    fn remove(&mut self, submitter: &str, set: &Set) {
        let Some(sets) = self.0.get_mut(submitter) else { return };
        let left = sets.get_mut(set).map(|jobs| {
            *jobs -= 1;
            *jobs
        });
        if left == Some(0) {
            sets.remove(set);
        }
        if sets.is_empty() {
            self.0.remove(submitter);
        }
    }
}
