//! Four validators as real processes. One is killed and started again for a minute, under load.

use crate::support::Folder;
use remuda::demo::network::{Network, NetworkOptions, VALIDATORS};
use remuda_client::{BlockId, Client, wallet};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::primitives::{Address, Amount, B256, Height};
use remuda_protocol::transaction::Instruction;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::time::sleep;

const VICTIM: usize = 1;
/// REMUDA_KILL_SECONDS makes it longer.
const SECONDS: u64 = 60;

async fn height(client: &Client) -> u64 {
    client.status().await.map_or(0, |status| status.height.0)
}

/// Waits for a height; a minute is given up as never.
async fn reach(client: &Client, wanted: u64) {
    let end = Instant::now() + Duration::from_secs(60);
    while height(client).await < wanted {
        assert!(Instant::now() < end, "{:?} does not reach height {wanted}", client.nodes());
        sleep(Duration::from_millis(50)).await;
    }
}

async fn hash(client: &Client, height: u64) -> Option<B256> {
    let block = client.block(BlockId::Height(Height(height))).await;
    block.ok().map(|block| block.hash.0)
}

fn transfer() -> Instruction {
    Instruction::Transfer { to: Address::repeat_byte(0x77), amount: Amount(1) }
}

/// Payments, one after the other, until told to stop. Returns how many were taken.
async fn pay(client: Client, key: SecretKey, stop: tokio::sync::watch::Receiver<bool>) -> u64 {
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
    let folder = Folder::new("killed");
    const NOBODY: [&str; 0] = [];
    let program = env!("CARGO_BIN_EXE_remuda");
    let options = NetworkOptions::new(program, Duration::from_millis(200), NOBODY);
    let home = folder.file("net");
    let mut network = Network::start(Some(Path::new(&home)), &options).await.expect("a network");
    let clients: Vec<Client> =
        network.apis.iter().map(|api| Client::new(api).expect("a client")).collect();
    for client in &clients {
        reach(client, 2).await;
    }
    let key = wallet::read(&Path::new(&home).join("faucet.key")).expect("the faucet's key");
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let load = tokio::spawn(pay(clients[0].clone(), key.clone(), stopped));

    let mut seen: BTreeMap<u64, B256> = BTreeMap::new();
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(SECONDS));
    let mut kills = 0u64;
    while Instant::now() < end {
        // Every time at another moment of its life, some of them before it has caught up.
        sleep(Duration::from_millis(150 + kills * 613 % 2900)).await;
        let at = height(&clients[VICTIM]).await;
        if at > 0
            && let Some(hash) = hash(&clients[VICTIM], at).await
        {
            seen.insert(at, hash);
        }
        let before = height(&clients[0]).await;
        network.kill(VICTIM).await.expect("SIGKILL");
        kills += 1;
        if kills.is_multiple_of(3) {
            // The others go on without it.
            reach(&clients[0], before + 2).await;
        }
        network.start_again(VICTIM).expect("it starts");
        for i in (0..VALIDATORS).filter(|i| *i != VICTIM) {
            assert!(network.is_up(i), "validator {i} has stopped");
        }
    }
    stop.send(true).expect("the load is there");
    let paid = load.await.expect("the load ends");

    let height = height(&clients[0]).await;
    for (i, client) in clients.iter().enumerate() {
        reach(client, height + 3).await;
        assert!(network.is_up(i), "validator {i} has stopped");
    }
    for at in 0..=height {
        let first = hash(&clients[0], at).await;
        assert!(first.is_some(), "validator 0 has no block {at}");
        for client in &clients[1..] {
            assert_eq!(hash(client, at).await, first, "block {at} of {:?}", client.nodes());
        }
    }
    for (at, before) in &seen {
        assert_eq!(hash(&clients[VICTIM], *at).await, Some(*before), "final block {at} was lost");
    }
    let got = clients[VICTIM].account(Address::repeat_byte(0x77)).await.expect("an account");
    assert_eq!(got.balance.0, u128::from(paid), "every payment that was taken is on chain");
    let again = clients[VICTIM].send(&key, transfer()).await.expect("it takes payments");
    let hash = again.transaction.expect("the receipt of a transaction").0;
    let found = clients[VICTIM].transaction(hash).await;
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
