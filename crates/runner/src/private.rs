//! Files and folders that only the runner's own user may read.
//!
//! A result with its salt, before it is opened, is worth a copy to any other runner of the committee;
//! settings and keys are worth money. New files have mode 0600 and new folders 0700. Files from
//! earlier versions, or copied by hand, lose the rights of group and others when the runner starts,
//! and the log says so. If that cannot be done, the runner does not start.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use thiserror::Error;
use tracing::warn;

const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;
/// All that group and others may have.
const OTHERS: u32 = 0o077;

/// Others can read a file, and the runner cannot change that.
#[derive(Debug, Error)]
#[error(
    "others can access {} (mode {mode:o}), and this user cannot change that: {error}. As its owner \
     run: chmod go= {}", path.display(), path.display()
)]
pub struct PrivateError {
    pub path: PathBuf,
    pub mode: u32,
    /// Why the mode cannot be changed.
    pub error: io::Error,
}

/// Removes the permissions of group and others, if the path exists.
pub fn tighten(path: &Path) -> Result<(), PrivateError> {
    let Ok(found) = fs::metadata(path) else { return Ok(()) };
    let mode = found.mode() & 0o7777;
    if mode & OTHERS == 0 {
        return Ok(());
    }
    let tight = Permissions::from_mode(mode & !OTHERS);
    fs::set_permissions(path, tight).map_err(|error| PrivateError {
        path: path.to_owned(),
        mode,
        error,
    })?;
    let mode = format!("{mode:o}");
    warn!(path = %path.display(), mode, "private file was accessible to others, permissions removed");
    Ok(())
}

/// The same for all files in a folder. Symbolic links are skipped: their targets may belong to others.
pub fn tighten_files(folder: &Path) -> io::Result<Result<(), PrivateError>> {
    for item in fs::read_dir(folder)? {
        let item = item?;
        if item.file_type()?.is_file()
            && let Err(error) = tighten(&item.path())
        {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

/// Makes a folder if it does not exist.
pub fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// Opens a file for writing, from its beginning.
pub fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(FILE_MODE).open(path)
}

/// Writes a file that must not exist yet.
pub fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)?;
    file.write_all(text.as_bytes())
}

/// Replaces a file atomically: readers may hold the old one open.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => write_new(path, text),
    }
}
