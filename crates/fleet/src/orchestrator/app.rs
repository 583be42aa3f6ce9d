//! What all handlers share.

use super::answer::Failure;
use super::config::{Config, StoreConfig};
use super::door::Door;
use super::guard::KnownKeys;
use super::incoming::UnderWay;
use super::metrics::Metrics;
use super::pages::Pages;
use super::people::Ceilings;
use super::places::Places;
use super::removal::Removals;
use super::roster::Roster;
use super::server::ServeError;
use super::sight::Crew;
use super::waiters::Waiters;
use super::watch::{Lookouts, WATCHED_MAX};
use crate::auth::{Audit, Entry, OK, Replays};
use crate::broker::Publisher;
use crate::id::{JobId, RunId};
use crate::lease::{Action, Event, Policy, Reply};
use crate::object::{Grants, Objects};
use crate::store::{AnyStore, Memory, Postgres, Sqlite, Store, StoreError, Time};
use crate::time::Millis;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::sync::{broadcast, watch};

/// Changes that one who watches may fall behind; then it looks at all of it again.
const NEWS_MAX: usize = 256;
/// How often runs are forgotten after one sweep at most: leases are looked at in between.
const FORGETS_MAX: usize = 16;

/// An orchestrator without a socket.
#[derive(Clone)]
pub struct App(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) config: Config,
    pub(super) store: AnyStore,
    pub(super) objects: Objects,
    pub(super) grants: Grants,
    pub(super) under_way: UnderWay,
    pub(super) removals: Removals,
    pub(super) audit: Audit,
    pub(super) door: Door,
    pub(super) roster: Roster,
    pub(super) crew: Crew,
    pub(super) ceilings: Ceilings,
    pub(super) pages: Pages,
    pub(super) waiters: Waiters,
    pub(super) news: broadcast::Sender<RunId>,
    pub(super) keys: KnownKeys,
    /// Places for those who watch runs.
    pub(super) watchers: Places,
    pub(super) lookouts: Lookouts,
    pub(super) replays: Mutex<Replays>,
    pub(super) metrics: Metrics,
    /// Where there is a broker.
    pub(super) publisher: OnceLock<Publisher>,
    stopping: watch::Sender<bool>,
}

impl App {
    /// Opens the store and the folders.
    pub async fn open(config: Config) -> Result<Self, ServeError> {
        let now = config.clock.now();
        // A bucket has bounds of its own.
        let objects_bytes_max =
            config.bucket.as_ref().map_or(config.objects_bytes_max, |_| u64::MAX);
        // Sweeps are what looks at the clock if nothing else happens.
        let sweeps =
            u32::try_from(config.sweep_every.as_secs().saturating_mul(2)).unwrap_or(u32::MAX);
        let outage_after_seconds = config.policy.outage_after_seconds.max(sweeps);
        let policy = Policy { objects_bytes_max, outage_after_seconds, ..config.policy.clone() };
        let store = match &config.store {
            StoreConfig::Memory => AnyStore::Memory(Box::new(Memory::new(policy))),
            StoreConfig::Sqlite(path) => AnyStore::Sqlite(Sqlite::open(path, policy, now).await?),
            StoreConfig::Postgres(url) => {
                AnyStore::Postgres(Postgres::open(url, policy, Time::Database, now).await?)
            }
        };
        let bucket = config.bucket.clone();
        let objects = Objects::open(&config.objects, config.objects_bytes_max, bucket).await;
        let objects = objects.map_err(ServeError::Objects)?;
        let audit = config.audit.as_deref().map(Audit::open).transpose();
        let audit = audit.map_err(ServeError::Audit)?.unwrap_or_default();
        let door = Door::new(config.access.clone(), config.access_file.clone());
        door.look();
        Ok(Self(Arc::new(Inner {
            config,
            store,
            objects,
            grants: Grants::default(),
            under_way: UnderWay::default(),
            removals: Removals::default(),
            audit,
            door,
            roster: Roster::default(),
            crew: Crew::default(),
            ceilings: Ceilings::default(),
            pages: Pages::default(),
            waiters: Waiters::default(),
            news: broadcast::channel(NEWS_MAX).0,
            keys: KnownKeys::default(),
            watchers: Places::new(WATCHED_MAX),
            lookouts: Lookouts::default(),
            replays: Mutex::default(),
            metrics: Metrics::default(),
            publisher: OnceLock::new(),
            stopping: watch::channel(false).0,
        })))
    }

    /// The store's rows, for whoever shares the process.
    pub fn store(&self) -> &AnyStore {
        &self.0.store
    }

    pub(super) fn now(&self) -> Millis {
        self.0.config.clock.now()
    }

    /// Hands an event to the rules, and does what follows from it.
    pub async fn handle(
        &self,
        event: Event,
    ) -> Result<Result<Reply, crate::lease::Refusal>, StoreError> {
        let handled = self.0.store.handle(self.now(), event).await?;
        for action in handled.actions {
            self.publish(&action);
            self.follow(action);
        }
        Ok(handled.reply)
    }

    pub(super) async fn ask(&self, event: Event) -> Result<Reply, Failure> {
        Ok(self.handle(event).await??)
    }

    pub(super) fn follow(&self, action: Action) {
        match action {
            Action::Ready { job_id, tags, pause_ms } => {
                self.tell(&job_id);
                self.wake(tags, pause_ms);
            }
            Action::Room => self.0.waiters.wake(&BTreeSet::new()),
            // A broker tells the runner at once, the next heartbeat otherwise.
            Action::Cancel(_, message) => self.tell(&message.job_id),
            Action::JobEnded(job_id, outcome) => {
                self.0.metrics.job_ended(&outcome);
                self.tell(&job_id);
            }
            Action::RunEnded(run_id, _) => self.tell_run(run_id),
        }
    }

    fn wake(&self, tags: BTreeSet<crate::message::Tag>, pause_ms: u64) {
        if pause_ms == 0 {
            return self.0.waiters.wake(&tags);
        }
        let (app, mut stopping) = (self.clone(), self.stopping());
        tokio::spawn(async move {
            let pause = tokio::time::sleep(Duration::from_millis(pause_ms));
            tokio::select! {
                () = pause => app.0.waiters.wake(&tags),
                _ = stopping.wait_for(|stop| *stop) => {}
            }
        });
    }

    /// Tells those who watch that a run changed. Nobody may be there.
    pub(super) fn tell(&self, job: &JobId) {
        if let Some(run) = job.run() {
            self.tell_run(run);
        }
    }

    fn tell_run(&self, run: RunId) {
        // Before anybody hears of it and looks.
        self.0.lookouts.told(&run);
        let _ = self.0.news.send(run);
    }

    /// Writes a line into the audit log.
    pub(super) fn note(&self, who: &str, action: &str, of: &str, outcome: Result<(), &Failure>) {
        let outcome = outcome.map_or_else(|failure| failure.code, |()| OK);
        self.0.audit.write(&Entry { at: self.now().timestamp(), who, action, of, outcome });
    }

    /// Becomes true when the orchestrator stops.
    pub(super) fn stopping(&self) -> watch::Receiver<bool> {
        self.0.stopping.subscribe()
    }

    pub(super) fn stop(&self) {
        self.0.stopping.send_replace(true);
    }

    /// Looks for leases that are over, again and again. Returns when the store is closed.
    pub(super) async fn sweep(self) {
        let mut every = tokio::time::interval(self.0.config.sweep_every);
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            every.tick().await;
            if !self.0.store.is_open() {
                return;
            }
            self.0.door.look();
            self.sweep_all().await;
            self.forget().await;
        }
    }

    async fn sweep_all(&self) {
        while let Ok(Ok(Reply::Swept { expired, more })) = self.handle(Event::Sweep).await {
            if expired > 0 {
                tracing::info!(count = expired, "leases expired, jobs requeued");
                self.0.metrics.lapsed(expired);
            }
            if !more {
                return;
            }
            // Between two sweeps whoever waits for the store has its turn.
            tokio::task::yield_now().await;
        }
    }

    /// Forgets runs that were kept long enough, or that there is no room for; if they are many, the rest
    /// has its turn after the next sweep.
    async fn forget(&self) {
        let keep_seconds = self.0.config.keep_seconds;
        for _ in 0..FORGETS_MAX {
            let Ok(Ok(Reply::Forgot { with_objects, more, .. })) =
                self.handle(Event::Forget { keep_seconds }).await
            else {
                return;
            };
            self.0.removals.add(with_objects);
            if !more {
                return;
            }
            // Those who beat are looked after meanwhile.
            self.sweep_all().await;
        }
    }
}
