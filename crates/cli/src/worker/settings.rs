//! `worker.toml`.

use crate::failure::Failure;
use crate::fleet::{FleetFailure, plain_http};
use clap::ValueEnum;
use remuda_fleet::message::Tag;
use remuda_fleet::worker::{Config, Images, Sandbox};
use remuda_runner::executor::ExecutorSettings;
use remuda_runner::fleet::{Means, calls, tags};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names within the directory.
pub(crate) const SETTINGS: &str = "worker.toml";
pub(crate) const KEY: &str = "worker.key";
/// Jobs at a time.
const CONCURRENCY_MAX: u16 = 256;
/// Tags that a worker may have.
const TAGS_MAX: usize = 256;
/// The longest that a job is waited for at the end.
const DRAIN_SECONDS_MAX: u32 = 24 * 60 * 60;

/// What jobs run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SandboxWish {
    /// Bubblewrap: namespaces of their own, a root that they cannot write.
    Bwrap,
    /// Nothing: a job can do whatever the worker can.
    Plain,
}

impl SandboxWish {
    /// The sandbox, if this machine has it.
    pub(crate) fn find(self, network: bool) -> Result<Sandbox, FleetFailure> {
        match self {
            Self::Plain => Ok(Sandbox::Process),
            Self::Bwrap => match Sandbox::find() {
                Some(Sandbox::Bubblewrap { program, .. }) => {
                    Ok(Sandbox::Bubblewrap { program, network })
                }
                _ => Err(FleetFailure::NoSandbox),
            },
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Bwrap => "bwrap",
            Self::Plain => "plain",
        }
    }
}

/// What an operator can choose.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    orchestrator: String,
    #[serde(default)]
    tags: BTreeSet<Tag>,
    #[serde(default = "one")]
    pub(crate) concurrency: u16,
    sandbox: SandboxWish,
    #[serde(default = "yes")]
    network: bool,
    #[serde(default)]
    ignore_images: bool,
    memory_mib_max: Option<u64>,
    #[serde(default = "minute")]
    drain_seconds: u32,
    #[serde(default)]
    secrets: BTreeMap<String, String>,
    /// For jobs of a chain's runner.
    executors: Option<ExecutorSettings>,
    /// Where they are.
    #[serde(skip)]
    directory: PathBuf,
}

fn one() -> u16 {
    1
}

fn yes() -> bool {
    true
}

fn minute() -> u32 {
    60
}

/// What new settings say.
pub(crate) struct Template<'a> {
    pub(crate) orchestrator: &'a str,
    pub(crate) tags: &'a BTreeSet<Tag>,
    pub(crate) concurrency: u16,
    pub(crate) sandbox: SandboxWish,
    /// Whether it does jobs of a runner.
    pub(crate) executors: bool,
}

/// Executors, for those who want some.
const EXECUTORS: &str = include_str!("executors.toml");

impl Template<'_> {
    /// Their text, with a word on each.
    pub(crate) fn text(&self) -> String {
        // Neither tags nor hosts have quotes or backslashes in them.
        let tags: Vec<String> = self.tags.iter().map(|tag| format!("\"{tag}\"")).collect();
        format!(
            "# Settings of a worker. `remuda worker run` reads them at its start.\n\n\
             # Who gives it jobs.\n\
             orchestrator = \"{}\"\n\n\
             # What it can do: it is given jobs whose tags are all here.\n\
             tags = [{}]\n\n\
             # Jobs at a time.\n\
             concurrency = {}\n\n\
             # What jobs run in: \"bwrap\" (namespaces of their own) or \"plain\" (nothing: for jobs that\n\
             # are trusted like the worker).\n\
             sandbox = \"{}\"\n\
             # Whether jobs in a sandbox have the machine's network.\n\
             network = true\n\n\
             # A job that wants an image fails here, unless this machine is what the image would be.\n\
             ignore_images = false\n\n\
             # Most memory of a job's processes together.\n\
             # memory_mib_max = 4096\n\n\
             # When it is told to stop, jobs have so long to end; then they are given back.\n\
             drain_seconds = {}\n\n\
             # Variables of every job. Their values are masked in logs.\n\
             [secrets]\n{}",
            self.orchestrator,
            tags.join(", "),
            self.concurrency,
            self.sandbox.name(),
            minute(),
            if self.executors { EXECUTORS } else { "" }
        )
    }
}

impl Settings {
    /// Reads a file, or the one in a directory.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let file = if path.is_dir() { path.join(SETTINGS) } else { path.to_owned() };
        if !file.exists() {
            let (path, command) = (path.to_owned(), "worker");
            return Err(FleetFailure::NotMade { path, file: SETTINGS, command }.into());
        }
        let text = crate::session::read_input(&file)?;
        let wrong = |why: String| FleetFailure::Content { path: file.clone(), why };
        let text = String::from_utf8(text).map_err(|_| wrong("it is no text".to_owned()))?;
        let mut read: Self = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        read.check().map_err(|why| wrong(why.to_owned()))?;
        read.orchestrator = plain_http(&read.orchestrator)?;
        // Absolute: jobs begin elsewhere.
        let file = std::path::absolute(&file)
            .map_err(|source| Failure::File { path: file.clone(), source })?;
        read.directory = file.parent().map(Path::to_owned).unwrap_or_default();
        if let Some(executors) = &mut read.executors {
            executors.below(&read.directory);
        }
        Ok(read)
    }

    fn check(&self) -> Result<(), &'static str> {
        if !(1..=CONCURRENCY_MAX).contains(&self.concurrency) {
            return Err("concurrency is between 1 and 256");
        }
        if self.drain_seconds > DRAIN_SECONDS_MAX {
            return Err("drain_seconds is at most a day");
        }
        Ok(())
    }

    /// Each worker that runs side by side, as the library wants it: one key, and folders of their own.
    pub(crate) fn configs(&self, one_shot: bool) -> Result<Vec<Config>, FleetFailure> {
        let sandbox = self.sandbox.find(self.network)?;
        let mut capabilities = self.tags.clone();
        let executor = match &self.executors {
            Some(executors) => {
                capabilities.extend(tags::offered(&Means::of(executors)));
                Some(calls(executors).map_err(FleetFailure::Executor)?)
            }
            None => None,
        };
        if capabilities.len() > TAGS_MAX {
            return Err(FleetFailure::Tags { found: capabilities.len(), limit: TAGS_MAX });
        }
        let config = |place: u16| {
            let folder = self.directory.join(format!("place-{place}"));
            let mut config = Config::new(&self.orchestrator, folder, sandbox.clone());
            config.key = self.directory.join(KEY);
            config.capabilities = capabilities.clone();
            config.executor = executor.clone();
            config.images = if self.ignore_images { Images::Ignore } else { Images::Refuse };
            config.memory_bytes_max = self.memory_mib_max.map(|mib| mib.saturating_mul(1 << 20));
            config.secrets = self.secrets.clone();
            config.drain = Duration::from_secs(self.drain_seconds.into());
            config.one_shot = one_shot;
            config
        };
        Ok((1..=self.concurrency).map(config).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_init_writes_is_read_back() {
        let tags = BTreeSet::from(["gpu", "os:linux"].map(|tag| Tag::new(tag).expect("a tag")));
        let text = Template {
            orchestrator: "http://127.0.0.1:4400",
            tags: &tags,
            concurrency: 3,
            sandbox: SandboxWish::Plain,
            executors: false,
        };
        let settings: Settings = toml::from_str(&text.text()).expect("settings");
        settings.check().expect("sound");
        let configs = settings.configs(false).expect("plain needs nothing");
        assert_eq!(configs.len(), 3);
        assert_eq!(configs[0].capabilities, tags);
        assert_eq!(configs[0].key, configs[2].key);
        assert_ne!(configs[0].folder, configs[2].folder);
    }

    #[test]
    fn executors_bring_their_tags() {
        let text = Template {
            orchestrator: "http://127.0.0.1:4400",
            tags: &BTreeSet::new(),
            concurrency: 1,
            sandbox: SandboxWish::Plain,
            executors: true,
        };
        let settings: Settings = toml::from_str(&text.text()).expect("settings");
        let config = settings.configs(false).expect("nothing is asked for").remove(0);
        assert!(config.executor.is_some());
        let tags: Vec<&str> = config.capabilities.iter().map(Tag::as_str).collect();
        assert!(tags.contains(&"remuda:http") && tags.contains(&"resolvers:4"), "{tags:?}");
        let misspelt = text.text().replace("[executors.http]", "[executors.htpp]");
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
