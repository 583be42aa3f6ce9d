//! State shared by all handlers, and the background sweep.

use super::answer::Failure;
use super::api::TokenLimits;
use super::config::{Config, StoreConfig};
use super::guard::KeyCache;
use super::metrics::Metrics;
use super::pages::Pages;
use super::removal::Removals;
use super::roster::Roster;
use super::server::ServeError;
use super::slots::StreamSlots;
use super::tokens::TokenFile;
use super::uploads::ActiveUploads;
use super::views::WorkerListCache;
use super::waiters::Waiters;
use super::watch::{SharedViews, WATCHED_MAX};
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

/// Capacity of the news channel. A watcher that falls further behind refreshes.
const NEWS_MAX: usize = 256;
/// Most rounds of removing old runs after one sweep. Leases are swept in between.
const FORGETS_MAX: usize = 16;

/// An orchestrator without a socket.
#[derive(Clone)]
pub struct App(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) config: Config,
    pub(super) store: AnyStore,
    pub(super) objects: Objects,
    pub(super) grants: Grants,
    pub(super) uploads: ActiveUploads,
    pub(super) removals: Removals,
    pub(super) audit: Audit,
    pub(super) tokens: TokenFile,
    pub(super) roster: Roster,
    pub(super) worker_cache: WorkerListCache,
    pub(super) token_limits: TokenLimits,
    pub(super) pages: Pages,
    pub(super) waiters: Waiters,
    pub(super) news: broadcast::Sender<RunId>,
    pub(super) keys: KeyCache,
    /// Limits event streams of runs.
    pub(super) watchers: StreamSlots,
    pub(super) shared_views: SharedViews,
    pub(super) replays: Mutex<Replays>,
    pub(super) metrics: Metrics,
    /// Set if there is a broker.
    pub(super) publisher: OnceLock<Publisher>,
    stopping: watch::Sender<bool>,
}

impl App {
    pub async fn open(config: Config) -> Result<Self, ServeError> {
        let now = config.clock.now();
        // A bucket has limits of its own.
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
        let tokens = TokenFile::new(config.access.clone(), config.access_file.clone());
        tokens.look();
        Ok(Self(Arc::new(Inner {
            config,
            store,
            objects,
            grants: Grants::default(),
            uploads: ActiveUploads::default(),
            removals: Removals::default(),
            audit,
            tokens,
            roster: Roster::default(),
            worker_cache: WorkerListCache::default(),
            token_limits: TokenLimits::default(),
            pages: Pages::default(),
            waiters: Waiters::default(),
            news: broadcast::channel(NEWS_MAX).0,
            keys: KeyCache::default(),
            watchers: StreamSlots::new(WATCHED_MAX),
            shared_views: SharedViews::default(),
            replays: Mutex::default(),
            metrics: Metrics::default(),
            publisher: OnceLock::new(),
            stopping: watch::channel(false).0,
        })))
    }

    /// The store, for code in the same process.
    pub fn store(&self) -> &AnyStore {
        &self.0.store
    }

    pub(super) fn now(&self) -> Millis {
        self.0.config.clock.now()
    }

    /// Handles an event in the store, and performs the actions that follow.
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
            // The runner learns it from the broker, or from its next heartbeat.
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

    /// Notifies watchers of a job's run.
    pub(super) fn tell(&self, job: &JobId) {
        if let Some(run) = job.run() {
            self.tell_run(run);
        }
    }

    fn tell_run(&self, run: RunId) {
        // Before a watcher is notified and looks.
        self.0.shared_views.invalidate(&run);
        let _ = self.0.news.send(run);
    }

    pub(super) fn note(&self, who: &str, action: &str, of: &str, outcome: Result<(), &Failure>) {
        let outcome = outcome.map_or_else(|failure| failure.code, |()| OK);
        self.0.audit.write(&Entry { at: self.now().timestamp(), who, action, of, outcome });
    }

    /// Becomes true at shutdown.
    pub(super) fn stopping(&self) -> watch::Receiver<bool> {
        self.0.stopping.subscribe()
    }

    pub(super) fn stop(&self) {
        self.0.stopping.send_replace(true);
    }

    /// Expires leases and removes old runs periodically. Returns when the store is closed.
    pub(super) async fn sweep(self) {
        let mut every = tokio::time::interval(self.0.config.sweep_every);
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            every.tick().await;
            if !self.0.store.is_open() {
                return;
            }
            self.0.tokens.look();
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
            // Lets other requests reach the store.
            tokio::task::yield_now().await;
        }
    }

    /// Removes runs past retention, or for which there is no room. The rest of many waits for the next sweep.
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
            // Leases are swept in between.
            self.sweep_all().await;
        }
    }
}
