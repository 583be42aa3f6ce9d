//! Changes to the index, in batches: to each actor those that concern it, then to each group those
//! of its actors.
//!
//! Local: a change here needs no agreement among validators. `tests/timer_index.rs` compares the
//! results with the plain rules in `order` and `fairness`.

use super::holding::{Holding, Waiting};
use super::index::{Group, TimerIndex, agent_place};
use super::tree::{Entry, Own, Place};
use crate::base::primitives::Address;
use crate::base::sorted::{Edit, Item};
use std::collections::BTreeMap;

/// Actors that are looked up together: enough to wait for memory together, and few enough that what
/// was found is still near when it is used.
const AT_A_TIME: usize = 128;

/// A change to what an actor has.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change<'e> {
    Add(&'e Entry),
    /// The same timer with another expiry, if it is here.
    Replace(&'e Entry),
    End(&'e Entry),
    Fired(Address, u32),
    /// So many fires that the window no longer has.
    Left(Address, u32),
}

impl Change<'_> {
    const fn actor(&self) -> &Address {
        match self {
            Self::Add(entry) | Self::Replace(entry) | Self::End(entry) => &entry.actor,
            Self::Fired(actor, _) | Self::Left(actor, _) => actor,
        }
    }
}

#[derive(Default)]
struct GroupEdits {
    timers: Vec<Edit<Entry>>,
    actors: Vec<Edit<Own>>,
}

/// A batch while it is applied.
#[derive(Default)]
struct Batch<'e> {
    groups: BTreeMap<u64, GroupEdits>,
    /// Actors with their counts before and after.
    counts: Vec<(Address, u64, u64)>,
    holdings: Vec<(Address, Option<Holding>)>,
    own: Vec<(Place, Option<&'e Entry>)>,
    leaf: Vec<Entry>,
}

/// An actor before the batch.
struct Before {
    actor: Address,
    count: u64,
    held: Option<Holding>,
}

impl TimerIndex {
    pub(super) fn apply(&mut self, mut changes: Vec<Change<'_>>) {
        // Stable: what is done to one timer stays in order.
        changes.sort_by(|a, b| a.actor().cmp(b.actor()));
        let of_actors: Vec<&[Change<'_>]> =
            changes.chunk_by(|a, b| a.actor() == b.actor()).collect();
        let mut batch = Batch::default();
        for some in of_actors.chunks(AT_A_TIME) {
            let before = self.before(some);
            for ((before, waiting), changes) in before.iter().zip(self.held(&before)).zip(some) {
                self.apply_to(before, waiting, changes, &mut batch);
            }
        }
        self.recent.set_many(&batch.counts);
        self.actors.set(batch.holdings);
        for (count, mut edits) in batch.groups {
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

    /// Actors, each by its changes, as they are.
    fn before(&self, changes: &[&[Change<'_>]]) -> Vec<Before> {
        let actors: Vec<Address> = changes.iter().map(|changes| *changes[0].actor()).collect();
        let (counts, held) = (self.recent.of_many(&actors), self.actors.get_many(&actors));
        let both = counts.into_iter().zip(held);
        let before = actors.iter().zip(both);
        before.map(|(actor, (count, held))| Before { actor: *actor, count, held }).collect()
    }

    /// Applies an actor's changes to what it has waiting; what that changes elsewhere is noted.
    fn apply_to<'e>(
        &mut self,
        before: &Before,
        waiting: Waiting,
        changes: &[Change<'e>],
        batch: &mut Batch<'e>,
    ) {
        let mut count = before.count;
        batch.own.clear();
        for change in changes {
            match *change {
                Change::Fired(_, fires) => count += u64::from(fires),
                Change::Left(_, fires) => count = count.saturating_sub(u64::from(fires)),
                Change::Add(entry) => {
                    batch.own.push((entry.key(), Some(entry)));
                    self.note_agent(entry, true);
                }
                // What is not here neither ends here nor is extended.
                Change::Replace(entry) | Change::End(entry) if !waiting.has(&entry.key()) => {}
                Change::Replace(entry) => {
                    batch.own.push((entry.key(), Some(entry)));
                    self.note_agent(entry, true);
                }
                Change::End(entry) => {
                    batch.own.push((entry.key(), None));
                    self.note_agent(entry, false);
                }
            }
        }
        if batch.own.is_empty() && count == before.count {
            return;
        }
        in_order(&mut batch.own);
        let was = waiting.len();
        let waiting = waiting.edit(&batch.own, &mut batch.leaf);
        self.waiting = self.waiting + waiting.len() - was;
        if count != before.count {
            batch.counts.push((before.actor, before.count, count));
        }
        batch.place(before, count, waiting);
    }

    fn note_agent(&mut self, entry: &Entry, waits: bool) {
        if entry.has_agent {
            match waits {
                true => self.with_agent.insert(agent_place(entry), *entry),
                false => self.with_agent.remove(&agent_place(entry)),
            };
        }
    }

    fn held(&self, actors: &[Before]) -> Vec<Waiting> {
        let mut waiting = vec![Waiting::Nothing; actors.len()];
        // By group: there the searches for those who have several go on at the same time.
        let mut several: BTreeMap<u64, Vec<(Place, usize)>> = BTreeMap::new();
        for (at, Before { count, held, .. }) in actors.iter().enumerate() {
            match held {
                None => {}
                Some(Holding::One(place)) => {
                    let found = self.group(*count).timers.get(place);
                    waiting[at] = Waiting::One(*found.expect(KEPT));
                }
                Some(Holding::Several(place)) => {
                    several.entry(*count).or_default().push((*place, at));
                }
            }
        }
        for (count, places) in several {
            let keys: Vec<Place> = places.iter().map(|(place, _)| *place).collect();
            let found = self.group(count).actors.get_many(&keys);
            for ((_, at), own) in places.into_iter().zip(found) {
                waiting[at] = Waiting::Several(own.expect(KEPT).timers().clone());
            }
        }
        waiting
    }

    fn group(&self, count: u64) -> &Group {
        self.groups.get(&count).expect("an actor with timers has a group")
    }
}

const KEPT: &str = "places are kept up to date";

/// Ascending by place; of several edits of one place the last counts.
fn in_order(own: &mut Vec<(Place, Option<&Entry>)>) {
    own.sort_by_key(|(place, _)| *place);
    own.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 = next.1;
        }
        same
    });
}

impl Batch<'_> {
    /// Moves an actor's timers from where they were.
    fn place(&mut self, before: &Before, count: u64, waiting: Waiting) {
        let now = match waiting {
            Waiting::Nothing => None,
            Waiting::One(entry) => {
                let edits = self.groups.entry(count).or_default();
                edits.timers.push((entry.key(), Some(entry)));
                Some(Holding::One(entry.key()))
            }
            Waiting::Several(timers) => Own::new(before.actor, timers).map(|own| {
                let place = own.key();
                self.groups.entry(count).or_default().actors.push((place, Some(own)));
                Holding::Several(place)
            }),
        };
        // What is put in at the same place takes the place of what was there.
        let moved = (before.count, before.held) != (count, now);
        if let Some(held) = before.held.filter(|_| moved) {
            let edits = self.groups.entry(before.count).or_default();
            match held {
                Holding::One(at) => edits.timers.push((at, None)),
                Holding::Several(at) => edits.actors.push((at, None)),
            }
        }
        if now != before.held {
            self.holdings.push((before.actor, now));
        }
    }
}
