//! A machine's key pair, generated and stored on the machine.

use super::signature::{Signature, Signed};
use crate::id::{KeyId, WorkerKey};
use crate::time::Millis;
use data_encoding::HEXLOWER;
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("the key file {path} cannot be used: {error}", path = .path.display())]
    File { path: PathBuf, error: std::io::Error },
    #[error("{path} has no key in it; remove it, and enrol again", path = .path.display())]
    Content { path: PathBuf },
}

/// A key pair. `Debug` prints the key's id only.
pub struct KeyPair {
    pair: Ed25519KeyPair,
    public: WorkerKey,
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyPair({})", self.public.id())
    }
}

impl KeyPair {
    pub fn generate() -> Self {
        let mut seed = [0; 32];
        SystemRandom::new().fill(&mut seed).expect("the system has randomness");
        Self::from_seed(&seed).expect("any 32 bytes are a seed")
    }

    fn from_seed(seed: &[u8]) -> Option<Self> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
        let public = WorkerKey::new(&HEXLOWER.encode(pair.public_key().as_ref())).ok()?;
        Some(Self { pair, public })
    }

    /// Loads the key from a file, or writes a new one, readable by its owner only.
    pub fn load_or_generate(path: &Path) -> Result<Self, KeyError> {
        let file = |error| KeyError::File { path: path.to_owned(), error };
        let mut text = String::new();
        match File::open(path) {
            // One byte more than a key: a larger file is not read whole.
            Ok(found) => found.take(66).read_to_string(&mut text).map_err(file)?,
            Err(error) if error.kind() == ErrorKind::NotFound => return Self::write_new(path),
            Err(error) => return Err(file(error)),
        };
        let seed = HEXLOWER.decode(text.trim_end().as_bytes()).ok();
        let content = || KeyError::Content { path: path.to_owned() };
        seed.and_then(|seed| Self::from_seed(&seed)).ok_or_else(content)
    }

    fn write_new(path: &Path) -> Result<Self, KeyError> {
        let fail = |error| KeyError::File { path: path.to_owned(), error };
        let seed = super::random_hex::<32>();
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(fail)?;
        file.write_all(seed.as_bytes()).and_then(|()| file.sync_all()).map_err(fail)?;
        Self::load_or_generate(path)
    }

    /// The public key.
    pub fn public(&self) -> &WorkerKey {
        &self.public
    }

    pub fn id(&self) -> KeyId {
        self.public.id()
    }

    pub fn sign(&self, time: Millis, nonce: String, request: Signed<'_>) -> Signature {
        let text = request.text(time, &nonce);
        let signature = HEXLOWER.encode(self.pair.sign(text.as_bytes()).as_ref());
        Signature { key: self.public.clone(), time, nonce, signature }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_is_found_again_and_only_its_owner_can_read_it() {
        let folder = std::env::temp_dir().join(format!("fleet-key-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("worker.key");
        let made = KeyPair::load_or_generate(&path).expect("a new key");
        let found = KeyPair::load_or_generate(&path).expect("the same key");
        assert_eq!(made.public(), found.public());
        let mode = std::fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
        std::fs::write(&path, "nonsense").expect("written");
        assert!(matches!(KeyPair::load_or_generate(&path), Err(KeyError::Content { .. })));
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
