//! Rows by their keys, many at a time. What is locked is locked in the order run, labels, jobs,
//! leases, and in each table in the order of its keys: two who want the same rows never wait for each
//! other. Work is picked without waiting at all.

use super::{Order, Trouble};
use crate::id::{JobId, KeyId, LeaseId, RunId, RunnerId};
use crate::lease::{
    Event, JobRecord, LabelRecord, LeaseClock, LeaseRecord, Rows, RunRecord, WorkerRecord,
};
use crate::message::{Label, Tag};
use crate::store::row::{number, read, read_job, text};
use crate::store::{StoreError, Tables};
use crate::time::{LeaseTime, Millis};
use serde::de::DeserializeOwned;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, PgPool, Row};
use std::collections::BTreeSet;

/// The sets of tags that somebody waits for, each found behind the one before it.
macro_rules! sets {
    () => {
        "WITH RECURSIVE sets AS (
            (SELECT tag_set, tags FROM job WHERE waiting ORDER BY tag_set LIMIT 1)
            UNION ALL
            SELECT next.tag_set, next.tags FROM sets CROSS JOIN LATERAL (
                SELECT tag_set, tags FROM job WHERE waiting AND tag_set > sets.tag_set
                ORDER BY tag_set LIMIT 1
            ) next
        )"
    };
}

/// Jobs of one of them that nothing holds back.
macro_rules! free {
    () => {
        "FROM job j JOIN run r ON r.run_id = j.run_id
        WHERE j.waiting AND j.tag_set = sets.tag_set AND j.tags = sets.tags
            AND j.not_before <= $1 AND (j.late IS NULL OR j.late > $3) AND r.room
            AND NOT EXISTS (SELECT 1 FROM label l WHERE l.label = ANY (j.labels) AND NOT l.room)"
    };
}

/// The rule of the queue (see [`crate::lease::Queue`]) in SQL: jobs for a runner, the next one first.
/// Runs that somebody else is at are passed over; so more are looked at than are wanted, but no more are locked.
const PICK: &str = concat!(
    sets!(),
    " SELECT next.seq, next.labels, r.record FROM (
        SELECT one.seq, one.priority, one.labels, one.run_id FROM sets CROSS JOIN LATERAL (
            SELECT j.seq, j.priority, j.labels, j.run_id ",
    free!(),
    "       ORDER BY j.priority DESC, j.seq LIMIT $4 * 4
        ) one
        WHERE sets.tags <@ $2 ORDER BY one.priority DESC, one.seq LIMIT $4 * 4
    ) next JOIN run r ON r.run_id = next.run_id
    WHERE r.room ORDER BY next.priority DESC, next.seq LIMIT $4 FOR UPDATE OF r SKIP LOCKED"
);
/// The same for when all that were looked at are somebody else's: however many those are, what is behind them is
/// found. It may lock more runs than are taken.
const PICK_BEHIND: &str = concat!(
    sets!(),
    " SELECT next.seq, next.labels, next.record FROM sets CROSS JOIN LATERAL (
        SELECT j.seq, j.priority, j.labels, r.record ",
    free!(),
    "   ORDER BY j.priority DESC, j.seq LIMIT $4 FOR UPDATE OF r SKIP LOCKED
    ) next
    WHERE sets.tags <@ $2 ORDER BY next.priority DESC, next.seq LIMIT $4"
);
/// Whether there is any, somebody else's included.
const ANY: &str = concat!(
    sets!(),
    " SELECT EXISTS (SELECT 1 FROM sets CROSS JOIN LATERAL (SELECT 1 ",
    free!(),
    " LIMIT 1) any_job WHERE sets.tags <@ $2)"
);

/// What the end of some jobs can touch. All of it stays as it is from a run's submission on, so it
/// may be looked up before anything is locked.
#[derive(Debug, Default)]
pub(super) struct Near {
    pub(super) runs: BTreeSet<String>,
    /// The labels of the jobs.
    pub(super) labels: BTreeSet<String>,
    /// The jobs' places: those that end, and all that need them.
    pub(super) jobs: BTreeSet<i64>,
}

pub(super) fn records<T: DeserializeOwned>(
    rows: &[PgRow],
    table: &'static str,
) -> Result<Vec<T>, Trouble> {
    Ok(rows.iter().map(|row| read(table, row.get(0))).collect::<Result<_, _>>()?)
}

pub(super) fn jobs(rows: &[PgRow]) -> Result<Vec<JobRecord>, Trouble> {
    let job = |row: &PgRow| read_job(row.get(0), row.get(1), row.get(2));
    Ok(rows.iter().map(job).collect::<Result<_, _>>()?)
}

/// The database's time, its lease clock, and numbers for so many submissions.
pub(super) async fn clock(
    sql: &mut PgConnection,
    submissions: usize,
    order: Order,
) -> Result<(Millis, LeaseClock, Vec<i64>), Trouble> {
    let query =
        "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, wall, lease, resumed,
        ARRAY(SELECT nextval('job_block') FROM generate_series(1, $1)),
        set_config('enable_sort', $2, true) FROM clock";
    let sort = match order {
        Order::Index => "off",
        Order::Any => "on",
    };
    let query = sqlx::query(query).bind(number(submissions as u64)).bind(sort);
    let row = query.fetch_one(sql).await?;
    let (now, clock) = read_clock(&row);
    Ok((now, clock, row.get(4)))
}

/// The database's time and its lease clock, from a row that begins with them.
pub(super) fn read_clock(row: &PgRow) -> (Millis, LeaseClock) {
    let time = |index: usize| row.get::<i64, _>(index).unsigned_abs();
    let (wall, lease, resumed) = (Millis(time(1)), LeaseTime(time(2)), LeaseTime(time(3)));
    (Millis(time(0)), LeaseClock { wall, lease, resumed })
}

/// Leases by their ids, and those that runners have. Nothing is locked.
pub(super) async fn leases(
    sql: &mut PgConnection,
    ids: &BTreeSet<LeaseId>,
    runners: &BTreeSet<RunnerId>,
) -> Result<Vec<LeaseRecord>, Trouble> {
    let query = "SELECT record FROM lease WHERE lease_id = ANY ($1)
        UNION SELECT record FROM lease WHERE runner_id = ANY ($2) AND due IS NOT NULL";
    let ids: Vec<String> = ids.iter().map(|id| id.as_str().to_owned()).collect();
    let runners: Vec<String> = runners.iter().map(|id| id.as_str().to_owned()).collect();
    records(&sqlx::query(query).bind(ids).bind(runners).fetch_all(sql).await?, "lease")
}

/// What the end of these jobs can touch.
pub(super) async fn near<'a>(
    sql: &mut PgConnection,
    of: impl IntoIterator<Item = &'a str>,
) -> Result<Near, Trouble> {
    let of: Vec<String> = of.into_iter().map(str::to_owned).collect();
    if of.is_empty() {
        return Ok(Near::default());
    }
    let query = r#"
        WITH RECURSIVE after AS (
            SELECT unnest($1::text[]) COLLATE "C" AS job_id
            UNION SELECT n.job_id FROM need n JOIN after a ON n.needed = a.job_id
        )
        SELECT j.seq, j.run_id, j.labels FROM after a JOIN job j ON j.job_id = a.job_id"#;
    let mut near = Near::default();
    for row in sqlx::query(query).bind(of).fetch_all(sql).await? {
        near.jobs.insert(row.get(0));
        near.runs.insert(row.get(1));
        near.labels.extend(row.get::<Vec<String>, _>(2));
    }
    Ok(near)
}

/// Machines whose runners ask for work.
pub(super) async fn machines(
    sql: &mut PgConnection,
    events: &[&Event],
) -> Result<Vec<WorkerRecord>, Trouble> {
    let keys: BTreeSet<KeyId> = events
        .iter()
        .filter_map(|event| match event {
            Event::Lease { request, .. } => request.runner_id.key(),
            _ => None,
        })
        .collect();
    if keys.is_empty() {
        return Ok(vec![]);
    }
    let keys: Vec<String> = keys.iter().map(|key| key.as_str().to_owned()).collect();
    let query = "SELECT record FROM worker WHERE id = ANY ($1)";
    records(&sqlx::query(query).bind(keys).fetch_all(sql).await?, "worker")
}

pub(super) async fn runs(
    sql: &mut PgConnection,
    tables: &mut Tables,
    ids: impl IntoIterator<Item = String>,
) -> Result<(), Trouble> {
    let ids: Vec<String> = ids.into_iter().collect();
    if !ids.is_empty() {
        let query = "SELECT record FROM run WHERE run_id = ANY ($1) ORDER BY run_id FOR UPDATE";
        put_runs(tables, &sqlx::query(query).bind(ids).fetch_all(sql).await?)?;
    }
    Ok(())
}

/// Locks those runs that nobody else is at, and gives their ids.
pub(super) async fn free_runs(
    sql: &mut PgConnection,
    tables: &mut Tables,
    ids: impl IntoIterator<Item = String>,
) -> Result<BTreeSet<RunId>, Trouble> {
    let query =
        "SELECT record FROM run WHERE run_id = ANY ($1) ORDER BY run_id FOR UPDATE SKIP LOCKED";
    let ids: Vec<String> = ids.into_iter().collect();
    let rows = sqlx::query(query).bind(ids).fetch_all(sql).await?;
    put_runs(tables, &rows)?;
    Ok(tables.runs().map(|run| run.run_id.clone()).collect())
}

pub(super) fn put_runs(tables: &mut Tables, rows: &[PgRow]) -> Result<(), Trouble> {
    records(rows, "run")?.into_iter().for_each(|run: RunRecord| tables.put_run(run));
    Ok(())
}

pub(super) struct Wish<'a> {
    pub(super) tags: &'a BTreeSet<Tag>,
    /// So many jobs at most.
    pub(super) most: usize,
    /// They were put off: others are in the way, and what is behind these is worth a longer look.
    pub(super) again: bool,
}

/// Picks jobs for a wish and locks their runs; further rows to lock are added to `near`. Returns false if no job
/// matches, not even one that another transaction has locked.
pub(super) async fn pick(
    sql: &mut PgConnection,
    tables: &mut Tables,
    near: &mut Near,
    now: &LeaseClock,
    Wish { tags, most, again }: Wish<'_>,
) -> Result<bool, Trouble> {
    let tags: Vec<String> = tags.iter().map(|tag| tag.as_str().to_owned()).collect();
    if picked(sql, tables, near, PICK, now, &tags, most).await? {
        return Ok(true);
    }
    let any = sqlx::query_scalar(ANY)
        .bind(number(now.lease.0))
        .bind(&tags)
        .bind(number(now.wall.0))
        .fetch_one(&mut *sql)
        .await?;
    if any && again {
        // Whether or not: somebody has what there is, and may leave some of it.
        let _ = picked(sql, tables, near, PICK_BEHIND, now, &tags, most).await?;
    }
    Ok(any)
}

/// What one of the queries above finds; whether it finds anything.
async fn picked(
    sql: &mut PgConnection,
    tables: &mut Tables,
    near: &mut Near,
    pick: &'static str,
    now: &LeaseClock,
    tags: &[String],
    most: usize,
) -> Result<bool, Trouble> {
    let query = sqlx::query(pick).bind(number(now.lease.0)).bind(tags);
    let query = query.bind(number(now.wall.0)).bind(number(most as u64));
    let rows = query.fetch_all(sql).await?;
    for row in &rows {
        near.jobs.insert(row.get(0));
        near.labels.extend(row.get::<Vec<String>, _>(1));
        tables.put_run(read("run", row.get(2))?);
    }
    Ok(!rows.is_empty())
}

/// How work is picked, at first and behind others. Prepared, as it is when it is used: such plans are made without
/// the values.
pub(super) async fn pick_plans(pool: &PgPool) -> Result<[Vec<String>; 2], StoreError> {
    Ok([plan(pool, PICK).await?, plan(pool, PICK_BEHIND).await?])
}

async fn plan(pool: &PgPool, pick: &str) -> Result<Vec<String>, StoreError> {
    let mut sql = pool.begin().await?;
    let prepare = format!("PREPARE pick (bigint, text[], bigint, bigint) AS {pick}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(prepare)).execute(&mut *sql).await?;
    let explain = "EXPLAIN (ANALYZE, TIMING OFF) EXECUTE pick (9000000000000, '{}', 0, 64)";
    let plan = sqlx::raw_sql(explain).fetch_all(&mut *sql).await?;
    sqlx::raw_sql("DEALLOCATE pick").execute(&mut *sql).await?;
    Ok(plan.iter().map(|row| row.get(0)).collect())
}

/// Labels, locked. A row that is not there cannot be locked, so missing ones are inserted; `remove_unused_labels`
/// (`solo.rs`) removes those that end up without limit and use.
pub(super) async fn labels(
    sql: &mut PgConnection,
    tables: &mut Tables,
    names: impl IntoIterator<Item = String>,
) -> Result<(), Trouble> {
    let names: Vec<String> = names.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    if names.is_empty() {
        return Ok(());
    }
    let mut plain = Vec::new();
    for name in &names {
        let label = Label::new(name).map_err(|e| StoreError::Database(e.to_string()))?;
        plain.push(text("label", &LabelRecord { label, limit: None, in_use: 0 })?);
    }
    let query = "INSERT INTO label (label, room, record)
        SELECT name, true, plain FROM unnest ($1::text[], $2::text[]) AS new (name, plain)
        ON CONFLICT (label) DO UPDATE SET label = excluded.label RETURNING record";
    let rows = sqlx::query(query).bind(names).bind(plain).fetch_all(sql).await?;
    records(&rows, "label")?.into_iter().for_each(|label: LabelRecord| tables.put_label(label));
    Ok(())
}

pub(super) async fn locked_jobs(
    sql: &mut PgConnection,
    tables: &mut Tables,
    places: impl IntoIterator<Item = i64>,
) -> Result<(), Trouble> {
    let places: Vec<i64> = places.into_iter().collect();
    if places.is_empty() {
        return Ok(());
    }
    let query = "SELECT seq, fixed, changing FROM job WHERE seq = ANY ($1) ORDER BY seq FOR UPDATE";
    let rows = sqlx::query(query).bind(places).fetch_all(sql).await?;
    jobs(&rows)?.into_iter().for_each(|job| tables.put_job(job));
    Ok(())
}

/// Locks leases, and gives them as they are now.
pub(super) async fn locked_leases(
    sql: &mut PgConnection,
    ids: impl IntoIterator<Item = &LeaseId>,
) -> Result<Vec<LeaseRecord>, Trouble> {
    let ids: Vec<String> = ids.into_iter().map(|id| id.as_str().to_owned()).collect();
    if ids.is_empty() {
        return Ok(vec![]);
    }
    let query = "SELECT record FROM lease WHERE lease_id = ANY ($1) ORDER BY lease_id FOR UPDATE";
    records(&sqlx::query(query).bind(ids).fetch_all(sql).await?, "lease")
}

/// Jobs as they are, not locked: for what never changes, and a fence that only rises.
pub(super) async fn seen_jobs(
    sql: &mut PgConnection,
    tables: &mut Tables,
    ids: BTreeSet<JobId>,
) -> Result<(), Trouble> {
    if ids.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = ids.iter().map(|id| id.as_str().to_owned()).collect();
    let query = "SELECT seq, fixed, changing FROM job WHERE job_id = ANY ($1)";
    let rows = sqlx::query(query).bind(ids).fetch_all(sql).await?;
    jobs(&rows)?.into_iter().for_each(|job| tables.put_job(job));
    Ok(())
}

/// A run as it is, not locked.
pub(super) async fn seen_run(
    sql: &mut PgConnection,
    tables: &mut Tables,
    id: &RunId,
) -> Result<(), Trouble> {
    let query = "SELECT record FROM run WHERE run_id = $1";
    put_runs(tables, &sqlx::query(query).bind(id.as_str()).fetch_all(sql).await?)
}

/// Runs that were submitted with these keys.
pub(super) async fn keys(
    sql: &mut PgConnection,
    tables: &mut Tables,
    keys: impl IntoIterator<Item = &String>,
) -> Result<(), Trouble> {
    let keys: Vec<String> = keys.into_iter().cloned().collect();
    if !keys.is_empty() {
        let query = "SELECT record FROM run WHERE key = ANY ($1)";
        put_runs(tables, &sqlx::query(query).bind(keys).fetch_all(sql).await?)?;
    }
    Ok(())
}

/// Leases that may be over, but for those of some runs, by the times that are kept beside them: these are never
/// too late, but may be too early.
pub(super) async fn due(
    sql: &mut PgConnection,
    now: LeaseTime,
    most: usize,
    without: &[String],
) -> Result<Vec<LeaseRecord>, Trouble> {
    let due = "SELECT record FROM lease WHERE due <= $1 AND NOT (run_id = ANY ($3))
        ORDER BY due, lease_id LIMIT $2";
    let query = sqlx::query(due).bind(number(now.0)).bind(number(most as u64)).bind(without);
    records(&query.fetch_all(sql).await?, "lease")
}

/// Jobs that nobody has and that it is too late for, but for those of some runs, and their runs.
pub(super) async fn late(
    sql: &mut PgConnection,
    now: Millis,
    most: usize,
    without: &[String],
) -> Result<Vec<(String, String)>, Trouble> {
    let late = "SELECT job_id, run_id FROM job WHERE late <= $1 AND NOT (run_id = ANY ($3))
        ORDER BY late, job_id LIMIT $2";
    let query = sqlx::query(late).bind(number(now.0)).bind(number(most as u64)).bind(without);
    Ok(query.fetch_all(sql).await?.iter().map(|row| (row.get(0), row.get(1))).collect())
}
