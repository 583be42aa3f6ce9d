//! What an operator decides about a node: one TOML file.

use super::{FileError, read_text, write_text};
use alloy_primitives::hex;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Settings of a node. Paths are relative to the file.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub genesis: PathBuf,
    pub key: PathBuf,
    /// Where the chain is stored.
    pub data: PathBuf,
    /// Where other validators connect to.
    pub listen: SocketAddr,
    /// Where runners connect to (QUIC, UDP); the same as `listen`, which is TCP, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<SocketAddr>,
    /// Where the HTTP API is.
    pub api: SocketAddr,
    /// Key of the money to give away; on development chains only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faucet: Option<PathBuf>,
    /// All validators, this one too.
    pub peers: Vec<Peer>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// Its Ed25519 key, as in the genesis.
    pub key: String,
    /// Its `listen`.
    pub address: SocketAddr,
    /// Its `link`, for runners; the same as `address` if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<SocketAddr>,
    /// URL of its API, for runners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<String>,
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

    /// Refuses the key of a validator that, by the list of peers, listens elsewhere.
    ///
    /// Only an exact match with another validator's address is refused. A validator behind NAT listens
    /// on an address that is not in the list, and its port may map to different validators outside.
    pub fn check_key(&self, public_key: &[u8]) -> Result<(), FileError> {
        let is_own = |peer: &&Peer| hex::decode(&peer.key).is_ok_and(|key| key == public_key);
        // Who is no validator at all is told so when the genesis is looked at.
        let Some(own) = self.peers.iter().find(is_own) else { return Ok(()) };
        if own.address == self.listen || self.peers.iter().all(|peer| peer.address != self.listen) {
            return Ok(());
        }
        let (its_own, listen) = (own.address, self.listen);
        Err(FileError::OtherKey { path: self.key.clone(), its_own, listen })
    }

    /// Writes settings into a new file.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        let text = toml::to_string_pretty(self).expect("settings are TOML");
        write_text(path, &text)
    }
}
