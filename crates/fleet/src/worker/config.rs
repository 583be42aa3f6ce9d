//! What an operator chooses.

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

/// What becomes of a job that wants an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Images {
    /// It fails: this worker has no way to have one.
    Refuse,
    /// It runs without: this machine is what the image would be.
    Ignore,
    /// It runs in a container of the image.
    Runc(Runc),
}

/// A container runtime that is called like `runc`, and images for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runc {
    pub program: PathBuf,
    /// Where images are found: folders in the OCI's image layout, and archives of such.
    pub from: PathBuf,
    /// Where they are unpacked. Workers side by side share it.
    pub store: PathBuf,
    /// Most bytes of all unpacked images together: those that were not used for longest go first.
    pub bytes_max: u64,
}

impl Runc {
    /// Whether the program can be started; what it says of itself, or why not.
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
    /// Whether its certificate is believed.
    pub trust: Trust,
    /// Where work is announced (transport A). None: the orchestrator is asked again and again.
    pub broker: Option<broker::Config>,
    /// A token to bring the key with. None: the key was brought before, or nobody asks for it.
    pub token: Option<String>,
    /// Everything that it keeps: jobs, caches.
    pub folder: PathBuf,
    /// What jobs in a sandbox must not see of the machine, besides [`Self::folder`], the key and images:
    /// settings with secrets in them, folders of other workers. What is not there is passed over; no job
    /// begins if it is there and cannot be found out where.
    pub hidden: Vec<PathBuf>,
    /// A folder: those beside it that have settings or keys of an orchestrator, a runner or a worker in them
    /// are not seen either.
    pub beside: Option<PathBuf>,
    /// Its key; made if it is not there. Workers side by side on one machine may share one.
    pub key: PathBuf,
    pub capabilities: BTreeSet<Tag>,
    pub sandbox: Sandbox,
    /// What becomes of jobs that want an image.
    pub images: Images,
    /// The network of jobs in a sandbox or a container.
    pub network: Network,
    /// Who does calls. None: it does none.
    pub executor: Option<Calls>,
    /// Most memory of a job's processes together, in bytes.
    pub memory_bytes_max: Option<u64>,
    /// Most allocated bytes of a job's files together.
    pub disk_bytes_max: u64,
    /// Most files, directories and links of a job.
    pub files_max: u64,
    /// Most bytes of all caches together: those that were not used for longest go first.
    pub cache_bytes_max: u64,
    /// Variables of every job. Their values are masked in logs.
    pub secrets: BTreeMap<String, String>,
    /// The time that processes have to end by themselves.
    pub grace: Duration,
    /// The time that a job has to end when the worker is told to; then it is given back.
    pub drain: Duration,
    /// Ends after one job, for machines that are made for each.
    pub one_shot: bool,
    /// How long one question for work may wait.
    pub wait_seconds: u32,
    /// Its clock. Nothing depends on it.
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

    /// Whether any job runs in a sandbox or a container.
    pub(super) fn confines(&self) -> bool {
        self.sandbox != Sandbox::Process || matches!(self.images, Images::Runc(_))
    }
}
