//! Files of a node: the genesis that all share, its own settings, its secrets.
//!
//! Local: a change here needs no agreement among validators. This holds for the whole folder, but
//! not for what the genesis file means.
//!
//! ```text
//! <network>/genesis.json          what all validators start from, with its hash
//! <network>/faucet.key            money of a development network; no other has it
//! <network>/validator-0/node.toml settings
//! <network>/validator-0/node.key  secrets, for the owner only
//! <network>/validator-0/data/     the chain
//! ```

mod genesis;
mod init;
mod secret;
mod settings;

pub use genesis::GenesisFile;
pub use init::{Addresses, Faucet, InitError, InitOptions, Initialised, init};
pub use secret::{read_secret, write_secret};
pub use settings::{Peer, Settings};

use remuda_client::wallet::WalletError;
use std::net::SocketAddr;
use std::path::PathBuf;
use thiserror::Error;

/// Why a file cannot be used.
#[derive(Debug, Error)]
pub enum FileError {
    /// It cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: std::io::Error },
    #[error("{} is there already; choose another directory or remove it first", path.display())]
    Exists { path: PathBuf },
    /// It is not what it should be.
    #[error("{}: {reason}", path.display())]
    Malformed {
        path: PathBuf,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A validator's key beside the settings of another.
    #[error(
        "{} is the key of the validator that listens on {its_own}, and these settings listen on \
         {listen}, which is another's; put that validator's own key there. Two that run with one \
         key would be taken for a liar",
        path.display()
    )]
    OtherKey {
        path: PathBuf,
        its_own: SocketAddr,
        /// Where the settings say to listen.
        listen: SocketAddr,
    },
    #[error(transparent)]
    Secret(#[from] WalletError),
}

/// Files are read up to here; a genesis of 100,000 accounts has 12 MB.
const FILE_BYTES_MAX: u64 = 64 << 20;

fn read_text(path: &std::path::Path) -> Result<String, FileError> {
    let failed = |error| FileError::Io { path: path.to_owned(), error };
    let size = std::fs::metadata(path).map_err(failed)?.len();
    if size > FILE_BYTES_MAX {
        let reason = format!("{size} bytes are too many for such a file");
        return Err(FileError::Malformed { path: path.to_owned(), reason });
    }
    std::fs::read_to_string(path).map_err(failed)
}

fn write_text(path: &std::path::Path, text: &str) -> Result<(), FileError> {
    if path.exists() {
        return Err(FileError::Exists { path: path.to_owned() });
    }
    std::fs::write(path, text).map_err(|error| FileError::Io { path: path.to_owned(), error })
}
