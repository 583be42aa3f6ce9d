//! Files of a network: made once, readable by their owner only, refused when they do not fit.

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use remuda_client::wallet::WalletError;
use remuda_node::config::{
    FileError, GenesisFile, InitError, InitOptions, Initialised, Settings, init, read_secret,
    write_secret,
};
use remuda_node::network::{Network, NetworkError, Secrets};
use remuda_protocol::codec::Bytes;
use remuda_protocol::genesis::{Genesis, VALIDATORS_MAX};
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let name = format!("remuda-files-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn options(validators: usize) -> InitOptions {
    InitOptions {
        validators,
        params: ChainParams::development(),
        timestamp_ms: 1_800_000_000_000,
        host: [127, 0, 0, 1].into(),
        base_port: 4000,
        faucet: true,
        balances: vec![(Address::repeat_byte(7), Amount::cby(5))],
        fee_recipients: Vec::new(),
        system_deployers: Vec::new(),
        pinned_executors: Vec::new(),
    }
}

fn make(path: &Path, validators: usize) -> Result<Initialised, InitError> {
    init(path, options(validators), StdRng::seed_from_u64(1))
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn network_on_disk_is_the_one_that_was_dealt() {
    let directory = Directory::new("dealt");
    let made = make(&directory.0, 4).unwrap();
    let found = Initialised::find(&directory.0).unwrap();
    assert_eq!(found.genesis_hash, made.genesis_hash);
    assert_eq!((found.addresses, &found.faucet), (made.addresses, &made.faucet));
    assert_eq!(mode(&made.faucet.unwrap().key), 0o600);
    for path in &made.settings {
        let settings = Settings::read(path).unwrap();
        assert_eq!(mode(&settings.key), 0o600);
        let genesis = GenesisFile::read(&settings.genesis).unwrap();
        assert_eq!(genesis.hash(), made.genesis_hash);
        let network = Network::new(genesis).unwrap();
        let secrets = Secrets::from_bytes(&read_secret(&settings.key).unwrap()).unwrap();
        let index = network.index(&secrets.public_key()).unwrap() as usize;
        assert_eq!(*path, made.settings[index], "validators are numbered as in the genesis");
        assert_eq!(settings.peers[index].address, settings.listen);
    }
}

/// What a network is made of that anybody may use.
fn production(validators: usize) -> InitOptions {
    let fee_recipients = vec![Address::repeat_byte(0xfe)];
    InitOptions { faucet: false, fee_recipients, ..options(validators) }
}

#[test]
fn production_network_has_no_key_with_money_or_rights() {
    let directory = Directory::new("production");
    let made = init(&directory.0, production(4), StdRng::seed_from_u64(1)).unwrap();
    assert_eq!(made.faucet, None);
    assert_eq!(Initialised::find(&directory.0).unwrap().faucet, None);
    let genesis = GenesisFile::read(&directory.0.join("genesis.json")).unwrap();
    assert_eq!(genesis.balances, options(4).balances);
    assert!(genesis.system_deployers.is_empty());
    // Every secret that was written is a validator's identity, and no account of the genesis is made of one.
    let files = |path: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    };
    let validators = (0..4).map(|i| format!("validator-{i}"));
    let expected: Vec<String> = ["genesis.json".to_owned()].into_iter().chain(validators).collect();
    assert_eq!(files(&directory.0), expected);
    for settings in &made.settings {
        assert_eq!(files(settings.parent().unwrap()), ["node.key", "node.toml"]);
        assert_eq!(Settings::read(settings).unwrap().faucet, None);
    }
}

#[test]
fn tips_go_to_the_accounts_that_are_named() {
    let recipients = |name: &str, options: InitOptions| {
        let directory = Directory::new(name);
        init(&directory.0, options, StdRng::seed_from_u64(1))?;
        let genesis = GenesisFile::read(&directory.0.join("genesis.json"))?;
        Ok(genesis.validators.iter().map(|validator| validator.fee_recipient).collect::<Vec<_>>())
    };
    let each: Vec<Address> = (1..5).map(Address::repeat_byte).collect();
    let named = InitOptions { fee_recipients: each.clone(), ..production(4) };
    assert_eq!(recipients("each", named).unwrap(), each);
    assert_eq!(recipients("one", production(2)).unwrap(), [Address::repeat_byte(0xfe); 2]);
    for (count, error) in [(0, "not 0"), (3, "not 3")] {
        let wrong = InitOptions { fee_recipients: each[..count].to_vec(), ..production(4) };
        let refused: InitError = recipients("wrong", wrong).unwrap_err();
        assert!(refused.to_string().contains(error), "{refused}");
    }
    let nobody = InitOptions { fee_recipients: vec![Address::ZERO], ..production(1) };
    assert!(matches!(recipients("nobody", nobody), Err(InitError::Genesis(_))));
    // On a development network the faucet gets them.
    let directory = Directory::new("tips");
    let faucet = make(&directory.0, 1).unwrap().faucet.unwrap().address;
    let genesis = GenesisFile::read(&directory.0.join("genesis.json")).unwrap();
    assert_eq!(genesis.validators[0].fee_recipient, faucet);
    assert_eq!(genesis.system_deployers, [faucet]);
}

#[test]
fn network_without_money_or_with_an_account_twice_is_refused() {
    let directory = Directory::new("poor");
    let refused = |options| init(&directory.0, options, StdRng::seed_from_u64(1)).unwrap_err();
    let poor = InitOptions { balances: Vec::new(), ..production(1) };
    assert!(matches!(refused(poor), InitError::NoMoney));
    let one = (Address::repeat_byte(7), Amount::cby(1));
    let twice = InitOptions { balances: vec![one, one], ..production(1) };
    assert!(matches!(refused(twice), InitError::BalanceTwice(address) if address == one.0));
    assert!(!directory.0.exists(), "nothing is half done");
}

#[test]
fn nothing_is_written_over() {
    let directory = Directory::new("over");
    make(&directory.0, 1).unwrap();
    let again = make(&directory.0, 1).unwrap_err();
    assert!(matches!(again, InitError::File(FileError::Exists { .. })), "{again}");
    let file = directory.0.join("faucet.key");
    let before = std::fs::read(&file).unwrap();
    assert!(matches!(
        write_secret(&file, &[1]),
        Err(FileError::Secret(WalletError::Exists { .. }))
    ));
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

/// Somebody who goes on with a directory must not run part of a network.
#[test]
fn half_a_network_is_none() {
    let directory = Directory::new("half");
    let in_the_way = directory.0.join("validator-2");
    std::fs::create_dir_all(&in_the_way).unwrap();
    std::fs::write(in_the_way.join("node.key"), "of another").unwrap();
    make(&directory.0, 4).unwrap_err();
    assert!(directory.0.join("validator-1/node.toml").exists(), "it was interrupted");
    assert!(!directory.0.join("genesis.json").exists(), "the genesis comes last");
    assert!(Initialised::find(&directory.0).is_err());

    let directory = Directory::new("lost");
    let made = make(&directory.0, 4).unwrap();
    std::fs::remove_file(&made.settings[3]).unwrap();
    let error = Initialised::find(&directory.0).unwrap_err().to_string();
    assert!(error.contains("names 4 validators") && error.contains("settings of 3"), "{error}");
}

#[test]
fn secret_that_others_can_read_is_refused() {
    let directory = Directory::new("open");
    std::fs::create_dir_all(&directory.0).unwrap();
    let path = directory.0.join("key");
    write_secret(&path, &[1, 2, 3]).unwrap();
    assert_eq!(read_secret(&path).unwrap(), [1, 2, 3]);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let error = read_secret(&path).unwrap_err().to_string();
    assert!(error.contains("chmod 600"), "{error}");
}

#[test]
fn impossible_networks_are_refused() {
    let directory = Directory::new("impossible");
    assert!(matches!(make(&directory.0, 0), Err(InitError::Validators(0))));
    assert!(matches!(make(&directory.0, 129), Err(InitError::Validators(129))));
    let high = InitOptions { base_port: 65_500, ..options(4) };
    assert!(matches!(
        init(&directory.0, high, StdRng::seed_from_u64(1)),
        Err(InitError::Ports { base: 65_500, last: 65_432 })
    ));
    assert!(!directory.0.exists(), "nothing is half done");
}

#[test]
fn no_two_of_the_largest_network_share_a_port() {
    let addresses = options(VALIDATORS_MAX).addresses().unwrap();
    let ports: BTreeSet<u16> =
        addresses.iter().flat_map(|own| [own.listen.port(), own.api.port()]).collect();
    assert_eq!(ports.len(), 2 * VALIDATORS_MAX);
    assert_eq!(options(4).addresses().unwrap()[3].api.port(), 4103);
    let last = InitOptions { base_port: 65_432, ..options(4) };
    assert_eq!(last.addresses().unwrap()[3].api.port(), u16::MAX);
}

/// A key that was copied would sign for two.
#[test]
fn key_of_another_validator_is_refused() {
    let directory = Directory::new("copied");
    let made = make(&directory.0, 4).unwrap();
    let settings: Vec<Settings> =
        made.settings.iter().map(|path| Settings::read(path).unwrap()).collect();
    let key = |settings: &Settings| {
        Secrets::from_bytes(&read_secret(&settings.key).unwrap()).unwrap().public_key()
    };
    assert!(settings.iter().all(|own| own.check_key(key(own).as_ref()).is_ok()));
    let error = settings[0].check_key(key(&settings[1]).as_ref()).unwrap_err().to_string();
    for words in ["node.key", "127.0.0.1:4001", "127.0.0.1:4000"] {
        assert!(error.contains(words), "{error}");
    }
    let everywhere = |port| Settings { listen: ([0; 4], port).into(), ..settings[0].clone() };
    assert!(everywhere(4000).check_key(key(&settings[0]).as_ref()).is_ok());
    for port in [4000, 9000] {
        let behind_a_router = everywhere(port).check_key(key(&settings[1]).as_ref());
        assert!(behind_a_router.is_ok(), "outside, its port may be another");
    }
}

/// An edited genesis defines another chain, so its hash no longer matches.
#[test]
fn edited_genesis_is_noticed() {
    let directory = Directory::new("edited");
    make(&directory.0, 4).unwrap();
    let path = directory.0.join("genesis.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let refused = |text: String| {
        std::fs::write(&path, text).unwrap();
        GenesisFile::read(&path).unwrap_err().to_string()
    };
    let error = refused(text.replace("5000000000\"", "6000000000\""));
    assert!(error.contains("its hash is"), "{error}");
    let error = refused(text.replace("\"timestamp_ms\"", "\"time\""));
    assert!(error.contains("time"), "{error}");
    let error = refused(text.replacen("system:chain:max_seeds_per_block", "system:chain:other", 1));
    assert!(error.contains("max_seeds_per_block"), "{error}");
    assert!(GenesisFile::read(&directory.0.join("none.json")).is_err());
}

#[test]
fn genesis_file_keeps_every_parameter() {
    let directory = Directory::new("params");
    std::fs::create_dir_all(&directory.0).unwrap();
    let mut params = ChainParams::development();
    // Two that only fit each other together.
    params.subset_overlap_blocks = 8_000;
    params.subset_epoch_blocks = 9_000;
    params.validate().unwrap();
    let genesis = Genesis { params, ..dealt() };
    let path = directory.0.join("genesis.json");
    GenesisFile::write(&path, &genesis).unwrap();
    assert_eq!(GenesisFile::read(&path).unwrap(), genesis);
}

fn dealt() -> Genesis {
    let (network, _) =
        Network::deal(StdRng::seed_from_u64(3), 4, |validators, threshold_key| Genesis {
            params: ChainParams::development(),
            timestamp_ms: 0,
            balances: Vec::new(),
            pinned_executors: Vec::new(),
            system_deployers: Vec::new(),
            validators,
            threshold_key,
        });
    network.genesis().clone()
}

#[test]
fn genesis_without_a_network_is_refused() {
    let good = dealt();
    assert!(Network::new(good.clone()).is_ok());
    let mut swapped = good.clone();
    swapped.validators.swap(0, 1);
    assert_eq!(Network::new(swapped).unwrap_err(), NetworkError::NotAscending);
    let mut twice = good.clone();
    twice.validators[1] = twice.validators[0];
    assert_eq!(Network::new(twice).unwrap_err(), NetworkError::NotAscending);
    let mut fewer = good.clone();
    fewer.validators.pop();
    assert_eq!(Network::new(fewer).unwrap_err(), NetworkError::BadThresholdKey);
    let mut cut = good.clone();
    cut.threshold_key.0.pop();
    assert_eq!(Network::new(cut).unwrap_err(), NetworkError::BadThresholdKey);
    let none = Genesis { threshold_key: Bytes::default(), ..good };
    assert_eq!(Network::new(none).unwrap_err(), NetworkError::BadThresholdKey);
}

#[test]
fn secrets_have_one_form() {
    let (_, secrets) = Network::deal(StdRng::seed_from_u64(4), 1, |validators, threshold_key| {
        Genesis { validators, threshold_key, ..dealt() }
    });
    let bytes = secrets[0].to_bytes();
    let back = Secrets::from_bytes(&bytes).unwrap();
    assert_eq!(back.to_bytes(), bytes);
    assert!(!format!("{back:?}").contains(&alloy_primitives::hex::encode(&bytes[..8])));
    assert!(Secrets::from_bytes(&bytes[..40]).is_none());
    assert!(Secrets::from_bytes(&[]).is_none());
}
