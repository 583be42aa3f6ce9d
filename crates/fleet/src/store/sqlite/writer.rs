//! The owner of the file.

mod inbox;

use super::super::journal::{Changes, Journal};
use super::readers::{Teller, Update};
use super::{StoreError, Tables, rows};
use crate::lease::{Event, Handled, LeaseClock, Policy, Rows, WrittenClock, handle};
use crate::time::Millis;
use inbox::Inbox;
use sqlx::{Connection, SqliteConnection};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};

/// Events decided in one transaction at most: a bound on how long the first one waits.
const BATCH_MAX: usize = 1_024;
/// Jobs that change in one transaction, about: a submission may have a thousand.
const JOBS_MAX: usize = 4_096;
/// A database that cannot be read is tried again so often.
const BETWEEN_TRIES: Duration = Duration::from_secs(1);
/// Events decided at a time while the disk works: then it is looked after.
const MEANWHILE_MAX: usize = 8;
/// A write that takes longer keeps workers from being heard: nothing more is decided meanwhile.
const STALL: Duration = Duration::from_millis(500);
/// Deciding for longer keeps those waiting who come later, and among them are heartbeats.
const DECIDING_MAX: Duration = Duration::from_millis(if cfg!(test) { 60_000 } else { 100 });
/// Fewer asks than this are one batch.
const HALVES_MIN: usize = 16;

pub(super) type Answer = oneshot::Sender<Result<Handled, StoreError>>;

/// An event for the owner to decide about.
pub(super) struct Ask {
    pub(super) now: Millis,
    pub(super) event: Box<Event>,
    pub(super) answer: Answer,
}

/// Decided in memory, and not on the disk yet: nobody is told.
#[derive(Default)]
struct Batch {
    asks: usize,
    deciding: Duration,
    changes: Changes,
    answers: Vec<(Answer, Handled)>,
}

impl Batch {
    /// Further events wait for the next batch.
    fn is_full(&self) -> bool {
        self.asks >= BATCH_MAX || self.changes.jobs.len() >= JOBS_MAX
    }

    /// None of its decisions holds.
    fn fail(&mut self, error: &StoreError) {
        for (answer, _) in self.answers.drain(..) {
            let _ = answer.send(Err(error.clone()));
        }
        self.changes = Changes::default();
        self.asks = 0;
    }
}

pub(super) struct Writer {
    path: PathBuf,
    /// None: it failed, and no other could be had yet.
    connection: Option<SqliteConnection>,
    decider: Decider,
    pace: Pace,
    teller: Teller,
    /// Nobody else opens the file meanwhile.
    _lock: File,
}

/// How long the last batch took.
#[derive(Default)]
struct Pace {
    /// To decide about one event and to make its rows.
    event: Duration,
    write: Duration,
}

impl Pace {
    /// Whether one half of so many asks is to be decided while the disk works at the other one. Where it is
    /// much slower than the rules, everybody would then wait for two writes instead of one.
    fn halves(&self, asks: usize) -> bool {
        let deciding = self.event * u32::try_from(asks).unwrap_or(u32::MAX);
        // Tests are to see halves whatever their disk is like.
        asks >= if cfg!(test) { 2 } else { HALVES_MIN } && (cfg!(test) || self.write < deciding * 2)
    }
}

/// The rows in memory, and the rules over them.
struct Decider {
    policy: Policy,
    tables: Tables,
    written: WrittenClock,
}

/// So long after a time.
fn after(time: Millis, took: Duration) -> Millis {
    Millis(time.0.saturating_add(u64::try_from(took.as_millis()).unwrap_or(u64::MAX)))
}

impl Writer {
    pub(super) async fn open(
        path: &Path,
        policy: Policy,
        teller: Teller,
    ) -> Result<Self, StoreError> {
        let (tables, written) = (Tables::default(), WrittenClock::default());
        let decider = Decider { policy, tables, written };
        let (path, pace) = (path.to_owned(), Pace::default());
        let _lock = super::lock(&path)?;
        let mut writer = Self { path, connection: None, decider, pace, teller, _lock };
        writer.reconnect().await?;
        Ok(writer)
    }

    /// Reads every row by a new connection.
    ///
    /// Never by one that failed. SQLite ends a transaction by itself when the disk is full, its driver does
    /// not know of that, and what comes next is a part of a transaction that nobody commits.
    async fn reconnect(&mut self) -> Result<(), StoreError> {
        if let Some(failed) = self.connection.take() {
            // It has the file locked until it is gone; how it goes does not matter.
            let _ = failed.close_hard().await;
        }
        let mut connection = super::connect(&self.path).await?;
        self.decider.tables = rows::load(&mut connection).await?;
        let clock = self.decider.written.found(self.decider.tables.clock());
        self.decider.tables.set_clock(clock);
        self.connection = Some(connection);
        self.teller.tell(Update::all(&self.decider.tables)).await;
        Ok(())
    }

    pub(super) async fn start(&mut self, now: Millis) -> Result<(), StoreError> {
        let mut changes = Changes::default();
        // Its answer says nothing, and no row changes but the clock.
        let _ = self.decider.handle(&mut changes, now, Event::Start);
        self.write_clock().await
    }

    async fn write_clock(&mut self) -> Result<(), StoreError> {
        let ready = rows::ready(&self.decider.tables, Changes::default(), true)?;
        rows::write(self.connection.as_mut(), ready).await?;
        self.wrote(self.decider.tables.clock());
        Ok(())
    }

    fn wrote(&mut self, decided: LeaseClock) {
        self.decider.written.wrote(decided);
        self.teller.tell_clock(decided);
    }

    /// Discards unwritten decisions and counts the time until `until` as an outage.
    fn failed(&mut self, until: Millis) {
        let clock = self.decider.written.failed(until);
        self.decider.tables.set_clock(clock);
    }

    /// Until nobody can ask any more.
    pub(super) async fn run(mut self, asks: mpsc::Receiver<Ask>) {
        let mut inbox = Inbox::new(asks);
        let mut next = Batch::default();
        let mut came = Vec::new();
        loop {
            // One half is decided already, and the disk need not wait for the other one.
            if next.asks == 0 || !self.pace.halves(next.asks + inbox.len()) {
                inbox.gather().await;
            }
            if next.asks == 0 && inbox.hear(&mut came, BATCH_MAX).await == 0 {
                break;
            }
            while next.asks + came.len() < BATCH_MAX
                && let Some(ask) = inbox.heard()
            {
                came.push(ask);
            }
            // No decision without rows to decide on.
            if self.connection.is_none()
                && let Err(error) = self.reconnect().await
            {
                tracing::error!(%error, "database read failed");
                let last = came.iter().map(|ask| ask.now).max();
                self.failed(last.unwrap_or_default());
                refuse(&mut came, &error);
                next = Batch::default();
                tokio::time::sleep(BETWEEN_TRIES).await;
                continue;
            }
            // Clients of one write all send their next event when it ends, and then the rules would idle during the
            // next write. Two halves alternate instead: one is decided while the other is written.
            let all = next.asks + came.len();
            if self.pace.halves(all) {
                let now = (all / 2).saturating_sub(next.asks).min(came.len());
                inbox.first(&mut came.split_off(now));
            }
            self.decider.decide(&mut next, &mut came);
            inbox.first(&mut came);
            let batch = std::mem::take(&mut next);
            self.batch(batch, &mut inbox, &mut next).await;
        }
        // Write the clock, so that time since the last change does not count as an outage after the restart.
        if self.connection.is_some()
            && let Err(error) = self.write_clock().await
        {
            tracing::warn!(%error, "database write failed");
        }
        if let Some(connection) = self.connection
            && let Err(error) = connection.close().await
        {
            tracing::warn!(%error, "database did not close in order");
        }
    }

    /// Writes a batch, and decides about the next one meanwhile.
    async fn batch(&mut self, mut batch: Batch, inbox: &mut Inbox, next: &mut Batch) {
        let Self { connection, decider, .. } = self;
        let connection = connection.as_mut();
        // Decisions go on while the disk works.
        let decided = decider.tables.clock();
        let writes = !batch.changes.is_empty();
        let began = Instant::now();
        let changes = std::mem::take(&mut batch.changes);
        // Readers must only see what is on disk.
        let update = writes.then(|| Update::of(&decider.tables, &changes));
        let ready = rows::ready(&decider.tables, changes, decider.written.must_write());
        let deciding = batch.deciding + began.elapsed();
        let began = Instant::now();
        let written = match ready {
            Ok(ready) => decider.decide_during(rows::write(connection, ready), inbox, next).await,
            Err(error) => Err(error),
        };
        let event = deciding / u32::try_from(batch.asks).unwrap_or(u32::MAX).max(1);
        self.pace = Pace { event, write: began.elapsed() };
        // A client may have disconnected; the decision stands.
        match written {
            Ok(()) => {
                self.wrote(decided);
                if let Some(update) = update {
                    self.teller.tell(update).await;
                }
                for (answer, handled) in batch.answers {
                    let _ = answer.send(Ok(handled));
                }
            }
            Err(error) => {
                tracing::error!(%error, "database write failed");
                batch.fail(&error);
                // It was decided on rows that are not there.
                next.fail(&error);
                let last = self.decider.tables.clock().wall;
                let read = self.reconnect().await;
                // Nobody could be heard while rows were read, either.
                self.failed(last.max(after(decided.wall, began.elapsed())));
                if let Err(error) = read {
                    tracing::error!(%error, "database read failed");
                }
            }
        }
    }
}

fn refuse(came: &mut Vec<Ask>, error: &StoreError) {
    for ask in came.drain(..) {
        let _ = ask.answer.send(Err(error.clone()));
    }
}

impl Decider {
    fn handle(&mut self, changes: &mut Changes, now: Millis, event: Event) -> Handled {
        let mut journal = Journal { tables: &mut self.tables, changes };
        handle(&mut journal, &self.policy, now, event)
    }

    /// A write took long that began at this time. Asks were decided about until [`STALL`].
    fn stalled(&mut self, began: Millis, took: Duration) {
        let mut clock = self.tables.clock();
        clock.observe(after(began, STALL), self.policy.outage_after());
        clock.lost(after(began, took));
        self.tables.set_clock(clock);
    }

    /// Into the batch. Those who come when it is full are left.
    fn decide(&mut self, batch: &mut Batch, came: &mut Vec<Ask>) {
        let began = Instant::now();
        let mut asks = std::mem::take(came).into_iter();
        while !batch.is_full()
            && (batch.asks == 0 || batch.deciding + began.elapsed() < DECIDING_MAX)
            && let Some(ask) = asks.next()
        {
            batch.asks += 1;
            let Ask { now, event, answer } = ask;
            // A runner that left would hold what it is granted until its time to acknowledge is over.
            if answer.is_closed() && matches!(*event, Event::Lease { .. }) {
                continue;
            }
            let handled = self.handle(&mut batch.changes, now, *event);
            batch.answers.push((answer, handled));
        }
        came.extend(asks);
        batch.deciding += began.elapsed();
    }

    /// Decides about what comes while the disk works, if that does not last. Who beats is answered after
    /// the write, and beats again after the answer: however late that is, its lease is alive then.
    async fn decide_during(
        &mut self,
        write: impl Future<Output = Result<(), StoreError>>,
        inbox: &mut Inbox,
        next: &mut Batch,
    ) -> Result<(), StoreError> {
        // So that tests see what is decided meanwhile: their disk is never faster than that.
        #[cfg(test)]
        let write = async {
            tokio::task::yield_now().await;
            write.await
        };
        let (began, began_wall) = (Instant::now(), self.tables.clock().wall);
        let mut write = std::pin::pin!(write);
        let mut came = Vec::new();
        let mut closed = false;
        let written = loop {
            // Who has heard enough must not hear that there is more, again and again.
            let full = next.is_full() || next.asks > 0 && next.deciding >= DECIDING_MAX;
            let room = if full { 0 } else { MEANWHILE_MAX.min(BATCH_MAX - next.asks) };
            tokio::select! {
                // The disk first: its next statement is not to wait for decisions.
                biased;
                written = &mut write => break written,
                count = inbox.hear(&mut came, room), if room > 0 && !closed => {
                    closed = count == 0 || began.elapsed() >= STALL;
                    if !closed {
                        self.decide(next, &mut came);
                    }
                    inbox.first(&mut came);
                }
            }
        };
        let took = began.elapsed();
        if written.is_ok() && took >= STALL {
            tracing::warn!(millis = took.as_millis(), "slow database write, leases extended");
            self.stalled(began_wall, took);
        }
        written
    }
}

#[cfg(test)]
mod tests;
