//! What an operator decides about a node: one TOML file.

use super::{FileError, read_text, write_text};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Settings of a node. Paths are relative to the file.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The genesis.
    pub genesis: PathBuf,
    /// This validator's secrets.
    pub key: PathBuf,
    /// Where the chain is stored.
    pub data: PathBuf,
    /// Where other validators connect to.
    pub listen: SocketAddr,
    /// Where the HTTP API is.
    pub api: SocketAddr,
    /// Key of the money to give away; on development chains only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faucet: Option<PathBuf>,
    /// All validators, this one too.
    pub peers: Vec<Peer>,
}

/// Where a validator is.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// Its Ed25519 key, as in the genesis.
    pub key: String,
    /// Its `listen`.
    pub address: SocketAddr,
}

impl Settings {
    /// Reads settings and makes their paths absolute.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let malformed = |reason| FileError::Malformed { path: path.to_owned(), reason };
        let mut settings: Self =
            toml::from_str(&read_text(path)?).map_err(|e| malformed(e.to_string()))?;
        let base = path.parent().unwrap_or(Path::new("."));
        for path in [&mut settings.genesis, &mut settings.key, &mut settings.data] {
            *path = base.join(&*path);
        }
        settings.faucet = settings.faucet.map(|path| base.join(path));
        Ok(settings)
    }

    /// Writes settings into a new file.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        let text = toml::to_string_pretty(self).expect("settings are TOML");
        write_text(path, &text)
    }
}
