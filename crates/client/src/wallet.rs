//! Keys in files.
//!
//! A key file holds one line of hex digits and belongs to its owner alone: it is written with mode 0600
//! and refused if group or others may do anything with it. The check is on the opened file, so nobody
//! can put another one in its place in between. An account's key has 64 digits; validators keep their
//! secrets in the same way.

use alloy_primitives::hex;
use rand::TryRng;
use remuda_protocol::crypto::SecretKey;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;
use zeroize::Zeroizing;

/// Bytes that a key file may have; a validator's secrets are the longest.
const FILE_BYTES_MAX: u64 = 4_096;

/// Why there is no key.
#[derive(Debug, Error)]
pub enum WalletError {
    /// The file cannot be opened, read or written.
    #[error("{path}: {source}", path = .path.display())]
    Io { path: PathBuf, source: io::Error },
    /// There is a file of that name.
    #[error("{path} is there already, and a key is never overwritten; choose another name", path = .path.display())]
    Exists { path: PathBuf },
    #[error("{path} is a directory; name the file of a key in it", path = .path.display())]
    Directory { path: PathBuf },
    #[error("{path} has mode {mode:o}; others could read the key. Run: chmod 600 {path}", path = .path.display())]
    TooOpen { path: PathBuf, mode: u32 },
    /// Not a key. The contents are not repeated: they may be one, misspelt.
    #[error("{path} does not hold a key: write 64 hex digits, with or without 0x", path = .path.display())]
    NotAKey { path: PathBuf },
    #[error("{path} does not hold a key: a key is one line of hex digits", path = .path.display())]
    NotHex { path: PathBuf },
    #[error("the system gives no random bytes: {0}")]
    NoRandomness(String),
}

/// Makes a new key and writes it to a file that must not exist yet.
pub fn create(path: &Path) -> Result<SecretKey, WalletError> {
    let mut bytes = Zeroizing::new([0; 32]);
    loop {
        rand::rngs::SysRng
            .try_fill_bytes(&mut bytes[..])
            .map_err(|error| WalletError::NoRandomness(error.to_string()))?;
        // All but one in 2^127 byte strings are keys.
        if SecretKey::from_bytes(&bytes).is_some() {
            break;
        }
    }
    write(path, &bytes)
}

/// Writes a key to a file that must not exist yet.
pub fn write(path: &Path, key: &[u8; 32]) -> Result<SecretKey, WalletError> {
    let secret =
        SecretKey::from_bytes(key).ok_or_else(|| WalletError::NotAKey { path: path.to_owned() })?;
    write_secret(path, key)?;
    Ok(secret)
}

pub fn read(path: &Path) -> Result<SecretKey, WalletError> {
    let bytes = read_secret(path)?;
    let key = <&[u8; 32]>::try_from(&bytes[..]).ok().and_then(SecretKey::from_bytes);
    key.ok_or_else(|| WalletError::NotAKey { path: path.to_owned() })
}

/// Writes any secret to a file that must not exist yet.
pub fn write_secret(path: &Path, secret: &[u8]) -> Result<(), WalletError> {
    let io = |source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists => WalletError::Exists { path: path.to_owned() },
        _ => WalletError::Io { path: path.to_owned(), source },
    };
    let text = Zeroizing::new(format!("{}\n", hex::encode(secret)));
    let mut file =
        private(OpenOptions::new().write(true).create_new(true)).open(path).map_err(io)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(io)
}

pub fn read_secret(path: &Path) -> Result<Zeroizing<Vec<u8>>, WalletError> {
    let io = |source| WalletError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(io)?;
    if file.metadata().map_err(io)?.is_dir() {
        return Err(WalletError::Directory { path: path.to_owned() });
    }
    check_mode(path, &file)?;
    // One byte more than allowed, to tell a file that is too long.
    let mut text = Zeroizing::new(Vec::with_capacity(FILE_BYTES_MAX as usize + 1));
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut text).map_err(io)?;
    let digits = text.trim_ascii();
    let digits = digits.strip_prefix(b"0x").unwrap_or(digits);
    let bytes = hex::decode(digits).ok().filter(|_| text.len() as u64 <= FILE_BYTES_MAX);
    bytes.map(Zeroizing::new).ok_or_else(|| WalletError::NotHex { path: path.to_owned() })
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600)
}

#[cfg(unix)]
fn check_mode(path: &Path, file: &File) -> Result<(), WalletError> {
    use std::os::unix::fs::PermissionsExt;
    let io = |source| WalletError::Io { path: path.to_owned(), source };
    let mode = file.metadata().map_err(io)?.permissions().mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(WalletError::TooOpen { path: path.to_owned(), mode });
    }
    Ok(())
}

// Elsewhere a file belongs to its owner's profile, and there are no modes to look at.
#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

#[cfg(not(unix))]
fn check_mode(_path: &Path, _file: &File) -> Result<(), WalletError> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    /// A folder of its own for each test, gone with it.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("remuda-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }
    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_key_comes_back_from_its_file_and_only_its_owner_may_read_it() {
        let folder = Folder::new("wallet-roundtrip");
        let path = folder.0.join("key");
        let key = create(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(read(&path).unwrap().address(), key.address());
        assert!(
            matches!(create(&path), Err(WalletError::Exists { .. })),
            "an existing key is kept"
        );
        assert!(matches!(read(&folder.0), Err(WalletError::Directory { .. })));
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let folder = Folder::new("wallet-mode");
        let path = folder.0.join("key");
        create(&path).unwrap();
        for mode in [0o640, 0o604, 0o644, 0o660, 0o601] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert!(matches!(read(&path), Err(WalletError::TooOpen { mode: m, .. }) if m == mode));
        }
    }

    #[test]
    fn an_error_never_repeats_what_the_file_holds() {
        let folder = Folder::new("wallet-bad");
        let path = folder.0.join("key");
        let almost = "ab".repeat(31);
        let misspelt = format!("{almost}xy");
        let long = "ab".repeat(FILE_BYTES_MAX as usize);
        for text in [almost.clone(), misspelt, "00".repeat(32), long, String::new()] {
            fs::write(&path, &text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            let error = read(&path).unwrap_err();
            assert!(matches!(error, WalletError::NotAKey { .. } | WalletError::NotHex { .. }));
            assert!(!format!("{error} {error:?}").contains(&almost));
        }
    }
}
