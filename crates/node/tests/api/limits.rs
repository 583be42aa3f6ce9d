//! What the outside may not do.

use crate::api::chain::{Chain, calm, key};
use crate::api::world::{PEOPLE, Server, World, any_port, hasty, roomy, unserved};
use remuda_client::client::RetryPolicy;
use remuda_client::types::{
    HexBytes, SubmitRequest, SubmitStatus, TransactionStatus, TransactionStatusView,
};
use remuda_client::{Client, ClientError, Config};
use remuda_node::api::{App, Limits, Peer, router};
use remuda_node::backend::Backend as _;
use remuda_protocol::primitives::{Address, Amount};
use remuda_protocol::transaction::Instruction;
use serde_json::Value;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tower::ServiceExt;

async fn code(response: reqwest::Response) -> (u16, String) {
    let status = response.status().as_u16();
    assert_eq!(response.headers()["content-type"], "application/json");
    let error: Value = response.json().await.unwrap();
    assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()));
    (status, error["code"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_body_may_be_two_mebibytes_and_no_more() {
    let world = World::still(calm(), roomy()).await;
    let url = format!("{}/submit", world.server.url());
    let post = |bytes: usize| {
        let body = format!("{{\"transaction\":\"0x{}\"}}", "0".repeat(bytes));
        let request = reqwest::Client::new().post(&url).body(body);
        request.header("content-type", "application/json").send()
    };
    let most = 2 * 1024 * 1024;
    assert_eq!(code(post(most).await.unwrap()).await, (413, "body_too_large".to_owned()));
    // Within the limit it is read, and then too large for the chain.
    assert_eq!(code(post(most - 100).await.unwrap()).await, (422, "too_large".to_owned()));
}

#[tokio::test]
async fn a_peer_that_asks_too_much_is_told_when_to_come_back() {
    let limits = Limits { burst: 5, per_second: 1, ..Limits::default() };
    let world = World::still(calm(), limits).await;
    let url = format!("{}/health", world.server.url());
    for _ in 0..5 {
        assert!(reqwest::get(&url).await.unwrap().status().is_success());
    }
    let response = reqwest::get(&url).await.unwrap();
    assert_eq!(response.headers()["retry-after"], "1");
    assert_eq!(code(response).await, (429, "rate_limited".to_owned()));
    let retry = RetryPolicy { attempts: 0, ..RetryPolicy::default() };
    let blunt = Client::with(Config { retry, ..Config::new([world.server.url()]) }).unwrap();
    let error = blunt.health().await.unwrap_err();
    assert_eq!(error.code(), Some("rate_limited"));
    assert_eq!(error.retry_after(), Some(Duration::from_secs(1)));
    // Also where there is nothing: guessing paths is no way around.
    let nowhere = reqwest::get(format!("{}/nowhere", world.server.url())).await.unwrap();
    assert_eq!(nowhere.status().as_u16(), 429);
    let started = Instant::now();
    world.client.health().await.expect("the client waits as it is told");
    assert!(started.elapsed() >= Duration::from_millis(900));
}

#[tokio::test]
async fn a_peer_that_has_read_too_many_bytes_is_told_when_to_come_back() {
    let limits = Limits { read_burst_kib: 64, read_kib_per_second: 64, ..roomy() };
    let world = World::still(calm(), limits).await;
    let ask =
        async |path: &str| reqwest::get(format!("{}{path}", world.server.url())).await.unwrap();
    // Its description is a large answer: some requests, and its allowance is spent.
    let refused = async {
        loop {
            let response = ask("/openapi.json").await;
            if !response.status().is_success() {
                return response;
            }
        }
    };
    let refused = tokio::time::timeout(Duration::from_secs(10), refused).await.expect("a limit");
    let wait: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(code(refused).await, (429, "rate_limited".to_owned()));
    // What it may ask does not matter, but for whether the node is well.
    assert_eq!(ask("/block/0").await.status().as_u16(), 429);
    assert!(ask("/health").await.status().is_success());
    let started = Instant::now();
    while !ask("/block/0").await.status().is_success() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(started.elapsed() <= Duration::from_secs(wait + 1), "{:?}", started.elapsed());
}

#[tokio::test]
async fn blocks_that_are_read_are_paid_for_by_their_bytes() {
    let limits = Limits { read_burst_kib: 4, read_kib_per_second: 1, ..roomy() };
    let world = World::still(calm(), limits).await;
    let memo = Instruction::ScheduleTimer {
        timer: remuda_protocol::timers::host::ScheduleTimer {
            height: remuda_protocol::primitives::Height(100),
            payload: vec![7; 8 * 1024].into(),
            ..Default::default()
        },
    };
    let signed = world.client.sign(&key("ann"), memo).await.unwrap();
    world.client.submit(&signed).await.unwrap();
    world.chain.step();
    world.chain.step();
    tokio::time::sleep(Duration::from_secs(5)).await;
    // A short answer, for which a block of 8 KiB was read.
    let url = format!("{}/transaction/{}/receipt", world.server.url(), signed.hash);
    assert!(reqwest::get(&url).await.unwrap().status().is_success());
    let response = reqwest::get(&url).await.unwrap();
    let wait: u64 = response.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!(wait >= 4, "{wait}");
    assert_eq!(code(response).await, (429, "rate_limited".to_owned()));
}

#[tokio::test]
async fn a_batch_costs_what_its_transactions_would() {
    let limits = Limits { burst: 10, per_second: 1, batch: 20, ..Limits::default() };
    let world = World::still(calm(), limits).await;
    let url = format!("{}/submit", world.server.url());
    let post = |count: usize| {
        let transactions = Some(vec![HexBytes(vec![1]); count]);
        let request = SubmitRequest { transactions, ..SubmitRequest::default() };
        reqwest::Client::new().post(&url).json(&request).send()
    };
    assert_eq!(code(post(21).await.unwrap()).await, (422, "batch_too_large".to_owned()));
    assert_eq!(code(post(0).await.unwrap()).await, (422, "invalid_body".to_owned()));
    assert_eq!(code(post(15).await.unwrap()).await, (429, "rate_limited".to_owned()));
    assert!(post(5).await.unwrap().status().is_success());
    assert_eq!(post(5).await.unwrap().status().as_u16(), 429);
}

#[tokio::test]
async fn streams_are_counted_and_come_back() {
    let limits = Limits { streams_per_ip: 2, ..roomy() };
    let world = World::still(calm(), limits).await;
    let url = format!("{}/events", world.server.url());
    let first = reqwest::get(&url).await.unwrap();
    let _second = reqwest::get(&url).await.unwrap();
    let third = reqwest::get(&url).await.unwrap();
    assert!(third.headers().contains_key("retry-after"));
    assert_eq!(code(third).await, (429, "too_many_streams".to_owned()));
    drop(first);
    for _ in 0..100 {
        if reqwest::get(&url).await.unwrap().status().is_success() {
            return;
        }
        // The node notices that the reader is gone when it next writes to it.
        world.chain.step();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the place never came back");
}

#[tokio::test]
async fn connections_beyond_the_limit_are_closed_at_once() {
    let limits = Limits { connections_per_ip: 2, ..roomy() };
    let world = World::still(calm(), limits).await;
    let _open = [
        TcpStream::connect(world.server.address).await.unwrap(),
        TcpStream::connect(world.server.address).await.unwrap(),
    ];
    tokio::time::sleep(Duration::from_millis(50)).await;
    let mut third = TcpStream::connect(world.server.address).await.unwrap();
    let _ = third.write_all(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n").await;
    let mut answer = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(5), third.read_to_end(&mut answer)).await;
    let _ = read.expect("it is closed");
    assert!(answer.is_empty());
}

#[tokio::test]
async fn a_peer_that_dawdles_over_its_request_is_cut_off() {
    let limits = Limits {
        headers: Duration::from_millis(200),
        request: Duration::from_millis(300),
        ..roomy()
    };
    let world = World::still(calm(), limits).await;
    let cases: [(&[u8], &str); 2] = [
        (b"GET /health HTTP/1.1\r\nhost:", ""),
        (
            b"POST /submit HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
            "\"code\":\"timeout\"",
        ),
    ];
    for (request, expected) in cases {
        let mut stream = TcpStream::connect(world.server.address).await.unwrap();
        stream.write_all(request).await.unwrap();
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer);
        let read = tokio::time::timeout(Duration::from_secs(5), read).await;
        let _ = read.expect("it is cut off");
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.contains(expected), "{answer}");
    }
}

#[tokio::test]
async fn a_reader_that_takes_nothing_is_cut_off() {
    let limits = Limits { write_stall: Duration::from_millis(200), ..roomy() };
    let world = World::still(calm(), limits).await;
    let mut stream = TcpStream::connect(world.server.address).await.unwrap();
    // Far more answers than the sockets' buffers hold, and none of them read.
    let request = b"GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n".repeat(20);
    let flood = async {
        loop {
            if stream.write_all(&request).await.is_err() {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), flood).await.expect("the node hangs up");
}

#[tokio::test]
async fn large_answers_that_nobody_reads_do_not_pile_up() {
    let chain = Chain::start(calm(), &PEOPLE);
    let size = serde_json::to_vec(&remuda_node::api::openapi()).unwrap().len();
    assert!(size > 64 * 1024, "the description is a large answer");
    // Room for two, in whole pieces.
    let piece = 64 * 1024;
    let limits = Limits { all_answers_bytes: 2 * (size / piece * piece), ..roomy() };
    let service = router(App::new(chain, unserved(), limits));
    let ask = async |peer: u8, path: &str| {
        let request = axum::http::Request::get(path).extension(Peer([10, 0, 0, peer].into()));
        let request = request.body(axum::body::Body::empty()).unwrap();
        service.clone().oneshot(request).await.unwrap()
    };
    let unread = [ask(1, "/openapi.json").await, ask(2, "/openapi.json").await];
    assert!(unread.iter().all(|response| response.status().is_success()));
    let refused = ask(3, "/openapi.json").await;
    assert_eq!(refused.status().as_u16(), 503);
    assert_eq!(refused.headers()["retry-after"], "1");
    let body = axum::body::to_bytes(refused.into_body(), 10_000).await.unwrap();
    let error: remuda_client::types::ApiError = serde_json::from_slice(&body).unwrap();
    assert_eq!(error.code, "busy");
    assert!(ask(3, "/health").await.status().is_success(), "small ones are not counted");
    let [first, _second] = unread;
    let read = axum::body::to_bytes(first.into_body(), 10_000_000).await.unwrap();
    assert_eq!(read.len(), size);
    assert!(ask(3, "/openapi.json").await.status().is_success(), "what was read makes room");
}

#[tokio::test]
async fn large_bodies_that_come_slowly_do_not_pile_up() {
    // An eighth of it is for one address.
    let limits = Limits { all_bodies_bytes: 32 * 1024 * 1024, ..roomy() };
    let world = World::still(calm(), limits).await;
    let post = async |head: &str| {
        let mut stream = TcpStream::connect(world.server.address).await.unwrap();
        let head = format!(
            "POST /submit HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{head}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    };
    // One says how long it is, the other does not; none of them comes to an end.
    let length = "content-length: 2097152";
    let unfinished = [post(length).await, post("transfer-encoding: chunked").await];
    tokio::time::sleep(Duration::from_millis(200)).await;
    let mut answer = vec![0; 12];
    let mut third = post(length).await;
    third.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, b"HTTP/1.1 503");
    let signed = world.client.sign(&key("ann"), gift()).await.unwrap();
    world.client.submit(&signed).await.expect("small ones are not counted");
    drop(unfinished);
    for _ in 0..100 {
        let mut stream = post(length).await;
        let read = stream.read_exact(&mut answer);
        if tokio::time::timeout(Duration::from_millis(100), read).await.is_err() {
            return;
        }
    }
    panic!("the room never came back");
}

#[tokio::test]
async fn one_address_cannot_hold_all_the_room_for_large_bodies() {
    let chain = Chain::start(calm(), &PEOPLE);
    // For two of unknown length from each address, and for sixteen in all.
    let limits = Limits { all_bodies_bytes: 32 * 1024 * 1024, ..roomy() };
    let service = router(App::new(chain, unserved(), limits));
    let post = |peer: u8, body: axum::body::Body| {
        let request = axum::http::Request::post("/submit")
            .header("content-type", "application/json")
            .extension(Peer([10, 0, 0, peer].into()))
            .body(body)
            .unwrap();
        service.clone().oneshot(request)
    };
    let endless = || {
        let nothing = futures::stream::pending::<Result<Vec<u8>, std::io::Error>>();
        axum::body::Body::from_stream(nothing)
    };
    let short = || {
        let body = futures::stream::iter([Ok::<_, std::io::Error>("{}")]);
        axum::body::Body::from_stream(body)
    };
    let mut open = tokio::task::JoinSet::new();
    for _ in 0..20 {
        open.spawn(post(1, endless()));
    }
    for _ in 0..18 {
        let refused = open.join_next().await.unwrap().unwrap().unwrap();
        assert_eq!(refused.status().as_u16(), 503, "all but two are refused");
    }
    assert_eq!(post(2, short()).await.unwrap().status().as_u16(), 422, "there is room for others");
    for peer in 2..9 {
        open.spawn(post(peer, endless()));
        open.spawn(post(peer, endless()));
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(open.try_join_next().is_none(), "sixteen are being read");
    assert_eq!(post(9, short()).await.unwrap().status().as_u16(), 503, "that was all");
    open.shutdown().await;
    assert_eq!(post(1, short()).await.unwrap().status().as_u16(), 422);
}

#[tokio::test]
async fn a_body_that_was_read_makes_room_while_its_sender_waits_for_a_block() {
    let limits = Limits { all_bodies_bytes: 2 * 1024 * 1024, ..roomy() };
    let world = World::still(calm(), limits).await;
    let signed = world.client.sign(&key("ann"), gift()).await.unwrap();
    let post = |wait: bool| {
        let transaction = alloy_primitives::hex::encode_prefixed(&signed.bytes);
        let padding = " ".repeat(1_500_000);
        let body = format!("{{\"transaction\":\"{transaction}\",\"wait\":{wait}}}{padding}");
        let request = reqwest::Client::new().post(format!("{}/submit", world.server.url()));
        request.header("content-type", "application/json").body(body).send()
    };
    let waiting = tokio::spawn(post(true));
    while world.client.status().await.unwrap().mempool.0 == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(post(false).await.unwrap().status().as_u16(), 200);
    assert!(!waiting.is_finished());
    world.chain.step();
    assert_eq!(waiting.await.unwrap().unwrap().status().as_u16(), 200);
}

fn gift() -> Instruction {
    Instruction::Transfer { to: Address::repeat_byte(9), amount: Amount::CBY }
}

#[tokio::test]
async fn an_orderly_end_lets_open_requests_finish() {
    let chain = Chain::start(calm(), &PEOPLE);
    let mut server = Server::start(&chain, roomy(), any_port()).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = "POST /submit HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
                content-length: 2\r\n\r\n{";
    stream.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.stop();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(matches!(
        hasty([server.url()]).health().await,
        Err(ClientError::Unreachable(_) | ClientError::Transport(_))
    ));
    stream.write_all(b"}").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 422"), "{answer}");
    server.task.await.unwrap();
}

#[tokio::test]
async fn who_waits_for_a_block_is_answered_when_the_node_stops() {
    let chain = Chain::start(calm(), &PEOPLE);
    let mut server = Server::start(&chain, roomy(), any_port()).await;
    let retry = RetryPolicy { attempts: 0, ..RetryPolicy::default() };
    let client = Client::with(Config { retry, ..Config::new([server.url()]) }).unwrap();
    let signed = client.sign(&key("ann"), gift()).await.unwrap();
    let hash = signed.hash;
    let submitting = tokio::spawn({
        let client = client.clone();
        async move { client.submit_batch(&[signed], true).await }
    });
    while chain.status().mempool == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let asking = tokio::spawn(reqwest::get(format!(
        "{}/transaction/{hash}/status?wait_ms=30000",
        server.url()
    )));
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!submitting.is_finished() && !asking.is_finished());
    let started = Instant::now();
    server.stop();
    let results = submitting.await.unwrap().unwrap();
    assert_eq!(results[0].status, SubmitStatus::Accepted);
    let found: TransactionStatusView = asking.await.unwrap().unwrap().json().await.unwrap();
    assert_eq!(found.status, TransactionStatus::Pending {});
    server.task.await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[tokio::test]
async fn connections_end_with_a_server_that_is_aborted() {
    let world = World::still(calm(), roomy()).await;
    let mut response = reqwest::get(format!("{}/events", world.server.url())).await.unwrap();
    world.server.task.abort();
    let end = async { while let Ok(Some(_)) = response.chunk().await {} };
    tokio::time::timeout(Duration::from_secs(5), end).await.expect("nobody is left to serve it");
}
