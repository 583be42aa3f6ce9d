//! Transactions to an Ethereum node: Anvil, which executes them and makes the blocks by itself.

use crate::parts::job::{job, work};
use crate::parts::rlp::Payment;
use crate::parts::support::{Folder, Running, own_address, part, post, try_post};
use data_encoding::HEXLOWER;
use futures::future::{join, join_all};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::spec::{DataFormat, JobSpec, JobType};
use remuda_protocol::primitives::{Address, keccak256};
use remuda_runner::executor::ExecuteError;
use remuda_runner::executor::eth::{ChainConfig, Eth, EthConfig};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

const CHAIN: u64 = 424_242;
/// Where each node listens, at an address of its own.
const PORT: u16 = 8545;
const ETHER: u128 = 1_000_000_000_000_000_000;
/// Twice what a block asks for when none was full before.
const GAS_PRICE: u128 = 2_000_000_000;

/// A node whose genesis gives an ether to one account.
struct Node {
    /// Ended before its folder goes.
    _running: Running,
    _folder: Folder,
    address: String,
    rich: SecretKey,
}

impl Node {
    fn start(name: &str, options: &[&str]) -> Self {
        Self::start_at(name, SocketAddr::from((own_address(), PORT)), options)
    }

    fn start_at(name: &str, at: SocketAddr, options: &[&str]) -> Self {
        let folder = Folder::new(name);
        let rich = rich();
        let genesis = json!({
            "config": { "chainId": CHAIN },
            "difficulty": "0x0",
            "gasLimit": "0x1c9c380",
            "alloc": { rich.address().to_string(): { "balance": format!("{ETHER:#x}") } },
        });
        let mut anvil = Command::new(part("eth").join("bin/anvil"));
        anvil.arg("--init").arg(folder.write("genesis.json", &genesis.to_string()));
        anvil.args(["--host", &at.ip().to_string(), "--port", &at.port().to_string()]);
        anvil.args(["--accounts", "0", "--threads", "1"]).args(options);
        let mut running = Running::start(&folder, "anvil", &anvil);
        let address = at.to_string();
        let question = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": [] });
        let chain = format!("\"{CHAIN:#x}\"");
        running.until(|| try_post(&address, "/", &question.to_string())?.find(&chain));
        Self { _running: running, _folder: folder, address, rich }
    }

    fn sending(&self) -> Eth {
        sending(&self.address)
    }

    /// Asks it directly.
    fn call(&self, method: &str, params: Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let reply = post(&self.address, "/", &request.to_string());
        let mut reply: Value = serde_json::from_str(&reply).unwrap();
        assert!(reply["error"].is_null(), "{method}: {reply}");
        reply["result"].take()
    }

    fn balance(&self, account: Address) -> u128 {
        quantity(&self.call("eth_getBalance", json!([account.to_string(), "latest"])))
    }

    /// How many transactions of the rich account are in blocks.
    fn mined(&self) -> u128 {
        let account = self.rich.address().to_string();
        quantity(&self.call("eth_getTransactionCount", json!([account, "latest"])))
    }

    /// The receipt of a transaction; null if it is in no block.
    fn receipt(&self, raw: &[u8]) -> Value {
        self.call("eth_getTransactionReceipt", json!([hash(raw)]))
    }

    /// Waits until a transaction is in a block.
    #[track_caller]
    fn await_receipt(&self, raw: &[u8]) -> Value {
        for _ in 0..1_200 {
            match self.receipt(raw) {
                Value::Null => std::thread::sleep(Duration::from_millis(50)),
                receipt => return receipt,
            }
        }
        panic!("{} is in no block", hash(raw));
    }
}

fn rich() -> SecretKey {
    SecretKey::from_label("remuda test: rich")
}

fn poor() -> SecretKey {
    SecretKey::from_label("remuda test: poor")
}

fn sending(address: &str) -> Eth {
    let rpc_url = format!("http://{address}");
    let chains = vec![ChainConfig { chain_id: CHAIN, rpc_url, api_key_file: None }];
    Eth::new(&EthConfig { chains, ca_file: None }).unwrap()
}

fn payment(nonce: u64) -> Payment {
    Payment { chain_id: CHAIN, nonce, to: poor().address(), wei: 1_000, gas_price: GAS_PRICE }
}

fn job_of(raw: &[u8]) -> JobSpec {
    let job_type = JobType::EthSend { chain_id: CHAIN, raw_transaction: raw.into() };
    job(job_type, DataFormat::Text)
}

async fn send(eth: &Eth, raw: &[u8]) -> Result<Vec<u8>, ExecuteError> {
    execute(eth, &job_of(raw)).await
}

async fn execute(eth: &Eth, spec: &JobSpec) -> Result<Vec<u8>, ExecuteError> {
    let mut work = work(spec);
    work.time_limit = Duration::from_secs(200);
    eth.execute(&work).await
}

/// The name of a transaction.
fn hash(raw: &[u8]) -> String {
    format!("0x{}", HEXLOWER.encode(&keccak256(raw)[..]))
}

fn quantity(value: &Value) -> u128 {
    u128::from_str_radix(value.as_str().unwrap().strip_prefix("0x").unwrap(), 16).unwrap()
}

#[track_caller]
fn assert_sent(result: Result<Vec<u8>, ExecuteError>, raw: &[u8]) {
    assert_eq!(result, Ok(hash(raw).into_bytes()));
}

/// Asserts that the node refused a transaction, in words that hold some.
#[track_caller]
fn assert_refused(result: Result<Vec<u8>, ExecuteError>, words: &str) {
    let Err(ExecuteError::BadAnswer(reason)) = result else { panic!("{words}: {result:?}") };
    assert!(reason.to_lowercase().contains(words), "{reason}");
}

#[tokio::test]
async fn a_signed_transaction_is_mined() {
    let node = Node::start("mined", &[]);
    let eth = node.sending();
    let signed = [payment(0).legacy(&node.rich), payment(1).dynamic(&node.rich)];
    for (raw, kind) in signed.iter().zip(["0x0", "0x2"]) {
        assert_sent(send(&eth, raw).await, raw);
        let receipt = node.await_receipt(raw);
        assert_eq!((&receipt["status"], &receipt["type"]), (&json!("0x1"), &json!(kind)));
        let sender: Address = receipt["from"].as_str().unwrap().parse().unwrap();
        assert_eq!(sender, node.rich.address());
    }
    assert_eq!((node.balance(poor().address()), node.mined()), (2_000, 2));
}

#[tokio::test]
async fn what_is_mined_is_not_sent_again() {
    let node = Node::start("again", &[]);
    let eth = node.sending();
    let raw = payment(0).dynamic(&node.rich);
    for _ in 0..3 {
        assert_sent(send(&eth, &raw).await, &raw);
        node.await_receipt(&raw);
    }
    assert_eq!((node.balance(poor().address()), node.mined()), (1_000, 1));
}

#[tokio::test]
async fn many_who_send_it_at_once_send_it_once() {
    // No blocks: all find it waiting, or are told so when they send it.
    let node = Node::start("at-once", &["--no-mining"]);
    let eth = node.sending();
    let raw = payment(0).legacy(&node.rich);
    for result in join_all((0..8).map(|_| send(&eth, &raw))).await {
        assert_sent(result, &raw);
    }
    assert_eq!((node.receipt(&raw), node.mined()), (Value::Null, 0));
    node.call("evm_mine", json!([]));
    node.await_receipt(&raw);
    assert_sent(send(&eth, &raw).await, &raw);
    node.call("evm_mine", json!([]));
    assert_eq!((node.balance(poor().address()), node.mined()), (1_000, 1));
}

#[tokio::test]
async fn a_nonce_that_is_used_up_is_refused() {
    let node = Node::start("used", &[]);
    let eth = node.sending();
    let first = payment(0).dynamic(&node.rich);
    assert_sent(send(&eth, &first).await, &first);
    node.await_receipt(&first);
    let mut other = payment(0);
    other.wei = 5_000;
    for raw in [other.dynamic(&node.rich), other.legacy(&node.rich)] {
        assert_refused(send(&eth, &raw).await, "nonce too low");
    }
    assert_eq!((node.balance(poor().address()), node.mined()), (1_000, 1));
}

#[tokio::test]
async fn a_nonce_ahead_of_its_turn_waits() {
    let node = Node::start("ahead", &[]);
    let eth = node.sending();
    let [first, second] = [0, 1].map(|nonce| payment(nonce).dynamic(&node.rich));
    assert_sent(send(&eth, &second).await, &second);
    assert_eq!((node.receipt(&second), node.mined()), (Value::Null, 0));
    assert_sent(send(&eth, &second).await, &second);
    assert_sent(send(&eth, &first).await, &first);
    node.await_receipt(&second);
    assert_eq!((node.balance(poor().address()), node.mined()), (2_000, 2));
}

#[tokio::test]
async fn who_cannot_pay_is_refused() {
    let node = Node::start("funds", &[]);
    let eth = node.sending();
    let mut all = payment(0);
    all.wei = ETHER - payment(0).cost() + payment(0).wei;
    assert_eq!(all.cost(), ETHER);
    let mut more = all;
    more.wei += 1;
    assert_refused(send(&eth, &more.legacy(&node.rich)).await, "insufficient funds");
    assert_refused(send(&eth, &payment(0).dynamic(&poor())).await, "insufficient funds");
    assert_eq!((node.balance(poor().address()), node.mined()), (0, 0));
    // A wei less, and it can.
    let raw = all.legacy(&node.rich);
    assert_sent(send(&eth, &raw).await, &raw);
    node.await_receipt(&raw);
    assert_eq!(node.balance(poor().address()), all.wei);
}

#[tokio::test]
async fn what_the_node_cannot_use_is_refused() {
    let node = Node::start("useless", &[]);
    let eth = node.sending();
    let mut elsewhere = payment(0);
    elsewhere.chain_id = CHAIN + 1;
    let mut cheap = payment(0);
    cheap.gas_price = 1;
    let mut torn = payment(0).dynamic(&node.rich);
    torn.pop();
    for (raw, words) in [
        (elsewhere.dynamic(&node.rich), "chain id"),
        (cheap.dynamic(&node.rich), "fee"),
        (torn, "decode"),
    ] {
        assert_refused(send(&eth, &raw).await, words);
    }

    // The operator calls this node another chain's.
    let rpc_url = format!("http://{}", node.address);
    let chains = vec![ChainConfig { chain_id: CHAIN + 1, rpc_url, api_key_file: None }];
    let mistaken = Eth::new(&EthConfig { chains, ca_file: None }).unwrap();
    let mut spec = job_of(&payment(0).dynamic(&node.rich));
    if let JobType::EthSend { chain_id, .. } = &mut spec.job_type {
        *chain_id = CHAIN + 1;
    }
    let result = execute(&mistaken, &spec).await;
    let Err(ExecuteError::Backend(reason)) = result else { panic!("{result:?}") };
    assert!(reason.contains("another chain"), "{reason}");
    assert_eq!((node.balance(poor().address()), node.mined()), (0, 0));
}

#[tokio::test]
async fn a_node_that_comes_up_late_gets_it() {
    let node = Node::start("early", &[]);
    let at = node.address.parse().unwrap();
    drop(node);
    let eth = sending(&format!("{at}"));
    let raw = payment(0).dynamic(&rich());
    let result = send(&eth, &raw).await;
    assert!(matches!(result, Err(ExecuteError::Unreachable(_))), "{result:?}");

    let mut spec = job_of(&raw);
    spec.bounds.max_retries = 100;
    let starts = tokio::task::spawn_blocking(move || Node::start_at("late", at, &[]));
    let (result, node) = join(execute(&eth, &spec), starts).await;
    assert_sent(result, &raw);
    node.unwrap().await_receipt(&raw);
}
