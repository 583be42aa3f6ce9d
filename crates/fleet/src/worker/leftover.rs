//! Cleans up after a killed worker: processes and files of its job. Nothing that a job does to its files
//! keeps the next worker from starting.

use super::files;
use super::tree::Tree;
use crate::auth::random_hex;
use rustix::fs::OFlags;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Directory of job marks. Sandboxed jobs cannot write there.
const MARKS: &str = "marks";
pub(super) const JOBS: &str = "jobs";
/// Prefix of directories that could not be removed.
const LEFT: &str = ".left-";
const MARK_LENGTH: usize = 32;

/// A recorded mark. Removed on drop.
#[derive(Debug)]
pub(super) struct Noted(PathBuf);

pub(super) fn note(worker: &Path, mark: &str) -> io::Result<Noted> {
    let marks = worker.join(MARKS);
    fs::create_dir_all(&marks)?;
    let at = marks.join(mark);
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(&at)?;
    file.write_all(mark.as_bytes())?;
    Ok(Noted(at))
}

impl Drop for Noted {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.0) {
            tracing::warn!(%error, path = %self.0.display(), kind = "job mark", "cleanup failed");
        }
    }
}

/// Reads a mark. Unsandboxed jobs can write here: pipes and devices must not block.
fn read(at: &Path) -> Option<String> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).ok()?;
    let file = File::options().read(true).custom_flags(flags).open(at).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut mark = String::new();
    file.take(MARK_LENGTH as u64 + 1).read_to_string(&mut mark).ok()?;
    let digits = mark.bytes().all(|digit| digit.is_ascii_hexdigit());
    (mark.len() == MARK_LENGTH && digits).then_some(mark)
}

/// Kills processes and removes files of a killed worker's job. Files that cannot be removed are renamed and
/// retried at the next start.
pub(super) async fn clear(worker: &Path) {
    for entry in fs::read_dir(worker.join(MARKS)).into_iter().flatten().flatten() {
        if let Some(mark) = read(&entry.path()) {
            Tree { first: None, mark, sandbox: false }.kill().await;
        }
        remove(&entry.path());
    }
    let jobs = worker.join(JOBS);
    let cleared = tokio::task::spawn_blocking(move || {
        for entry in fs::read_dir(&jobs).into_iter().flatten().flatten() {
            let at = entry.path();
            if !remove(&at) && !entry.file_name().to_string_lossy().starts_with(LEFT) {
                // The same grant would need this name.
                let _ = fs::rename(&at, jobs.join(format!("{LEFT}{}", random_hex::<8>())));
            }
        }
    });
    let _ = cleared.await;
}

fn remove(at: &Path) -> bool {
    let removed = files::remove(at);
    if let Err(error) = &removed {
        tracing::warn!(%error, path = %at.display(), kind = "leftover", "cleanup failed");
    }
    removed.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[tokio::test]
    async fn nothing_that_a_job_leaves_keeps_a_worker_from_starting() {
        let worker = std::env::temp_dir().join(format!("fleet-left-{}", std::process::id()));
        let (jobs, marks) = (worker.join(JOBS), worker.join(MARKS));
        fs::create_dir_all(jobs.join("j-1/work/d")).expect("folders");
        fs::write(jobs.join("j-1/work/d/f"), "x").expect("a file");
        fs::set_permissions(jobs.join("j-1/work/d"), fs::Permissions::from_mode(0o0))
            .expect("mode");
        fs::create_dir_all(&marks).expect("a folder");
        std::os::unix::fs::symlink("/dev/zero", marks.join("endless")).expect("a link");
        fs::write(marks.join("other"), "not a mark").expect("a file");
        let pipe = std::process::Command::new("mkfifo").arg(marks.join("pipe")).status();
        assert!(pipe.expect("started").success());
        std::os::unix::fs::symlink("/dev/zero", jobs.join("j-1/mark")).expect("a link");
        let noted = note(&worker, &random_hex::<16>()).expect("noted");
        assert!(read(&noted.0).is_some());
        std::mem::forget(noted);
        clear(&worker).await;
        for folder in [&jobs, &marks] {
            assert_eq!(fs::read_dir(folder).expect("a folder").count(), 0, "{}", folder.display());
        }
        fs::remove_dir_all(&worker).expect("removed");
    }
}
