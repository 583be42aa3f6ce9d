//! Many events, one transaction.
//!
//! Events that wait at the same time are concurrent, so any order of them is right. A batch first
//! looks up what they are about, then locks all of it, decides about one after the other in memory,
//! writes what changed, and commits once. An event that needs more than was locked, because somebody
//! else changed something between the look and the lock, is put off to the next batch.
//!
//! Most events touch one lease and nothing else: heartbeats, acknowledgements, logs, objects. They lock
//! that row alone, and read the job beside it as it is (the *light* rows). Whatever can end a lease or
//! begin one works on rows that are all locked (the *heavy* ones). A lease is on one side in each batch.

use super::load::{self, Near, Wish};
use super::writer::Turn;
use super::{Begin, Core, Order, Trouble, save, schema};
use crate::id::{JobId, LeaseId, RunnerId};
use crate::lease::{Event, Handled, LeaseClock, LeaseRecord, Reply, Rows, expiry, handle};
use crate::message::Tag;
use crate::store::Tables;
use crate::store::journal::{Changes, Journal};
use crate::time::Millis;
use sqlx::{Connection, PgConnection};
use std::collections::{BTreeMap, BTreeSet};

/// Numbers in a block: more than a run has jobs.
pub(super) const BLOCK: i64 = 1_024;

/// Whether an event goes into batches. The others are rare, and each has a transaction of its own.
pub(super) fn is_common(event: &Event) -> bool {
    matches!(event, Event::Submit { .. } | Event::Lease { .. }) || subject(event).is_some()
}

/// The lease that a message is about.
fn subject(event: &Event) -> Option<&LeaseId> {
    match event {
        Event::Ack(message) => Some(&message.lease_id),
        Event::Heartbeat(message) => Some(&message.lease_id),
        Event::Log(message) => Some(&message.lease_id),
        Event::Upload(message) => Some(&message.lease_id),
        Event::Store { lease_id, .. } => Some(lease_id),
        Event::Complete(message) => Some(&message.lease_id),
        Event::CancelAck(message) => Some(&message.lease_id),
        _ => None,
    }
}

/// What the events of a batch are about, before anything is locked.
struct Plan {
    found: BTreeMap<LeaseId, LeaseRecord>,
    /// Live leases by their runners.
    live: BTreeMap<RunnerId, LeaseId>,
    /// Leases that may end in this batch.
    heavy: BTreeSet<LeaseId>,
}

impl Plan {
    async fn new(
        sql: &mut PgConnection,
        now: &LeaseClock,
        events: &[&Event],
    ) -> Result<Self, Trouble> {
        let (mut ids, mut runners) = (BTreeSet::new(), BTreeSet::new());
        for event in events {
            ids.extend(subject(event).cloned());
            if let Event::Lease { lease_id, request, .. } = event {
                ids.insert(lease_id.clone());
                runners.insert(request.runner_id.clone());
            }
        }
        let mut plan =
            Self { found: BTreeMap::new(), live: BTreeMap::new(), heavy: BTreeSet::new() };
        if ids.is_empty() {
            return Ok(plan);
        }
        for lease in load::leases(sql, &ids, &runners).await? {
            if lease.state.live() {
                plan.live.insert(lease.runner_id.clone(), lease.lease_id.clone());
            }
            if expiry(now, &lease).is_some() {
                plan.heavy.insert(lease.lease_id.clone());
            }
            plan.found.insert(lease.lease_id.clone(), lease);
        }
        for event in events {
            match event {
                Event::Complete(_) | Event::CancelAck(_) => {
                    plan.heavy.extend(subject(event).cloned());
                }
                // A lease id that should be unused exists: load its row, so that the rules can refuse it.
                Event::Lease { lease_id, .. } if plan.found.contains_key(lease_id) => {
                    plan.heavy.insert(lease_id.clone());
                }
                _ => {}
            }
        }
        Ok(plan)
    }

    /// The light lease that this event is decided by; none if it is a heavy event.
    fn light<'a>(&'a self, event: &'a Event) -> Option<&'a LeaseId> {
        let lease = match event {
            Event::Lease { request, .. } => self.live.get(&request.runner_id),
            other => subject(other),
        };
        lease.filter(|lease| !self.heavy.contains(*lease))
    }

    /// Tags of runners that want work, and how many want it.
    fn wishes<'a>(&self, events: &[&'a Event]) -> (BTreeSet<&'a BTreeSet<Tag>>, usize) {
        let asks = events.iter().filter_map(|event| match event {
            Event::Lease { request, .. } if self.light(event).is_none() => {
                Some(&request.capabilities)
            }
            _ => None,
        });
        let asks: Vec<_> = asks.collect();
        let count = asks.len();
        (asks.into_iter().collect(), count)
    }

    /// Jobs that light events look at: to acknowledge, to say why a lease is stale, to grant again.
    fn looks(&self, events: &[&Event]) -> BTreeSet<JobId> {
        let looks = events.iter().filter_map(|event| {
            let lease = self.found.get(self.light(event)?)?;
            let looks = matches!(event, Event::Ack(_) | Event::Lease { .. });
            (looks || !lease.state.live()).then(|| lease.job_id.clone())
        });
        looks.collect()
    }
}

/// Rows, and what was changed in them.
#[derive(Default)]
struct Side {
    tables: Tables,
    changes: Changes,
}

impl Side {
    fn handle(&mut self, core: &Core, now: &LeaseClock, event: &Event) -> Handled {
        let mut journal = Journal { tables: &mut self.tables, changes: &mut self.changes };
        handle(&mut journal, &core.policy, now.wall, event.clone())
    }
}

/// Decides about events in one transaction; `again` says that some of them were put off before. None: once more, with
/// others.
pub(super) async fn decide(
    core: &Core,
    connection: &mut PgConnection,
    given: Millis,
    events: &[&Event],
    again: bool,
    turn: Option<Turn>,
) -> Result<Vec<Option<Handled>>, Trouble> {
    let mut sql = connection.begin().await?;
    if events.iter().any(|event| matches!(event, Event::Log(_))) {
        // Before anything is locked that others want, and without waiting: who has this table mends it.
        sqlx::query("LOCK TABLE log IN ROW EXCLUSIVE MODE NOWAIT").execute(&mut *sql).await?;
    }
    let submissions = events.iter().filter(|event| matches!(event, Event::Submit { .. })).count();
    let Begin { stored, now, blocks } =
        core.begin(&mut sql, given, submissions, Order::Index).await?;
    let now = &now;
    let plan = Plan::new(&mut sql, now, events).await?;
    let (mut heavy, mut light) = (Side::default(), Side::default());
    let ending =
        plan.heavy.iter().filter_map(|id| plan.found.get(id)).map(|lease| lease.job_id.as_str());
    let mut near = load::near(&mut sql, ending).await?;
    lock_runs(&mut sql, &mut heavy.tables, &near, events).await?;
    let (wishes, count) = plan.wishes(events);
    let mut idle = BTreeSet::new();
    for tags in wishes {
        let wish = Wish { tags, most: count, again };
        let there = load::pick(&mut sql, &mut heavy.tables, &mut near, now, wish).await?;
        if !there {
            idle.insert(tags);
        }
    }
    load::labels(&mut sql, &mut heavy.tables, near.labels).await?;
    load::locked_jobs(&mut sql, &mut heavy.tables, near.jobs).await?;
    for lease in load::locked_leases(&mut sql, plan.found.keys()).await? {
        let side = if plan.heavy.contains(&lease.lease_id) { &mut heavy } else { &mut light };
        side.tables.put_lease(lease);
    }
    load::seen_jobs(&mut sql, &mut light.tables, plan.looks(events)).await?;
    for machine in load::machines(&mut sql, events).await? {
        heavy.tables.put_worker(machine.clone());
        light.tables.put_worker(machine);
    }
    heavy.tables.set_clock(*now);
    light.tables.set_clock(*now);

    let mut handled: Vec<Option<Handled>> = vec![None; events.len()];
    for (event, handled) in events.iter().zip(&mut handled) {
        let asks = matches!(event, Event::Lease { .. });
        *handled = match plan.light(event) {
            _ if matches!(event, Event::Submit { .. }) => continue,
            Some(id) => {
                let lease = light.tables.lease(id);
                // Somebody else ended it, or shortened it, between the look and the lock.
                let ends = |lease: &LeaseRecord| {
                    expiry(now, lease).is_some() || (asks && !lease.state.live())
                };
                let moved = lease.is_some_and(|lease| ends(&lease) || !plan.knew(&lease));
                (!moved).then(|| light.handle(core, now, event))
            }
            None => Some(heavy.handle(core, now, event)),
        };
        // There was work, and somebody else in this batch or elsewhere was faster.
        let late = matches!(event, Event::Lease { request, .. }
            if !idle.contains(&request.capabilities));
        let nothing = |h: &Handled| matches!(h.reply, Ok(Reply::NoWork(_)));
        handled.take_if(|handled| late && nothing(handled));
    }
    // Submissions come last: the asks before them are for jobs that are already there.
    let mut blocks = blocks.into_iter();
    for (event, handled) in events.iter().zip(&mut handled) {
        if matches!(event, Event::Submit { .. }) {
            let block = blocks.next().unwrap_or_default();
            heavy.tables.set_seq(block.saturating_mul(BLOCK).unsigned_abs());
            *handled = Some(heavy.handle(core, now, event));
        }
    }
    let sides = [(&heavy.tables, &heavy.changes), (&light.tables, &light.changes)];
    save::changes(&mut sql, &sides).await?;
    schema::keep_sometimes(&mut sql, stored, *now).await?;
    // While the disk works at this, others gather and decide.
    drop(turn);
    sql.commit().await?;
    core.tell(handled.iter().flatten().flat_map(|handled| &handled.actions));
    Ok(handled)
}

impl Plan {
    /// Whether a light lease has its job beside it if one is needed: it has, unless the lease was live
    /// when it was looked at and is not any more.
    fn knew(&self, lease: &LeaseRecord) -> bool {
        let before = self.found.get(&lease.lease_id).is_some_and(|before| before.state.live());
        lease.state.live() || !before
    }
}

async fn lock_runs(
    sql: &mut PgConnection,
    tables: &mut Tables,
    near: &Near,
    events: &[&Event],
) -> Result<(), Trouble> {
    let (mut new, mut keys) = (Vec::new(), Vec::new());
    for event in events {
        if let Event::Submit { run_id, key, .. } = event {
            new.push(run_id.as_str().to_owned());
            keys.extend(key);
        }
    }
    load::runs(sql, tables, near.runs.iter().cloned().chain(new)).await?;
    load::keys(sql, tables, keys).await
}
