//! Rows on disk: keys as columns, what nobody asks SQL for as JSON.

use super::super::journal::Changes;
use super::{StoreError, Tables};
use crate::id::{Attempt, Fence, JobId, RunId};
use crate::lease::{JobRecord, LabelRecord, LeaseRecord, Rows, RunRecord, Standing};
use crate::message::JobSubmission;
use crate::time::Millis;
use futures::TryStreamExt;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sqlx::{Connection, QueryBuilder, Row, Sqlite, SqliteConnection};
use std::sync::Arc;

/// The layout of the file, in its `user_version`.
const VERSION: i64 = 1;

/// Every key is a primary key without a rowid beside it: a heartbeat finds its row by one search and
/// changes nothing but that row.
const SCHEMA: &str = "
CREATE TABLE run (run_id TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE job (
    job_id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    fixed TEXT NOT NULL,
    changing TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE lease (lease_id TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE label (label TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE log (
    job_id TEXT NOT NULL,
    fence INTEGER NOT NULL,
    number INTEGER NOT NULL,
    byte_offset INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (job_id, fence, number)
) WITHOUT ROWID;
";

/// Rows in one statement: five columns each stay far below SQLite's limit of 32,766 values.
const STATEMENT_ROWS_MAX: usize = 1_000;

/// What of a job never changes, and may be large: written once.
#[derive(Serialize, Deserialize)]
struct Fixed {
    order: JobSubmission,
    needs: Vec<JobId>,
}

/// The rest.
#[derive(Serialize, Deserialize)]
struct Changing {
    needs_open: u32,
    attempt: Attempt,
    fence: Fence,
    losses: u32,
    not_before: Millis,
    standing: Standing,
}

/// A new file gets its tables; a file of another version is not touched.
pub(super) async fn migrate(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let version: i64 =
        sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *connection).await?;
    match version {
        VERSION => Ok(()),
        0 => {
            let mut transaction = connection.begin().await?;
            sqlx::raw_sql(SCHEMA).execute(&mut *transaction).await?;
            sqlx::raw_sql("PRAGMA user_version = 1").execute(&mut *transaction).await?;
            Ok(transaction.commit().await?)
        }
        _ => Err(StoreError::Database(format!("its version is {version}, not {VERSION}"))),
    }
}

fn corrupt(table: &'static str) -> impl Fn(serde_json::Error) -> StoreError {
    move |error| StoreError::Corrupt { table, why: error.to_string() }
}

fn text<T: Serialize>(table: &'static str, value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(corrupt(table))
}

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Reads every row.
pub(super) async fn load(connection: &mut SqliteConnection) -> Result<Tables, StoreError> {
    let mut tables = Tables::default();
    for run in records::<RunRecord>(connection, "run", "SELECT record FROM run").await? {
        tables.put_run(run);
    }
    for label in records::<LabelRecord>(connection, "label", "SELECT record FROM label").await? {
        tables.put_label(label);
    }
    let jobs = "SELECT job_id, run_id, seq, fixed, changing FROM job ORDER BY seq";
    for row in sqlx::query(jobs).fetch_all(&mut *connection).await? {
        let fixed: Fixed = serde_json::from_str(row.get(3)).map_err(corrupt("job"))?;
        let changing: Changing = serde_json::from_str(row.get(4)).map_err(corrupt("job"))?;
        let bad = |why: String| StoreError::Corrupt { table: "job", why };
        tables.put_job(JobRecord {
            job_id: JobId::new(row.get(0)).map_err(|error| bad(error.to_string()))?,
            run_id: RunId::new(row.get(1)).map_err(|error| bad(error.to_string()))?,
            seq: u64::try_from(row.get::<i64, _>(2)).map_err(|error| bad(error.to_string()))?,
            order: Arc::new(fixed.order),
            needs: fixed.needs,
            needs_open: changing.needs_open,
            attempt: changing.attempt,
            fence: changing.fence,
            losses: changing.losses,
            not_before: changing.not_before,
            standing: changing.standing,
        });
    }
    for lease in records::<LeaseRecord>(connection, "lease", "SELECT record FROM lease").await? {
        tables.put_lease(lease);
    }
    Ok(tables)
}

/// A grant's log from an offset on.
pub(super) async fn log(
    connection: &mut SqliteConnection,
    job: &JobId,
    fence: Fence,
    offset: u64,
    bytes: usize,
) -> Result<Vec<u8>, StoreError> {
    let pieces = "SELECT byte_offset, data FROM log
        WHERE job_id = $1 AND fence = $2 AND byte_offset + length(data) > $3 ORDER BY number";
    let mut rows = sqlx::query(pieces)
        .bind(job.as_str().to_owned())
        .bind(number(fence.0))
        .bind(number(offset))
        .fetch(connection);
    let mut log = Vec::new();
    while log.len() < bytes
        && let Some(row) = rows.try_next().await?
    {
        let data: Vec<u8> = row.get(1);
        let before = offset.saturating_sub(row.get::<i64, _>(0).unsigned_abs());
        log.extend(data.into_iter().skip(usize::try_from(before).unwrap_or(usize::MAX)));
    }
    Ok(log)
}

async fn records<T: DeserializeOwned>(
    connection: &mut SqliteConnection,
    table: &'static str,
    query: &'static str,
) -> Result<Vec<T>, StoreError> {
    let rows = sqlx::query(query).fetch_all(&mut *connection).await?;
    rows.iter().map(|row| serde_json::from_str(row.get(0)).map_err(corrupt(table))).collect()
}

/// Writes what changed, in one transaction. When it returns, the disk has it.
pub(super) async fn save(
    connection: &mut SqliteConnection,
    tables: &Tables,
    changes: Changes,
) -> Result<(), StoreError> {
    if changes.is_empty() {
        return Ok(());
    }
    let mut transaction = connection.begin().await?;
    let runs = changes.runs.iter().filter_map(|id| tables.run(id));
    let runs = runs.map(|run| Ok((run.run_id.as_str().to_owned(), text("run", &run)?)));
    put(&mut transaction, "run", "run_id", runs.collect::<Result<_, StoreError>>()?).await?;
    let labels = changes.labels.iter().map(|label| tables.label(label));
    let labels = labels.map(|l| Ok((l.label.as_str().to_owned(), text("label", &l)?)));
    put(&mut transaction, "label", "label", labels.collect::<Result<_, StoreError>>()?).await?;
    let leases = changes.leases.iter().filter_map(|id| tables.lease(id));
    let leases = leases.map(|l| Ok((l.lease_id.as_str().to_owned(), text("lease", &l)?)));
    put(&mut transaction, "lease", "lease_id", leases.collect::<Result<_, StoreError>>()?).await?;
    put_jobs(&mut transaction, tables, &changes).await?;
    for chunk in changes.logs.chunks(STATEMENT_ROWS_MAX) {
        let mut query = QueryBuilder::<Sqlite>::new("INSERT INTO log ");
        query.push_values(chunk, |mut row, (job, fence, piece)| {
            row.push_bind(job.as_str().to_owned());
            row.push_bind(number(fence.0));
            row.push_bind(number(piece.number));
            row.push_bind(number(piece.offset));
            row.push_bind(piece.data.clone());
        });
        query.build().persistent(false).execute(&mut *transaction).await?;
    }
    Ok(transaction.commit().await?)
}

async fn put(
    connection: &mut SqliteConnection,
    table: &'static str,
    key: &'static str,
    records: Vec<(String, String)>,
) -> Result<(), StoreError> {
    for chunk in records.chunks(STATEMENT_ROWS_MAX) {
        let mut query =
            QueryBuilder::<Sqlite>::new(format!("INSERT INTO {table} ({key}, record) "));
        query.push_values(chunk, |mut row, (key, record)| {
            row.push_bind(key.clone());
            row.push_bind(record.clone());
        });
        query.push(format!(" ON CONFLICT ({key}) DO UPDATE SET record = excluded.record"));
        // Not kept prepared: there is one for each number of rows.
        query.build().persistent(false).execute(&mut *connection).await?;
    }
    Ok(())
}

async fn put_jobs(
    connection: &mut SqliteConnection,
    tables: &Tables,
    changes: &Changes,
) -> Result<(), StoreError> {
    let mut rows = Vec::with_capacity(changes.jobs.len());
    for (id, new) in &changes.jobs {
        let Some(job) = tables.job(id) else { continue };
        // Of a job that is there already only `changing` is written; the rest is not even made.
        let fixed = match new {
            true => text("job", &Fixed { order: (*job.order).clone(), needs: job.needs.clone() })?,
            false => String::new(),
        };
        let changing = Changing {
            needs_open: job.needs_open,
            attempt: job.attempt,
            fence: job.fence,
            losses: job.losses,
            not_before: job.not_before,
            standing: job.standing,
        };
        rows.push((job.job_id, job.run_id, job.seq, fixed, text("job", &changing)?));
    }
    for chunk in rows.chunks(STATEMENT_ROWS_MAX) {
        let mut query =
            QueryBuilder::<Sqlite>::new("INSERT INTO job (job_id, run_id, seq, fixed, changing) ");
        query.push_values(chunk, |mut row, (job, run, seq, fixed, changing)| {
            row.push_bind(job.as_str().to_owned());
            row.push_bind(run.as_str().to_owned());
            row.push_bind(number(*seq));
            row.push_bind(fixed.clone());
            row.push_bind(changing.clone());
        });
        query.push(" ON CONFLICT (job_id) DO UPDATE SET changing = excluded.changing");
        query.build().persistent(false).execute(&mut *connection).await?;
    }
    Ok(())
}
