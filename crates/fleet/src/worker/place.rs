//! A job's own folders, and the command that starts a step there.

use super::config::{Config, Images, Sandbox};
use super::files;
use super::image::{Container, Image};
use super::tree::MARK;
use crate::message::{JobSpec, LeaseGranted};
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;
use tokio::process::Command;

/// Where a job's files are, in its folder, and its `$HOME`.
const WORK: &str = "work";
const HOME: &str = "home";

/// Where a job works. Removed when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    /// All of it.
    pub(super) folder: PathBuf,
    /// Its `$HOME`.
    pub(super) home: PathBuf,
    /// Where steps begin.
    pub(super) start: PathBuf,
}

/// Most bytes in what a sandbox has of memory instead of files. The worker does not see who uses them, so
/// they come on top of a job's bound.
pub(super) const TEMPORARY_BYTES: u64 = 256 << 20;
pub(super) const SHARED_BYTES: u64 = 64 << 20;
/// Of what is there to hide something, not to be written.
pub(super) const EMPTY_BYTES: u64 = 1 << 20;

/// What no job in a sandbox sees of the machine; none is within another.
fn hidden(config: &Config) -> Vec<PathBuf> {
    let mut all = vec![config.folder.clone(), config.key.clone()];
    all.extend(config.hidden.iter().cloned());
    if let Images::Runc(runc) = &config.images {
        all.extend([runc.from.clone(), runc.store.clone()]);
    }
    // By no link: a sandbox would put something over the link, and the place would be seen elsewhere.
    let mut all: Vec<PathBuf> = all.iter().filter_map(|at| at.canonicalize().ok()).collect();
    all.retain(|at| at.parent().is_some());
    // A folder comes right before what is in it.
    all.sort();
    all.dedup_by(|at, above| at.starts_with(&*above));
    all
}

/// A path that stays where it is put.
pub(super) fn inside(path: &str) -> Option<PathBuf> {
    let parts = Path::new(path).components().filter(|part| *part != Component::CurDir);
    parts
        .map(|part| match part {
            Component::Normal(part) => Some(part),
            _ => None,
        })
        .collect()
}

impl Place {
    /// Makes the folders of a job. None: the spec's `workdir` leads somewhere else.
    pub(super) fn make(
        config: &Config,
        granted: &LeaseGranted,
        spec: &JobSpec,
    ) -> io::Result<Option<Self>> {
        let Some(workdir) = inside(&spec.workdir) else { return Ok(None) };
        let name = format!("{}-{}", granted.job_id, granted.fence);
        let folder = std::path::absolute(&config.folder)?.join(super::leftover::JOBS).join(name);
        // Of the same grant, if the worker was killed while it had it.
        files::remove(&folder)?;
        let (start, home) = (folder.join(WORK).join(workdir), folder.join(HOME));
        let place = Self { folder, home, start };
        place.folders()?;
        Ok(Some(place))
    }

    /// Makes what a job finds, as far as it is not there. Not once a step has begun: links are followed.
    pub(super) fn folders(&self) -> io::Result<()> {
        let all = [&self.start, &self.home, &self.folder.join("tmp")];
        all.into_iter().try_for_each(std::fs::create_dir_all)
    }

    /// Where a path of a cache is, under [`Self::folder`]: `~` is the job's home, anything else is under
    /// its files.
    pub(super) fn locate(path: &str) -> Option<PathBuf> {
        match path.strip_prefix("~/") {
            Some(rest) => inside(rest).map(|rest| Path::new(HOME).join(rest)),
            None => inside(path).map(|path| Path::new(WORK).join(path)),
        }
    }

    /// One step, in a container of the job's image if it has one, in the worker's sandbox otherwise.
    pub(super) fn command(
        &self,
        config: &Config,
        image: Option<&Image>,
        env: &BTreeMap<String, String>,
        mark: &str,
        step: &str,
    ) -> io::Result<Command> {
        let mut command = match (image, &config.images) {
            (Some(image), Images::Runc(runc)) => {
                let mut all = config.secrets.clone();
                all.extend(env.clone());
                all.insert(MARK.to_owned(), mark.to_owned());
                let memory_bytes_max = config.memory_bytes_max;
                Container { image, runc, place: self, memory_bytes_max, env: all, mark, step }
                    .command(&config.folder)?
            }
            _ => self.shell(config, env, mark, step),
        };
        command.stdin(Stdio::null()).process_group(0).kill_on_drop(true);
        Ok(command)
    }

    /// The shell with a step. Of the worker's own environment it has the search path, and no more.
    fn shell(
        &self,
        config: &Config,
        env: &BTreeMap<String, String>,
        mark: &str,
        step: &str,
    ) -> Command {
        let mut command = match &config.sandbox {
            Sandbox::Process => Command::new("/bin/sh"),
            Sandbox::Bubblewrap { program, network } => {
                let mut command = Command::new(program);
                // A session of its own: whoever started the worker at a terminal keeps it to himself.
                command.args(["--unshare-all", "--die-with-parent", "--new-session"]);
                command.args(["--cap-drop", "ALL"]);
                if *network {
                    command.arg("--share-net");
                }
                command.args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
                let mut memory = |at: &Path, bytes: u64| {
                    command.arg("--size").arg(bytes.to_string()).arg("--tmpfs").arg(at);
                };
                memory(Path::new("/dev/shm"), SHARED_BYTES);
                memory(Path::new("/tmp"), TEMPORARY_BYTES);
                // Nor does it reach the sockets of the machine's services, but names are resolved.
                for empty in ["/root", "/home", "/run"] {
                    memory(Path::new(empty), EMPTY_BYTES);
                }
                // The worker's key, its settings and other jobs' files are not there, this job's are.
                let hidden = hidden(config);
                for folder in hidden.iter().filter(|at| at.is_dir()) {
                    memory(folder, EMPTY_BYTES);
                }
                for file in hidden.iter().filter(|at| !at.is_dir()) {
                    command.args(["--ro-bind", "/dev/null"]).arg(file);
                }
                let names = "/run/systemd/resolve";
                command.args(["--remount-ro", "/dev", "--ro-bind-try", names, names]);
                command.arg("--bind").arg(&self.folder).arg(&self.folder);
                command.arg("--chdir").arg(&self.start);
                command.arg("/bin/sh");
                command
            }
        };
        // If memory runs out, the system should take the job, and not the worker.
        let script = "echo 1000 2>/dev/null >/proc/self/oom_score_adj; exec /bin/sh -e -c \"$1\"";
        command.args(["-c", script, "sh", step]);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()))
            .env("HOME", &self.home)
            .env("TMPDIR", self.folder.join("tmp"))
            .envs(&config.secrets)
            .envs(env)
            .env(MARK, mark)
            .current_dir(&self.start);
        command
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What cannot be removed now is tried again when the worker starts.
        if let Err(error) = files::remove(&self.folder) {
            tracing::warn!(%error, "a job's folder is left behind");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::inside;
    use std::path::PathBuf;

    #[test]
    fn no_path_leads_out_of_the_job() {
        assert_eq!(inside("."), Some(PathBuf::new()));
        assert_eq!(inside("a/./b"), Some(PathBuf::from("a/b")));
        for bad in ["..", "a/../../b", "/etc", "a/.."] {
            assert_eq!(inside(bad), None, "{bad}");
        }
    }
}
