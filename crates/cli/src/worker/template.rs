//! What `remuda worker init` is told, and the settings that it writes.

use super::settings::{
    ImagePolicy, NetworkKind, SandboxKind, images_folder, million, minute, refuse, runc,
    sixteen_gib, ten_gib,
};
use crate::failure::Failure;
use crate::fleet::broker;
use remuda_fleet::http::Trust;
use remuda_fleet::message::Tag;
use std::collections::BTreeSet;
use std::path::PathBuf;

#[derive(clap::Args, Clone, Debug)]
pub(super) struct InitOptions {
    /// What it can do, besides os:… and arch:…, which it says by itself. Jobs name what they need.
    #[arg(long = "tag", value_name = "TAG")]
    pub(super) tags: Vec<String>,
    /// Most jobs at a time.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) concurrency: u16,
    /// What jobs without an image run in.
    #[arg(long, value_enum, default_value_t = SandboxKind::Bwrap)]
    pub(super) sandbox: SandboxKind,
    /// Network of jobs in a sandbox or a container. Default: internet if this machine supports it
    /// (slirp4netns and nftables), none otherwise. Plain jobs always have host.
    #[arg(long, value_enum)]
    pub(super) network: Option<NetworkKind>,
    /// What becomes of jobs that want an image.
    #[arg(long, value_enum, default_value_t = refuse())]
    pub(super) images: ImagePolicy,
    /// Container runtime: a name or a path.
    #[arg(long, value_name = "PATH", default_value_os_t = runc())]
    pub(super) runc: PathBuf,
    /// Where images are: folders in the OCI's image layout, or archives of such. A job names one as
    /// oci:NAME or oci-archive:NAME.
    #[arg(long, value_name = "DIR", default_value_os_t = images_folder())]
    pub(super) images_folder: PathBuf,
    /// Most MiB of unpacked images together.
    #[arg(long, value_name = "MIB", default_value_t = ten_gib())]
    pub(super) images_mib_max: u64,
    /// Most MiB of caches together. Those that were not used for longest go first.
    #[arg(long, value_name = "MIB", default_value_t = ten_gib())]
    pub(super) cache_mib_max: u64,
    /// Most MiB of memory of a job's processes together.
    #[arg(long, value_name = "MIB")]
    pub(super) memory_mib_max: Option<u64>,
    /// Most MiB of disk space of a job.
    #[arg(long, value_name = "MIB", default_value_t = sixteen_gib())]
    pub(super) disk_mib_max: u64,
    /// Most files, directories and links of a job.
    #[arg(long, value_name = "N", default_value_t = million())]
    pub(super) files_max: u64,
    /// Hear of work through the orchestrator's NATS server, tls://HOST:4222, instead of asking for it.
    #[arg(long, value_name = "URL")]
    pub(super) nats: Option<String>,
    /// Jobs of a runner, too: adds [executors.…] to worker.toml, to be filled in.
    #[arg(long)]
    pub(super) executors: bool,
}

/// Executors, for those who want some.
pub(super) const EXECUTORS: &str = include_str!("executors.toml");

impl InitOptions {
    /// Everything as it is unless said otherwise.
    #[cfg(test)]
    pub(super) fn new(sandbox: SandboxKind) -> Self {
        Self {
            tags: vec![],
            concurrency: 1,
            sandbox,
            network: None,
            images: refuse(),
            runc: runc(),
            images_folder: images_folder(),
            images_mib_max: ten_gib(),
            cache_mib_max: ten_gib(),
            memory_mib_max: None,
            disk_mib_max: sixteen_gib(),
            files_max: million(),
            nats: None,
            executors: false,
        }
    }

    /// What would make no sense in a file is said before one is written.
    pub(super) fn check(&self) -> Result<(), Failure> {
        self.nats.as_deref().map(broker::from_command_line).transpose()?;
        let bounds = [
            self.cache_mib_max,
            self.images_mib_max,
            self.memory_mib_max.unwrap_or(1),
            self.disk_mib_max,
            self.files_max,
        ];
        if bounds.contains(&0) {
            return Err(Failure::Usage("bounds are at least 1"));
        }
        match self.network {
            Some(NetworkKind::Internet | NetworkKind::None) if !self.confines() => {
                let why = "plain jobs always use the host's network; omit --network, or use --sandbox bwrap";
                Err(Failure::Usage(why))
            }
            _ => Ok(()),
        }
    }

    /// Whether any job has a sandbox or a container.
    pub(super) fn confines(&self) -> bool {
        self.sandbox == SandboxKind::Bwrap || self.images == ImagePolicy::Runc
    }

    /// Their text, with a word on each.
    pub(super) fn text(&self, orchestrator: &str, trust: &Trust, tags: &BTreeSet<Tag>) -> String {
        // Neither tags nor hosts have quotes or backslashes in them.
        let tags: Vec<String> = tags.iter().map(|tag| format!("\"{tag}\"")).collect();
        let memory = match self.memory_mib_max {
            Some(mib) => format!("memory_mib_max = {mib}"),
            None => "# memory_mib_max = 4096".to_owned(),
        };
        let unsaid = if self.confines() { NetworkKind::Internet } else { NetworkKind::Host };
        let network = self.network.unwrap_or(unsaid);
        let ca_file = match &trust.ca_file {
            // A debug string of Rust is a basic string of TOML, as far as usual paths go.
            Some(file) => format!("ca_file = {file:?}"),
            None => "# ca_file = \"ca.pem\"".to_owned(),
        };
        let mark = if self.images == ImagePolicy::Runc { "" } else { "# " };
        format!(
            "# Settings of a worker. `remuda worker run` reads them at its start.\n\n\
             # Who gives it jobs.\n\
             orchestrator = \"{orchestrator}\"\n\
             # PEM file of private certificate authorities to trust for the orchestrator.\n\
             {ca_file}\n\
             # Allow plain HTTP to another machine: anyone on the network path can read tokens, leases and job variables.\n\
             insecure = {}\n\n\
             # What it can do: it is given jobs whose tags are all here.\n\
             tags = [{}]\n\n\
             # Jobs at a time.\n\
             concurrency = {}\n\n\
             # What jobs run in: \"bwrap\" (namespaces of their own) or \"plain\" (nothing: for jobs that\n\
             # are trusted like the worker).\n\
             sandbox = \"{}\"\n\
             # Network of jobs in a sandbox or a container: \"internet\" (public IPv4 addresses, not this host, its\n\
             # subnets or private ranges; requires slirp4netns and nftables), \"none\", or \"host\" (everything\n\
             # this host reaches, its own services included).\n\
             network = \"{}\"\n\
             # What jobs in a sandbox must not see, besides /root, /home, /run, this folder, and folders beside it\n\
             # that have settings or keys of orchestrators, runners or workers in them.\n\
             # hidden = [\"/srv/fleet\"]\n\n\
             # A job that wants an image fails (\"refuse\"), runs without (\"ignore\": this machine is what the\n\
             # image would be), or runs in a container (\"runc\") with the image as a root that it cannot write\n\
             # and its own folder at /job.\n\
             images = \"{}\"\n\
             # The runtime; a name or a path.\n\
             {mark}runc = {:?}\n\
             # Where images are, as OCI image layouts (a job says oci:NAME) or archives of such\n\
             # (oci-archive:NAME). Nothing is fetched from elsewhere.\n\
             {mark}images_folder = {:?}\n\
             # Most MiB of unpacked images together; while one is unpacked, as much again.\n\
             {mark}images_mib_max = {}\n\n\
             # Most MiB of caches together; jobs that run side by side share it evenly.\n\
             cache_mib_max = {}\n\n\
             # Most memory of a job's processes together.\n\
             {memory}\n\
             # Most MiB of disk space of a job, and most files, directories and links.\n\
             disk_mib_max = {}\n\
             files_max = {}\n\n\
             # When it is told to stop, jobs have so long to end; then they are given back.\n\
             drain_seconds = {}\n\n\
             {}\n\
             # Variables of every job. Their values are masked in logs.\n\
             [secrets]\n{}",
            trust.insecure,
            tags.join(", "),
            self.concurrency,
            self.sandbox.name(),
            network.name(),
            self.images.name(),
            self.runc,
            self.images_folder,
            self.images_mib_max,
            self.cache_mib_max,
            self.disk_mib_max,
            self.files_max,
            minute(),
            broker::template(self.nats.as_deref()),
            if self.executors { EXECUTORS } else { "" },
        )
    }
}
