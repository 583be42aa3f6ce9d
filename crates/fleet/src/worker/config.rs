//! Configuration of a worker.

use super::call::Calls;
use super::network::Network;
use super::sandbox::Sandbox;
use crate::broker;
use crate::http::Trust;
use crate::message::Tag;
use crate::time::Clock;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// How jobs with an image run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Images {
    /// They fail.
    Refuse,
    /// They run without it, on this machine as it is.
    Ignore,
    /// In a container of the image.
    Runc(Runc),
}

/// A container runtime with runc's command line, and its images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runc {
    pub program: PathBuf,
    /// Directory of images: OCI image layouts, and archives of them.
    pub from: PathBuf,
    /// Directory of unpacked images, shared by workers of a machine.
    pub store: PathBuf,
    /// Most bytes of unpacked images. Least recently used ones are evicted.
    pub bytes_max: u64,
}

impl Runc {
    /// First line of the program's `--version`, or why it cannot be started.
    pub fn version(program: &std::path::Path) -> Result<String, String> {
        let said = std::process::Command::new(program).arg("--version").output();
        let said = said.map_err(|error| error.to_string())?;
        match said.status.success() {
            true => Ok(String::from_utf8_lossy(&said.stdout)
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned()),
            false => Err(String::from_utf8_lossy(&said.stderr).trim().to_owned()),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Config {
    pub orchestrator: String,
    /// How the orchestrator's certificate is verified.
    pub trust: Trust,
    /// Broker that announces jobs (transport A). None: the orchestrator is polled.
    pub broker: Option<broker::Config>,
    /// Enrolment token. None: the key is registered already, or not needed.
    pub token: Option<String>,
    /// Directory of jobs and caches.
    pub folder: PathBuf,
    /// Paths hidden from sandboxed jobs, besides [`Self::folder`], the key and images: settings with secrets,
    /// directories of other workers. Missing paths are ignored. If a path exists but cannot be resolved, no
    /// job starts.
    pub hidden: Vec<PathBuf>,
    /// Siblings of this directory with settings or keys of an orchestrator, a runner or a worker are hidden
    /// too.
    pub beside: Option<PathBuf>,
    /// Key file, created if missing. Workers of a machine may share it.
    pub key: PathBuf,
    pub capabilities: BTreeSet<Tag>,
    pub sandbox: Sandbox,
    pub images: Images,
    /// Network of sandboxed jobs and containers.
    pub network: Network,
    /// Executor of calls. None: calls are refused.
    pub executor: Option<Calls>,
    /// Memory limit of a job's processes together.
    pub memory_bytes_max: Option<u64>,
    /// Disk limit of a job, in allocated bytes.
    pub disk_bytes_max: u64,
    /// Limit of a job's files, directories and links.
    pub files_max: u64,
    /// Most bytes of caches. Least recently used ones are evicted.
    pub cache_bytes_max: u64,
    /// Environment variables of every job, masked in logs.
    pub secrets: BTreeMap<String, String>,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Time for a job to finish at shutdown. Then it is given back.
    pub drain: Duration,
    /// Stops after one job, for ephemeral machines.
    pub one_shot: bool,
    /// Longest time of one `LeaseRequest`.
    pub wait_seconds: u32,
    /// For timestamps only.
    pub clock: Clock,
}

impl Config {
    pub fn new(orchestrator: &str, folder: PathBuf, sandbox: Sandbox) -> Self {
        Self {
            orchestrator: orchestrator.to_owned(),
            trust: Trust::default(),
            broker: None,
            token: None,
            key: folder.join("worker.key"),
            folder,
            hidden: vec![],
            beside: None,
            capabilities: BTreeSet::new(),
            sandbox,
            images: Images::Refuse,
            network: Network::None,
            executor: None,
            memory_bytes_max: None,
            disk_bytes_max: 16 * 1024 * 1024 * 1024,
            files_max: 1_000_000,
            cache_bytes_max: 10 * 1024 * 1024 * 1024,
            secrets: BTreeMap::new(),
            grace: Duration::from_secs(10),
            drain: Duration::from_secs(60),
            one_shot: false,
            wait_seconds: 30,
            clock: Clock::default(),
        }
    }

    /// Whether jobs run in sandboxes or containers.
    pub(super) fn confines(&self) -> bool {
        self.sandbox != Sandbox::Process || matches!(self.images, Images::Runc(_))
    }
}
