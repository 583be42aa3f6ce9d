//! What an operator chooses.

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
    /// Nowhere: gone with the process.
    Memory,
    /// A file of this name.
    Sqlite(PathBuf),
    /// A PostgreSQL server at this URL, which other orchestrators may share.
    Postgres(String),
}

#[derive(Clone, Debug)]
pub struct Config {
    pub store: StoreConfig,
    /// Where objects are; if they are in a bucket, where they are on their way to it.
    pub objects: PathBuf,
    /// Most bytes of all objects in that folder together. More are refused until runs are forgotten.
    pub objects_bytes_max: u64,
    /// A bucket of an S3 store, which other orchestrators may share.
    pub bucket: Option<BucketConfig>,
    /// Where the audit log is.
    pub audit: Option<PathBuf>,
    /// Where work is announced (transport A), besides being asked for.
    pub broker: Option<broker::Config>,
    /// Its certificate. None: plain HTTP, for this machine.
    pub tls: Option<TlsFiles>,
    /// Allows plain HTTP for other machines: everybody on the way can read and use what is sent.
    pub insecure: bool,
    /// Who may do what, at the start.
    pub access: Access,
    /// Where to look for changes of it: a file that has an [`Access`] in JSON.
    pub access_file: Option<PathBuf>,
    pub policy: Policy,
    /// How often it looks for leases that are over.
    pub sweep_every: Duration,
    /// How long runs are kept after their end, with their logs and objects, in seconds.
    pub keep_seconds: u32,
    /// How often runners that wait look again, in case nobody woke them.
    pub look_again: Duration,
    pub connections_max: usize,
    /// The time that a peer may take over a request's head, and over its body if that is a message.
    pub request_timeout: Duration,
    /// The time that open requests have when it stops.
    pub drain: Duration,
    /// Its clock.
    pub clock: Clock,
}

impl Config {
    /// Everything under one folder, with the defaults of the protocol.
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
