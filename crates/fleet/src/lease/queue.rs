//! Who is next: the order of waiting jobs, as an index that answers without looking at all of them.
//!
//! The rule is short: of the jobs whose tags the runner has, whose pause is over and whose run and
//! labels have room, the one with the highest priority; of these, the one that came first. A store
//! with several orchestrators may ask its database instead, in these words. [`Queue`] is for those
//! that keep their rows in memory.
//!
//! Jobs that differ in nothing but their place wait in one *lane*: same tags, same limits. Either
//! every job of a lane is held back by a limit or none is, so only the heads of open lanes are
//! compared. A grant costs the logarithm of what waits, times the number of different sets of tags that
//! the runner has; those that it has not are passed over by what they begin with.

use crate::id::{JobId, RunId};
use crate::message::{Label, Tag};
use crate::time::Millis;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, btree_map};
use std::ops::Bound;
use std::sync::Arc;

/// A limit that jobs share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gate {
    /// `max_parallel` of a run.
    Run(RunId),
    /// The limit of a label.
    Label(Label),
}

/// A job's place: higher priorities first, then who came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    priority: Reverse<i16>,
    seq: u64,
}

impl Place {
    /// `seq` is unique among jobs, so places are.
    pub fn new(priority: i16, seq: u64) -> Self {
        Self { priority: Reverse(priority), seq }
    }
}

/// A job that waits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Waiting {
    /// The job.
    pub job_id: JobId,
    /// Its place.
    pub place: Place,
    /// What a runner must have.
    pub tags: Arc<BTreeSet<Tag>>,
    /// The limits that it is under, in order.
    pub gates: Arc<[Gate]>,
    /// Not before this.
    pub not_before: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct LaneKey {
    tags: Arc<BTreeSet<Tag>>,
    gates: Arc<[Gate]>,
}

/// The first of each lane whose gates are all open, by what a runner must have.
type Heads = BTreeMap<Arc<BTreeSet<Tag>>, BTreeMap<Place, JobId>>;

/// Every job that waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Queue {
    lanes: BTreeMap<LaneKey, BTreeMap<Place, JobId>>,
    heads: Heads,
    closed: BTreeSet<Gate>,
    by_gate: BTreeMap<Gate, BTreeSet<LaneKey>>,
    /// Jobs in a pause, by its end.
    paused: BTreeMap<(Millis, Place), Waiting>,
}

impl Queue {
    /// A job begins to wait.
    pub fn insert(&mut self, job: Waiting) {
        if job.not_before > Millis(0) {
            self.paused.insert((job.not_before, job.place), job);
        } else {
            self.file(job);
        }
    }

    /// A job does not wait any more. It is told apart by its place, and found by what it was
    /// inserted with.
    pub fn remove(&mut self, job: &Waiting) {
        if self.paused.remove(&(job.not_before, job.place)).is_some() {
            return;
        }
        let key = LaneKey { tags: job.tags.clone(), gates: job.gates.clone() };
        self.change(&key, |lane| {
            lane.remove(&job.place);
        });
    }

    /// The next job for a runner with these tags. It stays in the queue until it is removed.
    pub fn pick(&mut self, now: Millis, capabilities: &BTreeSet<Tag>) -> Option<JobId> {
        self.ripen(now);
        let fitting = Fitting::new(&self.heads, capabilities);
        let first = fitting.filter_map(|heads| heads.first_key_value());
        first.min_by_key(|(place, _)| **place).map(|(_, job)| job.clone())
    }

    /// A limit was reached, or has room again.
    pub fn set_gate(&mut self, gate: &Gate, open: bool) {
        if open != self.closed.contains(gate) {
            return;
        }
        let lanes: Vec<LaneKey> = self.by_gate.get(gate).into_iter().flatten().cloned().collect();
        for key in &lanes {
            self.unlist(key);
        }
        match open {
            true => self.closed.remove(gate),
            false => self.closed.insert(gate.clone()),
        };
        for key in &lanes {
            self.list(key);
        }
    }

    /// Every job that waits, as lots under the same limits.
    pub fn lots(&self) -> impl Iterator<Item = (&[Gate], u64)> {
        let lanes = self.lanes.iter().map(|(key, lane)| (&*key.gates, lane.len() as u64));
        lanes.chain(self.paused.values().map(|job| (&*job.gates, 1)))
    }

    /// Every job that waits, in no order.
    pub fn waiting(&self) -> impl Iterator<Item = (Place, &JobId)> {
        let lanes = self.lanes.values().flatten().map(|(place, job)| (*place, job));
        lanes.chain(self.paused.values().map(|job| (job.place, &job.job_id)))
    }

    /// Jobs that nothing holds back, at most so many, and what a runner must have for them.
    pub fn open(&self, now: Millis, most: usize) -> Vec<(JobId, BTreeSet<Tag>)> {
        let free = |gates: &[Gate]| !gates.iter().any(|gate| self.closed.contains(gate));
        let lanes = self.lanes.iter().filter(|(key, _)| free(&key.gates));
        let filed = lanes.flat_map(|(key, lane)| lane.values().map(|job| (job, &key.tags)));
        let over = self.paused.iter().take_while(|((at, _), _)| *at <= now).map(|(_, job)| job);
        let over = over.filter(|job| free(&job.gates)).map(|job| (&job.job_id, &job.tags));
        filed.chain(over).take(most).map(|(job, tags)| (job.clone(), (**tags).clone())).collect()
    }

    /// When the next pause ends.
    pub fn next_pause_end(&self) -> Option<Millis> {
        self.paused.keys().next().map(|(at, _)| *at)
    }

    fn ripen(&mut self, now: Millis) {
        while let Some(entry) = self.paused.first_entry().filter(|entry| entry.key().0 <= now) {
            let job = entry.remove();
            self.file(job);
        }
    }

    fn file(&mut self, job: Waiting) {
        let key = LaneKey { tags: job.tags, gates: job.gates };
        for gate in key.gates.iter() {
            self.by_gate.entry(gate.clone()).or_default().insert(key.clone());
        }
        self.change(&key, |lane| {
            lane.insert(job.place, job.job_id);
        });
    }

    fn change(&mut self, key: &LaneKey, change: impl FnOnce(&mut BTreeMap<Place, JobId>)) {
        self.unlist(key);
        let lane = self.lanes.entry(key.clone()).or_default();
        change(lane);
        if !lane.is_empty() {
            self.list(key);
            return;
        }
        self.lanes.remove(key);
        for gate in key.gates.iter() {
            if let Some(lanes) = self.by_gate.get_mut(gate) {
                lanes.remove(key);
                if lanes.is_empty() {
                    self.by_gate.remove(gate);
                }
            }
        }
    }

    /// Takes the lane's head out of the comparison.
    fn unlist(&mut self, key: &LaneKey) {
        let head = self.lanes.get(key).and_then(|lane| lane.first_key_value());
        let Some((place, _)) = head else { return };
        if let Some(heads) = self.heads.get_mut(&key.tags) {
            heads.remove(place);
            if heads.is_empty() {
                self.heads.remove(&key.tags);
            }
        }
    }

    /// Puts the lane's head into the comparison, if nothing holds it back.
    fn list(&mut self, key: &LaneKey) {
        if key.gates.iter().any(|gate| self.closed.contains(gate)) {
            return;
        }
        let head = self.lanes.get(key).and_then(|lane| lane.first_key_value());
        if let Some((place, job)) = head {
            self.heads.entry(key.tags.clone()).or_default().insert(*place, job.clone());
        }
    }
}

/// Walks over the heads whose tags a runner has.
///
/// Sets are in the order of their sorted tags, as words in a dictionary. At the first tag of a set that
/// the runner does not have, all sets that begin alike are passed over at once: whoever submits jobs for
/// runners that do not exist, each for another one, does not make others wait.
struct Fitting<'a> {
    heads: &'a Heads,
    capabilities: &'a BTreeSet<Tag>,
    ahead: btree_map::Range<'a, Arc<BTreeSet<Tag>>, BTreeMap<Place, JobId>>,
    looked_at: usize,
}

impl<'a> Fitting<'a> {
    fn new(heads: &'a Heads, capabilities: &'a BTreeSet<Tag>) -> Self {
        Self { heads, capabilities, ahead: heads.range::<BTreeSet<Tag>, _>(..), looked_at: 0 }
    }

    /// The least set after all those that begin like this one up to a tag that the runner has not.
    fn beyond(&self, tags: &BTreeSet<Tag>, foreign: &Tag) -> Option<BTreeSet<Tag>> {
        let mut begin: BTreeSet<Tag> = tags.range(..foreign).cloned().collect();
        let mut after = foreign.clone();
        loop {
            let own = (Bound::Excluded(&after), Bound::Unbounded);
            if let Some(next) = self.capabilities.range(own).next() {
                begin.insert(next.clone());
                return Some(begin);
            }
            after = begin.pop_last()?;
        }
    }
}

impl<'a> Iterator for Fitting<'a> {
    type Item = &'a BTreeMap<Place, JobId>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (tags, heads) = self.ahead.next()?;
            self.looked_at += 1;
            let Some(foreign) = tags.iter().find(|tag| !self.capabilities.contains(*tag)) else {
                return Some(heads);
            };
            let from = self.beyond(tags, foreign)?;
            self.ahead = self.heads.range::<BTreeSet<Tag>, _>(from..);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(names: &str) -> BTreeSet<Tag> {
        names.split_whitespace().map(|name| Tag::new(name).expect("a tag")).collect()
    }

    fn heads(sets: impl Iterator<Item = BTreeSet<Tag>>) -> Heads {
        sets.map(|set| (Arc::new(set), BTreeMap::new())).collect()
    }

    /// How many sets a runner has, and how many were looked at.
    fn walk(heads: &Heads, capabilities: &BTreeSet<Tag>) -> (usize, usize) {
        let mut fitting = Fitting::new(heads, capabilities);
        let count = fitting.by_ref().count();
        (count, fitting.looked_at)
    }

    #[test]
    fn a_runner_gets_exactly_the_sets_of_which_it_has_all_tags() {
        let letters = ["a", "b", "c", "d", "e", "f"];
        let subset = |bits: u32| {
            let own = letters.iter().enumerate().filter(move |(n, _)| bits >> n & 1 == 1);
            own.map(|(_, letter)| Tag::new(letter).expect("a tag")).collect::<BTreeSet<_>>()
        };
        // Every third of all sets, and every runner.
        let heads = heads((0..64).step_by(3).map(subset));
        for capabilities in (0..64).map(subset) {
            let naive = heads.keys().filter(|set| set.is_subset(&capabilities)).count();
            assert_eq!(walk(&heads, &capabilities).0, naive, "{capabilities:?}");
        }
    }

    #[test]
    fn sets_that_a_runner_does_not_have_are_passed_over_however_many_there_are() {
        let strange = (0..10_000).flat_map(|n| {
            [tags(&format!("linux x{n}")), tags(&format!("a{n}")), tags(&format!("linux zz x{n}"))]
        });
        let heads = heads(strange.chain([tags(""), tags("linux"), tags("linux zz")]));
        let (fitting, looked_at) = walk(&heads, &tags("linux zz"));
        assert_eq!(fitting, 3);
        assert!(looked_at < 10, "{looked_at}");
    }
}
