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
/// Events decided at a time while the disk works: then it is looked after.
const MEANWHILE_MAX: usize = 64;

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

/// Decided in memory, and not on the disk yet: nobody is told.
#[derive(Default)]
struct Batch {
    asks: usize,
    changes: Changes,
    answers: Vec<(Answer, Handled)>,
    readers: Vec<Ask>,
}

impl Batch {
    fn fail(&mut self, error: &StoreError) {
        for (answer, _) in self.answers.drain(..) {
            let _ = answer.send(Err(StoreError::Database(error.to_string())));
        }
        self.changes = Changes::default();
    }
}

pub(super) struct Writer {
    connection: SqliteConnection,
    decider: Decider,
}

/// The rows in memory, and the rules over them.
struct Decider {
    policy: Policy,
    tables: Tables,
}

impl Writer {
    pub(super) async fn load(
        mut connection: SqliteConnection,
        policy: Policy,
    ) -> Result<Self, StoreError> {
        let tables = rows::load(&mut connection).await?;
        Ok(Self { connection, decider: Decider { policy, tables } })
    }

    pub(super) async fn start(&mut self, now: Millis) -> Result<(), StoreError> {
        let mut changes = Changes::default();
        // Its answer says nothing.
        let _ = self.decider.handle(&mut changes, now, Event::Start);
        let ready = rows::ready(&self.decider.tables, changes)?;
        rows::write(&mut self.connection, ready).await
    }

    /// Until nobody can ask any more.
    pub(super) async fn run(mut self, mut asks: mpsc::Receiver<Ask>) {
        let mut next = Batch::default();
        let mut came = Vec::new();
        loop {
            // Whoever was answered may have something to say at once: into one batch with it.
            tokio::task::yield_now().await;
            if next.asks == 0 && asks.recv_many(&mut came, BATCH_MAX).await == 0 {
                break;
            }
            while next.asks + came.len() < BATCH_MAX
                && let Ok(ask) = asks.try_recv()
            {
                came.push(ask);
            }
            self.decider.decide(&mut next, &mut came);
            let batch = std::mem::take(&mut next);
            if let Err(error) = self.batch(batch, &mut asks, &mut next).await {
                // Every later answer is `Closed`: no decision without rows to decide on.
                tracing::error!(%error, "the fleet's database cannot be read; the store closes");
                return;
            }
        }
        if let Err(error) = self.connection.close().await {
            tracing::warn!(%error, "the fleet's database did not close in order");
        }
    }

    /// Writes a batch, and decides about the next one meanwhile.
    async fn batch(
        &mut self,
        mut batch: Batch,
        asks: &mut mpsc::Receiver<Ask>,
        next: &mut Batch,
    ) -> Result<(), StoreError> {
        let Self { connection, decider } = self;
        let written = match rows::ready(&decider.tables, std::mem::take(&mut batch.changes)) {
            // Who reads is to see what the disk has, and nothing that is only decided.
            Ok(ready) if !batch.readers.is_empty() => rows::write(connection, ready).await,
            Ok(ready) => {
                let write = rows::write(connection, ready);
                decider.decide_during(write, asks, next).await
            }
            Err(error) => Err(error),
        };
        // Whoever asked and went away is not told; what was decided stands.
        match written {
            Ok(()) => {
                for (answer, handled) in batch.answers {
                    let _ = answer.send(Ok(handled));
                }
            }
            Err(error) => {
                let seen = self.decider.tables.seen();
                self.decider.tables = rows::load(&mut self.connection).await?;
                self.decider.tables.set_seen(seen);
                batch.fail(&error);
                // It was decided on rows that are not there.
                next.fail(&error);
            }
        }
        for reader in batch.readers {
            self.read(reader).await;
        }
        Ok(())
    }

    async fn read(&mut self, ask: Ask) {
        let tables = &self.decider.tables;
        match ask {
            Ask::Handle(..) => {}
            Ask::Log(place, answer) => {
                let LogPlace { job, fence, offset, bytes } = place;
                let log = match tables.job(&job) {
                    Some(job) => {
                        rows::log(&mut self.connection, job.seq, fence, offset, bytes).await
                    }
                    None => Ok(Vec::new()),
                };
                let _ = answer.send(log);
            }
            Ask::Read(read) => read(tables),
        }
    }
}

impl Decider {
    fn handle(&mut self, changes: &mut Changes, now: Millis, event: Event) -> Handled {
        let mut journal = Journal { tables: &mut self.tables, changes };
        handle(&mut journal, &self.policy, now, event)
    }

    /// Into the batch.
    fn decide(&mut self, batch: &mut Batch, came: &mut Vec<Ask>) {
        batch.asks += came.len();
        for ask in came.drain(..) {
            match ask {
                // A runner that left would hold what it is granted until its time to acknowledge is over.
                Ask::Handle(_, event, answer)
                    if answer.is_closed() && matches!(*event, Event::Lease { .. }) => {}
                Ask::Handle(now, event, answer) => {
                    let handled = self.handle(&mut batch.changes, now, *event);
                    batch.answers.push((answer, handled));
                }
                reader => batch.readers.push(reader),
            }
        }
    }

    /// Decides about what comes while the disk works.
    async fn decide_during(
        &mut self,
        write: impl Future<Output = Result<(), StoreError>>,
        asks: &mut mpsc::Receiver<Ask>,
        next: &mut Batch,
    ) -> Result<(), StoreError> {
        let mut write = std::pin::pin!(write);
        let mut came = Vec::new();
        let mut closed = false;
        loop {
            let room = (BATCH_MAX - next.asks).min(MEANWHILE_MAX);
            tokio::select! {
                // The disk first: its next statement is not to wait for decisions.
                biased;
                written = &mut write => return written,
                count = asks.recv_many(&mut came, room), if room > 0 && !closed => {
                    closed = count == 0;
                    self.decide(next, &mut came);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
