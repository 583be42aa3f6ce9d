//! How many different sets of tags a submitter's open jobs want: whoever asks for work may have to look at each.

use crate::lease::JobRecord;
use crate::message::Tag;
use std::collections::{BTreeMap, BTreeSet};

/// For each submitter its sets, and how many jobs want each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Sets(BTreeMap<String, BTreeMap<BTreeSet<Tag>, u64>>);

fn tags(job: &JobRecord) -> Option<&BTreeSet<Tag>> {
    Some(&job.order.tags).filter(|_| job.outcome().is_none())
}

impl Sets {
    /// How many a submitter has.
    pub(super) fn of(&self, submitter: &str) -> usize {
        self.0.get(submitter).map_or(0, BTreeMap::len)
    }

    /// A submitter's job as it was, and as it is now.
    pub(super) fn change(&mut self, submitter: &str, old: Option<&JobRecord>, new: &JobRecord) {
        match (old.and_then(tags), tags(new)) {
            (None, Some(tags)) => self.add(submitter, tags),
            (Some(tags), None) => self.remove(submitter, tags),
            // What was submitted never changes.
            _ => {}
        }
    }

    fn add(&mut self, submitter: &str, tags: &BTreeSet<Tag>) {
        if !self.0.contains_key(submitter) {
            self.0.insert(submitter.to_owned(), BTreeMap::new());
        }
        let Some(sets) = self.0.get_mut(submitter) else { return };
        match sets.get_mut(tags) {
            Some(jobs) => *jobs += 1,
            None => {
                sets.insert(tags.clone(), 1);
            }
        }
    }

    fn remove(&mut self, submitter: &str, tags: &BTreeSet<Tag>) {
        let Some(sets) = self.0.get_mut(submitter) else { return };
        let left = sets.get_mut(tags).map(|jobs| {
            *jobs -= 1;
            *jobs
        });
        if left == Some(0) {
            sets.remove(tags);
        }
        if sets.is_empty() {
            self.0.remove(submitter);
        }
    }
}
