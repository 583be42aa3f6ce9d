//! Why there is no network, and what to do about it.

use crate::node::is_wrong_use;
use remuda_client::ClientError;
use remuda_node::config::{FileError, InitError};
use remuda_protocol::params::ParamError;
use remuda_protocol::primitives::B256;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};
use thiserror::Error;

#[derive(Debug, Error)]
pub(crate) enum DevError {
    /// A flag asks for a chain that cannot be.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// The network cannot be made.
    #[error(transparent)]
    Init(#[from] InitError),
    /// The network that is there cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// Flags that the network in the directory contradicts.
    #[error(
        "{} holds a network already, and it is another than these flags ask for: {}. Leave them \
         out to go on with it, or make a new one with another --dir",
        directory.display(), flags.join(", ")
    )]
    OtherNetwork {
        directory: PathBuf,
        /// Each with what is there instead.
        flags: Vec<String>,
    },
    /// A port is not to be had.
    #[error("cannot listen on {address}: {error}. {}", port_advice(directory.as_ref()))]
    Port {
        address: SocketAddr,
        error: io::Error,
        /// Of the network that is there already, whose ports are fixed.
        directory: Option<PathBuf>,
    },
    #[error(
        "a node of another chain (genesis {found}) answers at {api}. Stop it, or choose other \
         ports with --base-port"
    )]
    OtherChain { api: SocketAddr, found: B256 },
    /// A validator does not run.
    #[error("{} ended ({status}) and will not run: {last}", validator.display())]
    Died {
        validator: PathBuf,
        status: ExitStatus,
        /// The end of its log.
        last: String,
    },
    #[error("there is no block after {} s; --logs shows what the validators do", super::FIRST_BLOCK.as_secs())]
    NoBlock,
    #[error(transparent)]
    Client(ClientError),
    /// The log of a validator.
    #[error("{}: {error}", path.display())]
    Log { path: PathBuf, error: io::Error },
    /// A process, or the runtime of this one.
    #[error("cannot start: {0}")]
    Start(io::Error),
}

fn port_advice(directory: Option<&PathBuf>) -> String {
    let stop = "If another network runs here, stop it";
    match directory {
        None => format!("{stop}, or choose other ports with --base-port"),
        Some(directory) => format!(
            "{stop}; the ports of this one are in {}/validator-*/node.toml, and --base-port is \
             for new ones",
            directory.display()
        ),
    }
}

impl DevError {
    /// The exit status: 2 for wrong use, 1 for all else.
    pub(super) fn status(&self) -> ExitCode {
        match self {
            Self::Param(_) | Self::OtherNetwork { .. } => ExitCode::from(2),
            Self::Init(error) if is_wrong_use(error) => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        }
    }
}
