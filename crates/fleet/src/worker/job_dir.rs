//! A job's directory, and the command that starts a step in it.

use super::blocking::blocking;
use super::config::{Config, Images};
use super::descriptors;
use super::files;
use super::hidden::hidden;
use super::image::{Container, Image, JOB};
use super::network::{self, Joined};
use super::sandbox::{self, Sandbox, View};
use super::tree::MARK;
use crate::message::{JobSpec, LeaseGranted};
use rustix::fd::OwnedFd;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Command;

/// Subdirectories of a job's files and of its `$HOME`.
const WORK: &str = "work";
const HOME: &str = "home";
/// The shell, and its script: the first descriptor that it is passed.
const SHELL: &str = "/bin/sh";
pub(super) const SCRIPT: &str = "/proc/self/fd/3";
const _: () = assert!(descriptors::FIRST == 3, "SCRIPT names it");
/// Limit of open files per process.
pub(super) const OPEN_MAX: u64 = 4_096;
/// Interval of checks whether a job's files are in use.
const LEAVING_PAUSE: Duration = Duration::from_millis(10);

/// A job's directory. Removed on drop.
#[derive(Debug)]
pub(super) struct JobDir {
    pub(super) folder: PathBuf,
    pub(super) home: PathBuf,
    pub(super) start: PathBuf,
    /// `/tmp` of a sandboxed step, beside the job's directory.
    pub(super) temporary: PathBuf,
}

/// A relative path without `..`.
pub(super) fn inside(path: &str) -> Option<PathBuf> {
    let parts = Path::new(path).components().filter(|part| *part != Component::CurDir);
    parts
        .map(|part| match part {
            Component::Normal(part) => Some(part),
            _ => None,
        })
        .collect()
}

impl JobDir {
    /// Creates a job's directory. None: the spec's `workdir` leads out of it.
    pub(super) fn make(
        config: &Config,
        granted: &LeaseGranted,
        spec: &JobSpec,
    ) -> io::Result<Option<Self>> {
        let Some(workdir) = inside(&spec.workdir) else { return Ok(None) };
        let name = format!("{}-{}", granted.job_id, granted.fence);
        let jobs = std::path::absolute(&config.folder)?.join(super::leftover::JOBS);
        let (folder, temporary) = (jobs.join(&name), jobs.join(format!("{name}.tmp")));
        // Left by the same grant, if the worker was killed.
        files::remove(&folder)?;
        let (start, home) = (folder.join(WORK).join(workdir), folder.join(HOME));
        let dir = Self { folder, home, start, temporary };
        dir.folders()?;
        Ok(Some(dir))
    }

    /// Creates missing subdirectories. Only before the first step: it follows links.
    pub(super) fn folders(&self) -> io::Result<()> {
        let all = [&self.start, &self.home, &self.folder.join("tmp")];
        all.into_iter().try_for_each(std::fs::create_dir_all)
    }

    /// Empties `/tmp` for the next step.
    pub(super) async fn renew(&self) -> io::Result<()> {
        let at = self.temporary.clone();
        let renewed = tokio::task::spawn_blocking(move || sandbox::renew(&at)).await;
        renewed.map_err(io::Error::other)?
    }

    /// Removes it when it is no longer in use: cancelled blocking work stops soon, but not at once.
    pub(super) async fn clear(self: Arc<Self>) {
        while Arc::strong_count(&self) > 1 {
            tokio::time::sleep(LEAVING_PAUSE).await;
        }
        if let Err(error) = blocking(move |_| drop(self)).await {
            tracing::warn!(%error, kind = "job directory", "cleanup failed");
        }
    }

    /// Path of a cache below [`Self::folder`]: `~/` is the job's home, anything else is below its files.
    pub(super) fn locate(path: &str) -> Option<PathBuf> {
        match path.strip_prefix("~/") {
            Some(rest) => inside(rest).map(|rest| Path::new(HOME).join(rest)),
            None => inside(path).map(|path| Path::new(WORK).join(path)),
        }
    }

    /// The command of a step: in a container of the job's image if it has one, otherwise in the worker's
    /// sandbox. Script, variables and working directory are passed to bubblewrap and runc as data.
    pub(super) fn command(
        &self,
        config: &Config,
        image: Option<&Image>,
        joined: Option<&Joined>,
        env: &BTreeMap<String, String>,
        mark: &str,
        step: &str,
    ) -> io::Result<Command> {
        let mut all = config.secrets.clone();
        all.extend(env.clone());
        all.insert(MARK.to_owned(), mark.to_owned());
        let mut command = match (image, &config.images) {
            (Some(image), Images::Runc(runc)) => {
                let memory_bytes_max = config.memory_bytes_max;
                let network = &config.network;
                let container = Container {
                    image,
                    runc,
                    dir: self,
                    memory_bytes_max,
                    network,
                    joined,
                    env: all,
                    mark,
                };
                let mut command = container.command(&config.folder)?;
                let start = Path::new("/").join(JOB).join(self.start_below());
                descriptors::hand(&mut command, vec![script(&start, step)?])?;
                command
            }
            _ => self.shell(config, joined, all, mark, step)?,
        };
        command.stdin(Stdio::null()).process_group(0).kill_on_drop(true).current_dir("/");
        Ok(command)
    }

    /// Working directory relative to the job's directory.
    pub(super) fn start_below(&self) -> &Path {
        self.start.strip_prefix(&self.folder).unwrap_or(Path::new(WORK))
    }

    /// The shell of a step. It inherits only PATH.
    fn shell(
        &self,
        config: &Config,
        joined: Option<&Joined>,
        env: BTreeMap<String, String>,
        mark: &str,
        step: &str,
    ) -> io::Result<Command> {
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        let mut all: BTreeMap<OsString, OsString> = BTreeMap::from([
            ("PATH".into(), path.clone()),
            ("HOME".into(), self.home.clone().into()),
            ("TMPDIR".into(), self.folder.join("tmp").into()),
        ]);
        all.extend(env.into_iter().map(|(name, value)| (name.into(), value.into())));
        let mut handed = vec![script(&self.start, step)?];
        let mut command = match &config.sandbox {
            Sandbox::Process => {
                let mut command = Command::new(SHELL);
                command.env_clear().envs(all);
                command
            }
            Sandbox::Bubblewrap { program, features } => {
                let hidden = hidden(config)?;
                let (folder, temporary) = (&self.folder, &self.temporary);
                let network = &config.network;
                let view = View { folder, temporary, hidden: &hidden, network, joined };
                handed.push(view.arguments(*features, &all)?);
                let mut command = network::enter(joined, program);
                command.args(sandbox::ARGUMENTS).arg(SHELL);
                // If this worker is killed, the next one finds the processes by this mark.
                command.env_clear().env("PATH", path).env(MARK, mark);
                command
            }
        };
        // The OOM killer should take the job, not the worker.
        // A lower limit of the host stays.
        let begin = format!(
            "echo 1000 2>/dev/null >/proc/self/oom_score_adj; ulimit -n {OPEN_MAX} 2>/dev/null; \
             exec {SHELL} -e {SCRIPT}"
        );
        command.args(["-c", &begin]);
        descriptors::hand(&mut command, handed)?;
        Ok(command)
    }
}

/// The script of a step. It fails if an earlier step removed the working directory.
fn script(start: &Path, step: &str) -> io::Result<OwnedFd> {
    let mut text = format!("exec {}<&-; cd '", descriptors::FIRST).into_bytes();
    for byte in start.as_os_str().as_bytes() {
        match byte {
            b'\'' => text.extend(br"'\''"),
            byte => text.push(*byte),
        }
    }
    text.extend(b"' || exit 1; ");
    text.extend(step.as_bytes());
    text.push(b'\n');
    descriptors::sealed(&text)
}

impl Drop for JobDir {
    fn drop(&mut self) {
        // The next start of the worker retries.
        for folder in [&self.folder, &self.temporary] {
            if let Err(error) = files::remove(folder) {
                tracing::warn!(%error, path = %folder.display(), kind = "job directory", "cleanup failed");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    /// The thread continues after its future is dropped.
    #[tokio::test]
    async fn a_folder_that_is_said_to_be_gone_is_though_somebody_was_at_it() {
        let folder = std::env::temp_dir().join(format!("fleet-gone-{}", std::process::id()));
        let (start, home) = (folder.join(WORK), folder.join(HOME));
        let temporary = folder.join("temporary");
        let dir = Arc::new(JobDir { folder: folder.clone(), home, start, temporary });
        dir.folders().expect("folders");
        let (began, begun) = oneshot::channel();
        let at = dir.clone();
        let work = blocking(move |cancel| {
            began.send(()).expect("somebody waits");
            while !cancel.is_set() {
                std::thread::sleep(Duration::from_millis(1));
            }
            // Its work at the last check.
            std::thread::sleep(Duration::from_millis(200));
            std::fs::write(at.start.join("last"), "x").expect("it is still there");
        });
        tokio::select! {
            _ = work => panic!("it ends when nobody waits for it"),
            begun = begun => begun.expect("it begins"),
        }
        dir.clear().await;
        assert!(!folder.exists());
    }

    #[test]
    fn a_quote_in_the_working_directory_is_not_shell_syntax() {
        let start = std::env::temp_dir().join(format!("fleet '; exit 9; '{}", std::process::id()));
        std::fs::create_dir_all(&start).expect("a folder");
        let mut command = std::process::Command::new(SHELL);
        let text = script(&start, "pwd; ls /proc/self/fd | grep -c '[4-9]'").expect("a script");
        descriptors::hand(&mut command, vec![text]).expect("one");
        let said = command.args(["-e", SCRIPT]).output().expect("a shell");
        std::fs::remove_dir(&start).expect("removed");
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        assert_eq!(text.lines().next(), start.to_str(), "{said:?}");
    }

    #[test]
    fn no_path_leads_out_of_the_job() {
        assert_eq!(inside("."), Some(PathBuf::new()));
        assert_eq!(inside("a/./b"), Some(PathBuf::from("a/b")));
        for bad in ["..", "a/../../b", "/etc", "a/.."] {
            assert_eq!(inside(bad), None, "{bad}");
        }
    }
}
