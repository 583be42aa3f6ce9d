//! A network is made: keys dealt, genesis and settings written.

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

/// The file of the faucet's key, beside the genesis.
const FAUCET_KEY: &str = "faucet.key";
/// What the faucet of a development chain has.
const FAUCET_BALANCE: Amount = Amount::cby(1_000_000_000);

#[derive(Clone, Debug)]
pub struct InitOptions {
    pub validators: usize,
    pub params: ChainParams,
    /// When it begins, in milliseconds since 1970.
    pub timestamp_ms: u64,
    pub host: IpAddr,
    /// Validator i listens on this port and i, and has its API 100 above, or above all of them if
    /// there are more than 100.
    pub base_port: u16,
    /// Whether to fund a faucet account whose key is written beside the genesis. For development only:
    /// a reader of that file can spend the network's money.
    pub faucet: bool,
    /// Accounts with money, besides the faucet.
    pub balances: Vec<(Address, Amount)>,
    /// Who gets the tips of each validator: one account for each, or one for all. With a faucet they
    /// may be left out, and it gets them.
    pub fee_recipients: Vec<Address>,
    /// Who may cancel and extend any timer and tune the limits on timers, besides the faucet.
    pub system_deployers: Vec<Address>,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    pub listen: SocketAddr,
    pub api: SocketAddr,
}

/// Why a network cannot be made.
#[derive(Debug, Error)]
pub enum InitError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Genesis(#[from] GenesisError),
    /// Too few or too many.
    #[error("a network has between 1 and {VALIDATORS_MAX} validators, not {0}")]
    Validators(usize),
    /// Tips would go to nobody.
    #[error(
        "{validators} validators need fee recipients: name one account for all or one for each, \
         not {named}"
    )]
    FeeRecipients {
        validators: usize,
        /// How many accounts are named.
        named: usize,
    },
    /// Nobody could pay a fee or put up a stake.
    #[error("no account of this network has money: give at least one a balance")]
    NoMoney,
    /// An account that is named more than once.
    #[error("{0} has two balances: name it once, with the total")]
    BalanceTwice(Address),
    #[error("{base} is too high a port to start from; {last} is the last that leaves room for all")]
    Ports {
        /// The one that was asked for.
        base: u16,
        last: usize,
    },
}

#[derive(Clone, Debug)]
pub struct Initialised {
    pub genesis_hash: B256,
    /// The settings of each validator.
    pub settings: Vec<PathBuf>,
    pub addresses: Vec<Addresses>,
    /// The faucet, on a development network.
    pub faucet: Option<Faucet>,
}

/// An account with money for everybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faucet {
    pub key: PathBuf,
    pub address: Address,
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
                 the others back, or create a new network in another directory"
            );
            return Err(FileError::Malformed { path: genesis_path, reason });
        }
        let key = directory.join(FAUCET_KEY);
        let faucet = match key.exists() {
            true => Some(Faucet { address: wallet::read(&key)?.address(), key }),
            false => None,
        };
        Ok(Self { genesis_hash: genesis.hash(), settings, addresses, faucet })
    }
}

/// Who has what at genesis.
struct Grants {
    balances: Vec<(Address, Amount)>,
    fee_recipients: Vec<Address>,
    system_deployers: Vec<Address>,
}

impl Grants {
    fn of(options: &InitOptions, faucet: Option<Address>) -> Result<Self, InitError> {
        let mut balances = options.balances.clone();
        balances.extend(faucet.map(|faucet| (faucet, FAUCET_BALANCE)));
        balances.sort_unstable();
        if let Some(pair) = balances.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(InitError::BalanceTwice(pair[0].0));
        }
        if balances.iter().all(|(_, balance)| balance.is_zero()) {
            return Err(InitError::NoMoney);
        }
        let (validators, named) = (options.validators, options.fee_recipients.len());
        let fee_recipients = match (&options.fee_recipients[..], faucet) {
            ([], Some(faucet)) => vec![faucet; validators],
            ([one], _) => vec![*one; validators],
            (each, _) if named == validators => each.to_vec(),
            _ => return Err(InitError::FeeRecipients { validators, named }),
        };
        let mut system_deployers = options.system_deployers.clone();
        system_deployers.extend(faucet);
        system_deployers.sort_unstable();
        system_deployers.dedup();
        Ok(Self { balances, fee_recipients, system_deployers })
    }
}

/// The key of a new account, and the account.
fn faucet_secret(rng: &mut impl CryptoRng) -> ([u8; 32], Address) {
    let mut secret = [0; 32];
    loop {
        rng.fill_bytes(&mut secret);
        if let Some(key) = SecretKey::from_bytes(&secret) {
            return (secret, key.address());
        }
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
    let faucet = options.faucet.then(|| faucet_secret(&mut rng));
    let grants = Grants::of(&options, faucet.as_ref().map(|(_, address)| *address))?;
    let (network, secrets) =
        Network::deal(rng, addresses.len(), |mut validators, threshold_key| {
            for (validator, recipient) in validators.iter_mut().zip(grants.fee_recipients) {
                validator.fee_recipient = recipient;
            }
            Genesis {
                params: options.params,
                timestamp_ms: options.timestamp_ms,
                balances: grants.balances,
                pinned_executors: options.pinned_executors,
                system_deployers: grants.system_deployers,
                validators,
                threshold_key,
            }
        });
    network.genesis().entries()?;

    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| FileError::Io { path, error }
    };
    std::fs::create_dir_all(directory).map_err(failed(directory))?;
    let faucet_path = directory.join(FAUCET_KEY);
    if let Some((secret, _)) = &faucet {
        write_secret(&faucet_path, secret)?;
    }

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
            faucet: faucet.as_ref().map(|_| Path::new("..").join(FAUCET_KEY)),
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
        faucet: faucet.map(|(_, address)| Faucet { key: faucet_path, address }),
    })
}
