//! The owner of the file.

mod inbox;

use super::super::journal::{Changes, Journal};
use super::readers::{Teller, Update};
use super::{StoreError, Tables, rows};
use crate::lease::{Event, Handled, Policy, Rows, handle, missed};
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
/// While the disk fails, leases have so much time back at once.
const MAKE_UP_MILLIS: u64 = 1_000;
/// Time of slow writes is given back together: that is a write of every lease, which may be slow itself.
const OWED_MILLIS: u64 = 10_000;
/// A write that takes longer keeps leases from being kept alive: nothing more is decided meanwhile, and they have
/// that time back.
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
    /// Time of slow writes that leases have back by it.
    settled: u64,
    changes: Changes,
    answers: Vec<(Answer, Handled)>,
}

impl Batch {
    /// Whoever comes now waits for the next one.
    fn is_full(&self) -> bool {
        self.asks >= BATCH_MAX || self.changes.jobs.len() >= JOBS_MAX
    }

    /// None of its decisions holds.
    fn fail(&mut self, error: &StoreError) {
        for (answer, _) in self.answers.drain(..) {
            let _ = answer.send(Err(error.clone()));
        }
        self.changes = Changes::default();
        self.settled = 0;
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
    life: Life,
}

/// When there was somebody who kept leases alive.
#[derive(Default)]
struct Life {
    /// The time of the last batch that went well.
    well: Millis,
    /// The disk did not take the last one.
    failing: bool,
    /// While it is so: leases have back what they missed until then.
    made_up: Millis,
    /// How long the write took that failed. Those who waited for it are heard as if it was then: they have all of it
    /// back at once, as one time in which nobody could be heard.
    took: u64,
    /// What leases are still to have back of slow writes, and since when.
    owed: u64,
    owed_since: Millis,
}

impl Life {
    /// What was decided is not there.
    fn failed(&mut self, took: Duration) {
        (self.failing, self.made_up) = (true, self.well);
        self.took = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    }
}

impl Writer {
    pub(super) async fn open(
        path: &Path,
        policy: Policy,
        teller: Teller,
    ) -> Result<Self, StoreError> {
        let decider = Decider { policy, tables: Tables::default(), life: Life::default() };
        let (path, pace) = (path.to_owned(), Pace::default());
        let _lock = super::lock(&path)?;
        let mut writer = Self { path, connection: None, decider, pace, teller, _lock };
        writer.anew().await?;
        Ok(writer)
    }

    /// Reads every row by a new connection.
    ///
    /// Never by one that failed. SQLite ends a transaction by itself when the disk is full, its driver does
    /// not know of that, and what comes next is a part of a transaction that nobody commits.
    async fn anew(&mut self) -> Result<(), StoreError> {
        if let Some(failed) = self.connection.take() {
            // It has the file locked until it is gone; how it goes does not matter.
            let _ = failed.close_hard().await;
        }
        let mut connection = super::connect(&self.path).await?;
        self.decider.tables = rows::load(&mut connection).await?;
        self.decider.tables.set_seen(self.decider.life.well);
        self.connection = Some(connection);
        self.teller.tell(Update::all(&self.decider.tables)).await;
        Ok(())
    }

    pub(super) async fn start(&mut self, now: Millis) -> Result<(), StoreError> {
        let mut changes = Changes::default();
        // Its answer says nothing.
        let _ = self.decider.handle(&mut changes, now, Event::Start);
        let update = Update::of(&self.decider.tables, &changes);
        let ready = rows::ready(&self.decider.tables, changes)?;
        rows::write(self.connection.as_mut(), ready).await?;
        self.teller.tell(update).await;
        self.decider.life.well = now;
        Ok(())
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
                && let Err(error) = self.anew().await
            {
                tracing::error!(%error, "the fleet's database cannot be read");
                refuse(&mut came, &error);
                next = Batch::default();
                tokio::time::sleep(BETWEEN_TRIES).await;
                continue;
            }
            // Whoever waits for the same write speaks at the same time after it, and the rules would have nothing to
            // do while the disk works: there are two halves, and each is decided while the other one is written.
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
        if let Some(connection) = self.connection
            && let Err(error) = connection.close().await
        {
            tracing::warn!(%error, "the fleet's database did not close in order");
        }
    }

    /// Writes a batch, and decides about the next one meanwhile.
    async fn batch(&mut self, mut batch: Batch, inbox: &mut Inbox, next: &mut Batch) {
        let Self { connection, decider, .. } = self;
        let connection = connection.as_mut();
        let (seen, writes) = (decider.tables.seen(), !batch.changes.is_empty());
        let began = Instant::now();
        let changes = std::mem::take(&mut batch.changes);
        // Decisions go on while the disk works: whoever reads is to see what it has.
        let update = writes.then(|| Update::of(&decider.tables, &changes));
        let ready = rows::ready(&decider.tables, changes);
        let deciding = batch.deciding + began.elapsed();
        let began = Instant::now();
        let written = match ready {
            Ok(ready) => decider.decide_during(rows::write(connection, ready), inbox, next).await,
            Err(error) => Err(error),
        };
        let event = deciding / u32::try_from(batch.asks).unwrap_or(u32::MAX).max(1);
        self.pace = Pace { event, write: began.elapsed() };
        // Whoever asked and went away is not told; what was decided stands.
        match written {
            Ok(()) => {
                self.decider.lived(seen, writes);
                if let Some(update) = update {
                    self.teller.tell(update).await;
                }
                for (answer, handled) in batch.answers {
                    let _ = answer.send(Ok(handled));
                }
            }
            Err(error) => {
                tracing::error!(%error, "the fleet's database takes nothing");
                // They are still to have it.
                self.decider.life.owed += batch.settled + next.settled;
                batch.fail(&error);
                // It was decided on rows that are not there.
                next.fail(&error);
                let read = self.anew().await;
                // Nobody could be heard while rows were read, either.
                self.decider.life.failed(began.elapsed());
                if let Err(error) = read {
                    tracing::error!(%error, "the fleet's database cannot be read");
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

    /// A batch is done that was decided at this time. Where the disk fails, one that had nothing to write
    /// is no sign of life: heartbeats are not kept, and their senders must have their time back afterwards.
    fn lived(&mut self, seen: Millis, writes: bool) {
        if writes || !self.life.failing {
            let Life { owed, owed_since, .. } = self.life;
            self.life = Life { well: seen, owed, owed_since, ..Life::default() };
        } else {
            self.tables.set_seen(self.life.well);
        }
    }

    /// Leases have the time back in which nobody could be heard, however short it was: some end after three
    /// seconds without a word.
    fn make_up(&mut self, changes: &mut Changes, now: Millis) {
        let took = std::mem::take(&mut self.life.took);
        let millis = now.0.saturating_sub(self.life.made_up.0).max(took);
        let first = self.life.made_up == self.life.well;
        if !self.life.failing || millis < if first { 1 } else { MAKE_UP_MILLIS } {
            return;
        }
        self.life.made_up.0 = self.life.made_up.0.saturating_add(millis);
        self.give_back(changes, millis);
    }

    fn owe(&mut self, took: Duration) {
        if self.life.owed == 0 {
            self.life.owed_since = self.tables.seen();
        }
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.life.owed = self.life.owed.saturating_add(millis);
    }

    /// Leases have the time of slow writes back before any of them ends, and before it is much.
    fn settle(&mut self, batch: &mut Batch, now: Millis) {
        let now = now.max(self.tables.seen());
        let due = self.tables.first_due().is_some_and(|due| due <= now);
        let long = now.0.saturating_sub(self.life.owed_since.0) >= OWED_MILLIS;
        if self.life.owed > 0 && (due || long) {
            let owed = std::mem::take(&mut self.life.owed);
            batch.settled = batch.settled.saturating_add(owed);
            self.give_back(&mut batch.changes, owed);
        }
    }

    /// Every lease ends so much later.
    fn give_back(&mut self, changes: &mut Changes, millis: u64) {
        let mut journal = Journal { tables: &mut self.tables, changes };
        for id in journal.live_leases() {
            if let Some(mut lease) = journal.lease(&id) {
                missed(&self.policy, millis, &mut lease);
                journal.put_lease(lease);
            }
        }
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
            self.make_up(&mut batch.changes, now);
            self.settle(batch, now);
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
        let began = Instant::now();
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
            tracing::warn!(
                millis = took.as_millis(),
                "the fleet's database is slow; leases have the time back"
            );
            self.owe(took);
        }
        written
    }
}

#[cfg(test)]
mod tests;
