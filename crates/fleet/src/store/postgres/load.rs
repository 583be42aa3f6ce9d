//! The rows that an event can touch, under locks: run, labels, jobs, leases, in this order.

use super::Trouble;
use crate::id::{JobId, KeyId, LeaseId, RunId};
use crate::lease::{
    Event, JobRecord, LabelRecord, LeaseRecord, Rows, RunRecord, Standing, WorkerRecord, lapse,
};
use crate::message::{Label, LeaseRequest};
use crate::store::Tables;
use crate::store::row::{number, read, read_job};
use crate::time::Millis;
use serde::de::DeserializeOwned;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

/// Numbers in a block: more than a run has jobs.
const BLOCK: i64 = 1_024;

/// The job that is next for a runner (see [`crate::lease::Queue`]), and the lock of its run.
const PICK: &str = "
    SELECT j.job_id FROM job j JOIN run r ON r.run_id = j.run_id
    WHERE j.waiting AND j.not_before <= $1 AND j.tags <@ $2 AND r.room
        AND NOT EXISTS (SELECT 1 FROM label l WHERE l.label = ANY (j.labels) AND NOT l.room)
    ORDER BY j.priority DESC, j.seq LIMIT 1 FOR UPDATE OF r SKIP LOCKED";
/// The same, waiting for whoever has the run.
const PICK_WAITING: &str = "
    SELECT j.job_id FROM job j JOIN run r ON r.run_id = j.run_id
    WHERE j.waiting AND j.not_before <= $1 AND j.tags <@ $2 AND r.room
        AND NOT EXISTS (SELECT 1 FROM label l WHERE l.label = ANY (j.labels) AND NOT l.room)
    ORDER BY j.priority DESC, j.seq LIMIT 1 FOR UPDATE OF r";

/// What was found.
pub(super) enum Loaded {
    /// All that the event can touch.
    Rows(Box<Tables>),
    /// A lease that is over, which must be ended first: its end touches rows whose locks come before
    /// those that are held here.
    Lapsed(LeaseId),
}

/// Loads what an event can touch.
pub(super) async fn rows(
    sql: &mut PgConnection,
    now: Millis,
    event: &Event,
) -> Result<Loaded, Trouble> {
    let mut tables = Tables::default();
    match event {
        Event::Start => {
            let live =
                "SELECT record FROM lease WHERE due IS NOT NULL ORDER BY lease_id FOR UPDATE";
            let live: Vec<LeaseRecord> = records(sqlx::query(live).fetch_all(sql).await?, "lease")?;
            live.into_iter().for_each(|lease| tables.put_lease(lease));
        }
        // It is many transactions, and none of them this one.
        Event::Sweep => {}
        Event::Submit { run_id, key, .. } => {
            run(sql, &mut tables, run_id, false).await?;
            submission(sql, &mut tables, key.as_deref()).await?;
        }
        Event::Rerun { of, key, .. } => {
            whole_run(sql, &mut tables, of, false).await?;
            submission(sql, &mut tables, key.as_deref()).await?;
        }
        Event::CancelRun { run_id } => whole_run(sql, &mut tables, run_id, true).await?,
        Event::CancelJob { job_id } => {
            if let Some(found) = job(sql, job_id, false).await? {
                context(sql, &mut tables, &found).await?;
            }
        }
        Event::SetLimit { label, .. } => labels(sql, &mut tables, [label]).await?,
        Event::Lease { lease_id, request, .. } => {
            return ask(sql, now, lease_id, request, tables).await;
        }
        Event::Ack(message) => return one(sql, now, &message.lease_id, tables).await,
        Event::Heartbeat(message) => return one(sql, now, &message.lease_id, tables).await,
        Event::Log(message) => return one(sql, now, &message.lease_id, tables).await,
        Event::Upload(message) => return one(sql, now, &message.lease_id, tables).await,
        Event::Store { lease_id, .. } => return one(sql, now, lease_id, tables).await,
        Event::Complete(message) => of_lease(sql, &mut tables, &message.lease_id).await?,
        Event::CancelAck(message) => of_lease(sql, &mut tables, &message.lease_id).await?,
        Event::Forget { keep_seconds } => {
            // Those that another is at, it forgets. More than one event forgets are not needed.
            let ended = "SELECT record FROM run WHERE ended < $1 ORDER BY ended LIMIT 1000
                FOR UPDATE SKIP LOCKED";
            let before = now.0.saturating_sub(u64::from(*keep_seconds) * 1_000);
            let rows = sqlx::query(ended).bind(number(before)).fetch_all(sql).await?;
            records::<RunRecord>(rows, "run")?.into_iter().for_each(|run| tables.put_run(run));
        }
        Event::Enrol(worker) => worker_row(sql, &mut tables, &worker.key.id()).await?,
        Event::Expel(id) => worker_row(sql, &mut tables, id).await?,
    }
    Ok(Loaded::Rows(Box::new(tables)))
}

/// Leases that are due.
pub(super) async fn due(
    sql: &mut PgConnection,
    now: Millis,
    most: usize,
) -> Result<Vec<LeaseId>, Trouble> {
    let due = "SELECT record FROM lease WHERE due <= $1 ORDER BY due, lease_id LIMIT $2";
    let most = number(most as u64);
    let rows = sqlx::query(due).bind(number(now.0)).bind(most).fetch_all(sql).await?;
    let leases: Vec<LeaseRecord> = records(rows, "lease")?;
    Ok(leases.into_iter().map(|lease| lease.lease_id).collect())
}

/// All that the end of a lease can touch; none if somebody else is at its run.
pub(super) async fn lapsing(
    sql: &mut PgConnection,
    id: &LeaseId,
) -> Result<Option<Tables>, Trouble> {
    let mut tables = Tables::default();
    let Some(lease) = lease(sql, id, false).await? else { return Ok(None) };
    let lock = "SELECT 1 FROM run WHERE run_id = $1 FOR UPDATE SKIP LOCKED";
    let locked = sqlx::query(lock).bind(lease.run_id.as_str()).fetch_optional(&mut *sql).await?;
    if locked.is_none() {
        return Ok(None);
    }
    of_lease(sql, &mut tables, id).await?;
    Ok(Some(tables))
}

fn records<T: DeserializeOwned>(rows: Vec<PgRow>, table: &'static str) -> Result<Vec<T>, Trouble> {
    Ok(rows.iter().map(|row| read(table, row.get(0))).collect::<Result<_, _>>()?)
}

fn jobs(rows: &[PgRow]) -> Result<Vec<JobRecord>, Trouble> {
    let job = |row: &PgRow| read_job(row.get(0), row.get(1), row.get(2));
    Ok(rows.iter().map(job).collect::<Result<_, _>>()?)
}

async fn job(sql: &mut PgConnection, id: &JobId, lock: bool) -> Result<Option<JobRecord>, Trouble> {
    let query = match lock {
        true => "SELECT seq, fixed, changing FROM job WHERE job_id = $1 FOR UPDATE",
        false => "SELECT seq, fixed, changing FROM job WHERE job_id = $1",
    };
    let rows = sqlx::query(query).bind(id.as_str()).fetch_all(sql).await?;
    Ok(jobs(&rows)?.pop())
}

async fn lease(
    sql: &mut PgConnection,
    id: &LeaseId,
    lock: bool,
) -> Result<Option<LeaseRecord>, Trouble> {
    let query = match lock {
        true => "SELECT record FROM lease WHERE lease_id = $1 FOR UPDATE",
        false => "SELECT record FROM lease WHERE lease_id = $1",
    };
    Ok(records(sqlx::query(query).bind(id.as_str()).fetch_all(sql).await?, "lease")?.pop())
}

async fn run(
    sql: &mut PgConnection,
    tables: &mut Tables,
    id: &RunId,
    lock: bool,
) -> Result<(), Trouble> {
    let query = match lock {
        true => "SELECT record FROM run WHERE run_id = $1 FOR UPDATE",
        false => "SELECT record FROM run WHERE run_id = $1",
    };
    let runs = records(sqlx::query(query).bind(id.as_str()).fetch_all(sql).await?, "run")?;
    runs.into_iter().for_each(|run: RunRecord| tables.put_run(run));
    Ok(())
}

async fn labels<'a>(
    sql: &mut PgConnection,
    tables: &mut Tables,
    wanted: impl IntoIterator<Item = &'a Label>,
) -> Result<(), Trouble> {
    let wanted: Vec<String> = wanted.into_iter().map(|label| label.as_str().to_owned()).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let query = "SELECT record FROM label WHERE label = ANY ($1) ORDER BY label FOR UPDATE";
    let found = records(sqlx::query(query).bind(wanted).fetch_all(sql).await?, "label")?;
    found.into_iter().for_each(|label: LabelRecord| tables.put_label(label));
    Ok(())
}

/// What makes a submission the same as an earlier one, and numbers for its jobs.
async fn submission(
    sql: &mut PgConnection,
    tables: &mut Tables,
    key: Option<&str>,
) -> Result<(), Trouble> {
    if let Some(key) = key {
        let query = "SELECT record FROM run WHERE key = $1";
        let runs = records(sqlx::query(query).bind(key).fetch_all(&mut *sql).await?, "run")?;
        runs.into_iter().for_each(|run: RunRecord| tables.put_run(run));
    }
    let block: i64 = sqlx::query_scalar("SELECT nextval('job_block')").fetch_one(sql).await?;
    tables.set_seq(block.saturating_mul(BLOCK).unsigned_abs());
    Ok(())
}

/// A run and its jobs; with locks, if they may change, also their labels and live leases.
async fn whole_run(
    sql: &mut PgConnection,
    tables: &mut Tables,
    id: &RunId,
    lock: bool,
) -> Result<(), Trouble> {
    run(sql, tables, id, lock).await?;
    if lock {
        let query = "SELECT record FROM label WHERE label IN
            (SELECT unnest(labels) FROM job WHERE run_id = $1) ORDER BY label FOR UPDATE";
        let rows = sqlx::query(query).bind(id.as_str()).fetch_all(&mut *sql).await?;
        let found: Vec<LabelRecord> = records(rows, "label")?;
        found.into_iter().for_each(|label| tables.put_label(label));
    }
    let query = match lock {
        true => "SELECT seq, fixed, changing FROM job WHERE run_id = $1 ORDER BY seq FOR UPDATE",
        false => "SELECT seq, fixed, changing FROM job WHERE run_id = $1 ORDER BY seq",
    };
    let rows = sqlx::query(query).bind(id.as_str()).fetch_all(&mut *sql).await?;
    jobs(&rows)?.into_iter().for_each(|job| tables.put_job(job));
    if lock {
        let query = "SELECT record FROM lease WHERE run_id = $1 AND due IS NOT NULL
            ORDER BY lease_id FOR UPDATE";
        let rows = sqlx::query(query).bind(id.as_str()).fetch_all(sql).await?;
        let found: Vec<LeaseRecord> = records(rows, "lease")?;
        found.into_iter().for_each(|lease| tables.put_lease(lease));
    }
    Ok(())
}

/// A job with all that its end can touch: its run, its labels, what needs it, and its lease.
async fn context(
    sql: &mut PgConnection,
    tables: &mut Tables,
    found: &JobRecord,
) -> Result<(), Trouble> {
    run(sql, tables, &found.run_id, true).await?;
    labels(sql, tables, &found.order.labels).await?;
    let query = r#"
        WITH RECURSIVE after AS (
            SELECT $1::text COLLATE "C" AS job_id
            UNION SELECT n.job_id FROM need n JOIN after a ON n.needed = a.job_id
        )
        SELECT seq, fixed, changing FROM job WHERE job_id IN (SELECT job_id FROM after)
        ORDER BY seq FOR UPDATE"#;
    let rows = sqlx::query(query).bind(found.job_id.as_str()).fetch_all(&mut *sql).await?;
    jobs(&rows)?.into_iter().for_each(|job| tables.put_job(job));
    let standing = tables.job(&found.job_id).map(|job| job.standing);
    if let Some(Standing::Held(id)) = standing {
        lease(sql, &id, true).await?.into_iter().for_each(|lease| tables.put_lease(lease));
    }
    Ok(())
}

/// A lease with all that its end can touch.
async fn of_lease(
    sql: &mut PgConnection,
    tables: &mut Tables,
    id: &LeaseId,
) -> Result<(), Trouble> {
    let Some(found) = lease(sql, id, false).await? else { return Ok(()) };
    if let Some(job) = job(sql, &found.job_id, false).await? {
        context(sql, tables, &job).await?;
    }
    // It may not be the one that its job has now.
    lease(sql, id, true).await?.into_iter().for_each(|lease| tables.put_lease(lease));
    Ok(())
}

/// A lease alone: nothing else changes, unless it is over. Its job is read, and not locked: of it
/// only what never changes, and a fence that only rises, is looked at.
async fn one(
    sql: &mut PgConnection,
    now: Millis,
    id: &LeaseId,
    mut tables: Tables,
) -> Result<Loaded, Trouble> {
    if let Some(found) = lease(sql, id, true).await? {
        if lapse(now, &found).is_some() {
            return Ok(Loaded::Lapsed(found.lease_id));
        }
        let job = job(sql, &found.job_id, false).await?;
        job.into_iter().for_each(|job| tables.put_job(job));
        tables.put_lease(found);
    }
    Ok(Loaded::Rows(Box::new(tables)))
}

/// What a runner that asks for work may get: the lease that it has, or the job that is next.
async fn ask(
    sql: &mut PgConnection,
    now: Millis,
    lease_id: &LeaseId,
    request: &LeaseRequest,
    mut tables: Tables,
) -> Result<Loaded, Trouble> {
    let query = "SELECT record FROM lease
        WHERE (runner_id = $1 AND due IS NOT NULL) OR lease_id = $2 FOR UPDATE";
    let query = sqlx::query(query).bind(request.runner_id.as_str()).bind(lease_id.as_str());
    let found: Vec<LeaseRecord> = records(query.fetch_all(&mut *sql).await?, "lease")?;
    let mut busy = false;
    for lease in found {
        if lease.runner_id == request.runner_id && lease.state.live() {
            if lapse(now, &lease).is_some() {
                return Ok(Loaded::Lapsed(lease.lease_id));
            }
            busy = true;
            let job = job(sql, &lease.job_id, false).await?;
            job.into_iter().for_each(|job| tables.put_job(job));
        }
        tables.put_lease(lease);
    }
    if busy {
        return Ok(Loaded::Rows(Box::new(tables)));
    }
    let tags: Vec<String> =
        request.capabilities.iter().map(|tag| tag.as_str().to_owned()).collect();
    let mut picked = None;
    for query in [PICK, PICK_WAITING] {
        let query = sqlx::query_scalar(query).bind(number(now.0)).bind(&tags);
        picked = query.fetch_optional(&mut *sql).await?;
        if picked.is_some() {
            break;
        }
    }
    let picked: Option<String> = picked;
    let picked = picked.and_then(|id| JobId::new(&id).ok());
    let Some(id) = picked else { return Ok(Loaded::Rows(Box::new(tables))) };
    let Some(found) = job(sql, &id, false).await? else { return Err(Trouble::Again) };
    run(sql, &mut tables, &found.run_id, true).await?;
    labels(sql, &mut tables, &found.order.labels).await?;
    let locked = job(sql, &id, true).await?.ok_or(Trouble::Again)?;
    let room = tables.run(&locked.run_id).is_some_and(|run| run.has_room())
        && locked.order.labels.iter().all(|label| tables.label(label).has_room());
    if !locked.waiting() || !room {
        // Somebody was faster between the look and the lock.
        return Err(Trouble::Again);
    }
    tables.put_job(locked);
    Ok(Loaded::Rows(Box::new(tables)))
}

async fn worker_row(
    sql: &mut PgConnection,
    tables: &mut Tables,
    id: &KeyId,
) -> Result<(), Trouble> {
    let query = "SELECT record FROM worker WHERE id = $1 FOR UPDATE";
    let found = records(sqlx::query(query).bind(id.as_str()).fetch_all(sql).await?, "worker")?;
    found.into_iter().for_each(|worker: WorkerRecord| tables.put_worker(worker));
    Ok(())
}
