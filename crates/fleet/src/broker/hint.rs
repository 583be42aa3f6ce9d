//! The runner's side: waits for hints and cancellations.

use super::{ANSWER_TIMEOUT, BrokerError, Config, broken};
use crate::id::RunnerId;
use crate::message::{CancelRequested, LeaseGranted, Tag, decode};
use async_nats::connection::State;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::{Context, Message};
use futures::StreamExt;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

/// Pause after a broker did not answer.
const AWAY_FOR: Duration = Duration::from_secs(2);

/// A runner's connection to the broker.
#[derive(Debug)]
pub struct Hints {
    config: Config,
    capabilities: BTreeSet<Tag>,
    client: async_nats::Client,
    context: Context,
    /// None: it must be created before the next use.
    pool: Option<PullConsumer>,
    /// Set when the broker did not answer: it is not asked again before this, so jobs are not delayed.
    away_until: Option<Instant>,
}

/// A received hint. Unless it is acknowledged, the broker redelivers it.
pub struct Taken(Message);

impl Taken {
    /// Acknowledges the hint, after the orchestrator was asked.
    pub async fn done(self) {
        if let Err(error) = self.0.ack().await {
            tracing::debug!(%error, "hint not acknowledged, may be redelivered");
        }
    }
}

impl Hints {
    /// Connects a runner with these capabilities. The broker may be unavailable.
    pub async fn open(config: &Config, capabilities: &BTreeSet<Tag>) -> Result<Self, BrokerError> {
        let (client, context) = config.connect().await?;
        let (config, capabilities) = (config.clone(), capabilities.clone());
        Ok(Self { config, capabilities, client, context, pool: None, away_until: None })
    }

    /// A hint, if one is pending.
    pub async fn now(&mut self) -> Result<Option<Taken>, BrokerError> {
        let pool = self.pool().await?;
        let messages = async { Ok(pool.fetch().max_messages(1).messages().await?.next().await) };
        self.first(messages, ANSWER_TIMEOUT).await
    }

    /// The next hint within this time.
    pub async fn wait(&mut self, wait: Duration) -> Result<Option<Taken>, BrokerError> {
        let pool = self.pool().await?;
        let messages = async {
            let batch = pool.batch().max_messages(1).expires(wait);
            Ok(batch.messages().await?.next().await)
        };
        self.first(messages, wait + ANSWER_TIMEOUT).await
    }

    async fn first<E: std::fmt::Display>(
        &mut self,
        message: impl Future<
            Output = Result<
                Option<Result<Message, E>>,
                async_nats::jetstream::consumer::pull::BatchError,
            >,
        >,
        patience: Duration,
    ) -> Result<Option<Taken>, BrokerError> {
        let answer = match tokio::time::timeout(patience, message).await {
            Ok(Ok(None)) => Ok(None),
            Ok(Ok(Some(Ok(message)))) => Ok(Some(Taken(message))),
            Ok(Ok(Some(Err(error)))) => Err(broken(error)),
            Ok(Err(error)) => Err(broken(error)),
            Err(_) => Err(broken("it does not answer")),
        };
        if answer.is_err() {
            // It may have lost its disk, and the consumer with it.
            self.pool = None;
            self.away_until = Some(Instant::now() + AWAY_FOR);
        }
        answer
    }

    async fn pool(&mut self) -> Result<PullConsumer, BrokerError> {
        if self.client.connection_state() != State::Connected
            || self.away_until.is_some_and(|until| Instant::now() < until)
        {
            return Err(broken("it is away"));
        }
        let made = self.make_pool().await;
        if made.is_err() {
            self.away_until = Some(Instant::now() + AWAY_FOR);
        }
        made
    }

    async fn make_pool(&mut self) -> Result<PullConsumer, BrokerError> {
        if let Some(pool) = &self.pool {
            return Ok(pool.clone());
        }
        let making = async {
            let stream =
                self.context.get_or_create_stream(self.config.stream()).await.map_err(broken)?;
            let (_, config) = self.config.pool(&self.capabilities);
            stream.create_consumer(config).await.map_err(broken)
        };
        let made = tokio::time::timeout(ANSWER_TIMEOUT, making).await;
        let pool = made.map_err(|_| broken("it does not answer"))??;
        self.pool = Some(pool.clone());
        Ok(pool)
    }

    /// Subscribes to cancellations of this runner's jobs.
    pub async fn cancels(&self, runner: &RunnerId) -> Result<Cancels, BrokerError> {
        let subject = self.config.cancel_subject(runner);
        let cancels = self.client.subscribe(subject).await.map_err(broken)?;
        // The subscription is active after this.
        self.client.flush().await.map_err(broken)?;
        Ok(Cancels(cancels))
    }
}

#[derive(Debug)]
pub struct Cancels(async_nats::Subscriber);

impl Cancels {
    /// The next cancellation of this grant that shows its token.
    pub async fn next(&mut self, granted: &LeaseGranted) -> Option<CancelRequested> {
        loop {
            let message = self.0.next().await?;
            let Ok(cancel) = decode::<CancelRequested>(&message.payload) else { continue };
            let shown =
                granted.cancel_token.is_none() || cancel.cancel_token == granted.cancel_token;
            if cancel.lease_id == granted.lease_id && shown {
                return Some(cancel);
            }
            tracing::warn!(job = %granted.job_id, "cancellation of another lease ignored");
        }
    }
}
