//! Transport A: work is announced through a queue, and cancellations through a topic, of a NATS server;
//! leases, heartbeats and results are the orchestrator's business as ever (seed 002, "Transport Models").
//!
//! A message of the queue is a *hint*: there is a job for somebody like you. Whoever takes it asks the
//! orchestrator for a lease, and only its grant counts. So hints may be lost, doubled, late or false:
//!
//! - lost, or the broker with all its disk: the orchestrator looks at its rows every few seconds and
//!   publishes what still waits ([`Publisher`]);
//! - doubled or false: the runner that takes one is told that there is no work;
//! - broker away: runners ask the orchestrator by themselves, as with transport B, until it is back.
//!
//! Runners with the same capabilities form a *pool*: one consumer of the stream, which they share. The
//! orchestrator knows the pools from the broker's list of consumers, and puts a hint where a runner that
//! can do the job waits. A pool that nobody asks any more is removed by the broker.
//!
//! `CancelRequested` goes to a subject of the runner's own. It shows the token of the grant; a runner
//! stops for nobody who does not. The answer to the next heartbeat says the same, if it is lost.

mod hint;
mod publish;

pub use hint::{Cancels, Hints, Taken};
pub use publish::{Announcement, LOOK_MAX, Publisher};

use crate::auth::sha256_hex;
use crate::http::{self, Trust};
use crate::id::{JobId, RunnerId};
use crate::message::Tag;
use async_nats::ServerAddr;
use async_nats::jetstream::consumer::pull;
use async_nats::jetstream::stream::{self, DiscardPolicy, RetentionPolicy};
use async_nats::jetstream::{self, consumer::AckPolicy};
use axum::http::Uri;
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::Duration;

/// Hints that the broker keeps: older ones go first, and the rows know better anyway.
const HINTS_MAX: i64 = 100_000;
/// A hint that nobody took in this time says nothing any more.
const HINT_AGE_MAX: Duration = Duration::from_secs(60 * 60);
/// The same hint again in this time is the same.
const SAME_FOR: Duration = Duration::from_secs(120);
/// A runner that took a hint asks for its lease at once; if it did not say that it has, another does.
const ACK_WAIT: Duration = Duration::from_secs(30);
/// How often a hint is handed out at most. Then the rows must publish it again.
const DELIVERIES_MAX: i64 = 5;
/// Runners of one pool that can wait at the same time.
const WAITING_MAX: i64 = 16_384;
/// A pool that nobody asked for so long is gone.
const POOL_IDLE_MAX: Duration = Duration::from_secs(300);
/// The time that a broker has to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone, PartialEq, Eq)]
pub struct Config {
    /// `nats://host:4222`, or `tls://host:4222`, with a name and a password in it if the server wants one.
    pub url: String,
    /// Which servers are believed, and whether `nats://` may name another machine.
    pub trust: Trust,
    /// What all names begin with: fleets that share a broker have different ones.
    pub prefix: String,
    /// How often an orchestrator looks for work that no runner heard of.
    pub look_again: Duration,
}

impl Config {
    /// A broker at this URL.
    pub fn new(url: &str) -> Self {
        let (url, prefix) = (url.to_owned(), "remuda".to_owned());
        Self { url, prefix, trust: Trust::default(), look_again: Duration::from_secs(5) }
    }

    /// Refuses a broker whose messages, cancel tokens among them, others on the network path could read.
    pub fn check(&self) -> Result<(), BrokerError> {
        let uri: Uri = self.url.parse().map_err(broken)?;
        let host = uri.host().unwrap_or_default();
        match uri.scheme_str() == Some("tls") || self.trust.allows_plain(host) {
            true => Ok(()),
            false => Err(BrokerError::Plain(host.to_owned())),
        }
    }

    fn stream(&self) -> stream::Config {
        stream::Config {
            name: format!("{}_hints", self.prefix),
            subjects: vec![format!("{}.hint.*", self.prefix)],
            retention: RetentionPolicy::WorkQueue,
            discard: DiscardPolicy::Old,
            max_messages: HINTS_MAX,
            max_age: HINT_AGE_MAX,
            duplicate_window: SAME_FOR,
            ..stream::Config::default()
        }
    }

    fn pool(&self, capabilities: &BTreeSet<Tag>) -> (String, pull::Config) {
        let text = pool_text(capabilities);
        let name = format!("pool-{}", token(&text));
        let config = pull::Config {
            durable_name: Some(name.clone()),
            description: Some(text),
            ack_policy: AckPolicy::Explicit,
            ack_wait: ACK_WAIT,
            max_deliver: DELIVERIES_MAX,
            max_waiting: WAITING_MAX,
            filter_subject: self.hint_subject(&name),
            inactive_threshold: POOL_IDLE_MAX,
            ..pull::Config::default()
        };
        (name, config)
    }

    fn hint_subject(&self, pool: &str) -> String {
        format!("{}.hint.{pool}", self.prefix)
    }

    fn cancel_subject(&self, runner: &RunnerId) -> String {
        format!("{}.cancel.{}", self.prefix, token(runner.as_str()))
    }

    async fn connect(&self) -> Result<(async_nats::Client, jetstream::Context), BrokerError> {
        self.check()?;
        let tls = http::client_config(self.trust.ca_file.as_deref()).map_err(broken)?;
        let address: ServerAddr = self.url.parse().map_err(broken)?;
        let encrypted = address.tls_required();
        let mut options = async_nats::ConnectOptions::new()
            .tls_client_config(tls)
            // Servers of its cluster that the broker names are no exception.
            .require_tls(encrypted)
            .name("remuda-fleet")
            .connection_timeout(ANSWER_TIMEOUT)
            .request_timeout(Some(ANSWER_TIMEOUT))
            // A broker that is away may come back: neither side needs it to begin.
            .retry_on_initial_connect();
        if !encrypted && !self.trust.insecure {
            // They may be on other machines, and would be reached in the clear.
            options = options.ignore_discovered_servers();
        }
        // async-nats ignores a name and a password in the URL.
        if let Some(name) = address.username() {
            let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
            let password = address.password().unwrap_or_default();
            options = options.user_and_password(decoded(name), decoded(password));
        }
        let client = options.connect(address).await.map_err(broken)?;
        let mut context = jetstream::new(client.clone());
        context.set_timeout(ANSWER_TIMEOUT);
        Ok((client, context))
    }
}

// The URL may have a password in it.
impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { prefix, look_again, .. } = self;
        f.debug_struct("Config")
            .field("prefix", prefix)
            .field("look_again", look_again)
            .finish_non_exhaustive()
    }
}

/// Why the broker is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokerError {
    /// In the clear to another machine.
    #[error(
        "the broker at {0} would be reached without TLS, so anyone on the network path could read cancel tokens; use a tls:// URL, or allow it with `insecure = true` in settings"
    )]
    Plain(String),
    /// It did not do what it was asked.
    #[error("the broker cannot be used: {0}; check that it runs with JetStream enabled")]
    Failed(String),
}

fn broken(error: impl std::fmt::Display) -> BrokerError {
    BrokerError::Failed(error.to_string())
}

/// What a hint says. Nothing is decided by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Hint {
    job_id: JobId,
}

/// A name for a subject: no character of it means anything to the broker.
fn token(text: &str) -> String {
    sha256_hex(text.as_bytes())[..32].to_owned()
}

/// Capabilities as a pool's description has them.
fn pool_text(capabilities: &BTreeSet<Tag>) -> String {
    serde_json::to_string(capabilities).unwrap_or_default()
}

/// What a pool can do; none if it is somebody else's consumer.
fn pool_tags(description: &str) -> Option<BTreeSet<Tag>> {
    serde_json::from_str(description).ok()
}
