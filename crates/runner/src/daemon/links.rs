//! Sessions with validators: one task each, which connects again whenever it must.

use crate::backoff::pause;
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

/// A session that lasted so long was a good one: the next failure is the first again.
const LASTING: Duration = Duration::from_secs(10);
/// How long looking up a validator's name may take.
const LOOKUP: Duration = Duration::from_secs(5);

/// Where a validator is, and for which subset epoch it is met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) key: ValidatorKey,
    pub(crate) link: String,
    pub(crate) epoch: u64,
}

/// Those that the chain names and whose address is known.
pub(crate) fn targets(validators: &RunnerValidators) -> Vec<Target> {
    let known = validators.validators.iter().filter_map(|validator| {
        let link = validator.link.clone()?;
        Some(Target { key: validator.key.0.0, link, epoch: validators.epoch.0 })
    });
    // Who is in both epochs is named twice.
    let by_key: BTreeMap<ValidatorKey, Target> = known.map(|target| (target.key, target)).collect();
    by_key.into_values().collect()
}

#[derive(Debug)]
pub(crate) enum LinkNews {
    /// It is open; this is the way to speak to it.
    Up(mpsc::Sender<Command>),
    /// Something was heard. The time is that of a message to the validator and back.
    Heard(Event, Duration),
    /// It ended, or there is none.
    Down(String),
}

/// News with whom they are of.
pub(crate) type News = (ValidatorKey, LinkNews);

struct Keeper {
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
    keepers: BTreeMap<ValidatorKey, Keeper>,
}

impl Links {
    pub(crate) fn new(
        connector: Connector,
        key: SecretKey,
        chain_id: u64,
        news: mpsc::Sender<News>,
    ) -> Self {
        let height = watch::Sender::new(0);
        Self { connector, key, chain_id, height, news, keepers: BTreeMap::new() }
    }

    pub(crate) fn height(&self, height: u64) {
        self.height.send_if_modified(|known| {
            let newer = height > *known;
            *known = height.max(*known);
            newer
        });
    }

    /// Keeps sessions with these and no others. Returns whom it left.
    pub(crate) fn keep(&mut self, targets: Vec<Target>) -> Vec<ValidatorKey> {
        let gone: Vec<ValidatorKey> = (self.keepers.keys().copied())
            .filter(|key| targets.iter().all(|target| target.key != *key))
            .collect();
        for key in &gone {
            // Its task is dropped, and with it the session's queue: that is a goodbye.
            self.keepers.remove(key).inspect(|keeper| keeper.task.abort());
        }
        for target in targets {
            match self.keepers.get(&target.key) {
                Some(keeper) => {
                    keeper.target.send_if_modified(|known| {
                        let changed = *known != target;
                        *known = target;
                        changed
                    });
                }
                None => {
                    let key = target.key;
                    let (sender, receiver) = watch::channel(target);
                    let keep = Keep {
                        connector: self.connector.clone(),
                        key: self.key.clone(),
                        chain_id: self.chain_id,
                        height: self.height.subscribe(),
                        target: receiver,
                        news: self.news.clone(),
                    };
                    let task = tokio::spawn(keep.run());
                    self.keepers.insert(key, Keeper { target: sender, task });
                }
            }
        }
        gone
    }

    pub(crate) async fn stop(self) {
        for keeper in self.keepers.values() {
            keeper.task.abort();
        }
        drop(self.keepers);
        self.connector.stop().await;
    }
}

struct Keep {
    connector: Connector,
    key: SecretKey,
    chain_id: u64,
    height: watch::Receiver<u64>,
    target: watch::Receiver<Target>,
    news: mpsc::Sender<News>,
}

impl Keep {
    async fn run(mut self) {
        let mut failures = 0;
        loop {
            let target = self.target.borrow_and_update().clone();
            let why = match self.connect(&target).await {
                Ok(link) => {
                    let started = Instant::now();
                    // Nobody wants to know any more, if there is no why.
                    let Some(why) = self.listen(target.key, link).await else { return };
                    if started.elapsed() >= LASTING {
                        failures = 0;
                    }
                    why
                }
                Err(why) => why,
            };
            let wait = pause(failures, rand::random());
            failures += 1;
            let news = (target.key, LinkNews::Down(why));
            if self.news.send(news).await.is_err() {
                return;
            }
            tokio::select! {
                () = sleep(wait) => {}
                // It has moved, or another epoch has begun.
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

    /// Until the session ends. `None` if nobody listens.
    async fn listen(&self, key: ValidatorKey, mut link: Link) -> Option<String> {
        while let Some(event) = link.events.recv().await {
            let opened = event == Event::Opened;
            let rtt = link.round_trip();
            if opened {
                let up = LinkNews::Up(link.commands.clone());
                self.news.send((key, up)).await.ok()?;
            }
            self.news.send((key, LinkNews::Heard(event, rtt))).await.ok()?;
        }
        Some(link.ended.await.unwrap_or_else(|_| "it broke down".to_owned()))
    }
}

async fn look_up(link: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = link.parse() {
        return Ok(address);
    }
    let found = timeout(LOOKUP, tokio::net::lookup_host(link)).await;
    let found = found.map_err(|_| format!("{link}: looking it up takes too long"))?;
    let mut found = found.map_err(|error| format!("{link}: {error}"))?;
    found.next().ok_or_else(|| format!("{link} has no address"))
}

#[cfg(test)]
mod tests;
