//! The tables.

use super::Trouble;
use crate::lease::LeaseClock;
use crate::store::StoreError;
use crate::store::row::number;
use sqlx::{PgConnection, PgPool};

/// The layout, in the table `clock`.
const VERSION: i32 = 5;

/// The lease clock is written so often, if sweeps do not.
const CLOCK_MS: u64 = 1_000;

/// Orchestrators that start together make the tables once.
const LOCK: i64 = 0x7265_6d75_6461;

/// Keys that are compared are compared as bytes, so that they sort here as they do in the program.
/// A lease's id is its primary key: heartbeats find their row by it and by nothing else. Rows that change often have
/// room on their page for the next version of themselves: then no index is touched.
const SCHEMA: &str = r#"
-- One row. The lease clock: see `lease::LeaseClock`.
CREATE TABLE clock (
    version INTEGER NOT NULL,
    wall BIGINT NOT NULL,
    lease BIGINT NOT NULL,
    resumed BIGINT NOT NULL
);
INSERT INTO clock VALUES (5, 0, 0, 0);
-- A run has at most a thousand jobs: each submission has a block of numbers to itself.
CREATE SEQUENCE job_block;
CREATE TABLE run (
    run_id TEXT COLLATE "C" PRIMARY KEY,
    key TEXT COLLATE "C" UNIQUE,
    created BIGINT NOT NULL,
    ended BIGINT,
    room BOOLEAN NOT NULL,
    record TEXT NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX run_newest ON run (created, run_id);
CREATE INDEX run_ended ON run (ended) WHERE ended IS NOT NULL;
CREATE TABLE job (
    seq BIGINT PRIMARY KEY,
    job_id TEXT COLLATE "C" NOT NULL UNIQUE,
    run_id TEXT COLLATE "C" NOT NULL,
    priority SMALLINT NOT NULL,
    tags TEXT[] NOT NULL,
    -- A short name of the set of tags.
    tag_set TEXT COLLATE "C" NOT NULL,
    labels TEXT[] NOT NULL,
    waiting BOOLEAN NOT NULL,
    -- On the lease clock.
    not_before BIGINT NOT NULL,
    -- When it ends by itself unless a runner has it by then.
    late BIGINT,
    fixed TEXT NOT NULL,
    changing TEXT NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX job_queue ON job (priority DESC, seq) WHERE waiting;
CREATE INDEX job_set ON job (tag_set, priority DESC, seq) WHERE waiting;
CREATE INDEX job_late ON job (late) WHERE late IS NOT NULL;
CREATE INDEX job_run ON job (run_id, seq);
CREATE TABLE need (
    needed TEXT COLLATE "C" NOT NULL,
    job_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (needed, job_id)
);
CREATE TABLE label (
    label TEXT COLLATE "C" PRIMARY KEY,
    room BOOLEAN NOT NULL,
    record TEXT NOT NULL
);
CREATE TABLE lease (
    lease_id TEXT COLLATE "C" PRIMARY KEY,
    job_id TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL,
    fence BIGINT NOT NULL,
    runner_id TEXT COLLATE "C" NOT NULL,
    -- Not later than when something happens to it by itself, on the lease clock; none once it has ended.
    due BIGINT,
    record TEXT NOT NULL
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX lease_runner ON lease (runner_id) WHERE due IS NOT NULL;
CREATE INDEX lease_due ON lease (due) WHERE due IS NOT NULL;
CREATE UNIQUE INDEX lease_job ON lease (job_id, fence);
CREATE INDEX lease_run ON lease (run_id);
CREATE TABLE log (
    job_id TEXT COLLATE "C" NOT NULL,
    fence BIGINT NOT NULL,
    number BIGINT NOT NULL,
    byte_offset BIGINT NOT NULL,
    data BYTEA NOT NULL,
    PRIMARY KEY (job_id, fence, number)
);
CREATE TABLE worker (id TEXT COLLATE "C" PRIMARY KEY, record TEXT NOT NULL);
"#;

/// An empty database gets its tables; one of another version is not touched.
pub(super) async fn migrate(pool: &PgPool) -> Result<(), StoreError> {
    let mut sql = pool.begin().await?;
    // A concurrent migration may take longer than `lock_timeout`: wait for it without a limit.
    sqlx::query("SET LOCAL lock_timeout = 0").execute(&mut *sql).await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(LOCK).execute(&mut *sql).await?;
    let there: bool =
        sqlx::query_scalar("SELECT to_regclass('clock') IS NOT NULL").fetch_one(&mut *sql).await?;
    if !there {
        sqlx::raw_sql(SCHEMA).execute(&mut *sql).await?;
    }
    let find = "SELECT version FROM clock";
    let version: i32 = sqlx::query_scalar(find).fetch_one(&mut *sql).await?;
    if version != VERSION {
        return Err(StoreError::Database(format!(
            "its version is {version}, not {VERSION}; use another database, or the program that wrote it"
        )));
    }
    Ok(sql.commit().await?)
}

/// Keeps the lease clock, unless it has moved since it was read.
pub(super) async fn keep(
    sql: &mut PgConnection,
    stored: LeaseClock,
    now: LeaseClock,
) -> Result<(), Trouble> {
    write(sql, KEEP, stored, now).await
}

/// The same, if it is time for it, and without waiting for others who do so.
pub(super) async fn keep_sometimes(
    sql: &mut PgConnection,
    stored: LeaseClock,
    now: LeaseClock,
) -> Result<(), Trouble> {
    match now.wall.0.abs_diff(stored.wall.0) >= CLOCK_MS {
        true => write(sql, KEEP_IF_FREE, stored, now).await,
        false => Ok(()),
    }
}

const KEEP: &str = "UPDATE clock SET wall = $2, lease = $3, resumed = $4 WHERE wall = $1";
const KEEP_IF_FREE: &str = "UPDATE clock SET wall = $2, lease = $3, resumed = $4 FROM
    (SELECT ctid FROM clock WHERE wall = $1 FOR UPDATE SKIP LOCKED) AS free
    WHERE clock.ctid = free.ctid";

async fn write(
    sql: &mut PgConnection,
    keep: &'static str,
    stored: LeaseClock,
    now: LeaseClock,
) -> Result<(), Trouble> {
    let query = sqlx::query(keep).bind(number(stored.wall.0)).bind(number(now.wall.0));
    query.bind(number(now.lease.0)).bind(number(now.resumed.0)).execute(sql).await?;
    Ok(())
}

/// Keeps others from moving the lease clock until the transaction ends.
pub(super) async fn hold(sql: &mut PgConnection) -> Result<(), Trouble> {
    sqlx::query("SELECT wall FROM clock FOR UPDATE").execute(sql).await?;
    Ok(())
}
