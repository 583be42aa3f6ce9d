//! The tables.

use super::Trouble;
use crate::store::StoreError;
use crate::store::row::number;
use crate::time::Millis;
use sqlx::{PgConnection, PgPool};

/// The layout, in the table `clock`.
const VERSION: i32 = 4;

/// Orchestrators that start together make the tables once.
const LOCK: i64 = 0x7265_6d75_6461;

/// Keys that are compared are compared as bytes, so that they sort here as they do in the program.
/// A lease's id is its primary key: heartbeats find their row by it and by nothing else.
const SCHEMA: &str = r#"
CREATE TABLE clock (version INTEGER NOT NULL, seen BIGINT NOT NULL);
INSERT INTO clock VALUES (1, 0);
-- A run has at most a thousand jobs: each submission has a block of numbers to itself.
CREATE SEQUENCE job_block;
CREATE TABLE run (
    run_id TEXT COLLATE "C" PRIMARY KEY,
    key TEXT COLLATE "C" UNIQUE,
    created BIGINT NOT NULL,
    ended BIGINT,
    room BOOLEAN NOT NULL,
    record TEXT NOT NULL
);
CREATE INDEX run_newest ON run (created, run_id);
CREATE INDEX run_ended ON run (ended) WHERE ended IS NOT NULL;
CREATE TABLE job (
    seq BIGINT PRIMARY KEY,
    job_id TEXT COLLATE "C" NOT NULL UNIQUE,
    run_id TEXT COLLATE "C" NOT NULL REFERENCES run,
    priority SMALLINT NOT NULL,
    tags TEXT[] NOT NULL,
    labels TEXT[] NOT NULL,
    waiting BOOLEAN NOT NULL,
    not_before BIGINT NOT NULL,
    fixed TEXT NOT NULL,
    changing TEXT NOT NULL
);
CREATE INDEX job_queue ON job (priority DESC, seq) WHERE waiting;
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
    -- When something happens to it by itself; none once it has ended.
    due BIGINT,
    record TEXT NOT NULL
);
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

/// From version 1. Rows that change often have room on their page for the next version of themselves:
/// then no index is touched. A run and its jobs are written together, so nothing must check that they
/// fit; jobs that need others are found by those, as before.
const SECOND: &str = "
ALTER TABLE lease SET (fillfactor = 50);
ALTER TABLE job SET (fillfactor = 70);
ALTER TABLE run SET (fillfactor = 70);
ALTER TABLE job DROP CONSTRAINT job_run_id_fkey;
UPDATE clock SET version = 2;
";

/// From version 2. Jobs that nobody has may end by themselves.
const THIRD: &str = "
ALTER TABLE job ADD late BIGINT;
UPDATE job SET late = (fixed::json ->> 'not_after')::bigint WHERE changing::json ->> 'standing' = 'Queued';
CREATE INDEX job_late ON job (late) WHERE late IS NOT NULL;
UPDATE clock SET version = 3;
";

/// From version 3. What a runner may have is found by the sets of tags that are waited for, and not by looking at
/// everything that waits for others.
const FOURTH: &str = r#"
ALTER TABLE job ADD tag_set TEXT COLLATE "C";
UPDATE job SET tag_set = encode(sha256(convert_to(array_to_string(tags, E'\n'), 'UTF8')), 'hex');
ALTER TABLE job ALTER tag_set SET NOT NULL;
CREATE INDEX job_set ON job (tag_set, priority DESC, seq) WHERE waiting;
UPDATE clock SET version = 4;
"#;

/// An empty database gets its tables, an older one is brought up to date, and one of another version is
/// not touched.
pub(super) async fn migrate(pool: &PgPool) -> Result<(), StoreError> {
    let mut sql = pool.begin().await?;
    // Whoever starts while another is at it waits, however long that takes.
    sqlx::query("SET LOCAL lock_timeout = 0").execute(&mut *sql).await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(LOCK).execute(&mut *sql).await?;
    let there: bool =
        sqlx::query_scalar("SELECT to_regclass('clock') IS NOT NULL").fetch_one(&mut *sql).await?;
    if !there {
        sqlx::raw_sql(SCHEMA).execute(&mut *sql).await?;
    }
    let find = "SELECT version FROM clock";
    let mut version: i32 = sqlx::query_scalar(find).fetch_one(&mut *sql).await?;
    for (before, change) in [(1, SECOND), (2, THIRD), (3, FOURTH)] {
        if version == before {
            sqlx::raw_sql(change).execute(&mut *sql).await?;
            version += 1;
        }
    }
    if version != VERSION {
        return Err(StoreError::Database(format!("its version is {version}, not {VERSION}")));
    }
    Ok(sql.commit().await?)
}

/// An orchestrator was there at this time.
pub(super) async fn saw(sql: &mut PgConnection, now: Millis) -> Result<(), Trouble> {
    let saw = "UPDATE clock SET seen = $1 WHERE seen < $1";
    sqlx::query(saw).bind(number(now.0)).execute(sql).await?;
    Ok(())
}

/// The same, without waiting for others who say so.
pub(super) async fn saw_if_free(sql: &mut PgConnection, now: Millis) -> Result<(), Trouble> {
    let saw = "UPDATE clock SET seen = $1 FROM
        (SELECT ctid FROM clock WHERE seen < $1 FOR UPDATE SKIP LOCKED) AS free
        WHERE clock.ctid = free.ctid";
    sqlx::query(saw).bind(number(now.0)).execute(sql).await?;
    Ok(())
}

/// Keeps others from saying what time it is, until the transaction ends.
pub(super) async fn hold(sql: &mut PgConnection) -> Result<(), Trouble> {
    sqlx::query("SELECT seen FROM clock FOR UPDATE").execute(sql).await?;
    Ok(())
}

/// It is this time, whatever was said before.
pub(super) async fn is(sql: &mut PgConnection, now: Millis) -> Result<(), Trouble> {
    sqlx::query("UPDATE clock SET seen = $1").bind(number(now.0)).execute(sql).await?;
    Ok(())
}
