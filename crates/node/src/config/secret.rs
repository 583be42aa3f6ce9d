//! Secrets in files that only their owner can read, as [`wallet`] keeps them.

use super::FileError;
use remuda_client::wallet;
use std::path::Path;

/// Writes a secret into a new file.
pub fn write_secret(path: &Path, secret: &[u8]) -> Result<(), FileError> {
    Ok(wallet::write_secret(path, secret)?)
}

/// Reads a secret; refuses a file that others can read.
pub fn read_secret(path: &Path) -> Result<Vec<u8>, FileError> {
    Ok(wallet::read_secret(path)?.to_vec())
}
