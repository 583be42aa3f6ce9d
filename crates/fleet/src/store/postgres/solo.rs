//! Events that are rare: each has a transaction of its own.

use super::batch::BLOCK;
use super::load::{self, jobs, records};
use super::{Begin, Core, Order, Time, Trouble, save, schema};
use crate::id::{JobId, KeyId, LeaseId, RunId};
use crate::lease::{
    Event, Handled, JOBS_MAX, JobRecord, LabelRecord, LeaseClock, LeaseRecord, Reply, Rows,
    RunRecord, Standing, WorkerRecord, expiry, handle,
};
use crate::store::Tables;
use crate::store::journal::{Changes, Journal};
use crate::store::row::{number, read};
use crate::time::Millis;
use sqlx::{Connection, PgConnection, Row};
use std::collections::BTreeSet;
use std::time::Duration;

pub(super) async fn decide(
    core: &Core,
    connection: &mut PgConnection,
    given: Millis,
    event: &Event,
) -> Result<Handled, Trouble> {
    if *event == Event::Sweep {
        return sweep(core, connection, given).await;
    }
    if *event == Event::Start {
        return start(core, connection, given).await;
    }
    let mut sql = connection.begin().await?;
    let submissions = usize::from(matches!(event, Event::Rerun { .. }));
    let Begin { stored, now, blocks } =
        core.begin(&mut sql, given, submissions, Order::Any).await?;
    let Ended { mut tables, uploaded, left } = match event {
        Event::Forget { keep_seconds } => {
            let before = now.wall.0.saturating_sub(u64::from(*keep_seconds) * 1_000);
            remove_unused_labels(&mut sql).await?;
            ended(&mut sql, before, core.policy.sweep_lapses_max).await?
        }
        _ => Ended { tables: rows(&mut sql, event).await?, ..Ended::default() },
    };
    let block = blocks.first().copied().unwrap_or_default();
    tables.set_seq(block.saturating_mul(BLOCK).unsigned_abs());
    tables.set_clock(now);
    let mut changes = Changes::default();
    let mut journal = Journal { tables: &mut tables, changes: &mut changes };
    let mut handled = handle(&mut journal, &core.policy, now.wall, event.clone());
    if let Ok(Reply::Forgot { runs, with_objects, more }) = &mut handled.reply {
        *more |= left;
        *with_objects = runs.iter().filter(|run| uploaded.contains(run)).cloned().collect();
    }
    save::changes(&mut sql, &[(&tables, &changes)]).await?;
    schema::keep_sometimes(&mut sql, stored, now).await?;
    sql.commit().await?;
    core.tell(handled.actions.iter());
    Ok(handled)
}

/// Starts the lease clock, unless another orchestrator keeps leases alive: one that starts again and again must not keep
/// them from ending.
async fn start(
    core: &Core,
    connection: &mut PgConnection,
    given: Millis,
) -> Result<Handled, Trouble> {
    let mut sql = connection.begin().await?;
    schema::hold(&mut sql).await?;
    let Begin { stored, now, .. } = core.begin(&mut sql, given, 0, Order::Any).await?;
    let gap = Duration::from_millis(now.wall.0.abs_diff(stored.wall.0));
    if core.time == Time::Caller || gap > core.policy.outage_after() {
        let mut started = stored;
        started.start(now.wall);
        schema::keep(&mut sql, stored, started).await?;
    }
    sql.commit().await?;
    Ok(Handled { reply: Ok(Reply::Done), actions: Vec::new() })
}

/// All that an event can touch.
async fn rows(sql: &mut PgConnection, event: &Event) -> Result<Tables, Trouble> {
    let mut tables = Tables::default();
    match event {
        Event::Rerun { of, run_id, key, .. } => {
            load::keys(sql, &mut tables, key).await?;
            if tables.runs().any(|run| run.rerun_of.as_ref() == Some(of)) {
                // The same request again: it is answered by what it made, and changes nothing.
                load::seen_run(sql, &mut tables, of).await?;
                return Ok(tables);
            }
            let ids = [of, run_id].map(|id| id.as_str().to_owned());
            load::runs(sql, &mut tables, ids).await?;
            let query = "SELECT seq, fixed, changing FROM job WHERE run_id = $1 ORDER BY seq";
            let rows = sqlx::query(query).bind(of.as_str()).fetch_all(&mut *sql).await?;
            jobs(&rows)?.into_iter().for_each(|job| tables.put_job(job));
            // It may have come meanwhile.
            load::keys(sql, &mut tables, key).await?;
        }
        Event::CancelRun { run_id } => whole_run(sql, &mut tables, run_id).await?,
        Event::CancelJob { job_id } => one_job(sql, &mut tables, job_id).await?,
        Event::SetLimit { label, .. } => {
            load::labels(sql, &mut tables, [label.as_str().to_owned()]).await?;
        }
        Event::Enrol(worker) => worker_row(sql, &mut tables, &worker.key.id()).await?,
        Event::Expel(id) => worker_row(sql, &mut tables, id).await?,
        // Starts, sweeps and what is forgotten have functions of their own, all others are in batches.
        _ => {}
    }
    Ok(tables)
}

/// What is in the row of a lease that was never allowed to write an object. A field's name with its quotes is in
/// no text that somebody sent: there, quotes are escaped. Rows that another version wrote otherwise only seem to
/// have objects.
const NO_UPLOADS: &str = r#""uploads":0,"#;

/// Unused labels that one event removes.
const LABELS_MAX: u64 = 10_000;
/// Runs that one event may forget.
#[derive(Default)]
struct Ended {
    tables: Tables,
    /// Those that may have objects.
    uploaded: BTreeSet<RunId>,
    left: bool,
}

/// Runs that ended before a time, as many as one event forgets. Their jobs are only counted, and their leases
/// only asked for objects: nothing else is decided by them.
async fn ended(sql: &mut PgConnection, before: u64, most: usize) -> Result<Ended, Trouble> {
    // Those that another is at, it forgets.
    let ended = "WITH ended AS (SELECT run_id, ended, record FROM run WHERE ended < $1
            ORDER BY ended LIMIT $2 FOR UPDATE SKIP LOCKED)
        SELECT record, (SELECT count(*) FROM job WHERE job.run_id = ended.run_id),
            EXISTS (SELECT 1 FROM lease
                WHERE lease.run_id = ended.run_id AND strpos(lease.record, $3) = 0)
        FROM ended ORDER BY ended.ended";
    let query = sqlx::query(ended).bind(number(before)).bind(number(most as u64)).bind(NO_UPLOADS);
    let (mut found, mut jobs) = (Ended::default(), 0);
    for (place, row) in query.fetch_all(sql).await?.iter().enumerate() {
        jobs += row.get::<i64, _>(1).unsigned_abs();
        if place > 0 && jobs > JOBS_MAX as u64 {
            return Ok(Ended { left: true, ..found });
        }
        let run: RunRecord = read("run", row.get(0))?;
        found.uploaded.extend(row.get::<bool, _>(2).then(|| run.run_id.clone()));
        found.tables.put_run(run);
    }
    Ok(found)
}

/// Removes labels without limit and use: submitters choose labels freely. Locking one inserts it
/// again ([`load::labels`]). Those that are locked now are in use.
async fn remove_unused_labels(sql: &mut PgConnection) -> Result<(), Trouble> {
    let query = "DELETE FROM label WHERE label IN (SELECT label FROM label WHERE room
        AND record::json ->> 'limit' IS NULL AND (record::json ->> 'in_use')::bigint = 0
        LIMIT $1 FOR UPDATE SKIP LOCKED)";
    sqlx::query(query).bind(number(LABELS_MAX)).execute(sql).await?;
    Ok(())
}

/// A run with its jobs, their labels and their live leases.
async fn whole_run(sql: &mut PgConnection, tables: &mut Tables, id: &RunId) -> Result<(), Trouble> {
    load::runs(sql, tables, [id.as_str().to_owned()]).await?;
    let query = "SELECT record FROM label WHERE label IN
        (SELECT unnest(labels) FROM job WHERE run_id = $1) ORDER BY label FOR UPDATE";
    let rows = sqlx::query(query).bind(id.as_str()).fetch_all(&mut *sql).await?;
    let found: Vec<LabelRecord> = records(&rows, "label")?;
    found.into_iter().for_each(|label| tables.put_label(label));
    let query = "SELECT seq, fixed, changing FROM job WHERE run_id = $1 ORDER BY seq FOR UPDATE";
    let rows = sqlx::query(query).bind(id.as_str()).fetch_all(&mut *sql).await?;
    jobs(&rows)?.into_iter().for_each(|job| tables.put_job(job));
    let query = "SELECT record FROM lease WHERE run_id = $1 AND due IS NOT NULL
        ORDER BY lease_id FOR UPDATE";
    let rows = sqlx::query(query).bind(id.as_str()).fetch_all(sql).await?;
    let found: Vec<LeaseRecord> = records(&rows, "lease")?;
    found.into_iter().for_each(|lease| tables.put_lease(lease));
    Ok(())
}

/// A job with all that its end can touch, and the lease that holds it.
async fn one_job(sql: &mut PgConnection, tables: &mut Tables, id: &JobId) -> Result<(), Trouble> {
    let near = load::near(sql, [id.as_str()]).await?;
    load::runs(sql, tables, near.runs).await?;
    load::labels(sql, tables, near.labels).await?;
    load::locked_jobs(sql, tables, near.jobs).await?;
    let held: BTreeSet<LeaseId> = tables.job(id).iter().filter_map(holder).collect();
    for lease in load::locked_leases(sql, &held).await? {
        tables.put_lease(lease);
    }
    Ok(())
}

fn holder(job: &JobRecord) -> Option<LeaseId> {
    match &job.standing {
        Standing::Held(id) => Some(id.clone()),
        _ => None,
    }
}

async fn worker_row(
    sql: &mut PgConnection,
    tables: &mut Tables,
    id: &KeyId,
) -> Result<(), Trouble> {
    let query = "SELECT record FROM worker WHERE id = $1 FOR UPDATE";
    let found = records(&sqlx::query(query).bind(id.as_str()).fetch_all(sql).await?, "worker")?;
    found.into_iter().for_each(|worker: WorkerRecord| tables.put_worker(worker));
    Ok(())
}

/// What a sweep ends, of runs that nobody else is at.
struct Over {
    due: Vec<LeaseRecord>,
    /// Leases that only seemed to be.
    later: Vec<LeaseRecord>,
    late: Vec<String>,
    /// Whether there may be others.
    full: bool,
}

/// Finds it, and locks the runs.
async fn over(
    sql: &mut PgConnection,
    tables: &mut Tables,
    now: &LeaseClock,
    most: usize,
) -> Result<Over, Trouble> {
    let mut busy = Vec::new();
    loop {
        let due = load::due(sql, now.lease, most, &busy).await?;
        let late = load::late(sql, now.wall, most, &busy).await?;
        let full = due.len() == most || late.len() == most;
        let (mut due, later): (Vec<_>, Vec<_>) =
            due.into_iter().partition(|lease| expiry(now, lease).is_some());
        let leased = due.iter().map(|lease| lease.run_id.as_str().to_owned());
        let runs: BTreeSet<String> =
            leased.chain(late.iter().map(|(_, run)| run.clone())).collect();
        let free = load::free_runs(sql, tables, runs.iter().cloned()).await?;
        if full && free.is_empty() && later.is_empty() && !runs.is_empty() {
            // Somebody else is at all of them, and they are in the way of those behind them.
            busy.extend(runs);
            continue;
        }
        due.retain(|lease| free.contains(&lease.run_id));
        let is_free = |run: &str| free.iter().any(|free| free.as_str() == run);
        let late = late.into_iter().filter(|(_, run)| is_free(run)).map(|(job, _)| job);
        return Ok(Over { due, later, late: late.collect(), full });
    }
}

/// Ends leases that are over, together. Those of runs that somebody else is at are left to the next
/// sweep: a message about them ends them too.
async fn sweep(
    core: &Core,
    connection: &mut PgConnection,
    given: Millis,
) -> Result<Handled, Trouble> {
    let mut sql = connection.begin().await?;
    let Begin { stored, now, .. } = core.begin(&mut sql, given, 0, Order::Any).await?;
    // By itself: others who keep the clock must not wait until this sweep is over.
    schema::keep(&mut sql, stored, now).await?;
    sql.commit().await?;
    let mut sql = connection.begin().await?;
    let mut tables = Tables::default();
    let most = core.policy.sweep_lapses_max;
    let Over { due, later, late, full } = over(&mut sql, &mut tables, &now, most).await?;
    let ending =
        due.iter().map(|lease| lease.job_id.as_str()).chain(late.iter().map(String::as_str));
    let near = load::near(&mut sql, ending).await?;
    load::labels(&mut sql, &mut tables, near.labels).await?;
    load::locked_jobs(&mut sql, &mut tables, near.jobs).await?;
    for lease in load::locked_leases(&mut sql, due.iter().map(|lease| &lease.lease_id)).await? {
        tables.put_lease(lease);
    }
    tables.set_clock(now);
    let mut changes = Changes::default();
    let mut journal = Journal { tables: &mut tables, changes: &mut changes };
    let handled = handle(&mut journal, &core.policy, now.wall, Event::Sweep);
    let expired = changes.leases.len();
    let ended = !changes.jobs.is_empty();
    save::changes(&mut sql, &[(&tables, &changes)]).await?;
    let moved = save::postpone(&mut sql, &now, &later).await?;
    sql.commit().await?;
    core.tell(handled.actions.iter());
    let more = full && (ended || expired > 0 || moved > 0);
    Ok(Handled { reply: Ok(Reply::Swept { expired, more }), actions: handled.actions })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::RunnerId;
    use crate::lease::{LastUpload, Policy};
    use crate::message::{LeaseRequest, Progress, decode};
    use crate::store::row::text;

    fn lease() -> LeaseRecord {
        let mut tables = Tables::default();
        let order = br#"{"jobs": [{"name": "a", "job_spec": {"name": "a", "steps": ["true"]}}]}"#;
        let run_id = RunId::new("run_a").expect("an id");
        let submission = decode(order).expect("a run");
        let runner_id = RunnerId::new("runner_a").expect("an id");
        let request =
            LeaseRequest { runner_id, capabilities: BTreeSet::new(), max_wait_seconds: 0 };
        let lease_id = LeaseId::new("lease_a").expect("an id");
        for event in [
            Event::Submit { run_id, key: None, submission },
            Event::Lease { lease_id, cancel_token: None, request },
        ] {
            handle(&mut tables, &Policy::default(), Millis(1), event).reply.expect("done");
        }
        tables.leases().next().cloned().expect("a lease")
    }

    /// Objects of a run of which this is not so would be left behind for ever.
    #[test]
    fn no_lease_with_objects_seems_to_have_none_whatever_its_runner_says() {
        let none = |lease: &LeaseRecord| text("lease", lease).expect("a row").contains(NO_UPLOADS);
        let mut lease = lease();
        assert!(none(&lease));
        let said = || Some(NO_UPLOADS.to_owned());
        lease.progress = Some(Progress {
            percent: None,
            current_step: said(),
            step_index: None,
            message: said(),
        });
        lease.last_upload = said().map(|name| LastUpload { name, bytes: 0 });
        for uploads in [1, 10, 100] {
            lease.uploads = uploads;
            assert!(!none(&lease), "{uploads}");
        }
    }
}
