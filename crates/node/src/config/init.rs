//! A development network: keys dealt, genesis and settings written.

use super::{FileError, GenesisFile, Peer, Settings, read_secret, write_secret};
use crate::network::Network;
use alloy_primitives::hex;
use rand_core::CryptoRng;
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
    /// Validator i listens on this port and i, and has its API 100 above.
    pub base_port: u16,
    /// More accounts with money.
    pub balances: Vec<(Address, Amount)>,
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
    #[error("{0} is too high a port to start from; take one below 65000")]
    Ports(u16),
}

/// What was made.
#[derive(Clone, Debug)]
pub struct Initialised {
    /// Names the chain.
    pub genesis_hash: B256,
    /// The settings of each validator.
    pub settings: Vec<PathBuf>,
    /// Where their APIs will be.
    pub apis: Vec<SocketAddr>,
    /// Key of the faucet.
    pub faucet: PathBuf,
    /// The faucet's account.
    pub faucet_address: Address,
}

impl Initialised {
    /// The network that was made in a directory before.
    pub fn find(directory: &Path) -> Result<Self, FileError> {
        let genesis_hash = GenesisFile::read(&directory.join("genesis.json"))?.hash();
        let (mut settings, mut apis) = (Vec::new(), Vec::new());
        for i in 0..VALIDATORS_MAX {
            let path = directory.join(format!("validator-{i}")).join("node.toml");
            if !path.exists() {
                break;
            }
            apis.push(Settings::read(&path)?.api);
            settings.push(path);
        }
        let faucet = directory.join("faucet.key");
        let malformed =
            || FileError::Malformed { path: faucet.clone(), reason: "not a secp256k1 key".into() };
        let secret = read_secret(&faucet)?;
        let secret = <[u8; 32]>::try_from(&secret[..]).map_err(|_| malformed())?;
        let faucet_address = SecretKey::from_bytes(&secret).ok_or_else(malformed)?.address();
        Ok(Self { genesis_hash, settings, apis, faucet, faucet_address })
    }
}

/// Makes a network in a directory that has none.
pub fn init(
    directory: &Path,
    options: InitOptions,
    mut rng: impl CryptoRng,
) -> Result<Initialised, InitError> {
    let n = options.validators;
    if !(1..=VALIDATORS_MAX).contains(&n) {
        return Err(InitError::Validators(n));
    }
    let port = |i: usize| options.base_port.checked_add(i as u16);
    if port(n + 100).is_none() || n > 100 && options.base_port == 0 {
        return Err(InitError::Ports(options.base_port));
    }
    let mut secret = [0; 32];
    let faucet = loop {
        rng.fill_bytes(&mut secret);
        if let Some(key) = SecretKey::from_bytes(&secret) {
            break key;
        }
    };
    let mut balances = options.balances;
    balances.push((faucet.address(), FAUCET_BALANCE));
    balances.sort_unstable();
    let (network, secrets) = Network::deal(rng, n, |validators, threshold_key| Genesis {
        params: options.params,
        timestamp_ms: options.timestamp_ms,
        balances,
        pinned_executors: Vec::new(),
        validators,
        threshold_key,
    });
    network.genesis().entries()?;

    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| FileError::Io { path, error }
    };
    std::fs::create_dir_all(directory).map_err(failed(directory))?;
    let genesis_path = directory.join("genesis.json");
    GenesisFile::write(&genesis_path, network.genesis())?;
    let faucet_path = directory.join("faucet.key");
    write_secret(&faucet_path, &secret)?;

    let address = |i: usize| SocketAddr::new(options.host, options.base_port + i as u16);
    let api = |i: usize| SocketAddr::new(options.host, options.base_port + 100 + i as u16);
    let peers: Vec<Peer> = (0..n)
        .map(|i| Peer {
            key: hex::encode_prefixed(secrets[i].public_key().as_ref()),
            address: address(i),
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
            listen: address(i),
            api: api(i),
            faucet: Some("../faucet.key".into()),
            peers: peers.clone(),
        };
        own.write(&path)?;
        settings.push(path);
    }
    Ok(Initialised {
        genesis_hash: network.genesis().hash(),
        settings,
        apis: (0..n).map(api).collect(),
        faucet: faucet_path,
        faucet_address: faucet.address(),
    })
}
