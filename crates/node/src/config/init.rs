//! A development network: keys dealt, genesis and settings written.

use super::{FileError, GenesisFile, Peer, Settings, write_secret};
use crate::network::Network;
use alloy_primitives::hex;
use rand_core::CryptoRng;
use remuda_client::wallet;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::genesis::{Genesis, GenesisError, VALIDATORS_MAX};
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount, B256};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What the faucet of a development chain has.
const FAUCET_BALANCE: Amount = Amount::cby(1_000_000_000);

/// What to make.
#[derive(Clone, Debug)]
pub struct InitOptions {
    /// How many validators.
    pub validators: usize,
    /// The chain's parameters.
    pub params: ChainParams,
    /// When it begins, in milliseconds since 1970.
    pub timestamp_ms: u64,
    /// Where they listen.
    pub host: IpAddr,
    /// Validator i listens on this port and i, and has its API 100 above, or above all of them if
    /// there are more than 100.
    pub base_port: u16,
    /// More accounts with money.
    pub balances: Vec<(Address, Amount)>,
    /// Programs that governance vouches for.
    pub pinned_executors: Vec<B256>,
}

/// How far APIs are above the ports that validators listen on. A network with more validators than
/// that has its APIs above all of them.
const API_ABOVE: usize = 100;

impl InitOptions {
    /// Where each validator listens, and where its API is; an error if there is no such port.
    pub fn addresses(&self) -> Result<Vec<Addresses>, InitError> {
        let n = self.validators;
        if !(1..=VALIDATORS_MAX).contains(&n) {
            return Err(InitError::Validators(n));
        }
        let above = n.max(API_ABOVE);
        let at = |i: usize| {
            let port = u16::try_from(usize::from(self.base_port) + i);
            port.map(|port| SocketAddr::new(self.host, port))
                .map_err(|_| InitError::Ports { base: self.base_port, last: 65_536 - above - n })
        };
        (0..n).map(|i| Ok(Addresses { listen: at(i)?, api: at(above + i)? })).collect()
    }
}

/// Where a validator is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// For the other validators.
    pub listen: SocketAddr,
    /// For users.
    pub api: SocketAddr,
}

/// Why a network cannot be made.
#[derive(Debug, Error)]
pub enum InitError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The genesis.
    #[error(transparent)]
    Genesis(#[from] GenesisError),
    /// Too few or too many.
    #[error("a network has between 1 and {VALIDATORS_MAX} validators, not {0}")]
    Validators(usize),
    /// Ports beyond the last.
    #[error("{base} is too high a port to start from; {last} is the last that leaves room for all")]
    Ports {
        /// The one that was asked for.
        base: u16,
        /// The highest possible.
        last: usize,
    },
}

/// What was made.
#[derive(Clone, Debug)]
pub struct Initialised {
    /// Names the chain.
    pub genesis_hash: B256,
    /// The settings of each validator.
    pub settings: Vec<PathBuf>,
    /// Where they are.
    pub addresses: Vec<Addresses>,
    /// Key of the faucet.
    pub faucet: PathBuf,
    /// The faucet's account.
    pub faucet_address: Address,
}

impl Initialised {
    /// The network that was made in a directory before; an error if part of it is missing.
    pub fn find(directory: &Path) -> Result<Self, FileError> {
        let genesis_path = directory.join("genesis.json");
        let genesis = GenesisFile::read(&genesis_path)?;
        let (mut settings, mut addresses) = (Vec::new(), Vec::new());
        for i in 0..VALIDATORS_MAX {
            let path = directory.join(format!("validator-{i}")).join("node.toml");
            if !path.exists() {
                break;
            }
            let Settings { listen, api, .. } = Settings::read(&path)?;
            addresses.push(Addresses { listen, api });
            settings.push(path);
        }
        let (named, found) = (genesis.validators.len(), settings.len());
        if named != found {
            let reason = format!(
                "it names {named} validators, and there are settings of {found} beside it; bring \
                 the others back, or make the network anew in another directory"
            );
            return Err(FileError::Malformed { path: genesis_path, reason });
        }
        let faucet = directory.join("faucet.key");
        let faucet_address = wallet::read(&faucet)?.address();
        Ok(Self { genesis_hash: genesis.hash(), settings, addresses, faucet, faucet_address })
    }
}

/// Makes a network in a directory that has none. The genesis is written last: where it is, there is
/// everything else, also if this was interrupted.
pub fn init(
    directory: &Path,
    options: InitOptions,
    mut rng: impl CryptoRng,
) -> Result<Initialised, InitError> {
    let addresses = options.addresses()?;
    let genesis_path = directory.join("genesis.json");
    if genesis_path.exists() {
        return Err(FileError::Exists { path: genesis_path }.into());
    }
    let mut secret = [0; 32];
    let faucet = loop {
        rng.fill_bytes(&mut secret);
        if let Some(key) = SecretKey::from_bytes(&secret) {
            break key;
        }
    };
    let pinned_executors = options.pinned_executors;
    let mut balances = options.balances;
    balances.push((faucet.address(), FAUCET_BALANCE));
    balances.sort_unstable();
    let (network, secrets) =
        Network::deal(rng, addresses.len(), |validators, threshold_key| Genesis {
            params: options.params,
            timestamp_ms: options.timestamp_ms,
            balances,
            pinned_executors,
            // Whoever has a development chain's money may also look after its timers.
            system_deployers: vec![faucet.address()],
            validators,
            threshold_key,
        });
    network.genesis().entries()?;

    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| FileError::Io { path, error }
    };
    std::fs::create_dir_all(directory).map_err(failed(directory))?;
    let faucet_path = directory.join("faucet.key");
    write_secret(&faucet_path, &secret)?;

    let peers: Vec<Peer> = secrets
        .iter()
        .zip(&addresses)
        .map(|(secrets, own)| Peer {
            key: hex::encode_prefixed(secrets.public_key().as_ref()),
            address: own.listen,
            link: None,
            api: Some(format!("http://{}", own.api)),
        })
        .collect();
    let mut settings = Vec::new();
    for (i, secrets) in secrets.iter().enumerate() {
        let home = directory.join(format!("validator-{i}"));
        std::fs::create_dir_all(&home).map_err(failed(&home))?;
        write_secret(&home.join("node.key"), &secrets.to_bytes())?;
        let path = home.join("node.toml");
        let own = Settings {
            genesis: "../genesis.json".into(),
            key: "node.key".into(),
            data: "data".into(),
            listen: addresses[i].listen,
            link: None,
            api: addresses[i].api,
            faucet: Some("../faucet.key".into()),
            peers: peers.clone(),
        };
        own.write(&path)?;
        settings.push(path);
    }
    GenesisFile::write(&genesis_path, network.genesis())?;
    Ok(Initialised {
        genesis_hash: network.genesis().hash(),
        settings,
        addresses,
        faucet: faucet_path,
        faucet_address: faucet.address(),
    })
}
