//! The owner of the file.

use super::super::journal::{Changes, Journal};
use super::{StoreError, Tables, rows};
use crate::id::{Fence, JobId};
use crate::lease::{Event, Handled, Policy, Rows, handle};
use crate::time::Millis;
use sqlx::{Connection, SqliteConnection};
use tokio::sync::{mpsc, oneshot};

/// Events decided in one transaction at most: a bound on how long the first one waits.
const BATCH_MAX: usize = 1_024;

type Answer = oneshot::Sender<Result<Handled, StoreError>>;

/// What others want of the owner.
pub(super) enum Ask {
    Handle(Millis, Box<Event>, Answer),
    Log(LogPlace, oneshot::Sender<Result<Vec<u8>, StoreError>>),
    Read(Box<dyn FnOnce(&Tables) + Send>),
}

/// A part of a log.
pub(super) struct LogPlace {
    pub(super) job: JobId,
    pub(super) fence: Fence,
    pub(super) offset: u64,
    pub(super) bytes: usize,
}

pub(super) struct Writer {
    connection: SqliteConnection,
    policy: Policy,
    tables: Tables,
}

impl Writer {
    pub(super) async fn load(
        mut connection: SqliteConnection,
        policy: Policy,
    ) -> Result<Self, StoreError> {
        let tables = rows::load(&mut connection).await?;
        Ok(Self { connection, policy, tables })
    }

    pub(super) async fn start(&mut self, now: Millis) -> Result<(), StoreError> {
        let mut changes = Changes::default();
        let mut journal = Journal { tables: &mut self.tables, changes: &mut changes };
        // Its answer says nothing.
        let _ = handle(&mut journal, &self.policy, now, Event::Start);
        rows::save(&mut self.connection, &self.tables, changes).await
    }

    /// Until nobody can ask any more.
    pub(super) async fn run(mut self, mut asks: mpsc::Receiver<Ask>) {
        let mut batch = Vec::new();
        while asks.recv_many(&mut batch, BATCH_MAX).await > 0 {
            if let Err(error) = self.batch(std::mem::take(&mut batch)).await {
                // Every later answer is `Closed`: no decision without rows to decide on.
                tracing::error!(%error, "the fleet's database cannot be read; the store closes");
                return;
            }
            // Whoever was answered may have something to say at once: into one batch with it.
            tokio::task::yield_now().await;
        }
        if let Err(error) = self.connection.close().await {
            tracing::warn!(%error, "the fleet's database did not close in order");
        }
    }

    async fn batch(&mut self, batch: Vec<Ask>) -> Result<(), StoreError> {
        let mut changes = Changes::default();
        let mut answers = Vec::with_capacity(batch.len());
        let mut readers = Vec::new();
        for ask in batch {
            match ask {
                // A runner that left would hold what it is granted until its time to acknowledge is over.
                Ask::Handle(_, event, answer)
                    if answer.is_closed() && matches!(*event, Event::Lease { .. }) => {}
                Ask::Handle(now, event, answer) => {
                    let mut journal = Journal { tables: &mut self.tables, changes: &mut changes };
                    answers.push((answer, handle(&mut journal, &self.policy, now, *event)));
                }
                reader => readers.push(reader),
            }
        }
        // Whoever asked and went away is not told; what was decided stands.
        match rows::save(&mut self.connection, &self.tables, changes).await {
            Ok(()) => {
                for (answer, handled) in answers {
                    let _ = answer.send(Ok(handled));
                }
            }
            Err(error) => {
                let seen = self.tables.seen();
                self.tables = rows::load(&mut self.connection).await?;
                self.tables.set_seen(seen);
                for (answer, _) in answers {
                    let _ = answer.send(Err(StoreError::Database(error.to_string())));
                }
            }
        }
        for reader in readers {
            self.read(reader).await;
        }
        Ok(())
    }

    async fn read(&mut self, ask: Ask) {
        match ask {
            Ask::Handle(..) => {}
            Ask::Log(place, answer) => {
                let LogPlace { job, fence, offset, bytes } = place;
                let log = match self.tables.job(&job) {
                    Some(job) => {
                        rows::log(&mut self.connection, job.seq, fence, offset, bytes).await
                    }
                    None => Ok(Vec::new()),
                };
                let _ = answer.send(log);
            }
            Ask::Read(read) => read(&self.tables),
        }
    }
}
