//! `worker.toml`.

use crate::failure::Failure;
use crate::fleet::broker::Broker;
use crate::fleet::{FleetFailure, read_settings};
use clap::ValueEnum;
use remuda_fleet::http::{Endpoint, Trust};
use remuda_fleet::message::Tag;
use remuda_fleet::worker::{Config, Images, Internet, Network, Runc, Sandbox};
use remuda_runner::executor::{Capabilities, ExecutorSettings};
use remuda_runner::fleet::{calls, tags};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names within the directory.
pub(crate) const SETTINGS: &str = "worker.toml";
pub(crate) const KEY: &str = "worker.key";
const CONCURRENCY_MAX: u16 = 256;
/// Tags that a worker may have.
const TAGS_MAX: usize = 256;
/// The longest that a job is waited for at the end.
const DRAIN_SECONDS_MAX: u32 = 24 * 60 * 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SandboxKind {
    /// Bubblewrap: namespaces of their own, a root that they cannot write.
    Bwrap,
    /// Nothing: a job can do whatever the worker can.
    Plain,
}

/// The network of jobs in a sandbox or a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NetworkKind {
    /// The host's network, its own services and private networks included.
    Host,
    /// Public IPv4 addresses only, by slirp4netns and nftables.
    Internet,
    /// No network.
    None,
}

impl NetworkKind {
    /// The network, if its programs are installed.
    pub(super) fn find(self) -> Result<Network, FleetFailure> {
        match self {
            Self::Host => Ok(Network::Host),
            Self::Internet => Ok(Network::Internet(Internet::find()?)),
            Self::None => Ok(Network::None),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Internet => "internet",
            Self::None => "none",
        }
    }
}

impl SandboxKind {
    /// The sandbox, if this machine has it.
    pub(crate) fn find(self, network: &Network) -> Result<Sandbox, FleetFailure> {
        match self {
            Self::Plain => Ok(Sandbox::Process),
            Self::Bwrap => Sandbox::find(network).ok_or(FleetFailure::NoSandbox),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bwrap => "bwrap",
            Self::Plain => "plain",
        }
    }
}

/// What becomes of jobs that want an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ImagePolicy {
    /// They fail: this worker has no way to have one.
    Refuse,
    /// They run without: this machine is what the image would be.
    Ignore,
    /// They run in containers, by runc, of images in a folder on this machine.
    Runc,
}

impl ImagePolicy {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Ignore => "ignore",
            Self::Runc => "runc",
        }
    }
}

/// What an operator can choose.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    orchestrator: String,
    ca_file: Option<PathBuf>,
    #[serde(default)]
    insecure: bool,
    #[serde(default)]
    tags: BTreeSet<Tag>,
    #[serde(default = "one")]
    pub(crate) concurrency: u16,
    sandbox: SandboxKind,
    network: Option<NetworkKind>,
    #[serde(default)]
    hidden: Vec<PathBuf>,
    #[serde(default = "refuse")]
    images: ImagePolicy,
    #[serde(default = "runc")]
    runc: PathBuf,
    #[serde(default = "images_folder")]
    images_folder: PathBuf,
    #[serde(default = "ten_gib")]
    images_mib_max: u64,
    #[serde(default = "ten_gib")]
    cache_mib_max: u64,
    memory_mib_max: Option<u64>,
    #[serde(default = "sixteen_gib")]
    disk_mib_max: u64,
    #[serde(default = "million")]
    files_max: u64,
    #[serde(default = "minute")]
    drain_seconds: u32,
    broker: Option<Broker>,
    #[serde(default)]
    secrets: BTreeMap<String, String>,
    /// For jobs of a chain's runner.
    executors: Option<ExecutorSettings>,
    #[serde(skip)]
    directory: PathBuf,
}

fn one() -> u16 {
    1
}

pub(super) fn minute() -> u32 {
    60
}

pub(super) fn refuse() -> ImagePolicy {
    ImagePolicy::Refuse
}

pub(super) fn runc() -> PathBuf {
    "runc".into()
}

pub(super) fn images_folder() -> PathBuf {
    "images".into()
}

pub(super) fn ten_gib() -> u64 {
    10 * 1_024
}

pub(super) fn sixteen_gib() -> u64 {
    16 * 1_024
}

pub(super) fn million() -> u64 {
    1_000_000
}

impl Settings {
    pub(super) fn orchestrator(&self) -> &str {
        &self.orchestrator
    }

    /// Where they are, and all that is made.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Reads a file, or the one in a directory. The trust of the command line holds where the file has none.
    pub(crate) fn read(path: &Path, trust: Trust) -> Result<Self, Failure> {
        let (mut read, file): (Self, _) = read_settings(path, SETTINGS, "worker")?;
        read.check()
            .map_err(|why| FleetFailure::Content { path: file.clone(), why: why.into() })?;
        // Absolute: jobs begin elsewhere.
        let file = std::path::absolute(&file)
            .map_err(|source| Failure::File { path: file.clone(), source })?;
        read.directory = file.parent().map(Path::to_owned).unwrap_or_default();
        if let Some(executors) = &mut read.executors {
            executors.below(&read.directory);
        }
        read.ca_file = read.ca_file.or(trust.ca_file);
        read.insecure |= trust.insecure;
        // What would end each worker is said before the first.
        let checked = Endpoint::new(&read.orchestrator, &read.trust());
        checked.map_err(FleetFailure::from)?;
        Ok(read)
    }

    fn trust(&self) -> Trust {
        let ca_file = self.ca_file.as_ref().map(|file| self.directory.join(file));
        Trust { ca_file, insecure: self.insecure }
    }

    fn check(&self) -> Result<(), &'static str> {
        if !(1..=CONCURRENCY_MAX).contains(&self.concurrency) {
            return Err("concurrency is between 1 and 256");
        }
        if self.drain_seconds > DRAIN_SECONDS_MAX {
            return Err("drain_seconds is at most a day");
        }
        if self.cache_mib_max == 0 || self.images_mib_max == 0 || self.memory_mib_max == Some(0) {
            return Err("cache_mib_max, images_mib_max and memory_mib_max are at least 1");
        }
        if self.disk_mib_max == 0 || self.files_max == 0 {
            return Err("disk_mib_max and files_max are at least 1");
        }
        if self.network() != NetworkKind::Host && !self.confines() {
            return Err("plain jobs always use the host's network; set network = \"host\"");
        }
        self.broker.as_ref().map_or(Ok(()), Broker::check)
    }

    /// Whether any job has a sandbox or a container.
    fn confines(&self) -> bool {
        self.sandbox == SandboxKind::Bwrap || self.images == ImagePolicy::Runc
    }

    /// The setting, or its default.
    fn network(&self) -> NetworkKind {
        let unsaid = if self.confines() { NetworkKind::Internet } else { NetworkKind::Host };
        self.network.unwrap_or(unsaid)
    }

    /// Each worker that runs side by side, as the library wants it: one key, and folders of their own.
    pub(crate) fn configs(&self, one_shot: bool) -> Result<Vec<Config>, FleetFailure> {
        let network = self.network().find()?;
        let sandbox = self.sandbox.find(&network)?;
        let mut capabilities = self.tags.clone();
        let executor = match &self.executors {
            Some(executors) => {
                capabilities.extend(tags::offered(&Capabilities::of(executors)));
                Some(calls(executors).map_err(FleetFailure::Executor)?)
            }
            None => None,
        };
        if capabilities.len() > TAGS_MAX {
            return Err(FleetFailure::Tags { found: capabilities.len(), limit: TAGS_MAX });
        }
        let images = self.images()?;
        // Each has a folder of its own, so each has a part of the whole.
        let cache_bytes_max = mib(self.cache_mib_max) / u64::from(self.concurrency);
        let config = |place: u16| {
            let folder = self.directory.join(format!("place-{place}"));
            let mut config = Config::new(&self.orchestrator, folder, sandbox.clone());
            config.trust = self.trust();
            config.key = self.directory.join(KEY);
            // Its settings and the places of others, and what the operator names.
            config.hidden = vec![self.directory.clone()];
            config.hidden.extend(self.hidden.iter().map(|at| self.directory.join(at)));
            config.beside = Some(self.directory.clone());
            config.capabilities = capabilities.clone();
            config.executor = executor.clone();
            config.images = images.clone();
            config.network = network.clone();
            config.memory_bytes_max = self.memory_mib_max.map(mib);
            config.disk_bytes_max = mib(self.disk_mib_max);
            config.files_max = self.files_max;
            config.cache_bytes_max = cache_bytes_max;
            config.broker = self.broker.as_ref().map(|broker| broker.config(self.trust(), None));
            config.secrets = self.secrets.clone();
            config.drain = Duration::from_secs(self.drain_seconds.into());
            config.one_shot = one_shot;
            config
        };
        Ok((1..=self.concurrency).map(config).collect())
    }

    fn images(&self) -> Result<Images, FleetFailure> {
        match self.images {
            ImagePolicy::Refuse => Ok(Images::Refuse),
            ImagePolicy::Ignore => Ok(Images::Ignore),
            ImagePolicy::Runc => {
                Runc::version(&self.runc).map_err(FleetFailure::NoRunc)?;
                Ok(Images::Runc(Runc {
                    program: self.runc.clone(),
                    from: self.directory.join(&self.images_folder),
                    store: self.directory.join("unpacked"),
                    bytes_max: mib(self.images_mib_max),
                }))
            }
        }
    }
}

fn mib(mib: u64) -> u64 {
    mib.saturating_mul(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::super::template::{EXECUTORS, InitOptions};
    use super::*;

    #[test]
    fn what_init_writes_is_read_back() {
        let tags = BTreeSet::from(["gpu", "os:linux"].map(|tag| Tag::new(tag).expect("a tag")));
        let mut options = InitOptions::new(SandboxKind::Plain);
        options.concurrency = 3;
        options.cache_mib_max = 6;
        options.nats = Some("nats://127.0.0.1:4222".to_owned());
        options.memory_mib_max = Some(512);
        let trust = Trust { ca_file: Some("/srv/ca.pem".into()), insecure: true };
        let text = options.text("http://127.0.0.1:4400", &trust, &tags);
        let settings: Settings =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        settings.check().expect("sound");
        assert_eq!(settings.trust(), trust);
        let configs = settings.configs(false).expect("plain needs nothing");
        assert_eq!(configs.len(), 3);
        assert_eq!(configs[0].capabilities, tags);
        assert_eq!(configs[0].key, configs[2].key);
        assert_ne!(configs[0].folder, configs[2].folder);
        let hidden = vec![settings.directory.clone()];
        assert_eq!(configs[0].hidden, hidden, "key, settings, others' places");
        assert_eq!(configs[0].images, Images::Refuse);
        assert_eq!(configs[0].cache_bytes_max, 2 << 20, "a third each");
        assert_eq!(configs[0].memory_bytes_max, Some(512 << 20));
        let mut broker = remuda_fleet::broker::Config::new("nats://127.0.0.1:4222");
        broker.trust = trust;
        assert_eq!(configs[0].broker, Some(broker));
    }

    #[test]
    fn what_is_named_is_hidden_too() {
        let text = InitOptions::new(SandboxKind::Plain).text(
            "http://a:1",
            &Trust::default(),
            &BTreeSet::new(),
        );
        let line = "# hidden = [\"/srv/fleet\"]";
        assert!(text.contains(line), "{text}");
        let text = text.replace(line, "hidden = [\"/srv/fleet\", \"../runner\"]");
        let mut settings: Settings = toml::from_str(&text).expect("settings");
        settings.directory = "/srv/ada".into();
        let config = settings.configs(false).expect("plain needs nothing").remove(0);
        let wanted = ["/srv/ada", "/srv/fleet", "/srv/ada/../runner"].map(PathBuf::from);
        assert_eq!(config.hidden, wanted);
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        let plain = InitOptions::new(SandboxKind::Plain).text(
            "http://a:1",
            &Trust::default(),
            &BTreeSet::new(),
        );
        for (from, to) in [
            ("cache_mib_max = 10240", "cache_mib_max = 0"),
            ("concurrency = 1", "concurrency = 257"),
        ] {
            assert!(plain.contains(from), "{plain}");
            let settings: Settings = toml::from_str(&plain.replace(from, to)).expect("TOML");
            assert!(settings.check().is_err(), "{to}");
        }
        let runc = plain.replace("images = \"refuse\"", "images = \"runc\"");
        let runc = runc.replace("# runc = \"runc\"", "runc = \"/nonexistent/runc\"");
        let settings: Settings = toml::from_str(&runc).expect("TOML");
        assert!(matches!(settings.configs(false), Err(FleetFailure::NoRunc(_))), "{runc}");
    }

    #[test]
    fn network_defaults_to_internet_and_is_refused_where_it_cannot_be_enforced() {
        let read = |sandbox: SandboxKind, network: &str| -> Settings {
            let text =
                InitOptions::new(sandbox).text("http://a:1", &Trust::default(), &BTreeSet::new());
            let (before, rest) = text.split_once("\nnetwork = ").expect("it is there");
            let (_, after) = rest.split_once('\n').expect("another line");
            toml::from_str(&format!("{before}\n{network}\n{after}")).expect("settings")
        };
        let (plain, bwrap) = (SandboxKind::Plain, SandboxKind::Bwrap);
        assert_eq!(read(bwrap, "").network(), NetworkKind::Internet);
        assert_eq!(read(bwrap, "network = \"host\"").network(), NetworkKind::Host);
        read(plain, "").check().expect("the host's network by default");
        for promised in ["internet", "none"] {
            let settings = read(plain, &format!("network = \"{promised}\""));
            assert!(settings.check().is_err(), "{promised}");
        }
    }

    #[test]
    fn executors_bring_their_tags() {
        let mut options = InitOptions::new(SandboxKind::Plain);
        options.executors = true;
        let text = options.text("http://127.0.0.1:4400", &Trust::default(), &BTreeSet::new());
        let settings: Settings = toml::from_str(&text).expect("settings");
        let config = settings.configs(false).expect("nothing is asked for").remove(0);
        assert!(config.executor.is_some());
        let tags: Vec<&str> = config.capabilities.iter().map(Tag::as_str).collect();
        assert!(tags.contains(&"remuda:http") && tags.contains(&"resolvers:4"), "{tags:?}");
        let misspelt = text.replace("[executors.http]", "[executors.htpp]");
        assert!(toml::from_str::<Settings>(&misspelt).is_err());
    }

    #[test]
    fn what_is_commented_out_can_be_used() {
        let comment =
            |line: &&str| line.starts_with("#[") || line.starts_with('#') && line.contains(" = ");
        let all = EXECUTORS.lines().map(|line| if comment(&line) { &line[1..] } else { line });
        let table: toml::Table = all.collect::<Vec<_>>().join("\n").parse().expect("TOML");
        let all: ExecutorSettings = table["executors"].clone().try_into().expect("executors");
        let ExecutorSettings { llm, eth, mcp, wasm, .. } = all;
        assert!(llm.is_some() && eth.is_some() && mcp.is_some() && wasm.is_some());
    }
}
