//! Rows on disk: keys as columns, what nobody asks SQL for as JSON.

use super::super::journal::Changes;
use super::super::row::{changing, fixed, number, read, read_job, rest, text};
use super::{StoreError, Tables};
use crate::id::{Fence, JobId};
use crate::lease::{LabelRecord, LeaseClock, LeaseRecord, Rows, RunRecord, WorkerRecord};
use crate::message::{Label, LogChunk};
use futures::TryStreamExt;
use serde::de::DeserializeOwned;
use sqlx::{Connection, QueryBuilder, Row, Sqlite, SqliteConnection};

/// The layout of the file, in its `user_version`.
const VERSION: i64 = 3;

/// Nothing is looked up here by anything while the store runs: rows are in memory. So keys are chosen
/// for the disk: by the place of the job among all jobs. What is alive at one time then shares pages,
/// and a batch writes few of them; with the random lease ids as keys every row was a page of its own.
const SCHEMA: &str = "
PRAGMA user_version = 3;
CREATE TABLE clock (id INTEGER PRIMARY KEY, record TEXT NOT NULL);
CREATE TABLE run (seq INTEGER PRIMARY KEY, record TEXT NOT NULL);
CREATE TABLE job (seq INTEGER PRIMARY KEY, fixed TEXT NOT NULL, changing TEXT NOT NULL);
CREATE TABLE lease (
    seq INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (seq, fence)
) WITHOUT ROWID;
CREATE TABLE worker (id TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE label (label TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE log (
    seq INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    number INTEGER NOT NULL,
    byte_offset INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (seq, fence, number)
) WITHOUT ROWID;
";

/// A log from an offset on. Pieces have numbers without a gap, and each begins where the one before it ends: the
/// one that an offset is in is found by halves, and not by reading all that come before it.
const LOG: &str = "
WITH RECURSIVE half (low, high) AS (
    SELECT 0, max(number) FROM log WHERE seq = $1 AND fence = $2
    UNION ALL
    SELECT CASE WHEN byte_offset <= $3 THEN number ELSE low END,
        CASE WHEN byte_offset <= $3 THEN high ELSE number - 1 END
    FROM half JOIN log ON seq = $1 AND fence = $2 AND number = (low + high + 1) / 2
    WHERE low < high
)
SELECT byte_offset, data FROM log
WHERE seq = $1 AND fence = $2 AND number >= (SELECT low FROM half WHERE low >= high)
ORDER BY number";

/// Rows in one statement: five columns each stay far below SQLite's limit of 32,766 values.
const STATEMENT_ROWS_MAX: usize = 1_000;

/// A new file gets its tables; a file of another version is not touched.
pub(super) async fn migrate(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let version: i64 =
        sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *connection).await?;
    match version {
        VERSION => Ok(()),
        0 => {
            let mut transaction = connection.begin().await?;
            sqlx::raw_sql(SCHEMA).execute(&mut *transaction).await?;
            Ok(transaction.commit().await?)
        }
        _ => Err(StoreError::Database(format!(
            "its version is {version}, not {VERSION}; use another folder, or the program that wrote it"
        ))),
    }
}

pub(super) async fn load(connection: &mut SqliteConnection) -> Result<Tables, StoreError> {
    let mut tables = Tables::default();
    // Before the leases, whose ends depend on it.
    for clock in records::<LeaseClock>(connection, "clock", "SELECT record FROM clock").await? {
        tables.set_clock(clock);
    }
    for run in records::<RunRecord>(connection, "run", "SELECT record FROM run").await? {
        tables.put_run(run);
    }
    for label in records::<LabelRecord>(connection, "label", "SELECT record FROM label").await? {
        tables.put_label(label);
    }
    for worker in records::<WorkerRecord>(connection, "worker", "SELECT record FROM worker").await?
    {
        tables.put_worker(worker);
    }
    let jobs = "SELECT seq, fixed, changing FROM job ORDER BY seq";
    for row in sqlx::query(jobs).fetch_all(&mut *connection).await? {
        tables.put_job(read_job(row.get(0), row.get(1), row.get(2))?);
    }
    for lease in records::<LeaseRecord>(connection, "lease", "SELECT record FROM lease").await? {
        tables.put_lease(lease);
    }
    Ok(tables)
}

/// A grant's log from an offset on.
pub(super) async fn log(
    connection: &mut SqliteConnection,
    seq: u64,
    fence: Fence,
    offset: u64,
    bytes: usize,
) -> Result<Vec<u8>, StoreError> {
    let mut rows = sqlx::query(LOG)
        .bind(number(seq))
        .bind(number(fence.0))
        .bind(number(offset))
        .fetch(connection);
    let mut log = Vec::new();
    while log.len() < bytes
        && let Some(row) = rows.try_next().await?
    {
        log.extend(rest(row.get(0), row.get(1), offset));
    }
    Ok(log)
}

async fn records<T: DeserializeOwned>(
    connection: &mut SqliteConnection,
    table: &'static str,
    query: &'static str,
) -> Result<Vec<T>, StoreError> {
    let rows = sqlx::query(query).fetch_all(&mut *connection).await?;
    rows.iter().map(|row| read(table, row.get(0))).collect()
}

/// Rows as the disk is to have them. Made at once after the decisions; the rows in memory may change
/// again before they are written.
pub(super) struct Ready {
    clock: String,
    runs: Vec<(i64, String)>,
    /// Without a record if nothing is known of it any more.
    labels: Vec<(String, Option<String>)>,
    workers: Vec<(String, String)>,
    jobs: Vec<(i64, String, String)>,
    leases: Vec<(i64, i64, String)>,
    logs: Vec<(i64, i64, LogChunk)>,
    forgotten: Vec<i64>,
}

/// What there is to write; nothing, if nothing changed and the clock alone need not be written.
pub(super) fn ready(
    tables: &Tables,
    changes: Changes,
    clock_alone: bool,
) -> Result<Option<Ready>, StoreError> {
    if changes.is_empty() && !clock_alone {
        return Ok(None);
    }
    Ok(Some(Ready {
        clock: text("clock", &tables.clock())?,
        runs: runs(tables, &changes)?,
        labels: labels(tables, &changes)?,
        workers: workers(tables, &changes)?,
        jobs: jobs(tables, &changes)?,
        leases: leases(tables, &changes)?,
        logs: logs(tables, changes.logs),
        forgotten: changes
            .forgotten
            .iter()
            .flat_map(|(_, seqs)| seqs)
            .map(|seq| number(*seq))
            .collect(),
    }))
}

/// A run is kept under the place of its first job.
fn runs(tables: &Tables, changes: &Changes) -> Result<Vec<(i64, String)>, StoreError> {
    let mut rows = Vec::with_capacity(changes.runs.len());
    for run in changes.runs.iter().filter_map(|id| tables.run_row(id)) {
        let Some(first) = tables.first_job(&run.run_id) else { continue };
        rows.push((number(first.seq), text("run", run)?));
    }
    Ok(rows)
}

fn labels(tables: &Tables, changes: &Changes) -> Result<Vec<(String, Option<String>)>, StoreError> {
    let row = |label: &Label| {
        let record = Some(tables.label(label)).filter(|record| !record.is_plain());
        let record = record.map(|record| text("label", &record)).transpose()?;
        Ok((label.as_str().to_owned(), record))
    };
    changes.labels.iter().map(row).collect()
}

fn workers(tables: &Tables, changes: &Changes) -> Result<Vec<(String, String)>, StoreError> {
    let workers = changes.workers.iter().filter_map(|id| tables.worker(id));
    workers
        .map(|worker| Ok((worker.key.id().as_str().to_owned(), text("worker", &worker)?)))
        .collect()
}

fn jobs(tables: &Tables, changes: &Changes) -> Result<Vec<(i64, String, String)>, StoreError> {
    let mut rows = Vec::with_capacity(changes.jobs.len());
    for (id, new) in &changes.jobs {
        let Some(job) = tables.job_row(id) else { continue };
        // Of a job that is there already only `changing` is written; the rest is not even made.
        let fixed = if *new { fixed(job)? } else { String::new() };
        rows.push((number(job.seq), fixed, changing(job)?));
    }
    rows.sort_unstable_by_key(|(seq, _, _)| *seq);
    Ok(rows)
}

fn leases(tables: &Tables, changes: &Changes) -> Result<Vec<(i64, i64, String)>, StoreError> {
    let mut rows = Vec::with_capacity(changes.leases.len());
    for lease in changes.leases.iter().filter_map(|id| tables.lease_row(id)) {
        let Some(job) = tables.job_row(&lease.job_id) else { continue };
        rows.push((number(job.seq), number(lease.fence.0), text("lease", lease)?));
    }
    rows.sort_unstable_by_key(|(seq, fence, _)| (*seq, *fence));
    Ok(rows)
}

fn logs(tables: &Tables, pieces: Vec<(JobId, Fence, LogChunk)>) -> Vec<(i64, i64, LogChunk)> {
    let row = |(job, fence, piece): (JobId, Fence, LogChunk)| {
        Some((number(tables.job_row(&job)?.seq), number(fence.0), piece))
    };
    pieces.into_iter().filter_map(row).collect()
}

/// Writes them in one transaction. When it returns, the disk has it.
///
/// All statements are one text: the driver has a thread of its own, and the disk idles during every round trip to
/// it. On failure the transaction stays open, and the connection must be discarded.
pub(super) async fn write(
    connection: Option<&mut SqliteConnection>,
    ready: Option<Ready>,
) -> Result<(), StoreError> {
    let Some(ready) = ready else { return Ok(()) };
    let connection = connection.ok_or(StoreError::Closed)?;
    // Where a transaction is still open this is refused. A savepoint would become a part of it.
    let mut query = QueryBuilder::<Sqlite>::new("BEGIN IMMEDIATE; ");
    query.push("INSERT INTO clock (id, record) VALUES (0, ").push_bind(ready.clock);
    query.push(") ON CONFLICT (id) DO UPDATE SET record = excluded.record; ");
    put_runs(&mut query, ready.runs);
    put_labels(&mut query, ready.labels);
    put_workers(&mut query, ready.workers);
    put_jobs(&mut query, ready.jobs);
    put_leases(&mut query, ready.leases);
    put_logs(&mut query, ready.logs);
    forget(&mut query, &ready.forgotten);
    query.push("COMMIT");
    // Not kept prepared: there is one for each number of rows.
    query.build().persistent(false).execute(connection).await?;
    Ok(())
}

/// As many rows as go into one statement, again and again.
fn statements<T>(rows: Vec<T>) -> impl Iterator<Item = Vec<T>> {
    let mut rows = rows.into_iter();
    std::iter::from_fn(move || {
        let next: Vec<T> = rows.by_ref().take(STATEMENT_ROWS_MAX).collect();
        (!next.is_empty()).then_some(next)
    })
}

fn put_runs(query: &mut QueryBuilder<Sqlite>, rows: Vec<(i64, String)>) {
    for chunk in statements(rows) {
        query.push("INSERT INTO run (seq, record) ");
        query.push_values(chunk, |mut row, (seq, record)| {
            row.push_bind(seq).push_bind(record);
        });
        query.push(" ON CONFLICT (seq) DO UPDATE SET record = excluded.record; ");
    }
}

fn put_labels(query: &mut QueryBuilder<Sqlite>, rows: Vec<(String, Option<String>)>) {
    for (label, record) in rows {
        match record {
            Some(record) => {
                query.push("INSERT INTO label (label, record) VALUES (").push_bind(label);
                query.push(", ").push_bind(record);
                query.push(") ON CONFLICT (label) DO UPDATE SET record = excluded.record; ");
            }
            None => {
                query.push("DELETE FROM label WHERE label = ").push_bind(label).push("; ");
            }
        }
    }
}

fn put_workers(query: &mut QueryBuilder<Sqlite>, rows: Vec<(String, String)>) {
    for (id, record) in rows {
        query.push("INSERT INTO worker (id, record) VALUES (").push_bind(id);
        query.push(", ").push_bind(record);
        query.push(") ON CONFLICT (id) DO UPDATE SET record = excluded.record; ");
    }
}

fn put_jobs(query: &mut QueryBuilder<Sqlite>, rows: Vec<(i64, String, String)>) {
    for chunk in statements(rows) {
        query.push("INSERT INTO job (seq, fixed, changing) ");
        query.push_values(chunk, |mut row, (seq, fixed, changing)| {
            row.push_bind(seq).push_bind(fixed).push_bind(changing);
        });
        query.push(" ON CONFLICT (seq) DO UPDATE SET changing = excluded.changing; ");
    }
}

fn put_leases(query: &mut QueryBuilder<Sqlite>, rows: Vec<(i64, i64, String)>) {
    for chunk in statements(rows) {
        query.push("INSERT INTO lease (seq, fence, record) ");
        query.push_values(chunk, |mut row, (seq, fence, record)| {
            row.push_bind(seq).push_bind(fence).push_bind(record);
        });
        query.push(" ON CONFLICT (seq, fence) DO UPDATE SET record = excluded.record; ");
    }
}

fn put_logs(query: &mut QueryBuilder<Sqlite>, rows: Vec<(i64, i64, LogChunk)>) {
    for chunk in statements(rows) {
        query.push("INSERT INTO log (seq, fence, number, byte_offset, data) ");
        query.push_values(chunk, |mut row, (seq, fence, piece)| {
            row.push_bind(seq).push_bind(fence).push_bind(number(piece.number));
            row.push_bind(number(piece.offset)).push_bind(piece.data);
        });
        query.push("; ");
    }
}

fn forget(query: &mut QueryBuilder<Sqlite>, seqs: &[i64]) {
    for chunk in seqs.chunks(STATEMENT_ROWS_MAX) {
        for table in ["run", "job", "lease", "log"] {
            query.push("DELETE FROM ").push(table).push(" WHERE seq IN ");
            query.push_tuples(chunk, |mut row, seq| {
                row.push_bind(*seq);
            });
            query.push("; ");
        }
    }
}
