//! What people ask for; nothing is locked.

use super::limits;
use super::load::read_clock;
use crate::id::{Fence, JobId, KeyId, RunId};
use crate::lease::{
    JobRecord, LabelRecord, LeaseClock, LeaseRecord, Rows, RunRecord, WorkerRecord,
};
use crate::message::Tag;
use crate::store::row::{number, read, read_job, rest};
use crate::store::{JobRows, RunCursor, RunRows, StoreError, Tables};
use crate::time::{LeaseTime, Millis};
use futures::TryStreamExt;
use serde::de::DeserializeOwned;
use sqlx::postgres::PgRow;
use sqlx::{PgPool, Row};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(super) fn records<T: DeserializeOwned>(
    rows: &[PgRow],
    table: &'static str,
) -> Result<Vec<T>, StoreError> {
    rows.iter().map(|row| read(table, row.get(0))).collect()
}

fn jobs(rows: &[PgRow]) -> Result<Vec<JobRecord>, StoreError> {
    rows.iter().map(|row| read_job(row.get(0), row.get(1), row.get(2))).collect()
}

pub(super) async fn run(pool: &PgPool, id: &RunId) -> Result<Option<RunRows>, StoreError> {
    // At one moment: a job's state and its lease's must fit.
    let mut sql = pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let run = "SELECT record FROM run WHERE run_id = $1";
    let run = sqlx::query(run).bind(id.as_str()).fetch_all(&mut *sql).await?;
    let Some(run) = records(&run, "run")?.pop() else { return Ok(None) };
    let all = "SELECT seq, fixed, changing FROM job WHERE run_id = $1 ORDER BY seq";
    let all = jobs(&sqlx::query(all).bind(id.as_str()).fetch_all(&mut *sql).await?)?;
    // What jobs left behind is asked for job by job: of a large run it would be hundreds of megabytes. A zero byte is
    // nothing that jsonb can have.
    let newest = r"SELECT DISTINCT ON (job_id) CASE
            WHEN position('\u0000' in record) > 0 THEN record
            ELSE (record::jsonb #- '{answer,artifacts}' #- '{answer,output}')::text END
        FROM lease WHERE run_id = $1 ORDER BY job_id, fence DESC";
    let newest = sqlx::query(newest).bind(id.as_str()).fetch_all(&mut *sql).await?;
    let newest: Vec<LeaseRecord> = records(&newest, "lease")?;
    let mut leases: BTreeMap<JobId, LeaseRecord> =
        newest.into_iter().map(|lease| (lease.job_id.clone(), lease)).collect();
    let with_lease = |job: JobRecord| JobRows {
        lease: leases.remove(&job.job_id).map(Arc::new),
        job,
        reached: None,
    };
    let mut jobs: Vec<JobRows> = all.into_iter().map(with_lease).collect();
    limits::with_limits(&mut sql, std::slice::from_ref(&run), &mut jobs).await?;
    Ok(Some(RunRows { run, jobs }))
}

pub(super) async fn job(pool: &PgPool, id: &JobId) -> Result<Option<JobRows>, StoreError> {
    let mut sql = pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let job = "SELECT seq, fixed, changing FROM job WHERE job_id = $1";
    let job = jobs(&sqlx::query(job).bind(id.as_str()).fetch_all(&mut *sql).await?)?.pop();
    let newest = "SELECT record FROM lease WHERE job_id = $1 ORDER BY fence DESC LIMIT 1";
    let newest = sqlx::query(newest).bind(id.as_str()).fetch_all(&mut *sql).await?;
    let lease = records(&newest, "lease")?.pop().map(Arc::new);
    let Some(job) = job else { return Ok(None) };
    let runs = limits::runs(&mut sql, std::iter::once(&job)).await?;
    let mut rows = [JobRows { job, lease, reached: None }];
    limits::with_limits(&mut sql, &runs, &mut rows).await?;
    let [rows] = rows;
    Ok(Some(rows))
}

pub(super) async fn runs(
    pool: &PgPool,
    before: Option<RunCursor>,
    most: usize,
) -> Result<Vec<RunRecord>, StoreError> {
    let query = "SELECT record FROM run WHERE $1 IS NULL OR (created, run_id) < ($1, $2)
        ORDER BY created DESC, run_id DESC LIMIT $3";
    let query = sqlx::query(query)
        .bind(before.as_ref().map(|(at, _)| number(at.0)))
        .bind(before.as_ref().map(|(_, id)| id.as_str()))
        .bind(number(most as u64));
    records(&query.fetch_all(pool).await?, "run")
}

/// Those of these keys that there are.
pub(super) async fn workers(
    pool: PgPool,
    ids: Vec<KeyId>,
) -> Result<Vec<WorkerRecord>, StoreError> {
    let ids: Vec<&str> = ids.iter().map(KeyId::as_str).collect();
    let query = "SELECT record FROM worker WHERE id = ANY ($1)";
    records(&sqlx::query(query).bind(ids).fetch_all(&pool).await?, "worker")
}

pub(super) async fn machines(pool: &PgPool, most: usize) -> Result<Vec<WorkerRecord>, StoreError> {
    let query = "SELECT record FROM worker ORDER BY id LIMIT $1";
    let rows = sqlx::query(query).bind(number(most as u64)).fetch_all(pool).await?;
    records(&rows, "worker")
}

pub(super) async fn labels(pool: &PgPool, most: usize) -> Result<Vec<LabelRecord>, StoreError> {
    let query = "SELECT record FROM label WHERE record::json ->> 'limit' IS NOT NULL
        OR (record::json ->> 'in_use')::bigint > 0 ORDER BY label LIMIT $1";
    let rows = sqlx::query(query).bind(number(most as u64)).fetch_all(pool).await?;
    records(&rows, "label")
}

pub(super) async fn waiting(
    pool: &PgPool,
    now: LeaseTime,
    most: usize,
) -> Result<Vec<(JobId, BTreeSet<Tag>)>, StoreError> {
    let query = "SELECT j.job_id, j.tags FROM job j JOIN run r ON r.run_id = j.run_id
        WHERE j.waiting AND r.room AND j.not_before <= $2
            AND NOT EXISTS (SELECT 1 FROM label l WHERE l.label = ANY (j.labels) AND NOT l.room)
        ORDER BY j.priority DESC, j.seq LIMIT $1";
    let query = sqlx::query(query).bind(number(most as u64)).bind(number(now.0));
    let rows = query.fetch_all(pool).await?;
    let job = |row: &PgRow| {
        let tags: Option<BTreeSet<Tag>> =
            row.get::<Vec<String>, _>(1).iter().map(|tag| Tag::new(tag).ok()).collect();
        Some((JobId::new(row.get(0)).ok()?, tags?))
    };
    Ok(rows.iter().filter_map(job).collect())
}

/// The database's time and its lease clock.
pub(super) async fn clock(pool: &PgPool) -> Result<(Millis, LeaseClock), StoreError> {
    Ok(read_clock(&sqlx::query(CLOCK).fetch_one(pool).await?))
}

const CLOCK: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, wall, lease, resumed FROM clock";

/// Who has a job, then who waits.
pub(super) async fn open_jobs(pool: &PgPool, most: usize) -> Result<Vec<JobRows>, StoreError> {
    let mut sql = pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let held = "SELECT job.seq, job.fixed, job.changing, lease.record
        FROM lease JOIN job USING (job_id) WHERE lease.due IS NOT NULL
        ORDER BY lease.runner_id LIMIT $1";
    let held = sqlx::query(held).bind(number(most as u64)).fetch_all(&mut *sql).await?;
    let waiting = "SELECT job.seq, job.fixed, job.changing, newest.record
        FROM job LEFT JOIN LATERAL (SELECT record FROM lease WHERE lease.job_id = job.job_id
            ORDER BY fence DESC LIMIT 1) AS newest ON true
        WHERE job.waiting ORDER BY job.priority DESC, job.seq LIMIT $1";
    let waiting = sqlx::query(waiting).bind(number(most as u64)).fetch_all(&mut *sql).await?;
    let with_lease = |row: &PgRow| {
        let job = read_job(row.get(0), row.get(1), row.get(2))?;
        let lease = row.get::<Option<&str>, _>(3).map(|text| read("lease", text)).transpose()?;
        Ok(JobRows { job, lease: lease.map(Arc::new), reached: None })
    };
    let rows = held.iter().chain(&waiting).map(with_lease).collect::<Result<_, StoreError>>();
    let mut rows: Vec<JobRows> = rows?;
    let runs = limits::runs(&mut sql, rows.iter().map(|rows| &rows.job)).await?;
    limits::with_limits(&mut sql, &runs, &mut rows).await?;
    Ok(rows)
}

/// A log from an offset on: binary search finds the first chunk, as in SQLite. The query limits its result: a server
/// sends all of it, and the next user of the connection would wait for that.
const LOG: &str = "
WITH RECURSIVE half (low, high) AS (
    SELECT 0::bigint, max(number) FROM log WHERE job_id = $1 AND fence = $2
    UNION ALL
    SELECT CASE WHEN byte_offset <= $3 THEN number ELSE low END,
        CASE WHEN byte_offset <= $3 THEN high ELSE number - 1 END
    FROM half JOIN log ON job_id = $1 AND fence = $2 AND number = (low + high + 1) / 2
    WHERE low < high
)
SELECT byte_offset, data FROM log
WHERE job_id = $1 AND fence = $2 AND number >= (SELECT low FROM half WHERE low >= high)
    AND byte_offset < $4
ORDER BY number";

pub(super) async fn log(
    pool: &PgPool,
    job: &JobId,
    fence: Fence,
    offset: u64,
    bytes: usize,
) -> Result<Vec<u8>, StoreError> {
    let query = sqlx::query(LOG);
    let end = offset.saturating_add(bytes as u64);
    let query =
        query.bind(job.as_str()).bind(number(fence.0)).bind(number(offset)).bind(number(end));
    let mut rows = query.fetch(pool);
    let mut log = Vec::new();
    while log.len() < bytes
        && let Some(row) = rows.try_next().await?
    {
        log.extend(rest(row.get(0), row.get(1), offset));
    }
    Ok(log)
}

/// Every row, at one moment.
pub(super) async fn snapshot(pool: &PgPool) -> Result<Tables, StoreError> {
    let mut sql = pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let mut tables = Tables::default();
    tables.set_clock(read_clock(&sqlx::query(CLOCK).fetch_one(&mut *sql).await?).1);
    let rows = sqlx::query("SELECT record FROM run").fetch_all(&mut *sql).await?;
    records::<RunRecord>(&rows, "run")?.into_iter().for_each(|run| tables.put_run(run));
    let rows = sqlx::query("SELECT record FROM label").fetch_all(&mut *sql).await?;
    records::<LabelRecord>(&rows, "label")?.into_iter().for_each(|label| tables.put_label(label));
    let rows = sqlx::query("SELECT record FROM worker").fetch_all(&mut *sql).await?;
    let workers: Vec<WorkerRecord> = records(&rows, "worker")?;
    workers.into_iter().for_each(|worker| tables.put_worker(worker));
    let all = "SELECT seq, fixed, changing FROM job ORDER BY seq";
    let rows = sqlx::query(all).fetch_all(&mut *sql).await?;
    jobs(&rows)?.into_iter().for_each(|job| tables.put_job(job));
    let rows = sqlx::query("SELECT record FROM lease").fetch_all(&mut *sql).await?;
    records::<LeaseRecord>(&rows, "lease")?.into_iter().for_each(|lease| tables.put_lease(lease));
    Ok(tables)
}
