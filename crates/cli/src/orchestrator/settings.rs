//! `orchestrator.toml`.

use crate::failure::Failure;
use crate::fleet::FleetFailure;
use remuda_fleet::lease::Policy;
use remuda_fleet::orchestrator::{Config, StoreConfig};
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

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
    #[serde(default = "thirty")]
    keep_days: u32,
    #[serde(default)]
    lease: Lease,
    /// Where they are.
    #[serde(skip)]
    directory: PathBuf,
}

fn thirty() -> u32 {
    30
}

/// How patient it is; see the protocol's own defaults.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Lease {
    ttl_seconds: u32,
    heartbeat_seconds: u32,
    ack_seconds: u32,
    cancel_seconds: u32,
    losses_max: u32,
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

/// The text of new settings, with a word on each.
pub(crate) fn template(listen: SocketAddr, postgres: Option<&str>, open: bool) -> String {
    let Lease { ttl_seconds, heartbeat_seconds, ack_seconds, cancel_seconds, losses_max } =
        Lease::default();
    let postgres = match postgres {
        // A debug string of Rust is a basic string of TOML, as far as URLs go.
        Some(url) => format!("postgres = {url:?}"),
        None => "# postgres = \"postgres://fleet@localhost/fleet\"".to_owned(),
    };
    format!(
        "# Settings of an orchestrator. `remuda orchestrator run` reads them at its start.\n\n\
         # Where it listens, for workers and people alike. Port 0 takes a free one.\n\
         listen = \"{listen}\"\n\n\
         # Rows are in fleet.db beside this file, or in PostgreSQL, which others may share.\n\
         {postgres}\n\n\
         # Without tokens whoever reaches it may do everything: for one machine alone.\n\
         open = {open}\n\n\
         # Runs that ended so long ago are forgotten, with their logs and objects.\n\
         keep_days = {}\n\n\
         [lease]\n\
         # A lease ends so long after the last heartbeat; the job then goes to another worker.\n\
         ttl_seconds = {ttl_seconds}\n\
         # How often workers say that they are alive. At most half of the above.\n\
         heartbeat_seconds = {heartbeat_seconds}\n\
         # A worker that was granted a job has so long to accept it.\n\
         ack_seconds = {ack_seconds}\n\
         # A worker that is asked to stop a job has so long.\n\
         cancel_seconds = {cancel_seconds}\n\
         # So many workers may vanish with the same job before it is given up.\n\
         losses_max = {losses_max}\n",
        thirty()
    )
}

impl Settings {
    /// Reads a file, or the one in a directory.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let missing = || FleetFailure::NotMade {
            path: path.to_owned(),
            file: SETTINGS,
            command: "orchestrator",
        };
        let file = if path.is_dir() { path.join(SETTINGS) } else { path.to_owned() };
        if !file.exists() {
            return Err(missing().into());
        }
        let text = crate::session::read_input(&file)?;
        let wrong = |why: String| FleetFailure::Content { path: file.clone(), why };
        let text = String::from_utf8(text).map_err(|_| wrong("it is no text".to_owned()))?;
        let mut read: Self = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        read.directory = file.parent().map(Path::to_owned).unwrap_or_default();
        read.check().map_err(|why| wrong(why.to_owned()))?;
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
        Ok(())
    }

    /// Where the tokens are.
    pub(crate) fn tokens(&self) -> PathBuf {
        self.directory.join(TOKENS)
    }

    /// As the library wants it.
    pub(crate) fn config(&self) -> Config {
        let mut config = Config::in_folder(&self.directory);
        if let Some(url) = &self.postgres {
            config.store = StoreConfig::Postgres(url.clone());
        }
        if !self.open {
            config.access_file = Some(self.tokens());
        }
        config.keep_seconds = self.keep_days * DAY_SECONDS;
        let Lease { ttl_seconds, heartbeat_seconds, ack_seconds, cancel_seconds, losses_max } =
            self.lease;
        config.policy = Policy {
            lease_ttl_seconds: ttl_seconds,
            heartbeat_interval_seconds: heartbeat_seconds,
            ack_window_seconds: ack_seconds,
            cancel_deadline_seconds: cancel_seconds,
            losses_max,
            ..Policy::default()
        };
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        let settings: Settings = toml::from_str(text).map_err(|error| error.to_string())?;
        settings.check().map(|()| settings).map_err(str::to_owned)
    }

    #[test]
    fn what_init_writes_is_read_back_and_means_the_defaults() {
        let listen = "127.0.0.1:4400".parse().expect("an address");
        for postgres in [None, Some("postgres://a:b%22@c/d")] {
            let text = template(listen, postgres, false);
            let settings = read(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
            assert_eq!(settings.postgres.as_deref(), postgres);
            assert_eq!(settings.config().policy, Policy::default());
        }
    }

    #[test]
    fn settings_that_contradict_themselves_are_refused() {
        let wrong = read("listen = \"127.0.0.1:1\"\n[lease]\nttl_seconds = 10\n").unwrap_err();
        assert!(wrong.contains("half"), "{wrong}");
        let wrong = read("listen = \"127.0.0.1:1\"\nlisten_to = 1\n").unwrap_err();
        assert!(wrong.contains("listen_to"), "{wrong}");
        assert!(read("listen = \"127.0.0.1:1\"\nkeep_days = 4000000\n").is_err());
    }
}
