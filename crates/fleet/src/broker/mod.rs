//! Transport A (seed 002, "Transport Models"): a NATS server announces jobs by a queue and cancellations by a
//! subject. Leases, heartbeats and results still go to the orchestrator.
//!
//! A message of the queue is a *hint* that a job may be ready. Its receiver asks the orchestrator for a
//! lease, and only the grant counts. So hints may be lost, repeated, late or false:
//!
//! - lost, even with the broker's disk: the orchestrator republishes waiting jobs every few seconds
//!   ([`Publisher`]);
//! - repeated or false: the runner gets `NoWork`;
//! - broker unavailable: runners poll the orchestrator, as with transport B.
//!
//! Runners with the same capabilities form a *pool*: they share one consumer of the stream. The orchestrator
//! reads the pools from the broker's list of consumers and publishes a hint to a pool with an idle runner.
//! The broker removes unused pools.
//!
//! `CancelRequested` goes to the runner's own subject, with the token of the grant: a runner ignores it
//! otherwise. If it is lost, the answer to the next heartbeat says the same.

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

/// Most hints in the stream. The oldest are dropped and republished from rows.
const HINTS_MAX: i64 = 100_000;
/// Age at which a hint is dropped.
const HINT_AGE_MAX: Duration = Duration::from_secs(60 * 60);
/// Window in which the broker drops duplicates.
const SAME_FOR: Duration = Duration::from_secs(120);
/// Time after which an unacknowledged hint is redelivered. A runner asks for its lease at once.
const ACK_WAIT: Duration = Duration::from_secs(30);
/// Most deliveries of a hint. Then it must be republished from rows.
const DELIVERIES_MAX: i64 = 5;
/// Most runners of a pool that wait at a time.
const WAITING_MAX: i64 = 16_384;
/// Time after which the broker removes an unused pool.
const POOL_IDLE_MAX: Duration = Duration::from_secs(300);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone, PartialEq, Eq)]
pub struct Config {
    /// `nats://host:4222` or `tls://host:4222`, with user and password if needed.
    pub url: String,
    /// Trusted servers, and whether `nats://` may name another machine.
    pub trust: Trust,
    /// Prefix of all names. Fleets on one broker need different ones.
    pub prefix: String,
    /// Interval at which an orchestrator republishes waiting jobs.
    pub look_again: Duration,
}

impl Config {
    pub fn new(url: &str) -> Self {
        let (url, prefix) = (url.to_owned(), "remuda".to_owned());
        Self { url, prefix, trust: Trust::default(), look_again: Duration::from_secs(5) }
    }

    /// Refuses plain connections to other machines: cancel tokens could be read on the network path.
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
            // Holds for discovered servers of its cluster, too.
            .require_tls(encrypted)
            .name("remuda-fleet")
            .connection_timeout(ANSWER_TIMEOUT)
            .request_timeout(Some(ANSWER_TIMEOUT))
            // Neither side needs the broker to start.
            .retry_on_initial_connect();
        if !encrypted && !self.trust.insecure {
            // They may be on other machines, reached without TLS.
            options = options.ignore_discovered_servers();
        }
        // async-nats ignores user and password in the URL.
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

// The URL may contain a password.
impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { prefix, look_again, .. } = self;
        f.debug_struct("Config")
            .field("prefix", prefix)
            .field("look_again", look_again)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokerError {
    #[error(
        "the broker at {0} would be reached without TLS, so anyone on the network path could read cancel tokens; use a tls:// URL, or allow it with `insecure = true` in settings"
    )]
    Plain(String),
    #[error("the broker cannot be used: {0}; check that it runs with JetStream enabled")]
    Failed(String),
}

fn broken(error: impl std::fmt::Display) -> BrokerError {
    BrokerError::Failed(error.to_string())
}

/// Content of a hint. Nothing is decided by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Hint {
    job_id: JobId,
}

/// A token of a subject without special characters.
fn token(text: &str) -> String {
    sha256_hex(text.as_bytes())[..32].to_owned()
}

/// Capabilities in a pool's description.
fn pool_text(capabilities: &BTreeSet<Tag>) -> String {
    serde_json::to_string(capabilities).unwrap_or_default()
}

/// Capabilities of a pool. None: a foreign consumer.
fn pool_tags(description: &str) -> Option<BTreeSet<Tag>> {
    serde_json::from_str(description).ok()
}
