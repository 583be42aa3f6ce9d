//! Following the chain.

use crate::api::chain::{Chain, calm, key};
use crate::api::world::{PEOPLE, Server, World, any_port, hasty, roomy, unserved, vote_job};
use axum::body::Body;
use futures::StreamExt;
use remuda_client::client::EventsError;
use remuda_client::types::EventView;
use remuda_client::{ClientError, EventFilter, Events};
use remuda_node::api::{App, Limits, router};
use remuda_node::backend::Backend;
use remuda_protocol::primitives::{Amount, Height};
use remuda_protocol::transaction::Instruction;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceExt;

async fn take(events: &mut Events, count: usize) -> Vec<EventView> {
    let next = events.take(count).map(|event| event.expect("the stream goes on"));
    let all = tokio::time::timeout(Duration::from_secs(30), next.collect::<Vec<_>>());
    all.await.expect("blocks come")
}

fn consecutive(events: &[EventView]) -> bool {
    events
        .windows(2)
        .all(|pair| pair[0].height.0 + 1 == pair[1].height.0 && pair[0].block == pair[1].parent)
}

#[tokio::test]
async fn blocks_come_in_order_from_where_one_asks() {
    let world = World::new().await;
    while world.height().await < 5 {}
    let mut events = world.client.events(&EventFilter::default(), Some(Height(0)));
    let blocks = take(&mut events, 20).await;
    assert_eq!(blocks[0].height.0, 1);
    assert!(consecutive(&blocks));
    let mut now = world.client.events(&EventFilter::default(), None);
    let next = take(&mut now, 1).await;
    assert!(next[0].height.0 > 5, "from now on, not from the beginning");
}

#[tokio::test]
async fn a_chain_is_followed_from_its_very_first_block() {
    let world = World::still(calm(), roomy()).await;
    (0..3).for_each(|_| world.chain.step());
    let mut events = world.client.events_from(&EventFilter::default(), Height(0));
    let blocks = take(&mut events, 4).await;
    assert_eq!((blocks[0].height.0, blocks[3].height.0), (0, 3));
    assert!(consecutive(&blocks));
    let mut later = world.client.events_from(&EventFilter::default(), Height(2));
    assert_eq!(take(&mut later, 2).await, blocks[2..]);

    // A connection that is cut before the first block starts there again, and later ones do not.
    let answers = vec![stream_of(&[]), stream_of(&blocks[..2]), stream_of(&blocks[2..])];
    let (address, asked) = scripted(answers).await;
    let client = hasty([format!("http://{address}")]);
    let seen = take(&mut client.events_from(&EventFilter::default(), Height(0)), 4).await;
    assert_eq!(seen, blocks);
    let asked = asked.lock().unwrap();
    for request in &asked[..2] {
        assert!(request.starts_with("get /events?from=0 ") && !request.contains("last-event-id"));
    }
    assert!(asked[2].starts_with("get /events ") && asked[2].contains("last-event-id: 1\r\n"));
}

#[tokio::test]
async fn a_busy_node_is_given_the_time_that_it_asks_for() {
    let world = World::still(calm(), roomy()).await;
    let block = take(&mut world.client.events_from(&EventFilter::default(), Height(0)), 1).await;
    let busy = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 0\r\n\
                connection: close\r\n\r\n";
    let (address, _) = scripted(vec![busy.to_owned(), stream_of(&block)]).await;
    let client = hasty([format!("http://{address}")]);
    let started = Instant::now();
    take(&mut client.events_from(&EventFilter::default(), Height(0)), 1).await;
    assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
}

#[tokio::test]
async fn the_past_is_read_no_faster_than_others_can_live_with() {
    let limits = Limits { past_burst: 5, past_per_second: 20, ..roomy() };
    let world = World::still(calm(), limits).await;
    (0..35).for_each(|_| world.chain.step());
    let started = Instant::now();
    let blocks = take(&mut world.client.events_from(&EventFilter::default(), Height(0)), 36).await;
    assert!(consecutive(&blocks));
    // All but the newest are of the past: five at once, thirty more at twenty per second.
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(1_400), "{took:?}");
    let live = take(&mut world.client.events(&EventFilter::default(), Some(Height(34))), 1).await;
    assert_eq!(live[0].height.0, 35);
}

/// A proxy that cuts every connection after so many bytes of answer.
async fn cutting_proxy(to: SocketAddr, bytes: usize) -> SocketAddr {
    let listener = TcpListener::bind(any_port()).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let Ok(mut node) = TcpStream::connect(to).await else { return };
                let (mut from_client, mut to_client) = client.split();
                let (mut from_node, mut to_node) = node.split();
                let up = tokio::io::copy(&mut from_client, &mut to_node);
                let down = async {
                    let mut left = bytes;
                    let mut buffer = [0; 512];
                    while let Ok(n @ 1..) = from_node.read(&mut buffer).await {
                        let n = n.min(left);
                        if to_client.write_all(&buffer[..n]).await.is_err() {
                            return;
                        }
                        left -= n;
                        if left == 0 {
                            return;
                        }
                    }
                };
                tokio::select! { _ = up => {}, () = down => {} }
            });
        }
    });
    address
}

#[tokio::test]
async fn cut_connections_neither_lose_nor_repeat_a_block() {
    let world = World::new().await;
    // Cut in the middle of messages, at ever another place of them.
    let proxies = [
        cutting_proxy(world.server.address, 1_500).await,
        cutting_proxy(world.server.address, 2_777).await,
    ];
    let client = hasty(proxies.map(|proxy| format!("http://{proxy}")));
    let mut events = client.events(&EventFilter::default(), Some(Height(0)));
    let blocks = take(&mut events, 120).await;
    assert_eq!((blocks[0].height.0, blocks[119].height.0), (1, 120));
    assert!(consecutive(&blocks));
}

/// A node that answers each connection with the next of some texts, and keeps what it was asked.
async fn scripted(answers: Vec<String>) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind(any_port()).await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = asked.clone();
    tokio::spawn(async move {
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                let n = stream.read(&mut buffer).await.unwrap();
                request.extend_from_slice(&buffer[..n]);
            }
            log.lock().unwrap().push(String::from_utf8(request).unwrap().to_lowercase());
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    (address, asked)
}

fn stream_of(blocks: &[EventView]) -> String {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let message = |block: &EventView| {
        let data = serde_json::to_string(block).unwrap();
        format!("event: block\nid: {}\ndata: {data}\n\n", block.height)
    };
    blocks.iter().map(message).fold(head.to_owned(), |text, message| text + &message)
}

#[tokio::test]
async fn a_node_that_repeats_or_skips_blocks_is_not_believed() {
    let world = World::still(calm(), roomy()).await;
    (0..6).for_each(|_| world.chain.step());
    let real = take(&mut world.client.events(&EventFilter::default(), Some(Height(0))), 6).await;
    let pick = |heights: &[usize]| {
        stream_of(&heights.iter().map(|height| real[height - 1].clone()).collect::<Vec<_>>())
    };
    let answers = vec![pick(&[1, 2, 2, 1, 3, 5]), pick(&[3, 4]), pick(&[6]), pick(&[5, 6])];
    let (address, asked) = scripted(answers).await;
    let client = hasty([format!("http://{address}")]);
    let seen = take(&mut client.events(&EventFilter::default(), Some(Height(0))), 6).await;
    assert_eq!(seen, real);
    let asked = asked.lock().unwrap();
    let last = [0, 3, 4, 4].map(|height| format!("last-event-id: {height}\r\n"));
    assert!(asked.iter().zip(&last).all(|(request, last)| request.contains(last)), "{asked:?}");
}

#[tokio::test]
async fn a_node_that_speaks_otherwise_is_an_error_not_a_loop() {
    let text = "event: block\nid: 1\ndata: {\"height\":1}\n\n";
    let (address, _) = scripted(vec![stream_of(&[]) + text]).await;
    let client = hasty([format!("http://{address}")]);
    let error = client.events(&EventFilter::default(), None).next().await.unwrap().unwrap_err();
    assert!(matches!(error, EventsError::Client(ClientError::Unexpected(_))), "{error}");
}

#[tokio::test]
async fn only_what_may_be_repeated_is_repeated() {
    // Connections that end without an answer.
    let (address, asked) = scripted(vec![String::new(); 10]).await;
    let client = hasty([format!("http://{address}")]);
    assert!(matches!(client.status().await, Err(ClientError::Transport(_))));
    assert_eq!(asked.lock().unwrap().len(), 3, "a question is asked again");
    assert!(client.faucet(key("ann").address()).await.is_err());
    assert_eq!(asked.lock().unwrap().len(), 4, "a wish is not");
}

#[tokio::test]
async fn the_node_itself_goes_on_after_the_last_id() {
    let world = World::still(calm(), roomy()).await;
    (0..5).for_each(|_| world.chain.step());
    let url = format!("{}/events?from=1", world.server.url());
    let request = reqwest::Client::new().get(url).header("last-event-id", "3");
    let mut response = request.send().await.unwrap();
    let mut text = String::new();
    while !text.contains("id: 5\n") {
        let chunk = response.chunk().await.unwrap().unwrap();
        text.push_str(core::str::from_utf8(&chunk).unwrap());
    }
    let ids: Vec<&str> = text.lines().filter(|line| line.starts_with("id:")).collect();
    assert_eq!(ids, ["id: 4", "id: 5"]);
}

#[tokio::test]
async fn a_node_that_restarts_is_come_back_to() {
    let chain = Chain::start(calm(), &PEOPLE);
    let mut server = Server::start(&chain, roomy(), any_port()).await;
    let address = server.address;
    let client = hasty([server.url()]);
    let mut events = client.events(&EventFilter::default(), Some(Height(0)));
    (0..3).for_each(|_| chain.step());
    let mut blocks = take(&mut events, 3).await;
    server.stop();
    server.task.await.unwrap();
    (0..3).for_each(|_| chain.step());
    let _again = Server::start(&chain, roomy(), address).await;
    chain.step();
    blocks.extend(take(&mut events, 4).await);
    assert_eq!(blocks.len(), 7);
    assert!(consecutive(&blocks));
}

#[tokio::test]
async fn filters_narrow_what_a_block_tells_but_skip_no_block() {
    let world = World::new().await;
    let runners = world.register(3).await;
    let start = Height(world.height().await);
    let job = world.submit_job(vote_job()).await;
    let ann = key("ann");
    world.ok(&ann, Instruction::Transfer { to: ann.address(), amount: Amount::CBY }).await;
    let drawn = world.assigned(job).await;
    let count = (drawn.height.0 - start.get()) as usize;
    let follow = |filter: EventFilter| {
        let client = world.client.clone();
        async move {
            let blocks = take(&mut client.events(&filter, Some(start)), count).await;
            assert!(consecutive(&blocks));
            let events = blocks.iter().flat_map(|block| &block.events);
            events.map(|occurrence| occurrence.event.name()).collect::<Vec<_>>()
        }
    };
    let of_job = follow(EventFilter { job: Some(job), ..EventFilter::default() }).await;
    assert_eq!(of_job, ["JobSubmitted", "JobBound", "JobAssigned"]);
    let runner = Some(runners[0].address());
    let of_runner = follow(EventFilter { runner, ..EventFilter::default() }).await;
    assert_eq!(of_runner, ["JobAssigned"]);
    let money = follow(EventFilter { kinds: vec!["money".into()], ..EventFilter::default() });
    assert_eq!(money.await, ["Transferred"]);
    let both = vec!["money".to_owned(), "job".to_owned()];
    let both = follow(EventFilter { kinds: both, ..EventFilter::default() }).await;
    assert_eq!(both.len(), 4);
    let nonsense = EventFilter { kinds: vec!["weather".into()], ..EventFilter::default() };
    let error = world.client.events(&nonsense, None).next().await.unwrap().unwrap_err();
    let EventsError::Client(ClientError::Refused { status: 400, error, .. }) = error else {
        panic!("{error}");
    };
    assert_eq!(error.code, "malformed_query");
}

#[tokio::test]
async fn blocks_that_nobody_has_any_more_end_the_stream() {
    let world = World::still(calm(), roomy()).await;
    (0..20).for_each(|_| world.chain.step());
    world.chain.prune(5);
    let mut events = world.client.events(&EventFilter::default(), Some(Height(3)));
    let error = events.next().await.unwrap().unwrap_err();
    assert!(matches!(error, EventsError::Gone(4)), "{error}");
    assert!(events.next().await.is_none());
    let mut newer = world.client.events(&EventFilter::default(), Some(Height(17)));
    assert_eq!(take(&mut newer, 3).await.last().unwrap().height.0, 20);
}

/// The text of a stream as far as it is there.
async fn frame(body: &mut axum::body::BodyDataStream) -> Option<String> {
    let next = tokio::time::timeout(Duration::from_secs(5), body.next()).await.expect("a frame");
    next.map(|bytes| String::from_utf8(bytes.unwrap().to_vec()).unwrap())
}

#[tokio::test]
async fn a_reader_that_falls_behind_is_told_so_and_let_go() {
    let chain = Chain::start(calm(), &PEOPLE);
    let limits = Limits { stream_lag: 10, ..roomy() };
    let service = router(App::new(chain.clone(), unserved(), limits));
    let request = axum::http::Request::get("/events?from=1").body(Body::empty()).unwrap();
    let response = service.oneshot(request).await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut body = response.into_body().into_data_stream();
    // Far behind from the start is not slow: it catches up at its own pace.
    (0..30).for_each(|_| chain.step());
    for height in 1..=30 {
        let text = frame(&mut body).await.unwrap();
        assert!(text.contains(&format!("id: {height}\n")) && text.contains("event: block"));
    }
    let later = {
        let chain = chain.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            chain.step();
        })
    };
    assert!(frame(&mut body).await.unwrap().contains("id: 31\n"), "live");
    later.await.unwrap();
    (0..12).for_each(|_| chain.step());
    let last = frame(&mut body).await.unwrap();
    assert!(last.contains("event: end") && last.contains("too_slow"), "{last}");
    assert!(last.contains("\"last_height\":31"), "{last}");
    assert_eq!(frame(&mut body).await, None);
}

#[tokio::test]
async fn a_quiet_stream_is_kept_alive_and_a_stopping_node_says_goodbye() {
    let limits = Limits { stream_heartbeat: Duration::from_millis(50), ..roomy() };
    let mut world = World::still(calm(), limits).await;
    let url = format!("{}/events", world.server.url());
    let mut response = reqwest::get(url).await.unwrap();
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    let comment = response.chunk().await.unwrap().unwrap();
    assert!(comment.starts_with(b":"), "{comment:?}");
    world.server.stop();
    let mut rest = Vec::new();
    while let Some(chunk) = response.chunk().await.unwrap() {
        rest.extend_from_slice(&chunk);
    }
    let rest = String::from_utf8(rest).unwrap();
    assert!(rest.contains("event: end") && rest.contains("shutting_down"), "{rest}");
    world.server.task.await.unwrap();
    assert_eq!(world.chain.tip().finalised.height(), Height(0));
}
