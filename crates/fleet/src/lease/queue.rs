//! Who is next: the order of waiting jobs, as an index that answers without looking at all of them.
//!
//! The rule is short: of the jobs whose tags the runner has, whose pause is over and whose run and
//! labels have room, the one with the highest priority; of these, the one that came first. A store
//! with several orchestrators may ask its database instead, in these words. [`Queue`] is for those
//! that keep their rows in memory.
//!
//! Jobs of one run that differ in nothing but their place wait in one *lane*: same tags, same labels. Lanes of all
//! runs with the same tags and labels are a *group*, in which the heads of those are compared whose run has room;
//! and of the groups whose labels all have room, the heads are compared by what a runner must have. So a limit that
//! is reached, or has room again, moves one head for each lane of its run, or for each group of its label, however
//! many jobs wait behind it. A grant costs the logarithm of what waits, times the number of different sets of tags
//! that the runner has; those that it has not are passed over by what they begin with.

use crate::id::{JobId, RunId};
use crate::message::{Label, Tag};
use crate::time::LeaseTime;
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

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Waiting {
    pub job_id: JobId,
    pub place: Place,
    /// What a runner must have.
    pub tags: Arc<BTreeSet<Tag>>,
    /// The labels whose limits it is under.
    pub labels: Arc<BTreeSet<Label>>,
    /// The run whose limit it is under.
    pub run: RunId,
    /// Not before this.
    pub not_before: LeaseTime,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct GroupKey {
    tags: Arc<BTreeSet<Tag>>,
    labels: Arc<BTreeSet<Label>>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct LaneKey {
    group: GroupKey,
    run: RunId,
}

impl LaneKey {
    fn of(job: &Waiting) -> Self {
        let group = GroupKey { tags: job.tags.clone(), labels: job.labels.clone() };
        Self { group, run: job.run.clone() }
    }

    fn gates(&self) -> impl Iterator<Item = Gate> {
        let labels = self.group.labels.iter().cloned().map(Gate::Label);
        std::iter::once(Gate::Run(self.run.clone())).chain(labels)
    }
}

type Line = BTreeMap<Place, JobId>;
/// The first of them.
type Head = (Place, JobId);
/// The first of each group whose labels have room, by what a runner must have.
type Heads = BTreeMap<Arc<BTreeSet<Tag>>, Line>;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Queue {
    lanes: BTreeMap<LaneKey, Line>,
    /// The first of each lane whose run has room.
    groups: BTreeMap<GroupKey, Line>,
    heads: Heads,
    closed: BTreeSet<Gate>,
    by_run: BTreeMap<RunId, BTreeSet<LaneKey>>,
    /// Groups that are not empty.
    by_label: BTreeMap<Label, BTreeSet<GroupKey>>,
    /// Jobs in a pause, by its end.
    paused: BTreeMap<(LeaseTime, Place), Waiting>,
}

fn head(line: &Line) -> Option<Head> {
    line.first_key_value().map(|(place, job)| (*place, job.clone()))
}

/// Adds to a set of a map of them, or takes from it. None that is empty stays.
fn file<K: Ord + Clone, V: Ord + Clone>(
    map: &mut BTreeMap<K, BTreeSet<V>>,
    key: &K,
    value: &V,
    there: bool,
) {
    if there {
        map.entry(key.clone()).or_default().insert(value.clone());
    } else if let Some(set) = map.get_mut(key) {
        set.remove(value);
        if set.is_empty() {
            map.remove(key);
        }
    }
}

impl Queue {
    /// A job begins to wait.
    pub fn insert(&mut self, job: Waiting) {
        if job.not_before > LeaseTime(0) {
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
        self.change(&LaneKey::of(job), |lane| {
            lane.remove(&job.place);
        });
    }

    /// The next job for a runner with these tags. It stays in the queue until it is removed.
    pub fn pick(&mut self, now: LeaseTime, capabilities: &BTreeSet<Tag>) -> Option<JobId> {
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
        match gate {
            Gate::Run(run) => {
                let lanes: Vec<_> = self.by_run.get(run).into_iter().flatten().cloned().collect();
                for lane in &lanes {
                    let head = self.lanes.get(lane).and_then(head);
                    let (old, new) = if open { (None, head) } else { (head, None) };
                    self.change_group(&lane.group, old, new);
                }
            }
            Gate::Label(label) => {
                let groups: Vec<_> =
                    self.by_label.get(label).into_iter().flatten().cloned().collect();
                for group in &groups {
                    if !self.has_room(group, label) {
                        continue;
                    }
                    let head = self.groups.get(group).and_then(head);
                    let (old, new) = if open { (None, head) } else { (head, None) };
                    change_heads(&mut self.heads, &group.tags, old, new);
                }
            }
        }
        match open {
            true => self.closed.remove(gate),
            false => self.closed.insert(gate.clone()),
        };
    }

    /// Whether all labels of a group have room, but for one.
    fn has_room(&self, group: &GroupKey, but_for: &Label) -> bool {
        let mut others = group.labels.iter().filter(|label| *label != but_for);
        !others.any(|label| self.is_closed(label))
    }

    fn is_closed(&self, label: &Label) -> bool {
        !self.closed.is_empty() && self.closed.contains(&Gate::Label(label.clone()))
    }

    /// Every job that waits, as lots under the same limits.
    pub fn lots(&self) -> impl Iterator<Item = (Vec<Gate>, u64)> {
        let lanes = self.lanes.iter().map(|(key, lane)| (key.gates().collect(), lane.len() as u64));
        lanes.chain(self.paused.values().map(|job| (LaneKey::of(job).gates().collect(), 1)))
    }

    /// Every job that waits, in no order.
    pub fn waiting(&self) -> impl Iterator<Item = (Place, &JobId)> {
        let lanes = self.lanes.values().flatten().map(|(place, job)| (*place, job));
        lanes.chain(self.paused.values().map(|job| (job.place, &job.job_id)))
    }

    /// Jobs that nothing holds back, at most so many, and what a runner must have for them.
    pub fn open(&self, now: LeaseTime, most: usize) -> Vec<(JobId, BTreeSet<Tag>)> {
        let free = |key: &LaneKey| !key.gates().any(|gate| self.closed.contains(&gate));
        let lanes = self.lanes.iter().filter(|(key, _)| free(key));
        let filed = lanes.flat_map(|(key, lane)| lane.values().map(|job| (job, &key.group.tags)));
        let over = self.paused.iter().take_while(|((at, _), _)| *at <= now).map(|(_, job)| job);
        let over = over.filter(|job| free(&LaneKey::of(job))).map(|job| (&job.job_id, &job.tags));
        filed.chain(over).take(most).map(|(job, tags)| (job.clone(), (**tags).clone())).collect()
    }

    /// When the next pause ends.
    pub fn next_pause_end(&self) -> Option<LeaseTime> {
        self.paused.keys().next().map(|(at, _)| *at)
    }

    fn ripen(&mut self, now: LeaseTime) {
        while let Some(entry) = self.paused.first_entry().filter(|entry| entry.key().0 <= now) {
            let job = entry.remove();
            self.file(job);
        }
    }

    fn file(&mut self, job: Waiting) {
        self.change(&LaneKey::of(&job), |lane| {
            lane.insert(job.place, job.job_id);
        });
    }

    fn change(&mut self, key: &LaneKey, change: impl FnOnce(&mut Line)) {
        let lane = self.lanes.entry(key.clone()).or_default();
        let old = head(lane);
        change(lane);
        let new = head(lane);
        if lane.is_empty() {
            self.lanes.remove(key);
        }
        if old.is_some() != new.is_some() {
            file(&mut self.by_run, &key.run, key, new.is_some());
        }
        if old != new && !self.closed.contains(&Gate::Run(key.run.clone())) {
            self.change_group(&key.group, old, new);
        }
    }

    /// A lane of the group begins with another job, or with none that may be granted.
    fn change_group(&mut self, key: &GroupKey, old: Option<Head>, new: Option<Head>) {
        let group = self.groups.entry(key.clone()).or_default();
        let first = head(group);
        old.map(|(place, _)| group.remove(&place));
        group.extend(new);
        let now_first = head(group);
        if group.is_empty() {
            self.groups.remove(key);
        }
        if first.is_some() != now_first.is_some() {
            for label in key.labels.iter() {
                file(&mut self.by_label, label, key, now_first.is_some());
            }
        }
        if first != now_first && !key.labels.iter().any(|label| self.is_closed(label)) {
            change_heads(&mut self.heads, &key.tags, first, now_first);
        }
    }
}

/// A group begins with another job, or with none that may be granted.
fn change_heads(
    heads: &mut Heads,
    tags: &Arc<BTreeSet<Tag>>,
    old: Option<Head>,
    new: Option<Head>,
) {
    let line = heads.entry(tags.clone()).or_default();
    old.map(|(place, _)| line.remove(&place));
    line.extend(new);
    if line.is_empty() {
        heads.remove(tags);
    }
}

/// Walks over the heads whose tags a runner has.
///
/// Sets are in the order of their sorted tags, as words in a dictionary. At the first tag of a set that
/// the runner does not have, all sets with that prefix are skipped at once: a submitter of jobs that each
/// need a different nonexistent tag does not slow down the queue.
struct Fitting<'a> {
    heads: &'a Heads,
    capabilities: &'a BTreeSet<Tag>,
    ahead: btree_map::Range<'a, Arc<BTreeSet<Tag>>, Line>,
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
    type Item = &'a Line;

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

    fn waits(seq: u64, run: u64, label: &str) -> Waiting {
        Waiting {
            job_id: JobId::of(&RunId::new(&format!("run_{run}")).expect("an id"), 0),
            place: Place::new(0, seq),
            tags: Arc::default(),
            labels: Arc::new([Label::new(label).expect("a label")].into()),
            run: RunId::new(&format!("run_{run}")).expect("an id"),
            not_before: LeaseTime(0),
        }
    }

    /// What a limit holds back costs nothing when it is reached and when it has room: 200,000 times 100,000 jobs
    /// would not end.
    #[test]
    fn a_limit_of_a_label_costs_the_same_however_many_wait_under_it() {
        let mut queue = Queue::default();
        let jobs: Vec<_> = (0..100_000).map(|n| waits(n, n, "few")).collect();
        jobs.iter().cloned().for_each(|job| queue.insert(job));
        let gate = Gate::Label(Label::new("few").expect("a label"));
        for job in &jobs {
            assert_eq!(queue.pick(LeaseTime(1), &BTreeSet::new()).as_ref(), Some(&job.job_id));
            queue.remove(job);
            queue.set_gate(&gate, false);
            assert_eq!(queue.pick(LeaseTime(1), &BTreeSet::new()), None);
            queue.set_gate(&gate, true);
        }
        assert_eq!(queue, Queue::default(), "nothing is left behind");
    }

    #[test]
    fn a_job_waits_for_its_run_and_for_all_of_its_labels() {
        let mut queue = Queue::default();
        let two = [Label::new("a"), Label::new("b")].map(|label| label.expect("a label"));
        let mut job = waits(1, 1, "a");
        job.labels = Arc::new(two.clone().into());
        let gates =
            [Gate::Run(job.run.clone()), Gate::Label(two[0].clone()), Gate::Label(two[1].clone())];
        // All ways to close and open each gate, before and after the job comes.
        for closed in 0..8_u8 {
            let shut = |bits: u8, n: usize| bits >> n & 1 == 1;
            for then in 0..8_u8 {
                (0..3).for_each(|n| queue.set_gate(&gates[n], !shut(closed, n)));
                queue.insert(job.clone());
                let picked = queue.pick(LeaseTime(1), &BTreeSet::new());
                assert_eq!(picked.is_some(), closed == 0, "{closed}");
                (0..3).for_each(|n| queue.set_gate(&gates[n], !shut(then, n)));
                let picked = queue.pick(LeaseTime(1), &BTreeSet::new());
                assert_eq!(picked.is_some(), then == 0, "{closed} {then}");
                queue.remove(&job);
                assert_eq!(queue.pick(LeaseTime(1), &BTreeSet::new()), None);
            }
        }
        gates.iter().for_each(|gate| queue.set_gate(gate, true));
        assert_eq!(queue, Queue::default(), "nothing is left behind");
    }

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
