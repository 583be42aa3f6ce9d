//! Configuration of an orchestrator.

use super::tls::TlsFiles;
use crate::auth::Access;
use crate::broker;
use crate::lease::Policy;
use crate::object::BucketConfig;
use crate::time::Clock;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Clone, Debug)]
pub enum StoreConfig {
    /// In memory, lost with the process.
    Memory,
    /// An SQLite file.
    Sqlite(PathBuf),
    /// URL of a PostgreSQL server, which other orchestrators may share.
    Postgres(String),
}

#[derive(Clone, Debug)]
pub struct Config {
    pub store: StoreConfig,
    /// Directory of objects. With a bucket: of objects on their way to it.
    pub objects: PathBuf,
    /// Most bytes of objects in that directory. Uploads beyond it are refused until old runs are removed.
    pub objects_bytes_max: u64,
    /// An S3 bucket, which other orchestrators may share.
    pub bucket: Option<BucketConfig>,
    /// File of the audit log.
    pub audit: Option<PathBuf>,
    /// Broker that announces jobs (transport A).
    pub broker: Option<broker::Config>,
    /// TLS certificate. None: plain HTTP, on loopback only.
    pub tls: Option<TlsFiles>,
    /// Allows plain HTTP beyond loopback: everybody on the network path can read and use what is sent.
    pub insecure: bool,
    /// Tokens at the start.
    pub access: Access,
    /// File with an [`Access`] in JSON that replaces them whenever it changes.
    pub access_file: Option<PathBuf>,
    pub policy: Policy,
    /// Interval of sweeps for expired leases.
    pub sweep_every: Duration,
    /// Retention of ended runs with their logs and objects, in seconds.
    pub keep_seconds: u32,
    /// How often a waiting runner queries the store again, in case a wake-up was lost.
    pub look_again: Duration,
    pub connections_max: usize,
    /// Longest time for a request's head, and for a body that is a message.
    pub request_timeout: Duration,
    /// Time for open requests at shutdown.
    pub drain: Duration,
    pub clock: Clock,
}

impl Config {
    /// Everything below one directory, with the protocol's defaults.
    pub fn in_folder(folder: &std::path::Path) -> Self {
        Self {
            store: StoreConfig::Sqlite(folder.join("fleet.db")),
            objects: folder.join("objects"),
            objects_bytes_max: 50 * 1024 * 1024 * 1024,
            audit: Some(folder.join("audit.jsonl")),
            bucket: None,
            broker: None,
            tls: None,
            insecure: false,
            access: Access::default(),
            access_file: None,
            policy: Policy::default(),
            sweep_every: Duration::from_secs(1),
            keep_seconds: 30 * 24 * 60 * 60,
            look_again: Duration::from_secs(5),
            connections_max: 16_384,
            request_timeout: Duration::from_secs(30),
            drain: Duration::from_secs(10),
            clock: Clock::default(),
        }
    }
}
