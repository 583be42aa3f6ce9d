//! A job's own folders, and the command that starts a step there.

use super::blocking::blocking;
use super::config::{Config, Images};
use super::files;
use super::hidden::hidden;
use super::image::{Container, Image};
use super::sandbox::{self, Sandbox, View};
use super::tree::MARK;
use crate::message::{JobSpec, LeaseGranted};
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Command;

/// Where a job's files are, in its folder, and its `$HOME`.
const WORK: &str = "work";
const HOME: &str = "home";
/// Files that one process of a job may have open.
pub(super) const OPEN_MAX: u64 = 4_096;
/// Between two looks at whether somebody is still at a job's files.
const LEAVING_PAUSE: Duration = Duration::from_millis(10);

/// Where a job works. Removed when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    /// All of it.
    pub(super) folder: PathBuf,
    /// Its `$HOME`.
    pub(super) home: PathBuf,
    /// Where steps begin.
    pub(super) start: PathBuf,
    /// Beside it, what is `/tmp` to a step in a sandbox.
    pub(super) temporary: PathBuf,
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
        let jobs = std::path::absolute(&config.folder)?.join(super::leftover::JOBS);
        let (folder, temporary) = (jobs.join(&name), jobs.join(format!("{name}.tmp")));
        // Of the same grant, if the worker was killed while it had it.
        files::remove(&folder)?;
        let (start, home) = (folder.join(WORK).join(workdir), folder.join(HOME));
        let place = Self { folder, home, start, temporary };
        place.folders()?;
        Ok(Some(place))
    }

    /// Makes what a job finds, as far as it is not there. Not once a step has begun: links are followed.
    pub(super) fn folders(&self) -> io::Result<()> {
        let all = [&self.start, &self.home, &self.folder.join("tmp")];
        all.into_iter().try_for_each(std::fs::create_dir_all)
    }

    /// Empties what is `/tmp` to the next step, before it begins.
    pub(super) async fn renew(&self) -> io::Result<()> {
        let at = self.temporary.clone();
        let renewed = tokio::task::spawn_blocking(move || sandbox::renew(&at)).await;
        renewed.map_err(io::Error::other)?
    }

    /// Removes it, once nobody else has it: whoever works at its files and is told that nobody waits stops
    /// soon, but not at once.
    pub(super) async fn clear(self: Arc<Self>) {
        while Arc::strong_count(&self) > 1 {
            tokio::time::sleep(LEAVING_PAUSE).await;
        }
        if let Err(error) = blocking(move |_| drop(self)).await {
            tracing::warn!(%error, "a job's folder is left behind");
        }
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
            _ => self.shell(config, env, mark, step)?,
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
    ) -> io::Result<Command> {
        let mut command = match &config.sandbox {
            Sandbox::Process => Command::new("/bin/sh"),
            Sandbox::Bubblewrap { program, network, able } => {
                let hidden = hidden(config)?;
                let (folder, temporary) = (&self.folder, &self.temporary);
                let view = View { folder, temporary, hidden: &hidden };
                let mut command = Command::new(program);
                command.args(view.arguments(*network, *able)).arg("/bin/sh");
                command
            }
        };
        // If memory runs out, the system should take the job, and not the worker.
        // And if an earlier step has removed where it begins, that is the job's failure.
        // Where fewer files may be open than here, it stays at that.
        let script = format!(
            "echo 1000 2>/dev/null >/proc/self/oom_score_adj; ulimit -n {OPEN_MAX} 2>/dev/null; \
             cd \"$2\" || exit 1; exec /bin/sh -e -c \"$1\""
        );
        command.args(["-c", &script, "sh", step]).arg(&self.start);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()))
            .env("HOME", &self.home)
            .env("TMPDIR", self.folder.join("tmp"))
            .envs(&config.secrets)
            .envs(env)
            .env(MARK, mark)
            .current_dir("/");
        Ok(command)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What cannot be removed now is tried again when the worker starts.
        for folder in [&self.folder, &self.temporary] {
            if let Err(error) = files::remove(folder) {
                tracing::warn!(%error, "a job's folder is left behind");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    /// Its thread goes on when nobody waits for it any more.
    #[tokio::test]
    async fn a_folder_that_is_said_to_be_gone_is_though_somebody_was_at_it() {
        let folder = std::env::temp_dir().join(format!("fleet-gone-{}", std::process::id()));
        let (start, home) = (folder.join(WORK), folder.join(HOME));
        let temporary = folder.join("temporary");
        let place = Arc::new(Place { folder: folder.clone(), home, start, temporary });
        place.folders().expect("folders");
        let (began, begun) = oneshot::channel();
        let at = place.clone();
        let work = blocking(move |wanted| {
            began.send(()).expect("somebody waits");
            while wanted.still() {
                std::thread::sleep(Duration::from_millis(1));
            }
            // What it was at when it looked last.
            std::thread::sleep(Duration::from_millis(200));
            std::fs::write(at.start.join("last"), "x").expect("it is still there");
        });
        tokio::select! {
            _ = work => panic!("it ends when nobody waits for it"),
            begun = begun => begun.expect("it begins"),
        }
        place.clear().await;
        assert!(!folder.exists());
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
