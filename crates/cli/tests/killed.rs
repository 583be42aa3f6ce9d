//! Four validators as real processes. One is killed and started again for a minute, under load.

use remuda_client::{BlockId, Client, wallet};
use remuda_protocol::primitives::{Address, Amount, B256, Height};
use remuda_protocol::transaction::Instruction;
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tokio::time::sleep;

const VALIDATORS: usize = 4;
const VICTIM: usize = 1;
/// REMUDA_KILL_SECONDS makes it longer.
const SECONDS: u64 = 60;

struct Validator {
    settings: PathBuf,
    child: Child,
}

impl Validator {
    fn start(settings: &Path) -> Self {
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(settings.with_file_name("log"))
            .expect("a log file");
        let child = Command::new(env!("CARGO_BIN_EXE_remuda"))
            .args(["node", "run"])
            .arg(settings)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("remuda starts");
        Self { settings: settings.to_owned(), child }
    }

    fn kill(&mut self) {
        self.child.kill().expect("SIGKILL");
        self.child.wait().expect("it is dead");
    }

    fn is_up(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Validator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Network {
    directory: PathBuf,
    validators: Vec<Validator>,
    clients: Vec<Client>,
}

impl Drop for Network {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("logs are in {}", self.directory.display());
        } else {
            let _ = std::fs::remove_dir_all(&self.directory);
        }
    }
}

/// A port from which on ports seem to be free.
fn free_ports() -> u16 {
    for _ in 0..100 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let base = listener.local_addr().expect("its address").port();
        let free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
        let needed = (1..VALIDATORS as u16).chain(100..100 + VALIDATORS as u16);
        if base < 60_000 && needed.clone().all(|i| free(base + i)) {
            return base;
        }
    }
    panic!("no free ports");
}

impl Network {
    fn start() -> Self {
        let name = format!("remuda-killed-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&directory);
        let port = free_ports();
        let made = Command::new(env!("CARGO_BIN_EXE_remuda"))
            .args(["node", "init"])
            .arg(&directory)
            .args(["--block-time", "200ms", "--base-port", &port.to_string()])
            .output()
            .expect("remuda starts");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let settings =
            (0..VALIDATORS).map(|i| directory.join(format!("validator-{i}")).join("node.toml"));
        let validators = settings.map(|settings| Validator::start(&settings)).collect();
        let url = |i: usize| format!("http://127.0.0.1:{}", port + 100 + i as u16);
        let clients = (0..VALIDATORS).map(|i| Client::new(url(i)).expect("a client")).collect();
        Self { directory, validators, clients }
    }

    async fn height(&self, i: usize) -> u64 {
        self.clients[i].status().await.map_or(0, |status| status.height.0)
    }

    /// Waits for a height; a minute is given up as never.
    async fn reach(&self, i: usize, height: u64) {
        let end = Instant::now() + Duration::from_secs(60);
        while self.height(i).await < height {
            assert!(Instant::now() < end, "validator {i} does not reach height {height}");
            sleep(Duration::from_millis(50)).await;
        }
    }

    async fn hash(&self, i: usize, height: u64) -> Option<B256> {
        let block = self.clients[i].block(BlockId::Height(Height(height))).await;
        block.ok().map(|block| block.hash.0)
    }
}

fn transfer() -> Instruction {
    Instruction::Transfer { to: Address::repeat_byte(0x77), amount: Amount(1) }
}

/// Payments, one after the other, until told to stop. Returns how many were taken.
async fn pay(client: Client, directory: PathBuf, stop: tokio::sync::watch::Receiver<bool>) -> u64 {
    let key = wallet::read(&directory.join("faucet.key")).expect("the faucet's key");
    let quote = client.quote(key.address()).await.expect("a quote");
    let (mut quote, mut taken) = (quote, 0);
    while !*stop.borrow() {
        let signed = quote.sign(&key, transfer());
        match client.submit(&signed).await {
            Ok(_) => {
                taken += 1;
                quote = quote.next();
            }
            // The pool holds so many of one sender.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
        sleep(Duration::from_millis(5)).await;
    }
    taken
}

#[tokio::test]
async fn a_validator_that_is_killed_over_and_over_loses_nothing_and_stops_nobody() {
    let seconds = std::env::var("REMUDA_KILL_SECONDS").ok().and_then(|s| s.parse().ok());
    let mut network = Network::start();
    for i in 0..VALIDATORS {
        network.reach(i, 2).await;
    }
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let load = tokio::spawn(pay(network.clients[0].clone(), network.directory.clone(), stopped));

    let mut seen: BTreeMap<u64, B256> = BTreeMap::new();
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(SECONDS));
    let mut kills = 0u64;
    while Instant::now() < end {
        // Every time at another moment of its life, some of them before it has caught up.
        sleep(Duration::from_millis(150 + kills * 613 % 2900)).await;
        let height = network.height(VICTIM).await;
        if height > 0
            && let Some(hash) = network.hash(VICTIM, height).await
        {
            seen.insert(height, hash);
        }
        let before = network.height(0).await;
        let settings = network.validators[VICTIM].settings.clone();
        network.validators[VICTIM].kill();
        kills += 1;
        if kills.is_multiple_of(3) {
            // The others go on without it.
            network.reach(0, before + 2).await;
        }
        network.validators[VICTIM] = Validator::start(&settings);
        for i in (0..VALIDATORS).filter(|i| *i != VICTIM) {
            assert!(network.validators[i].is_up(), "validator {i} has stopped");
        }
    }
    stop.send(true).expect("the load is there");
    let paid = load.await.expect("the load ends");

    let height = network.height(0).await;
    for i in 0..VALIDATORS {
        network.reach(i, height + 3).await;
        assert!(network.validators[i].is_up(), "validator {i} has stopped");
    }
    for at in 0..=height {
        let first = network.hash(0, at).await;
        assert!(first.is_some(), "validator 0 has no block {at}");
        for i in 1..VALIDATORS {
            assert_eq!(network.hash(i, at).await, first, "block {at} of validator {i}");
        }
    }
    for (at, hash) in &seen {
        assert_eq!(network.hash(VICTIM, *at).await, Some(*hash), "final block {at} was lost");
    }
    let key = wallet::read(&network.directory.join("faucet.key")).expect("the faucet's key");
    let got =
        network.clients[VICTIM].account(Address::repeat_byte(0x77)).await.expect("an account");
    assert_eq!(got.balance.0, u128::from(paid), "every payment that was taken is on chain");
    let again = network.clients[VICTIM].send(&key, transfer()).await.expect("it takes payments");
    let hash = again.transaction.expect("the receipt of a transaction").0;
    let found = network.clients[VICTIM].transaction(hash).await;
    assert!(
        found.is_ok(),
        "a node that was killed finds new transactions by their names: {found:?}"
    );
    println!(
        "{kills} kills, height {height}, {paid} payments, {} blocks seen before a kill",
        seen.len()
    );
    assert!(kills >= 10 && paid > 100 && seen.len() > 5, "there was enough of everything");
}
