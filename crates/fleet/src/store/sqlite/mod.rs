//! Rows in an SQLite file: the default, for one orchestrator on one machine.
//!
//! One task owns the file and the rows. It takes every event that waits, decides about all of them
//! in memory, writes the rows that changed in one transaction, waits until the disk has them, and
//! only then answers. While the disk works the next batch gathers and is decided about: the busier
//! the fleet, the fewer transactions per event. Nothing but logs is read from the file while it runs.
//! Whoever reads rows waits for the batch that was decided before, and nothing is decided about
//! meanwhile: what is told is on the disk.
//!
//! If a transaction fails, memory is ahead of the disk. Then nobody of that batch, or of the one that
//! was decided on top of it, is answered with a decision, and the rows are read anew by another connection.

mod rows;
mod writer;

use super::{Counts, JobRows, RunCursor, RunRows, Store, StoreError, Tables};
use crate::id::{Fence, JobId, KeyId, RunId};
use crate::lease::{Event, Handled, LabelRecord, Policy, Rows, RunRecord, WorkerRecord};
use crate::message::Tag;
use crate::time::Millis;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteLockingMode, SqliteSynchronous};
use sqlx::{ConnectOptions, SqliteConnection};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use writer::{Ask, LogPlace, Writer};

/// Events that may wait. More than a batch, so that the next one is full when the disk is done.
const WAITING_MAX: usize = 8_192;

/// A store in a file.
#[derive(Debug)]
pub struct Sqlite {
    asks: mpsc::Sender<Ask>,
    writer: JoinHandle<()>,
}

impl Sqlite {
    /// Opens the file, or makes it, and gives every live lease in it its grace. Nobody else can open
    /// it meanwhile: two orchestrators over one file would each decide without the other.
    pub async fn open(path: &Path, policy: Policy, now: Millis) -> Result<Self, StoreError> {
        let mut writer = Writer::open(path, policy).await?;
        writer.start(now).await?;
        let (asks, waiting) = mpsc::channel(WAITING_MAX);
        let writer = tokio::spawn(writer.run(waiting));
        Ok(Self { asks, writer })
    }

    pub(super) fn is_open(&self) -> bool {
        !self.writer.is_finished()
    }

    /// Finishes what waits and lets go of the file.
    pub async fn close(self) -> Result<(), StoreError> {
        drop(self.asks);
        self.writer.await.map_err(|_| StoreError::Closed)
    }

    async fn ask<T>(&self, ask: Ask, answer: oneshot::Receiver<T>) -> Result<T, StoreError> {
        self.asks.send(ask).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)
    }

    /// What the rows say between two batches.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Tables) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let read = move |tables: &Tables| {
            // Whoever asked and went away is not told.
            let _ = answer.send(read(tables));
        };
        self.ask(Ask::Read(Box::new(read)), answered).await
    }
}

async fn connect(path: &Path) -> Result<SqliteConnection, StoreError> {
    // For its owner only, and so are the files that SQLite makes beside it: jobs' variables are in it.
    let made = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    made.map_err(|error| StoreError::Database(error.to_string()))?;
    let mut connection = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .locking_mode(SqliteLockingMode::Exclusive)
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
        self.ask(Ask::Handle(now, Box::new(event), answer), answered).await?
    }

    async fn log(
        &self,
        job: &JobId,
        fence: Fence,
        offset: u64,
        bytes: usize,
    ) -> Result<Vec<u8>, StoreError> {
        let (answer, answered) = oneshot::channel();
        let place = LogPlace { job: job.clone(), fence, offset, bytes };
        self.ask(Ask::Log(place, answer), answered).await?
    }

    async fn run(&self, id: &RunId) -> Result<Option<RunRows>, StoreError> {
        let id = id.clone();
        self.read(move |tables| tables.run_rows(&id)).await
    }

    async fn runs(
        &self,
        before: Option<RunCursor>,
        most: usize,
    ) -> Result<Vec<RunRecord>, StoreError> {
        self.read(move |tables| tables.newest_runs(before.as_ref(), most)).await
    }

    async fn job(&self, id: &JobId) -> Result<Option<JobRows>, StoreError> {
        let id = id.clone();
        self.read(move |tables| tables.job_rows(&id)).await
    }

    async fn worker(&self, id: &KeyId) -> Result<Option<WorkerRecord>, StoreError> {
        let id = id.clone();
        self.read(move |tables| tables.worker(&id)).await
    }

    async fn machines(&self, most: usize) -> Result<Vec<WorkerRecord>, StoreError> {
        self.read(move |tables| tables.workers().take(most).cloned().collect()).await
    }

    async fn labels(&self, most: usize) -> Result<Vec<LabelRecord>, StoreError> {
        self.read(move |tables| tables.labels().take(most).cloned().collect()).await
    }

    async fn open_jobs(&self, most: usize) -> Result<Vec<JobRows>, StoreError> {
        self.read(move |tables| tables.open_jobs(most)).await
    }

    async fn waiting(
        &self,
        now: Millis,
        most: usize,
    ) -> Result<Vec<(JobId, BTreeSet<Tag>)>, StoreError> {
        self.read(move |tables| tables.waiting_jobs(now, most)).await
    }

    async fn counts(&self) -> Result<Counts, StoreError> {
        self.read(Tables::counts).await
    }

    async fn snapshot(&self) -> Result<Tables, StoreError> {
        self.read(Tables::clone).await
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error.to_string())
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
