//! The orchestrator's side: announces waiting jobs, repeatedly, and cancellations.

use super::{BrokerError, Config, Hint, broken, pool_tags};
use crate::id::{JobId, RunnerId};
use crate::message::{self, CancelRequested, Tag};
use async_nats::jetstream::stream::Stream;
use async_nats::jetstream::{Context, message::PublishMessage};
use futures::TryStreamExt;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Capacity of the publish queue. Further announcements are dropped and found in the rows later.
const WAITING_MAX: usize = 4_096;
/// Shortest interval between two listings of pools.
const LIST_PAUSE: Duration = Duration::from_millis(250);
/// Most waiting jobs per look at the rows.
pub const LOOK_MAX: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Announcement {
    Ready {
        job_id: JobId,
        /// Required capabilities.
        tags: BTreeSet<Tag>,
    },
    Cancel(RunnerId, CancelRequested),
}

/// Handle of the publish queue. Never blocks.
#[derive(Clone, Debug)]
pub struct Publisher(mpsc::Sender<Announcement>);

impl Publisher {
    /// The handle, and the task that publishes. `waiting` looks up jobs that wait for a runner.
    pub fn new<F>(
        config: Config,
        waiting: impl Fn() -> F + Send + 'static,
    ) -> (Self, impl Future<Output = ()> + Send)
    where
        F: Future<Output = Vec<(JobId, BTreeSet<Tag>)>> + Send,
    {
        let (publish, queue) = mpsc::channel(WAITING_MAX);
        (Self(publish), run(config, queue, waiting))
    }

    /// Queues an announcement. If the queue is full, the next look at the rows makes up for it.
    pub fn publish(&self, announcement: Announcement) {
        if self.0.try_send(announcement).is_err() {
            tracing::debug!("publish queue full, announcement deferred");
        }
    }
}

async fn run<F>(
    config: Config,
    mut queue: mpsc::Receiver<Announcement>,
    waiting: impl Fn() -> F + Send,
) where
    F: Future<Output = Vec<(JobId, BTreeSet<Tag>)>> + Send,
{
    let mut announcer = loop {
        match Announcer::open(&config).await {
            Ok(announcer) => break announcer,
            Err(error) => {
                tracing::warn!(%error, "broker setup failed, retrying");
                tokio::time::sleep(config.look_again).await;
            }
        }
    };
    let mut republish = tokio::time::interval(config.look_again);
    republish.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let outcome = tokio::select! {
            announcement = queue.recv() => match announcement {
                Some(announcement) => announcer.publish(announcement).await,
                None => return,
            },
            _ = republish.tick() => announcer.republish(waiting().await).await,
        };
        if let Err(error) = outcome {
            tracing::warn!(%error, "announcement failed, deferred");
        }
    }
}

/// Runners with the same capabilities.
struct Pool {
    name: String,
    tags: BTreeSet<Tag>,
    /// Known idle runners.
    idle: usize,
}

struct Announcer {
    config: Config,
    client: async_nats::Client,
    context: Context,
    pools: Vec<Pool>,
    listed: Option<Instant>,
}

impl Announcer {
    async fn open(config: &Config) -> Result<Self, BrokerError> {
        let (client, context) = config.connect().await?;
        let config = config.clone();
        Ok(Self { config, client, context, pools: vec![], listed: None })
    }

    async fn publish(&mut self, announcement: Announcement) -> Result<(), BrokerError> {
        match announcement {
            Announcement::Ready { job_id, tags } => {
                // Random: a job that becomes ready again after a lost lease must not be dropped as a
                // duplicate.
                let word = crate::auth::random_hex::<8>();
                if !self.fits(&tags, true) {
                    self.list().await?;
                }
                self.hint(&job_id, &tags, false, &word).await.map(drop)
            }
            Announcement::Cancel(runner, message) => {
                let subject = self.config.cancel_subject(&runner);
                let body = message::encode(&message).into();
                self.client.publish(subject, body).await.map_err(broken)?;
                self.client.flush().await.map_err(broken)
            }
        }
    }

    /// Publishes waiting jobs to pools with idle runners. Orchestrators on the same rows use the same message
    /// ids, so the broker drops duplicates.
    async fn republish(&mut self, waiting: Vec<(JobId, BTreeSet<Tag>)>) -> Result<(), BrokerError> {
        if waiting.is_empty() {
            return Ok(());
        }
        self.list().await?;
        let millis = self.config.look_again.as_millis().max(1);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let word = (now.unwrap_or_default().as_millis() / millis).to_string();
        for (job_id, tags) in waiting {
            self.hint(&job_id, &tags, true, &word).await?;
        }
        Ok(())
    }

    fn fits(&self, tags: &BTreeSet<Tag>, idle: bool) -> bool {
        self.pools.iter().any(|pool| tags.is_subset(&pool.tags) && (!idle || pool.idle > 0))
    }

    /// Publishes a hint to an idle pool, or, unless `only_idle`, to a busy one.
    async fn hint(
        &mut self,
        job_id: &JobId,
        tags: &BTreeSet<Tag>,
        only_idle: bool,
        word: &str,
    ) -> Result<bool, BrokerError> {
        let fitting = self.pools.iter_mut().filter(|pool| tags.is_subset(&pool.tags));
        // The pool with the fewest sufficient capabilities: others are left for jobs that need more.
        let key = |pool: &&mut Pool| (pool.idle == 0, pool.tags.len());
        let Some(pool) = fitting.min_by_key(key).filter(|pool| pool.idle > 0 || !only_idle) else {
            return Ok(false);
        };
        pool.idle = pool.idle.saturating_sub(1);
        let subject = self.config.hint_subject(&pool.name);
        let body = serde_json::to_vec(&Hint { job_id: job_id.clone() }).map_err(broken)?;
        let message = PublishMessage::build()
            .payload(body.into())
            .message_id(format!("{job_id}-{}-{word}", pool.name));
        let kept = self.context.send_publish(subject, message).await.map_err(broken)?;
        kept.await.map_err(broken)?;
        Ok(true)
    }

    async fn list(&mut self) -> Result<(), BrokerError> {
        if self.listed.is_some_and(|listed| listed.elapsed() < LIST_PAUSE) {
            return Ok(());
        }
        let stream: Stream =
            self.context.get_or_create_stream(self.config.stream()).await.map_err(broken)?;
        let mut consumers = stream.consumers();
        self.pools.clear();
        while let Some(info) = consumers.try_next().await.map_err(broken)? {
            let tags = info.config.description.as_deref().and_then(pool_tags);
            let Some(tags) = tags else { continue };
            // Some idle runners have a hint on its way.
            let pending = usize::try_from(info.num_pending).unwrap_or(usize::MAX);
            let idle = info.num_waiting.saturating_sub(pending);
            self.pools.push(Pool { name: info.name, tags, idle });
        }
        self.listed = Some(Instant::now());
        Ok(())
    }
}
