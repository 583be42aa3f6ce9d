//! Rows in PostgreSQL, for several orchestrators side by side.
//!
//! An event is one transaction: it loads the few rows that the rules can look at, under locks, lets
//! them decide, and writes back what changed. Locks are always taken in the same order (run, labels,
//! jobs, leases), and heartbeats lock their lease alone. Whoever is in another's way all the same, by
//! a deadlock or a row that appeared meanwhile, starts the event anew: nothing of it has happened.
//!
//! Work is picked with `SKIP LOCKED`: while one orchestrator grants a job of a run, another looks at
//! other runs first. The time is the database's: orchestrators' clocks decide nothing.

mod load;
mod read;
mod save;
mod schema;

use super::journal::{Changes, Journal};
use super::{Counts, JobRows, RunCursor, RunRows, Store, StoreError, Tables};
use crate::id::{Fence, JobId, KeyId, LeaseId, RunId};
use crate::lease::{Action, Event, Handled, Policy, Reply, Rows, RunRecord, WorkerRecord, handle};
use crate::time::Millis;
use load::Loaded;
use sqlx::postgres::PgPoolOptions;
use sqlx::{PgConnection, PgPool, Row};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Connections of one orchestrator: events that are decided at the same time.
const CONNECTIONS_MAX: u32 = 16;
/// How often an event is started anew.
const TRIES_MAX: u32 = 50;

/// Whose clock counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// The database's, as it must be where orchestrators share one.
    Database,
    /// The caller's: for tests that make their own time.
    Caller,
}

/// A store in PostgreSQL.
#[derive(Debug)]
pub struct Postgres {
    pool: PgPool,
    policy: Policy,
    time: Time,
    /// The latest time of any event here. What others saw is in the database.
    seen: AtomicU64,
}

/// Why an event was not decided.
enum Trouble {
    /// Somebody was in the way: once more.
    Again,
    /// It cannot be.
    Store(StoreError),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<sqlx::Error> for Trouble {
    fn from(error: sqlx::Error) -> Self {
        // A deadlock, a serialisation failure, and a key that somebody else wrote meanwhile.
        let code = error.as_database_error().and_then(|error| error.code());
        match code.as_deref() {
            Some("40P01" | "40001" | "23505") => Self::Again,
            _ => Self::Store(error.into()),
        }
    }
}

impl Postgres {
    /// Connects, makes the tables if there are none, and gives every live lease its grace.
    pub async fn open(
        url: &str,
        policy: Policy,
        time: Time,
        now: Millis,
    ) -> Result<Self, StoreError> {
        let pool = PgPoolOptions::new().max_connections(CONNECTIONS_MAX).connect(url).await?;
        schema::migrate(&pool).await?;
        let store = Self { pool, policy, time, seen: AtomicU64::new(0) };
        // Its answer says nothing.
        let _ = store.handle(now, Event::Start).await?;
        Ok(store)
    }

    /// Finishes what waits and lets go of the connections.
    pub async fn close(self) {
        self.pool.close().await;
    }

    /// The time, and the latest that anybody has seen.
    async fn time(
        &self,
        sql: &mut PgConnection,
        given: Millis,
    ) -> Result<(Millis, Millis), Trouble> {
        let clock =
            "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, seen FROM clock";
        let row = sqlx::query(clock).fetch_one(sql).await?;
        let now = match self.time {
            Time::Database => Millis(row.get::<i64, _>(0).unsigned_abs()),
            Time::Caller => given,
        };
        let seen = row.get::<i64, _>(1).unsigned_abs().max(self.seen.load(Ordering::Relaxed));
        self.seen.fetch_max(now.0, Ordering::Relaxed);
        Ok((now, Millis(seen)))
    }

    async fn once(
        &self,
        given: Millis,
        event: &Event,
        actions: &mut Vec<Action>,
    ) -> Result<Handled, Trouble> {
        let mut sql = self.pool.begin().await?;
        let (now, seen) = self.time(&mut sql, given).await?;
        let silence = u64::from(self.policy.outage_after_seconds) * 1_000;
        if *event != Event::Start && seen > Millis(0) && now.0.saturating_sub(seen.0) > silence {
            // Nobody was there: every lease gets its grace before anything is decided.
            drop(sql);
            Box::pin(self.once(given, &Event::Start, actions)).await?;
            return Err(Trouble::Again);
        }
        if *event == Event::Sweep {
            drop(sql);
            return self.sweep(now, seen, actions).await;
        }
        let now = now.max(seen);
        let mut tables = match load::rows(&mut sql, now, event).await? {
            Loaded::Rows(tables) => *tables,
            Loaded::Lapsed(id) => {
                drop(sql);
                self.lapse(now, &id, actions).await?;
                return Err(Trouble::Again);
            }
        };
        tables.set_seen(now);
        let mut changes = Changes::default();
        let mut journal = Journal { tables: &mut tables, changes: &mut changes };
        let handled = handle(&mut journal, &self.policy, now, event.clone());
        save::changes(&mut sql, &tables, &changes).await?;
        if *event == Event::Start {
            schema::saw(&mut sql, now).await?;
        }
        sql.commit().await?;
        Ok(handled)
    }

    /// Ends the leases that are over, each in a transaction of its own: none waits for another.
    async fn sweep(
        &self,
        now: Millis,
        seen: Millis,
        actions: &mut Vec<Action>,
    ) -> Result<Handled, Trouble> {
        let now = now.max(seen);
        schema::saw(&mut *self.pool.acquire().await?, now).await?;
        let most = self.policy.sweep_lapses_max;
        let due = load::due(&mut *self.pool.acquire().await?, now, most).await?;
        let full = due.len() == most;
        let mut lapsed = 0;
        for id in due {
            lapsed += usize::from(self.lapse(now, &id, actions).await?);
        }
        Ok(Handled {
            reply: Ok(Reply::Swept { lapsed, more: full && lapsed > 0 }),
            actions: vec![],
        })
    }

    /// Ends one lease, if it is over: a sweep that sees nothing else. False: somebody else is at it.
    async fn lapse(
        &self,
        now: Millis,
        id: &LeaseId,
        actions: &mut Vec<Action>,
    ) -> Result<bool, Trouble> {
        let mut sql = self.pool.begin().await?;
        let Some(mut tables) = load::lapsing(&mut sql, id).await? else { return Ok(false) };
        tables.set_seen(now);
        let mut changes = Changes::default();
        let mut journal = Journal { tables: &mut tables, changes: &mut changes };
        let handled = handle(&mut journal, &self.policy, now, Event::Sweep);
        save::changes(&mut sql, &tables, &changes).await?;
        sql.commit().await?;
        actions.extend(handled.actions);
        Ok(!changes.is_empty())
    }
}

impl Store for Postgres {
    async fn handle(&self, now: Millis, event: Event) -> Result<Handled, StoreError> {
        let mut actions = Vec::new();
        for tries in 0..TRIES_MAX {
            match self.once(now, &event, &mut actions).await {
                Ok(mut handled) => {
                    actions.append(&mut handled.actions);
                    return Ok(Handled { reply: handled.reply, actions });
                }
                Err(Trouble::Store(error)) => return Err(error),
                // The more often, the further apart those who are in each other's way.
                Err(Trouble::Again) if tries < 5 => {}
                Err(Trouble::Again) => {
                    tokio::time::sleep(Duration::from_millis(tries.into())).await
                }
            }
        }
        Err(StoreError::Database("others were in the way too often".to_owned()))
    }

    async fn log(
        &self,
        job: &JobId,
        fence: Fence,
        offset: u64,
        bytes: usize,
    ) -> Result<Vec<u8>, StoreError> {
        read::log(&self.pool, job, fence, offset, bytes).await
    }

    async fn run(&self, id: &RunId) -> Result<Option<RunRows>, StoreError> {
        read::run(&self.pool, id).await
    }

    async fn runs(
        &self,
        before: Option<RunCursor>,
        most: usize,
    ) -> Result<Vec<RunRecord>, StoreError> {
        read::runs(&self.pool, before, most).await
    }

    async fn job(&self, id: &JobId) -> Result<Option<JobRows>, StoreError> {
        read::job(&self.pool, id).await
    }

    async fn worker(&self, id: &KeyId) -> Result<Option<WorkerRecord>, StoreError> {
        read::worker(&self.pool, id).await
    }

    async fn open_jobs(&self, most: usize) -> Result<Vec<JobRows>, StoreError> {
        read::open_jobs(&self.pool, most).await
    }

    async fn counts(&self) -> Result<Counts, StoreError> {
        read::counts(&self.pool).await
    }

    async fn snapshot(&self) -> Result<Tables, StoreError> {
        read::snapshot(&self.pool).await
    }
}
