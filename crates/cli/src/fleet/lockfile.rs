//! One directory, one process.

use super::FleetFailure;
use crate::failure::Failure;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

/// Holds a directory for this process, as long as what it gives is kept.
pub(crate) fn lock(directory: &Path, what: &'static str) -> Result<File, Failure> {
    let path = directory.join("lock");
    let failed = |source: io::Error| Failure::File { path: path.clone(), source };
    let open = fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = open.map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(FleetFailure::Taken { path: directory.to_owned(), what }.into())
        }
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// A directory that only its owner can look into; one that is there stays as it is.
pub(crate) fn private(directory: &Path) -> Result<(), Failure> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(|source| Failure::File { path: directory.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_for_one_at_a_time() {
        let at = std::env::temp_dir().join(format!("remuda-lockfile-{}", std::process::id()));
        private(&at).expect("a folder");
        let first = lock(&at, "a worker").expect("free");
        let second = lock(&at, "a worker").expect_err("taken").to_string();
        assert!(second.contains("a worker") && second.contains("already"), "{second}");
        drop(first);
        lock(&at, "a worker").expect("free again");
        fs::remove_dir_all(&at).expect("removed");
    }
}
