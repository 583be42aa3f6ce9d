//! Rows in PostgreSQL, for several orchestrators side by side.
//!
//! Events that wait at the same time are decided in one transaction ([`batch`]): it looks up what they are about,
//! locks the rows that they can touch, lets the rules decide in memory, and writes back what changed. Locks are
//! always taken in the same order (run, labels, jobs, leases). A transaction that conflicts anyway, by a deadlock
//! or a row that appeared meanwhile, rolls back and is retried.
//!
//! Work is picked with `SKIP LOCKED`: while one orchestrator grants a job of a run, another looks at
//! other runs. The time is the database's: orchestrators' clocks decide nothing. The lease clock is in one row, which
//! sweeps move on every second; each transaction begins by reading it. What becomes ready is
//! told to the others afterwards ([`Hearing`]).

mod batch;
mod keys;
mod limits;
mod load;
mod news;
mod read;
mod rows;
mod save;
mod schema;
mod solo;
mod writer;

pub use news::Hearing;

use super::{Counts, JobRows, RunCursor, RunRows, Store, StoreError, Tables};
use crate::auth::random_hex;
use crate::http::is_this_machine;
use crate::id::{Fence, JobId, KeyId, RunId};
use crate::lease::{
    Action, Event, Handled, LabelRecord, LeaseClock, Policy, RunRecord, WorkerRecord,
};
use crate::message::Tag;
use crate::time::Millis;
use keys::Keys;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgSslMode};
use sqlx::{PgConnection, PgPool};
use std::collections::BTreeSet;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::error::Elapsed;
use tokio::time::timeout;
use writer::{Ask, TRIES_MAX, Turn};

/// Batches at the same time: while one waits for the disk, the next is decided. More of them would be smaller.
const WRITERS: usize = 2;
/// Wishes of people that are decided at the same time. Each may wait for others, and nobody who beats waits for it.
const WISHES: usize = 3;
/// Connections of one orchestrator for all who write: those, its sweeps, the crier, and who listens to others.
const CONNECTIONS_MAX: u32 = WRITERS as u32 + WISHES as u32 + 3;
/// And for people who look, of whom there may be many: nobody who beats waits for them.
const READERS_MAX: u32 = 8;
/// And for keys that are shown, which anybody may: nothing is decided later for that.
const KEY_CONNECTIONS: u32 = 1;
const WAITING_MAX: usize = 8_192;

/// Everything here is found by a key, or in the order of an index, however full the tables are. They
/// grow from nothing within seconds, and plans that were made for other sizes would stay.
const PLANNER: [(&str, &str); 6] = [
    ("plan_cache_mode", "force_generic_plan"),
    ("enable_seqscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    // It would read all that waits to find the few that are next. So would a sort, but most others
    // need one: only those who ask for work go without ([`Order`]).
    ("enable_bitmapscan", "off"),
    ("jit", "off"),
];

/// Bounds how long an abandoned session can hold locks.
const LIMITS: [(&str, &str); 6] = [
    ("idle_in_transaction_session_timeout", "5s"),
    // Longer than it takes until those who are gone are ended.
    ("lock_timeout", "10s"),
    // For those to whom the server is still talking. They mean nothing to sockets of the same machine.
    ("tcp_keepalives_idle", "5"),
    ("tcp_keepalives_interval", "2"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "10s"),
];

/// Whose clock counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// The database's, as it must be where orchestrators share one.
    Database,
    /// The caller's: for tests that make their own time.
    Caller,
}

#[derive(Debug)]
pub struct Postgres {
    core: Arc<Core>,
    readers: PgPool,
    keys: Keys,
    asks: mpsc::Sender<Ask>,
    writers: Vec<JoinHandle<()>>,
    crier: JoinHandle<()>,
}

/// Client-side transaction timeout. A half-open connection is otherwise never detected.
const TRANSACTION_MAX: Duration = Duration::from_secs(30);
/// As long takes an orderly end.
const CLOSING_MAX: Duration = Duration::from_secs(10);
/// The same for what is forgotten, of which there may be very much at once.
const FORGETTING_MAX: Duration = Duration::from_secs(1_800);

/// What all transactions share.
#[derive(Debug)]
struct Core {
    pool: PgPool,
    policy: Policy,
    time: Time,
    name: String,
    /// Where it leaves what others should know.
    crier: mpsc::Sender<String>,
    wishes: Semaphore,
    /// Whose turn it is to gather and to decide (see [`writer`]).
    turn: Arc<Mutex<()>>,
}

/// How a transaction's queries get their rows into order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// By an index alone: what is next is found without all that waits.
    Index,
    /// As the planner likes: of few rows it finds all, and sorts them.
    Any,
}

/// What a transaction begins with.
struct Begin {
    /// The lease clock, as the database has it.
    stored: LeaseClock,
    /// And as it is now.
    now: LeaseClock,
    /// Numbers for new jobs.
    blocks: Vec<i64>,
}

/// Classes of errors that a server which is well may have with one row and not with another.
const UNTAKEN: [&str; 5] = ["22", "53100", "54", "58", "XX"];

/// Why an event was not decided.
#[derive(Debug)]
enum Trouble {
    /// Somebody was in the way: once more.
    Again,
    /// The database does not take this, but may take something else.
    Untaken(StoreError),
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
        // A deadlock, a serialisation failure, a lock that somebody had for too long, and a key that somebody else
        // wrote meanwhile.
        let code = error.as_database_error().and_then(|error| error.code());
        match code.as_deref() {
            Some("40P01" | "40001" | "55P03" | "23505") => Self::Again,
            // It has no room for it, cannot read it, or does not know what it is.
            Some(code) if UNTAKEN.iter().any(|class| code.starts_with(class)) => {
                Self::Untaken(error.into())
            }
            _ => Self::Store(error.into()),
        }
    }
}

/// What became of a transaction that had so much time and no more.
fn with_deadline<T>(
    connection: PoolConnection<sqlx::Postgres>,
    decided: Result<Result<T, Trouble>, Elapsed>,
) -> Result<T, Trouble> {
    decided.unwrap_or_else(|_| {
        // Among the others it would be asked whether it is well, and that would be waited for.
        drop(connection.detach());
        let error = "there is no answer; whether it was done is not known";
        Err(StoreError::Database(error.to_owned()).into())
    })
}

impl Core {
    /// Reads the lease clock, and takes numbers for so many submissions.
    async fn begin(
        &self,
        sql: &mut PgConnection,
        given: Millis,
        submissions: usize,
        order: Order,
    ) -> Result<Begin, Trouble> {
        let (clock, stored, blocks) = load::clock(sql, submissions, order).await?;
        let mut now = stored;
        now.follow(self.wall(clock, given), self.policy.outage_after());
        Ok(Begin { stored, now, blocks })
    }

    fn wall(&self, database: Millis, given: Millis) -> Millis {
        match self.time {
            Time::Database => database,
            Time::Caller => given,
        }
    }

    /// Notifies other orchestrators of work that their runners may wait for. Drops the notice if the queue is full:
    /// the others also poll.
    fn tell<'a>(&self, actions: impl Iterator<Item = &'a Action>) {
        if let Some(text) = news::text(&self.name, actions) {
            let _ = self.crier.try_send(text);
        }
    }

    async fn connection(&self) -> Result<PoolConnection<sqlx::Postgres>, Trouble> {
        self.pool.acquire().await.map_err(Trouble::from)
    }

    /// Decides about an event that has a transaction of its own.
    async fn once(&self, given: Millis, event: &Event) -> Result<Handled, Trouble> {
        let most = match event {
            Event::Forget { .. } => FORGETTING_MAX,
            _ => TRANSACTION_MAX,
        };
        let mut sql = self.connection().await?;
        let decided = timeout(most, solo::decide(self, &mut sql, given, event)).await;
        with_deadline(sql, decided)
    }

    /// Decides about events together; `again` says that some of them were put off before.
    async fn together(
        &self,
        given: Millis,
        events: &[&Event],
        again: bool,
        turn: Option<Turn>,
    ) -> Result<Vec<Option<Handled>>, Trouble> {
        let mut sql = self.connection().await?;
        let decided = batch::decide(self, &mut sql, given, events, again, turn);
        let decided = timeout(TRANSACTION_MAX, decided).await;
        with_deadline(sql, decided)
    }

    async fn solo(&self, given: Millis, event: &Event) -> Result<Handled, StoreError> {
        let _turn = match event {
            Event::Start | Event::Sweep | Event::Forget { .. } => None,
            _ => Some(self.wishes.acquire().await.map_err(|_| StoreError::Closed)?),
        };
        for tries in 0..TRIES_MAX {
            match self.once(given, event).await {
                Ok(handled) => return Ok(handled),
                Err(Trouble::Store(error) | Trouble::Untaken(error)) => return Err(error),
                Err(Trouble::Again) => {}
            }
            // The more often, the further apart those who are in each other's way.
            let pause = tries.saturating_sub(5).min(50);
            tokio::time::sleep(Duration::from_millis(pause.into())).await;
        }
        Err(writer::contention())
    }
}

/// Reads a URL. What goes to another machine goes over TLS to a server whose certificate is believed, unless the URL
/// has an `sslmode` of its own: the driver's default takes any certificate, or none.
fn options(url: &str) -> Result<PgConnectOptions, StoreError> {
    let options = PgConnectOptions::from_str(url)?;
    let host = options.get_host();
    let local = options.get_socket().is_some() || host.starts_with('/') || is_this_machine(host);
    let chosen = url.contains("sslmode=") || url.contains("ssl-mode=");
    match local || chosen || std::env::var_os("PGSSLMODE").is_some() {
        true => Ok(options),
        false => Ok(options.ssl_mode(PgSslMode::VerifyFull)),
    }
}

impl Postgres {
    /// Connects, makes the tables if there are none, and starts the lease clock.
    pub async fn open(
        url: &str,
        policy: Policy,
        time: Time,
        now: Millis,
    ) -> Result<Self, StoreError> {
        let options = options(url)?.options(PLANNER).options(LIMITS);
        let most = |connections| PgPoolOptions::new().max_connections(connections);
        let pool = most(CONNECTIONS_MAX).connect_with(options.clone()).await?;
        let readers = most(READERS_MAX).connect_lazy_with(options.clone());
        let keys = most(KEY_CONNECTIONS).connect_lazy_with(options);
        let keys = Keys::start(move |ids| read::workers(keys.clone(), ids));
        schema::migrate(&pool).await?;
        let name = random_hex::<8>();
        let (crier, left) = news::crier();
        let crying = tokio::spawn(news::cry(pool.clone(), left));
        // Rows are the database's; of what a batch loads, nothing is kept. Nor is it all that there is: nobody
        // is to be refused for what others have in the same batch.
        let policy = Policy {
            rows_bytes_max: u64::MAX,
            logs_bytes_max: u64::MAX,
            objects_bytes_max: u64::MAX,
            tag_sets_max: usize::MAX,
            ..policy
        };
        let wishes = Semaphore::new(WISHES);
        let turn = Arc::default();
        let core = Arc::new(Core { pool, policy, time, name, crier, wishes, turn });
        // Its answer says nothing.
        let _ = core.solo(now, &Event::Start).await?;
        let (asks, waiting) = mpsc::channel(WAITING_MAX);
        let waiting = Arc::new(Mutex::new(waiting));
        let writer = |_| tokio::spawn(writer::run(core.clone(), waiting.clone()));
        let writers = (0..WRITERS).map(writer).collect();
        Ok(Self { core, readers, keys, asks, writers, crier: crying })
    }

    /// What other orchestrators of the same database tell.
    pub async fn hearing(&self) -> Result<Hearing, StoreError> {
        Hearing::open(&self.core.pool, &self.core.name).await
    }

    /// The plans by which work is picked, as they are made for every pick. For tests: a plan that reads all that
    /// waits is found out by nothing else until much waits.
    #[doc(hidden)]
    pub async fn pick_plans(&self) -> Result<[Vec<String>; 2], StoreError> {
        load::pick_plans(&self.core.pool).await
    }

    pub(super) fn is_open(&self) -> bool {
        !self.writers.iter().any(JoinHandle::is_finished)
    }

    /// Finishes what waits and lets go of the connections.
    pub async fn close(self) {
        drop(self.asks);
        for writer in self.writers {
            // One that panicked has nothing to finish.
            let _ = writer.await;
        }
        let pool = self.core.pool.clone();
        // With the last of those who tell, the crier ends.
        drop(self.core);
        let _ = self.crier.await;
        // An unreachable server must not delay the shutdown: closing has a time limit.
        let closing = async {
            self.readers.close().await;
            pool.close().await;
        };
        let _ = timeout(CLOSING_MAX, closing).await;
    }
}

impl Store for Postgres {
    async fn handle(&self, now: Millis, event: Event) -> Result<Handled, StoreError> {
        if !batch::is_common(&event) {
            return self.core.solo(now, &event).await;
        }
        let (answer, answered) = oneshot::channel();
        let ask = Ask { given: now, event: Box::new(event), answer, tries: 0 };
        self.asks.send(ask).await.map_err(|_| StoreError::Closed)?;
        answered.await.map_err(|_| StoreError::Closed)?
    }

    async fn time(&self, now: Millis) -> Result<LeaseClock, StoreError> {
        let (database, mut clock) = read::clock(&self.readers).await?;
        clock.follow(self.core.wall(database, now), self.core.policy.outage_after());
        Ok(clock)
    }

    async fn log(
        &self,
        job: &JobId,
        fence: Fence,
        offset: u64,
        bytes: usize,
    ) -> Result<Vec<u8>, StoreError> {
        read::log(&self.readers, job, fence, offset, bytes).await
    }

    async fn run(&self, id: &RunId) -> Result<Option<RunRows>, StoreError> {
        read::run(&self.readers, id).await
    }

    async fn runs(
        &self,
        before: Option<RunCursor>,
        most: usize,
    ) -> Result<Vec<RunRecord>, StoreError> {
        read::runs(&self.readers, before, most).await
    }

    async fn job(&self, id: &JobId) -> Result<Option<JobRows>, StoreError> {
        read::job(&self.readers, id).await
    }

    async fn worker(&self, id: &KeyId) -> Result<Option<WorkerRecord>, StoreError> {
        // Every heartbeat looks up a key, which must not queue behind the reads of pages and APIs.
        self.keys.find(id).await
    }

    async fn machines(&self, most: usize) -> Result<Vec<WorkerRecord>, StoreError> {
        read::machines(&self.readers, most).await
    }

    async fn labels(&self, most: usize) -> Result<Vec<LabelRecord>, StoreError> {
        read::labels(&self.readers, most).await
    }

    async fn waiting(
        &self,
        now: Millis,
        most: usize,
    ) -> Result<Vec<(JobId, BTreeSet<Tag>)>, StoreError> {
        let now = self.time(now).await?;
        read::waiting(&self.readers, now.lease, most).await
    }

    async fn open_jobs(&self, most: usize) -> Result<Vec<JobRows>, StoreError> {
        read::open_jobs(&self.readers, most).await
    }

    async fn counts(&self) -> Result<Counts, StoreError> {
        limits::counts(&self.readers).await
    }

    async fn snapshot(&self) -> Result<Tables, StoreError> {
        read::snapshot(&self.readers).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_on_another_machine_is_reached_by_verified_tls_unless_its_url_says_otherwise() {
        let mode = |url: &str| options(url).expect("a URL").get_ssl_mode();
        for far in ["postgres://fleet@db/fleet", "postgres://fleet@10.0.0.1:5432/fleet"] {
            assert!(matches!(mode(far), PgSslMode::VerifyFull), "{far}");
        }
        for near in ["postgres://fleet@localhost/fleet", "postgres:///fleet?host=/run/postgresql"] {
            assert!(matches!(mode(near), PgSslMode::Prefer), "{near}");
        }
        assert!(matches!(mode("postgres://db/fleet?sslmode=disable"), PgSslMode::Disable));
    }
}
