//! Handing transactions in.

use crate::api::chain::{calm, key};
use crate::api::world::{World, any_port, hasty, roomy, unserved};
use remuda_client::sign::Signed;
use remuda_client::types::{HexHash, SubmitStatus, TransactionStatus, TransactionStatusView};
use remuda_client::{BlockId, ClientError};
use remuda_node::api::{App, Limits, Peer, router};
use remuda_protocol::primitives::{Address, Amount, B256};
use remuda_protocol::transaction::Instruction;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tower::ServiceExt;

fn gift(to: Address) -> Instruction {
    Instruction::Transfer { to, amount: Amount::CBY }
}

const SOMEBODY: Address = Address::repeat_byte(0x77);

#[tokio::test]
async fn a_submission_that_waits_is_answered_with_its_receipt() {
    let world = World::new().await;
    let ann = key("ann");
    let receipt = world.client.send(&ann, gift(SOMEBODY)).await.unwrap();
    assert!(receipt.ok && receipt.height.0 > 0);
    let account = world.client.account(SOMEBODY).await.unwrap();
    assert_eq!(account.balance.0, Amount::CBY.get());
    let sender = world.client.account(ann.address()).await.unwrap();
    assert_eq!(sender.nonce.0, 1);
    let hash = receipt.transaction.unwrap().0;
    assert_eq!(world.client.receipt(hash).await.unwrap(), receipt);
    let block = world.client.block(BlockId::Hash(receipt.block.0)).await.unwrap();
    assert_eq!(block.transactions, [receipt.transaction.unwrap()]);
}

#[tokio::test]
async fn a_refusal_of_the_rules_is_a_receipt_not_an_error() {
    let world = World::new().await;
    let too_much = Instruction::Transfer { to: SOMEBODY, amount: Amount::cby(2_000_000) };
    let receipt = world.client.send(&key("ann"), too_much).await.unwrap();
    assert!(!receipt.ok);
    assert_eq!(receipt.refusal.unwrap().name, "InsufficientBalance");
}

#[tokio::test]
async fn a_batch_answers_for_each_transaction() {
    let world = World::new().await;
    let ann = key("ann");
    let quote = world.client.quote(ann.address()).await.unwrap();
    let good = |quote: remuda_client::sign::Quote| quote.sign(&ann, gift(SOMEBODY));
    let mut bad = good(quote.next());
    bad.bytes.truncate(40);
    bad.hash = remuda_protocol::transaction::tx_hash(&bad.bytes);
    let batch = [good(quote), bad, good(quote.next()), good(quote.next().next().next())];
    let results = world.client.submit_batch(&batch, true).await.unwrap();
    let statuses: Vec<SubmitStatus> = results.iter().map(|result| result.status).collect();
    use SubmitStatus::{Included, Refused};
    assert_eq!(statuses, [Included, Refused, Included, Refused]);
    let codes: Vec<Option<&str>> =
        results.iter().map(|r| r.error.as_ref().map(|error| error.code.as_str())).collect();
    assert_eq!(codes, [None, Some("malformed"), None, Some("nonce_too_high")]);
    for (result, signed) in results.iter().zip(&batch) {
        assert_eq!(result.hash.0, signed.hash);
        assert_eq!(result.receipt.is_some(), result.status == Included);
    }
    assert_eq!(world.client.account(SOMEBODY).await.unwrap().balance.0, 2 * Amount::CBY.get());
}

#[tokio::test]
async fn the_same_bytes_are_one_transaction_however_often_they_come() {
    let world = World::still(calm(), roomy()).await;
    let signed = world.client.sign(&key("ann"), gift(SOMEBODY)).await.unwrap();
    for _ in 0..3 {
        let submitted = world.client.submit(&signed).await.unwrap();
        assert_eq!(submitted.status, SubmitStatus::Accepted);
    }
    assert_eq!(world.client.status().await.unwrap().mempool.0, 1);
    world.chain.step();
    let again = world.client.submit(&signed).await.unwrap();
    assert_eq!(again.status, SubmitStatus::Included);
    let receipt = world.client.submit_and_wait(&signed).await.unwrap();
    assert!(receipt.ok);
    world.chain.step();
    assert_eq!(world.client.account(SOMEBODY).await.unwrap().balance.0, Amount::CBY.get());
}

#[tokio::test]
async fn bytes_that_a_peer_brought_first_are_not_refused() {
    let world = World::still(calm(), roomy()).await;
    world.chain.outrun.store(true, Ordering::Relaxed);
    let signed = world.client.sign(&key("ann"), gift(SOMEBODY)).await.unwrap();
    let submitted = world.client.submit(&signed).await.unwrap();
    assert_eq!(submitted.status, SubmitStatus::Accepted);
}

#[tokio::test]
async fn bytes_whose_block_comes_while_they_are_looked_for_are_not_refused() {
    let world = World::still(calm(), roomy()).await;
    let signed = world.client.sign(&key("ann"), gift(SOMEBODY)).await.unwrap();
    world.client.submit(&signed).await.unwrap();
    world.chain.overtaken.store(true, Ordering::Relaxed);
    let submitted = world.client.submit(&signed).await.unwrap();
    assert_eq!(submitted.status, SubmitStatus::Accepted);
    let submitted = world.client.submit(&signed).await.unwrap();
    assert_eq!(submitted.status, SubmitStatus::Included);
}

#[tokio::test]
async fn nonces_count_what_waits() {
    let world = World::still(calm(), roomy()).await;
    for expected in 0..3 {
        let quote = world.client.quote(key("ann").address()).await.unwrap();
        assert_eq!(quote.nonce, expected);
        world.client.submit(&quote.sign(&key("ann"), gift(SOMEBODY))).await.unwrap();
    }
    world.chain.step();
    let account = world.client.account(key("ann").address()).await.unwrap();
    assert_eq!((account.nonce.0, account.next_nonce.0), (3, 3));
}

#[tokio::test]
async fn every_reason_not_to_take_a_transaction_has_its_code() {
    let world = World::still(calm(), roomy()).await;
    let ann = key("ann");
    let quote = world.client.quote(ann.address()).await.unwrap();
    let change = |change: fn(&mut remuda_protocol::transaction::Transaction)| {
        let mut body = quote.transaction(gift(SOMEBODY));
        change(&mut body);
        Signed::new(&body.sign(&ann))
    };
    let mut unsigned = quote.sign(&ann, gift(SOMEBODY));
    *unsigned.bytes.last_mut().unwrap() = 9;
    unsigned.hash = remuda_protocol::transaction::tx_hash(&unsigned.bytes);
    let cases = [
        ("wrong_chain", change(|body| body.chain_id += 1)),
        ("bad_signature", unsigned),
        ("nonce_too_high", change(|body| body.nonce += 1)),
        ("priority_above_maximum", change(|body| body.cycle_bid.max_priority = u128::MAX)),
        (
            "fee_below_basefee",
            change(|body| {
                body.cell_bid.max_fee = 1;
                body.cell_bid.max_priority = 0;
            }),
        ),
        ("limit_too_low", change(|body| body.cycles_limit = 1)),
        ("limit_too_high", change(|body| body.cycles_limit = u64::MAX)),
        ("cost_overflow", change(|body| body.cycle_bid.max_fee = u128::MAX)),
        ("cannot_pay", quote.sign(&key("nobody"), gift(SOMEBODY))),
    ];
    for (code, signed) in cases {
        let error = world.client.submit(&signed).await.expect_err(code);
        assert_eq!(error.code(), Some(code));
        assert!(matches!(error, ClientError::Refused { status: 422, .. }));
    }
    world.client.submit(&quote.sign(&ann, gift(SOMEBODY))).await.unwrap();
    world.chain.step();
    let late = quote.sign(&ann, gift(Address::repeat_byte(0x78)));
    assert_eq!(world.client.submit(&late).await.unwrap_err().code(), Some("nonce_too_low"));
}

#[tokio::test]
async fn patience_with_a_chain_that_stands_still_ends() {
    let limits = Limits { wait: Duration::from_millis(200), ..roomy() };
    let world = World::still(calm(), limits).await;
    let signed = world.client.sign(&key("ann"), gift(SOMEBODY)).await.unwrap();
    let error = world.client.submit_and_wait(&signed).await.unwrap_err();
    assert!(matches!(error, ClientError::NotIncluded(hash) if hash.0 == signed.hash));
    world.chain.step();
    assert!(world.client.receipt(signed.hash).await.unwrap().ok, "it was taken all the same");
}

#[tokio::test]
async fn a_transaction_is_unknown_then_waits_and_is_then_in_a_block() {
    let world = World::still(calm(), roomy()).await;
    let signed = world.client.sign(&key("ann"), gift(SOMEBODY)).await.unwrap();
    let status = async || {
        let found = world.client.transaction_status(signed.hash).await.unwrap();
        assert_eq!(found.hash.0, signed.hash);
        (found.status, found.height.0)
    };
    assert_eq!(status().await, (TransactionStatus::Unknown {}, 0));
    world.client.submit(&signed).await.unwrap();
    assert_eq!(status().await, (TransactionStatus::Pending {}, 0));
    world.chain.step();
    let (TransactionStatus::Included { height, receipt }, 1) = status().await else {
        panic!("it is in block 1");
    };
    let receipt = *receipt.expect("the block is there");
    assert_eq!((height.0, receipt.ok), (1, true));
    assert_eq!(world.client.receipt(signed.hash).await.unwrap(), receipt);
    (0..3).for_each(|_| world.chain.step());
    world.chain.prune(2);
    let (TransactionStatus::Included { receipt: None, .. }, 4) = status().await else {
        panic!("in a block that this node no longer has");
    };
}

#[tokio::test]
async fn who_lost_its_connection_goes_on_waiting_by_the_hash() {
    let world = World::still(calm(), roomy()).await;
    let signed = world.client.sign(&key("ann"), gift(SOMEBODY)).await.unwrap();
    let (client, hash) = (world.client.clone(), signed.hash);
    let waiting =
        tokio::spawn(async move { client.await_receipt(hash, Duration::from_secs(20)).await });
    // Nobody has it yet: it is on its way here.
    tokio::time::sleep(Duration::from_millis(100)).await;
    world.client.submit(&signed).await.unwrap();
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert!(!waiting.is_finished());
    world.chain.step();
    assert!(waiting.await.unwrap().unwrap().ok);
    let again = world.client.await_receipt(hash, Duration::ZERO).await.unwrap();
    assert_eq!(again.transaction.unwrap().0, hash);
}

#[tokio::test]
async fn waiting_by_a_hash_ends_with_the_nodes_patience_or_ones_own() {
    let limits = Limits { wait: Duration::from_millis(300), ..roomy() };
    let world = World::still(calm(), limits).await;
    let signed = world.client.sign(&key("ann"), gift(SOMEBODY)).await.unwrap();
    world.client.submit(&signed).await.unwrap();
    let hash = HexHash(signed.hash);
    let url = format!("{}/transaction/{hash}/status?wait_ms=600000", world.server.url());
    let started = Instant::now();
    let found: TransactionStatusView = reqwest::get(url).await.unwrap().json().await.unwrap();
    assert_eq!(found.status, TransactionStatus::Pending {});
    let waited = started.elapsed();
    assert!(waited >= Duration::from_millis(300) && waited < Duration::from_secs(20), "{waited:?}");
    let patience = Duration::from_millis(700);
    let started = Instant::now();
    let error = world.client.await_receipt(signed.hash, patience).await.unwrap_err();
    assert!(matches!(error, ClientError::NotIncluded(found) if found == hash), "{error}");
    assert!(started.elapsed() >= patience);
}

#[tokio::test]
async fn what_a_node_does_not_have_is_not_waited_for_to_the_end() {
    let world = World::still(calm(), roomy()).await;
    let unknown = HexHash(B256::repeat_byte(1));
    let url = format!("{}/transaction/{unknown}/status?wait_ms=30000", world.server.url());
    let started = Instant::now();
    let found: TransactionStatusView = reqwest::get(url).await.unwrap().json().await.unwrap();
    assert_eq!(found.status, TransactionStatus::Unknown {});
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_transaction_that_the_pool_forgot_is_said_to_be_dropped() {
    let world = World::still(calm(), roomy()).await;
    world.chain.forgetful.store(true, Ordering::Relaxed);
    let signed = world.client.sign(&key("ann"), gift(SOMEBODY)).await.unwrap();
    let error = world.client.submit_and_wait(&signed).await.unwrap_err();
    assert_eq!(error.code(), Some("dropped"));
}

#[tokio::test]
async fn a_full_pool_is_waited_for() {
    let world = World::new().await;
    world.chain.full.store(true, Ordering::Relaxed);
    let signed = world.client.sign(&key("ann"), gift(SOMEBODY)).await.unwrap();
    let chain = world.chain.clone();
    let relief = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        chain.full.store(false, Ordering::Relaxed);
    });
    assert!(world.client.submit_and_wait(&signed).await.unwrap().ok);
    relief.await.unwrap();
}

#[tokio::test]
async fn a_node_that_is_down_is_passed_over() {
    let world = World::new().await;
    // A port that nobody listens on: bound, then let go.
    let gone = TcpListener::bind(any_port()).await.unwrap().local_addr().unwrap();
    let client = hasty([format!("http://{gone}/"), world.server.url()]);
    assert!(client.send(&key("bob"), gift(SOMEBODY)).await.unwrap().ok);
    let nobody = hasty([format!("http://{gone}")]);
    assert!(matches!(nobody.status().await, Err(ClientError::Unreachable(_))));
    assert!(matches!(remuda_client::Client::new("ftp://x"), Err(ClientError::BadUrl(_))));
}

#[tokio::test]
async fn the_faucet_gives_and_then_stops_giving() {
    let limits = Limits { faucet_burst: 2, ..roomy() };
    let world = World::still(calm(), limits).await;
    let first = world.client.faucet(SOMEBODY).await.unwrap();
    world.client.faucet(SOMEBODY).await.unwrap();
    world.chain.step();
    assert!(world.client.receipt(first.transaction.0).await.unwrap().ok);
    let account = world.client.account(SOMEBODY).await.unwrap();
    assert_eq!(account.balance.0, 2 * first.amount.0);
    let started = Instant::now();
    let error = world.client.faucet(SOMEBODY).await.unwrap_err();
    assert!(matches!(error, ClientError::Refused { status: 429, .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("2 gifts of 50,000 CBY; one more comes every 60 s"), "{text}");
    let wait = error.retry_after().expect("it says when to come back").as_secs();
    assert!((50..=60).contains(&wait), "{wait}");
    assert!(text.contains(&format!("the next in {wait} s")), "{text}");
    assert!(started.elapsed() < Duration::from_secs(30), "the client does not wait for that long");

    world.chain.generous.store(false, Ordering::Relaxed);
    let error = world.client.faucet(SOMEBODY).await.unwrap_err();
    assert_eq!(error.code(), Some("no_faucet"));
}

#[tokio::test]
async fn who_got_nothing_from_the_faucet_has_lost_nothing() {
    let chain = crate::api::chain::Chain::start(calm(), &crate::api::world::PEOPLE);
    let limits = Limits { faucet_burst: 2, ..roomy() };
    let service = router(App::new(chain.clone(), unserved(), limits));
    let ask = async |peer: u8, account: u8| {
        let body = format!("{{\"address\":\"{}\"}}", Address::repeat_byte(account));
        let request = axum::http::Request::post("/faucet")
            .header("content-type", "application/json")
            .extension(Peer([10, 0, 0, peer].into()))
            .body(axum::body::Body::from(body))
            .unwrap();
        service.clone().oneshot(request).await.unwrap().status().as_u16()
    };
    chain.full.store(true, Ordering::Relaxed);
    for _ in 0..3 {
        assert_eq!(ask(1, 1).await, 503);
    }
    chain.full.store(false, Ordering::Relaxed);
    assert_eq!((ask(1, 1).await, ask(1, 1).await), (200, 200), "a full pool costs nobody a gift");
    assert_eq!(ask(1, 2).await, 429, "the peer has had its gifts");
    for _ in 0..3 {
        assert_eq!(ask(2, 1).await, 429, "the account has had its gifts");
    }
    assert_eq!((ask(2, 2).await, ask(2, 2).await), (200, 200), "asking for it cost the peer none");
    assert_eq!(ask(2, 3).await, 429);
}
