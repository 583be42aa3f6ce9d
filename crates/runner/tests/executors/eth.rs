//! Transactions to a node that speaks JSON-RPC; what it knows is up to the test.

use crate::executors::job::{job, text, work};
use crate::executors::server::{Server, Step, answer, json};
use remuda_protocol::dispatcher::spec::{DataFormat, JobSpec, JobType};
use remuda_protocol::primitives::keccak256;
use remuda_protocol::verifier::excuse::Excuse;
use remuda_runner::executor::eth::{ChainConfig, Eth, EthConfig};
use remuda_runner::executor::{ExecuteError, excuse};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const CHAIN: u64 = 11_155_111;
/// Not signed by anybody; this node does not look.
const RAW: &[u8] = &[0x02, 0xc0, 0xff, 0xee];

fn hash() -> String {
    keccak256(RAW).to_string()
}

pub(crate) fn send(data_format: DataFormat) -> JobSpec {
    job(JobType::EthSend { chain_id: CHAIN, raw_transaction: RAW.into() }, data_format)
}

pub(crate) fn sending(rpc_url: String) -> Eth {
    let chains = vec![ChainConfig { chain_id: CHAIN, rpc_url, api_key_file: None }];
    Eth::new(&EthConfig { chains, ca_file: None }).unwrap()
}

fn result(value: &str) -> Vec<Step> {
    json(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{value}}}"#))
}

fn error(message: &str) -> Vec<Step> {
    json(&format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32000,"message":"{message}"}}}}"#))
}

/// A node that answers to the three calls: whether it has the transaction, and what it says when it
/// gets it.
async fn node(
    has: impl Fn() -> bool + Send + Sync + 'static,
    takes: impl Fn() -> Vec<Step> + Send + Sync + 'static,
) -> Server {
    Server::start(move |request| {
        let call: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
        assert_eq!(call["jsonrpc"], "2.0");
        match call["method"].as_str().unwrap() {
            "eth_chainId" => result("\"0xaa36a7\""),
            "eth_getTransactionByHash" => {
                assert_eq!(call["params"][0], hash());
                match has() {
                    true => result(&format!(r#"{{"hash":"{}","nonce":"0x1"}}"#, hash())),
                    false => result("null"),
                }
            }
            "eth_sendRawTransaction" => {
                assert_eq!(call["params"][0], "0x02c0ffee");
                takes()
            }
            other => panic!("{other} is not called"),
        }
    })
    .await
}

/// How often a transaction was sent to a node.
fn sent(node: &Server) -> usize {
    let sends = |body: &[u8]| String::from_utf8_lossy(body).contains("eth_sendRawTransaction");
    node.seen().iter().filter(|request| sends(&request.body)).count()
}

#[tokio::test]
async fn a_transaction_is_sent_and_named() {
    let node = node(|| false, || result(&format!("\"{}\"", hash()))).await;
    let eth = sending(node.url("/"));
    let json = text(eth.execute(&work(&send(DataFormat::Json))).await);
    assert_eq!(json, format!(r#"{{"hash":"{}"}}"#, hash()));
    assert_eq!(text(eth.execute(&work(&send(DataFormat::Text))).await), hash());
    let bytes = eth.execute(&work(&send(DataFormat::Bytes))).await;
    assert_eq!(bytes, Ok(keccak256(RAW).to_vec()));
    assert_eq!(sent(&node), 3);
}

#[tokio::test]
async fn what_a_node_has_is_not_sent_again() {
    let node = node(|| true, || error("must not be called")).await;
    assert!(sending(node.url("/")).execute(&work(&send(DataFormat::Json))).await.is_ok());
    assert_eq!(sent(&node), 0);
}

#[tokio::test]
async fn a_node_that_knows_it_already_has_it() {
    for words in [
        "already known",
        "AlreadyKnown",
        "Known transaction: 0x12",
        "Transaction with the same hash was already imported.",
    ] {
        let node = node(|| false, || error(words)).await;
        let result = sending(node.url("/")).execute(&work(&send(DataFormat::Json))).await;
        assert!(result.is_ok(), "{words} {result:?}");
    }
}

#[tokio::test]
async fn after_a_failure_the_hash_decides() {
    static THERE: AtomicBool = AtomicBool::new(false);
    let taken = node(
        || THERE.load(Ordering::Relaxed),
        || {
            THERE.store(true, Ordering::Relaxed);
            error("nonce too low")
        },
    )
    .await;
    assert!(sending(taken.url("/")).execute(&work(&send(DataFormat::Json))).await.is_ok());

    let other = node(|| false, || error("nonce too low: \\u0007next nonce 5")).await;
    let mut spec = send(DataFormat::Json);
    spec.bounds.max_retries = 3;
    let result = sending(other.url("/")).execute(&work(&spec)).await;
    let Err(ExecuteError::BadAnswer(reason)) = result else { panic!("{result:?}") };
    assert!(reason.contains("nonce too low: next nonce 5"), "{reason}");
    assert_eq!(sent(&other), 1);
}

#[tokio::test]
async fn an_acknowledgement_that_is_lost_costs_nothing() {
    static TRIES: AtomicUsize = AtomicUsize::new(0);
    let node = node(
        || TRIES.load(Ordering::Relaxed) == 2,
        // The node ignores the first and accepts the second, and answers neither.
        || {
            TRIES.fetch_add(1, Ordering::Relaxed);
            vec![]
        },
    )
    .await;
    let mut spec = send(DataFormat::Json);
    spec.bounds.max_retries = 5;
    assert!(sending(node.url("/")).execute(&work(&spec)).await.is_ok());
    assert_eq!(sent(&node), 2);
}

#[tokio::test]
async fn another_chain_gets_nothing() {
    for chain in ["\"0x1\"", "\"11155111\"", "null", "11155111"] {
        let node = Server::start(move |_| result(chain)).await;
        let outcome = sending(node.url("/")).execute(&work(&send(DataFormat::Json))).await;
        assert!(matches!(outcome, Err(ExecuteError::Backend(_))), "{chain} {outcome:?}");
        assert_eq!((node.connections(), sent(&node)), (2, 0), "asked, and asked plainly");
    }
    let mut spec = send(DataFormat::Json);
    spec.job_type = JobType::EthSend { chain_id: 1, raw_transaction: RAW.into() };
    let outcome = sending("http://127.0.0.1:1".into()).execute(&work(&spec)).await;
    assert!(matches!(outcome, Err(ExecuteError::NotAllowed(_))), "{outcome:?}");
}

#[tokio::test]
async fn a_node_that_does_not_let_us_in_is_its_operators() {
    let locked = r#"{"jsonrpc":"2.0","id":1,"error":{"message":"must be authenticated"}}"#;
    let mut cases = vec![error("must be authenticated")];
    for status in ["401 Unauthorized", "403 Forbidden", "404 Not Found", "407 Proxy"] {
        cases.push(answer(status, &[], locked.as_bytes()));
    }
    for steps in cases {
        let all = steps.clone();
        let first = Server::start(move |_| all.clone()).await;
        // The chain's number is for everybody; the rest is not.
        let later = Server::start(move |request| {
            let chain = String::from_utf8_lossy(&request.body).contains("eth_chainId");
            if chain { result("\"0xaa36a7\"") } else { steps.clone() }
        })
        .await;
        for node in [first, later] {
            let outcome = sending(node.url("/")).execute(&work(&send(DataFormat::Json))).await;
            assert!(matches!(outcome, Err(ExecuteError::Backend(_))), "{outcome:?}");
        }
    }
}

#[tokio::test]
async fn a_transaction_that_a_node_turns_down_while_it_answers_is_the_jobs_fault() {
    for status in ["402 Payment Required", "403 Forbidden", "413 Too Large", "429 Slow", "503 Busy"]
    {
        let spec = send(DataFormat::Json);
        let node = Server::start(move |request| {
            let body = String::from_utf8_lossy(&request.body);
            if body.contains("eth_chainId") {
                result("\"0xaa36a7\"")
            } else if body.contains("eth_getTransactionByHash") {
                result("null")
            } else {
                answer(status, &[], b"")
            }
        })
        .await;
        let error = sending(node.url("/")).execute(&work(&spec)).await.unwrap_err();
        assert_eq!(excuse::of(&spec, &error), Some(Excuse::Refused), "{status}: {error:?}");
    }
}

#[tokio::test]
async fn a_node_that_lies_about_the_hash_is_not_believed() {
    let other = keccak256(b"other");
    let takes = node(|| false, move || result(&format!("\"{other}\""))).await;
    let outcome = sending(takes.url("/")).execute(&work(&send(DataFormat::Json))).await;
    assert!(matches!(outcome, Err(ExecuteError::BadAnswer(_))), "{outcome:?}");
}

#[tokio::test]
async fn no_error_holds_the_key_in_the_address() {
    const KEY: &str = "0123456789abcdef";
    for steps in [
        error(&format!("project {KEY} is over its limit")),
        answer("403 Forbidden", &[], KEY.as_bytes()),
        answer("500 Oops", &[], KEY.as_bytes()),
    ] {
        let node = Server::start(move |_| steps.clone()).await;
        for path in [format!("/v3/{KEY}"), format!("/?apikey={KEY}")] {
            let outcome = sending(node.url(&path)).execute(&work(&send(DataFormat::Json))).await;
            let error = outcome.unwrap_err().to_string();
            assert!(!error.contains(KEY) && !error.contains("127.0.0.1"), "{error}");
        }
    }
}

#[test]
fn a_chain_is_named_once() {
    let one = "[[chains]]\nchain_id = 1\nrpc_url = 'http://127.0.0.1:8545'\n";
    let read = |text: &str| toml::from_str::<EthConfig>(text).unwrap();
    assert!(Eth::new(&read(one)).is_ok());
    assert!(Eth::new(&read(&one.repeat(2))).is_err());
    assert!(toml::from_str::<EthConfig>("chain = []").is_err());
}
