//! `orchestrator.toml`.

use super::bucket::Bucket;
use crate::failure::Failure;
use crate::fleet::broker::Broker;
use crate::fleet::{FleetFailure, read_settings};
use remuda_fleet::http::Trust;
use remuda_fleet::lease::Policy;
use remuda_fleet::orchestrator::{Config, StoreConfig, TlsFiles};
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names within the directory.
pub(crate) const SETTINGS: &str = "orchestrator.toml";
pub(crate) const TOKENS: &str = "tokens.json";

/// A day, and the most that runs can be kept: a hundred years.
const DAY_SECONDS: u32 = 24 * 60 * 60;
const KEEP_DAYS_MAX: u32 = 36_500;
/// The longest that anybody is waited for.
const SECONDS_MAX: u32 = DAY_SECONDS;

/// What an operator can choose.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    pub(crate) listen: SocketAddr,
    pub(crate) postgres: Option<String>,
    #[serde(default)]
    pub(crate) open: bool,
    #[serde(default)]
    pub(crate) insecure: bool,
    ca_file: Option<PathBuf>,
    tls: Option<Tls>,
    #[serde(default = "thirty")]
    keep_days: u32,
    #[serde(default = "fifty_gib")]
    objects_mib_max: u64,
    #[serde(default = "one_gib")]
    memory_mib_max: u64,
    #[serde(default = "sixteen_gib")]
    logs_mib_max: u64,
    #[serde(default)]
    lease: Lease,
    broker: Option<Broker>,
    #[serde(default = "five")]
    announce_seconds: u32,
    bucket: Option<Bucket>,
    #[serde(skip)]
    directory: PathBuf,
}

/// `[tls]`: the certificate and its key, in PEM.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tls {
    certificate_file: PathBuf,
    key_file: PathBuf,
}

pub(super) fn thirty() -> u32 {
    30
}

pub(super) fn fifty_gib() -> u64 {
    50 * 1_024
}

pub(super) fn sixteen_gib() -> u64 {
    16 * 1024
}

pub(super) fn one_gib() -> u64 {
    1_024
}

pub(super) fn five() -> u32 {
    5
}

/// How patient it is; see the protocol's own defaults.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Lease {
    pub(super) ttl_seconds: u32,
    pub(super) heartbeat_seconds: u32,
    pub(super) ack_seconds: u32,
    pub(super) cancel_seconds: u32,
    pub(super) losses_max: u32,
}

impl Default for Lease {
    fn default() -> Self {
        let policy = Policy::default();
        Self {
            ttl_seconds: policy.lease_ttl_seconds,
            heartbeat_seconds: policy.heartbeat_interval_seconds,
            ack_seconds: policy.ack_window_seconds,
            cancel_seconds: policy.cancel_deadline_seconds,
            losses_max: policy.losses_max,
        }
    }
}

impl Settings {
    /// Where they are, and all that is made.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Reads a file, or the one in a directory.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let (mut read, file): (Self, _) = read_settings(path, SETTINGS, "orchestrator")?;
        read.directory = file.parent().map(Path::to_owned).unwrap_or_default();
        read.check().map_err(|why| FleetFailure::Content { path: file, why: why.into() })?;
        Ok(read)
    }

    fn check(&self) -> Result<(), &'static str> {
        let Lease { ttl_seconds, heartbeat_seconds, ack_seconds, cancel_seconds, losses_max } =
            self.lease;
        let time = |seconds: u32| (1..=SECONDS_MAX).contains(&seconds);
        if ![ttl_seconds, heartbeat_seconds, ack_seconds, cancel_seconds].into_iter().all(time) {
            return Err("times under [lease] are between 1 second and a day");
        }
        if heartbeat_seconds > ttl_seconds / 2 {
            return Err(
                "heartbeat_seconds must be at most half of ttl_seconds: one beat may be lost",
            );
        }
        if losses_max > 1_000 {
            return Err("losses_max is at most 1000");
        }
        if !(1..=KEEP_DAYS_MAX).contains(&self.keep_days) {
            return Err("keep_days is between 1 and 36500");
        }
        if self.objects_mib_max == 0 {
            return Err("objects_mib_max is at least 1");
        }
        if self.logs_mib_max == 0 {
            return Err("logs_mib_max is at least 1");
        }
        if self.memory_mib_max < 16 {
            return Err("memory_mib_max is at least 16");
        }
        if !(1..=SECONDS_MAX).contains(&self.announce_seconds) {
            return Err("announce_seconds is between 1 second and a day");
        }
        self.broker.as_ref().map_or(Ok(()), Broker::check)?;
        self.bucket.as_ref().map_or(Ok(()), Bucket::check)
    }

    pub(crate) fn tokens(&self) -> PathBuf {
        self.directory.join(TOKENS)
    }

    /// As the library wants it.
    pub(crate) fn config(&self) -> Result<Config, Failure> {
        let mut config = Config::in_folder(&self.directory);
        if let Some(url) = &self.postgres {
            config.store = StoreConfig::Postgres(url.clone());
        }
        if !self.open {
            config.access_file = Some(self.tokens());
        }
        config.insecure = self.insecure;
        config.tls = self.tls.as_ref().map(|tls| TlsFiles {
            certificate: self.directory.join(&tls.certificate_file),
            key: self.directory.join(&tls.key_file),
        });
        config.keep_seconds = self.keep_days * DAY_SECONDS;
        let Lease { ttl_seconds, heartbeat_seconds, ack_seconds, cancel_seconds, losses_max } =
            self.lease;
        config.policy = Policy {
            lease_ttl_seconds: ttl_seconds,
            heartbeat_interval_seconds: heartbeat_seconds,
            ack_window_seconds: ack_seconds,
            cancel_deadline_seconds: cancel_seconds,
            losses_max,
            logs_bytes_max: self.logs_mib_max.saturating_mul(1 << 20),
            rows_bytes_max: self.memory_mib_max.saturating_mul(1 << 20),
            ..Policy::default()
        };
        config.objects_bytes_max = self.objects_mib_max.saturating_mul(1 << 20);
        let again = Duration::from_secs(self.announce_seconds.into());
        let trust = Trust {
            ca_file: self.ca_file.as_ref().map(|file| self.directory.join(file)),
            insecure: self.insecure,
        };
        let broker = self.broker.as_ref();
        config.broker = broker.map(|broker| broker.config(trust.clone(), Some(again)));
        let bucket = self.bucket.as_ref();
        config.bucket = bucket.map(|bucket| bucket.config(&self.directory, trust)).transpose()?;
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::super::template::InitOptions;
    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        let settings: Settings = toml::from_str(text).map_err(|error| error.to_string())?;
        settings.check().map(|()| settings).map_err(str::to_owned)
    }

    #[test]
    fn what_init_writes_is_read_back_and_means_the_defaults() {
        let mut options = InitOptions::new("127.0.0.1:4400".parse().expect("an address"));
        for postgres in [None, Some("postgres://a:b%22@c/d")] {
            options.postgres = postgres.map(str::to_owned);
            let text = options.text();
            let settings = read(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
            assert_eq!(settings.postgres.as_deref(), postgres);
            let config = settings.config().expect("nothing is missing");
            assert_eq!(config.policy, Policy::default());
            let defaults = Config::in_folder(Path::new(""));
            assert_eq!(config.objects_bytes_max, defaults.objects_bytes_max);
            assert_eq!(config.keep_seconds, defaults.keep_seconds);
            assert!(config.broker.is_none() && config.bucket.is_none());
        }
    }

    #[test]
    fn what_init_was_told_of_broker_and_bucket_is_what_runs() {
        let mut options = InitOptions::new("127.0.0.1:4400".parse().expect("an address"));
        options.nats = Some("nats://127.0.0.1:4222".to_owned());
        options.objects_mib_max = 7;
        options.s3_endpoint = Some("http://127.0.0.1:9000".to_owned());
        options.s3_bucket = Some("artifacts".to_owned());
        options.s3_prefix = "fleet/".to_owned();
        options.s3_keys_file = Some("bucket.keys".into());
        let settings =
            read(&options.text()).unwrap_or_else(|why| panic!("{why}\n{}", options.text()));
        let again = Duration::from_secs(5);
        let broker =
            settings.broker.as_ref().expect("a broker").config(Trust::default(), Some(again));
        assert_eq!(broker, remuda_fleet::broker::Config::new("nats://127.0.0.1:4222"));
        let bucket = settings.bucket.as_ref().expect("a bucket");
        assert_eq!((bucket.bucket.as_str(), bucket.prefix.as_str()), ("artifacts", "fleet/"));
        let here = std::env::current_dir().expect("a folder").join("bucket.keys");
        assert_eq!(
            bucket.keys_file.as_deref(),
            Some(here.as_path()),
            "relative to the working directory of the command"
        );
        assert!(settings.config().is_err(), "the keys are not there");
    }

    #[test]
    fn what_init_was_told_of_tls_is_what_runs() {
        let options = InitOptions::new("0.0.0.0:4400".parse().expect("an address"));
        assert!(options.check().is_err(), "plain HTTP for other machines");
        for (change, tls, insecure) in [
            (
                (|options: &mut InitOptions| options.insecure = true) as fn(&mut InitOptions),
                None,
                true,
            ),
            (|options| options.tls_names = vec!["fleet".to_owned()], Some("tls.pem"), false),
            (
                |options| {
                    options.tls_certificate = Some("/srv/a.pem".into());
                    options.tls_key = Some("/srv/a.key".into());
                },
                Some("/srv/a.pem"),
                false,
            ),
        ] {
            let mut options = options.clone();
            change(&mut options);
            options.check().expect("it may");
            let config =
                read(&options.text()).expect("settings").config().expect("nothing is missing");
            assert_eq!(config.insecure, insecure);
            assert_eq!(config.tls.map(|tls| tls.certificate), tls.map(PathBuf::from));
        }
    }

    #[test]
    fn a_databases_password_is_not_taken_from_the_command_line() {
        let mut options = InitOptions::new("127.0.0.1:4400".parse().expect("an address"));
        for (url, fine) in [
            ("postgres://fleet@db/fleet", true),
            ("postgres://db:5432/fleet?host=/run/postgresql", true),
            ("postgres://fleet:secret@db/fleet", false),
            ("postgres://db/fleet?user=a&password=b", false),
        ] {
            options.postgres = Some(url.to_owned());
            assert_eq!(options.check().is_ok(), fine, "{url}");
        }
    }

    #[test]
    fn settings_that_contradict_themselves_are_refused() {
        let wrong = read("listen = \"127.0.0.1:1\"\n[lease]\nttl_seconds = 10\n").unwrap_err();
        assert!(wrong.contains("half"), "{wrong}");
        let wrong = read("listen = \"127.0.0.1:1\"\nlisten_to = 1\n").unwrap_err();
        assert!(wrong.contains("listen_to"), "{wrong}");
        for wrong in [
            "keep_days = 4000000",
            "objects_mib_max = 0",
            "memory_mib_max = 15",
            "logs_mib_max = 0",
            "[broker]\nurl = \"http://a\"",
            "[bucket]\nendpoint = \"http://a/b\"\nbucket = \"c\"",
            "[bucket]\nendpoint = \"http://a\"\nbucket = \"c\"\nsecret_key = \"d\"",
        ] {
            assert!(read(&format!("listen = \"127.0.0.1:1\"\n{wrong}\n")).is_err(), "{wrong}");
        }
    }
}
