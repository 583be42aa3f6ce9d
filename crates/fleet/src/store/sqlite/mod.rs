//! Rows in an SQLite file: the default, for one orchestrator on one machine.
//!
//! One task owns the file and the rows. It takes every event that waits, decides about all of them
//! in memory, writes the rows that changed in one transaction, waits until the disk has them, and
//! only then answers. While the disk works the next batch gathers and is decided about: the busier
//! the fleet, the fewer transactions per event. Reads return what is on the disk, rows from a copy ([`readers`]) and
//! logs from the file, and do not delay decisions.
//!
//! If a transaction fails, memory is ahead of the disk. Then every event of that batch, and of the batch decided
//! on top of it, gets an error, and the rows are reloaded over a new connection.

mod readers;
mod rows;
mod writer;

use super::{Counts, JobRows, RunCursor, RunRows, Store, StoreError, Tables};
use crate::http::tls_error;
use crate::id::{Fence, JobId, KeyId, RunId};
use crate::lease::{Event, Handled, LabelRecord, LeaseClock, Policy, RunRecord, WorkerRecord};
use crate::message::Tag;
use crate::time::Millis;
use readers::Readers;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, SqliteConnection};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use writer::{Ask, Writer};

/// Events that may wait. More than a batch, so that the next one is full when the disk is done.
const WAITING_MAX: usize = 8_192;
/// Logs that are read at the same time.
const READERS_MAX: u32 = 4;

/// A store in a file.
#[derive(Debug)]
pub struct Sqlite {
    asks: mpsc::Sender<Ask>,
    writer: JoinHandle<()>,
    readers: Readers,
    outage_after: Duration,
}

impl Sqlite {
    /// Opens the file, or makes it. Nobody else can open it meanwhile: two orchestrators over one file would each decide without the other.
    pub async fn open(path: &Path, policy: Policy, now: Millis) -> Result<Self, StoreError> {
        let logs = SqliteConnectOptions::new().filename(path).read_only(true);
        let logs = SqlitePoolOptions::new()
            .max_connections(READERS_MAX)
            .connect_lazy_with(logs.disable_statement_logging());
        let (teller, readers) = Readers::start(logs);
        let outage_after = policy.outage_after();
        let mut writer = Writer::open(path, policy, teller).await?;
        writer.start(now).await?;
        let (asks, waiting) = mpsc::channel(WAITING_MAX);
        let writer = tokio::spawn(writer.run(waiting));
        Ok(Self { asks, writer, readers, outage_after })
    }

    pub(super) fn is_open(&self) -> bool {
        !self.writer.is_finished()
    }

    /// Finishes what waits and lets go of the file.
    pub async fn close(self) -> Result<(), StoreError> {
        drop(self.asks);
        self.readers.close().await;
        self.writer.await.map_err(|_| StoreError::Closed)
    }
}

/// Takes the file for this process. Not by a lock on the file itself: closing any descriptor of that would let go of
/// the locks that SQLite has on it.
fn lock(path: &Path) -> Result<File, StoreError> {
    let failed = |error: io::Error| StoreError::Database(error.to_string());
    // For its owner only, and so are the files that SQLite makes beside it: jobs' variables are in it.
    let private = |path: &Path| OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    let mut name = path.to_owned().into_os_string();
    name.push(".lock");
    let lock = private(Path::new(&name)).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let text =
                "another orchestrator has this file open; end that one, or use another folder";
            return Err(StoreError::Database(text.to_owned()));
        }
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    private(path).map_err(failed)?;
    Ok(lock)
}

async fn connect(path: &Path) -> Result<SqliteConnection, StoreError> {
    let mut connection = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        // FULL: a transaction that was answered is on the disk, not in a cache of it.
        .synchronous(SqliteSynchronous::Full)
        // 8 MiB: what is written over costs the disk less than what grows, so growing is to end soon. But pages that
        // change often are copied into the file once in a while, and not all the time.
        .pragma("wal_autocheckpoint", "2048")
        // Statements of many rows keep what they change until they are done: not in a file.
        .pragma("temp_store", "MEMORY")
        // Nobody wants to read a batch.
        .disable_statement_logging()
        .connect()
        .await?;
    rows::migrate(&mut connection).await?;
    Ok(connection)
}

impl Store for Sqlite {
    async fn handle(&self, now: Millis, event: Event) -> Result<Handled, StoreError> {
        let (answer, answered) = oneshot::channel();
        let ask = Ask { now, event: Box::new(event), answer };
        self.asks.send(ask).await.map_err(|_| StoreError::Closed)?;
        answered.await.map_err(|_| StoreError::Closed)?
    }

    async fn time(&self, now: Millis) -> Result<LeaseClock, StoreError> {
        let mut clock = self.readers.clock();
        clock.observe(now, self.outage_after);
        Ok(clock)
    }

    async fn log(
        &self,
        job: &JobId,
        fence: Fence,
        offset: u64,
        bytes: usize,
    ) -> Result<Vec<u8>, StoreError> {
        self.readers.log(job, fence, offset, bytes).await
    }

    async fn run(&self, id: &RunId) -> Result<Option<RunRows>, StoreError> {
        self.readers.run(id).await
    }

    async fn runs(
        &self,
        before: Option<RunCursor>,
        most: usize,
    ) -> Result<Vec<RunRecord>, StoreError> {
        self.readers.runs(before, most).await
    }

    async fn job(&self, id: &JobId) -> Result<Option<JobRows>, StoreError> {
        self.readers.job(id).await
    }

    async fn worker(&self, id: &KeyId) -> Result<Option<WorkerRecord>, StoreError> {
        self.readers.worker(id).await
    }

    async fn machines(&self, most: usize) -> Result<Vec<WorkerRecord>, StoreError> {
        self.readers.machines(most).await
    }

    async fn labels(&self, most: usize) -> Result<Vec<LabelRecord>, StoreError> {
        self.readers.labels(most).await
    }

    async fn open_jobs(&self, most: usize) -> Result<Vec<JobRows>, StoreError> {
        self.readers.open_jobs(most).await
    }

    async fn waiting(
        &self,
        now: Millis,
        most: usize,
    ) -> Result<Vec<(JobId, BTreeSet<Tag>)>, StoreError> {
        let now = self.time(now).await?;
        self.readers.waiting(now.lease, most).await
    }

    async fn counts(&self) -> Result<Counts, StoreError> {
        self.readers.counts().await
    }

    async fn snapshot(&self) -> Result<Tables, StoreError> {
        self.readers.snapshot().await
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let no_tls = match &error {
            sqlx::Error::Tls(why) => Some(why.to_string()),
            sqlx::Error::Io(error) => tls_error(error).map(ToString::to_string),
            _ => None,
        };
        match no_tls {
            Some(why) => Self::Database(format!(
                "TLS to the database server failed: {why}; for a private authority add sslrootcert=FILE to the URL, or \
                 sslmode=disable to connect without encryption"
            )),
            None => Self::Database(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_store_whose_owner_is_gone_is_closed() {
        let folder = std::env::temp_dir().join(format!("fleet-closed-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let opened = Sqlite::open(&folder.join("fleet.db"), Policy::default(), Millis(1)).await;
        let store = opened.expect("a store");
        assert!(store.is_open());
        store.writer.abort();
        while store.is_open() {
            tokio::task::yield_now().await;
        }
        let asked = store.handle(Millis(2), Event::Sweep).await;
        assert!(matches!(asked, Err(StoreError::Closed)), "{asked:?}");
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    #[tokio::test]
    async fn the_disk_is_waited_for() {
        let folder = std::env::temp_dir().join(format!("fleet-sync-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut connection = connect(&folder.join("fleet.db")).await.expect("a file");
        let mode: String = sqlx::query_scalar("PRAGMA journal_mode")
            .fetch_one(&mut connection)
            .await
            .expect("sql");
        let sync: i64 =
            sqlx::query_scalar("PRAGMA synchronous").fetch_one(&mut connection).await.expect("sql");
        assert_eq!((mode.as_str(), sync), ("wal", 2));
        drop(connection);
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
