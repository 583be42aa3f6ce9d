//! Sessions with validators: one task each, which reconnects with backoff.

use crate::backoff::CONNECT;
use remuda_client::types::RunnerValidators;
use remuda_link::quic::client::{Command, Connector, Link};
use remuda_link::session::runner::{Event, Settings};
use remuda_link::sign::ValidatorKey;
use remuda_protocol::crypto::SecretKey;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

/// A session of this length resets the backoff.
const STABLE: Duration = Duration::from_secs(10);
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// A validator to keep a session with, for a subset epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) key: ValidatorKey,
    pub(crate) link: String,
    pub(crate) epoch: u64,
}

/// The runner's validators whose address is known.
pub(crate) fn targets(validators: &RunnerValidators) -> Vec<Target> {
    let known = validators.validators.iter().filter_map(|validator| {
        let link = validator.link.clone()?;
        Some(Target { key: validator.key.0.0, link, epoch: validators.epoch.0 })
    });
    // Validators of both epochs are listed twice.
    let by_key: BTreeMap<ValidatorKey, Target> = known.map(|target| (target.key, target)).collect();
    by_key.into_values().collect()
}

#[derive(Debug)]
pub(crate) enum LinkNews {
    Opened(mpsc::Sender<Command>),
    /// With the round trip time.
    Event(Event, Duration),
    /// The session ended, or could not be opened.
    Closed(String),
}

pub(crate) type News = (ValidatorKey, LinkNews);

struct LinkTask {
    target: watch::Sender<Target>,
    task: JoinHandle<()>,
}

pub(crate) struct Links {
    connector: Connector,
    key: SecretKey,
    chain_id: u64,
    /// The newest block that the runner knows, for new sessions.
    height: watch::Sender<u64>,
    news: mpsc::Sender<News>,
    tasks: BTreeMap<ValidatorKey, LinkTask>,
}

impl Links {
    pub(crate) fn new(
        connector: Connector,
        key: SecretKey,
        chain_id: u64,
        news: mpsc::Sender<News>,
    ) -> Self {
        let height = watch::Sender::new(0);
        Self { connector, key, chain_id, height, news, tasks: BTreeMap::new() }
    }

    pub(crate) fn height(&self, height: u64) {
        self.height.send_if_modified(|known| {
            let newer = height > *known;
            *known = height.max(*known);
            newer
        });
    }

    /// Keeps sessions with exactly these validators. Returns those that it left.
    pub(crate) fn set_targets(&mut self, targets: Vec<Target>) -> Vec<ValidatorKey> {
        let gone: Vec<ValidatorKey> = (self.tasks.keys().copied())
            .filter(|key| targets.iter().all(|target| target.key != *key))
            .collect();
        for key in &gone {
            // Dropping the task drops the session's queue, which sends a goodbye.
            self.tasks.remove(key).inspect(|link| link.task.abort());
        }
        for target in targets {
            match self.tasks.get(&target.key) {
                Some(link) => {
                    link.target.send_if_modified(|known| {
                        let changed = *known != target;
                        *known = target;
                        changed
                    });
                }
                None => {
                    let key = target.key;
                    let (sender, receiver) = watch::channel(target);
                    let keeper = LinkKeeper {
                        connector: self.connector.clone(),
                        key: self.key.clone(),
                        chain_id: self.chain_id,
                        height: self.height.subscribe(),
                        target: receiver,
                        news: self.news.clone(),
                    };
                    let task = tokio::spawn(keeper.run());
                    self.tasks.insert(key, LinkTask { target: sender, task });
                }
            }
        }
        gone
    }

    pub(crate) async fn stop(self) {
        for link in self.tasks.values() {
            link.task.abort();
        }
        drop(self.tasks);
        self.connector.stop().await;
    }
}

struct LinkKeeper {
    connector: Connector,
    key: SecretKey,
    chain_id: u64,
    height: watch::Receiver<u64>,
    target: watch::Receiver<Target>,
    news: mpsc::Sender<News>,
}

impl LinkKeeper {
    async fn run(mut self) {
        let mut failures = 0;
        loop {
            let target = self.target.borrow_and_update().clone();
            let why = match self.connect(&target).await {
                Ok(link) => {
                    let started = Instant::now();
                    let Some(why) = self.listen(target.key, link).await else { return };
                    if started.elapsed() >= STABLE {
                        failures = 0;
                    }
                    why
                }
                Err(why) => why,
            };
            let wait = CONNECT.jittered(failures, rand::random());
            failures += 1;
            let news = (target.key, LinkNews::Closed(why));
            if self.news.send(news).await.is_err() {
                return;
            }
            tokio::select! {
                () = sleep(wait) => {}
                // The validator has moved, or another epoch has begun.
                changed = self.target.changed() => if changed.is_err() { return },
            }
        }
    }

    async fn connect(&self, target: &Target) -> Result<Link, String> {
        let to = look_up(&target.link).await?;
        let settings = Settings {
            chain_id: self.chain_id,
            key: self.key.clone(),
            validator: target.key,
            subset_epoch: target.epoch,
        };
        let height = *self.height.borrow();
        self.connector.connect(to, settings, height).await.map_err(|error| error.to_string())
    }

    /// Returns why the session ended; `None` if the receiver of news is gone.
    async fn listen(&self, key: ValidatorKey, mut link: Link) -> Option<String> {
        while let Some(event) = link.events.recv().await {
            let opened = event == Event::Opened;
            let rtt = link.round_trip();
            if opened {
                let up = LinkNews::Opened(link.commands.clone());
                self.news.send((key, up)).await.ok()?;
            }
            self.news.send((key, LinkNews::Event(event, rtt))).await.ok()?;
        }
        Some(link.ended.await.unwrap_or_else(|_| "the session task panicked".to_owned()))
    }
}

async fn look_up(link: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = link.parse() {
        return Ok(address);
    }
    let found = timeout(LOOKUP_TIMEOUT, tokio::net::lookup_host(link)).await;
    let found = found.map_err(|_| format!("{link}: name lookup timed out"))?;
    let mut found = found.map_err(|error| format!("{link}: {error}"))?;
    found.next().ok_or_else(|| format!("{link} has no address"))
}

#[cfg(test)]
mod tests;
