//! Secrets in files that only their owner can read.

use super::FileError;
use alloy_primitives::hex;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// Secrets are short.
const SECRET_BYTES_MAX: u64 = 4096;

/// Writes a secret as hex into a new file of mode 0600.
pub fn write_secret(path: &Path, secret: &[u8]) -> Result<(), FileError> {
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = opened.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => FileError::Exists { path: path.to_owned() },
        _ => FileError::Io { path: path.to_owned(), error },
    })?;
    writeln!(file, "{}", hex::encode(secret))
        .and_then(|()| file.sync_all())
        .map_err(|error| FileError::Io { path: path.to_owned(), error })
}

/// Reads a secret; refuses a file that others can read.
pub fn read_secret(path: &Path) -> Result<Vec<u8>, FileError> {
    let failed = |error| FileError::Io { path: path.to_owned(), error };
    let metadata = std::fs::metadata(path).map_err(failed)?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(FileError::TooOpen { path: path.to_owned(), mode });
    }
    let malformed =
        |reason: &str| FileError::Malformed { path: path.to_owned(), reason: reason.to_owned() };
    if metadata.len() > SECRET_BYTES_MAX {
        return Err(malformed("too long for a secret"));
    }
    let text = std::fs::read_to_string(path).map_err(failed)?;
    hex::decode(text.trim()).map_err(|_| malformed("a secret is one line of hex digits"))
}
