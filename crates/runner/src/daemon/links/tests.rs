use super::*;
use remuda_client::types::{HexAddress, HexHash, RunnerValidator, Uint};
use remuda_link::frame::CloseReason;
use remuda_link::quic::server::{Registry, Server};
use remuda_link::session::validator::{Head, Place, Settings as Gate};
use remuda_link::sign::Identity;
use remuda_protocol::crypto::PublicKey;
use remuda_protocol::primitives::Slot;
use std::net::Ipv4Addr;
use std::sync::Arc;

const SEED: [u8; 32] = [5; 32];
const SOON: Duration = Duration::from_secs(20);

/// Accepts every key, or refuses all with this reason.
struct FixedRegistry(Option<CloseReason>);

impl Registry for FixedRegistry {
    fn place(&self, key: &PublicKey) -> Result<Place, CloseReason> {
        let address = key.address().ok_or(CloseReason::NotRegistered)?;
        self.0.map_or(Ok(Place { address, slot: Slot(0) }), Err)
    }
}

fn server(listen: SocketAddr, door: Option<CloseReason>) -> Server {
    try_server(listen, door).expect("a server")
}

fn try_server(listen: SocketAddr, door: Option<CloseReason>) -> Option<Server> {
    let identity = Identity::from_seed(&SEED).unwrap();
    let settings = Gate {
        chain_id: 7,
        me: identity.key(),
        signer: Arc::new(identity),
        presence_timeout: 15,
        ack_timeout: 15,
        transaction_bytes_max: 131_072,
    };
    let (events, mut heard) = mpsc::channel(1_024);
    tokio::spawn(async move { while heard.recv().await.is_some() {} });
    let head = Head { height: 100, subset_epoch: 0 };
    Server::start(listen, &SEED, settings, head, Arc::new(FixedRegistry(door)), events).ok()
}

fn anywhere() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

fn links() -> (Links, mpsc::Receiver<News>) {
    let (news_in, news) = mpsc::channel(64);
    let key = SecretKey::from_label("runner");
    (Links::new(Connector::new(anywhere()).unwrap(), key, 7, news_in), news)
}

fn target(address: SocketAddr) -> Target {
    let key = Identity::from_seed(&SEED).unwrap().key();
    Target { key, link: address.to_string(), epoch: 0 }
}

async fn next(news: &mut mpsc::Receiver<News>) -> LinkNews {
    timeout(SOON, news.recv()).await.expect("news in time").expect("news").1
}

async fn down(news: &mut mpsc::Receiver<News>) -> String {
    loop {
        if let LinkNews::Closed(why) = next(news).await {
            return why;
        }
    }
}

async fn up(news: &mut mpsc::Receiver<News>) -> mpsc::Sender<Command> {
    loop {
        if let LinkNews::Opened(speak) = next(news).await {
            return speak;
        }
    }
}

#[tokio::test]
async fn a_validator_that_comes_back_is_met_again() {
    let (mut links, mut news) = links();
    let first = server(anywhere(), None);
    let address = first.address().unwrap();
    links.set_targets(vec![target(address)]);
    up(&mut news).await;
    first.stop().await;
    drop(first);
    assert_eq!(down(&mut news).await, "shutdown");
    // The first one's socket is closed a moment after its last word.
    let second = loop {
        match try_server(address, None) {
            Some(server) => break server,
            None => sleep(Duration::from_millis(20)).await,
        }
    };
    up(&mut news).await;
    assert_eq!(second.sessions(), 1);
}

#[tokio::test]
async fn why_a_validator_refuses_is_told() {
    let (mut links, mut news) = links();
    let closed = server(anywhere(), Some(CloseReason::WrongSubset));
    links.set_targets(vec![target(closed.address().unwrap())]);
    assert_eq!(down(&mut news).await, "wrong_subset");
}

#[tokio::test]
async fn a_validator_that_moved_is_followed_at_once() {
    let (mut links, mut news) = links();
    let closed = server(anywhere(), Some(CloseReason::Jailed));
    links.set_targets(vec![target(closed.address().unwrap())]);
    for _ in 0..3 {
        assert_eq!(down(&mut news).await, "jailed");
    }
    let open = server(anywhere(), None);
    links.set_targets(vec![target(open.address().unwrap())]);
    up(&mut news).await;
}

#[tokio::test]
async fn who_is_no_longer_named_is_left_with_a_goodbye() {
    let (mut links, mut news) = links();
    let server = server(anywhere(), None);
    let target = target(server.address().unwrap());
    links.set_targets(vec![target.clone()]);
    let speak = up(&mut news).await;
    assert_eq!(links.set_targets(vec![]), [target.key]);
    drop(speak);
    let started = Instant::now();
    while server.sessions() > 0 {
        assert!(started.elapsed() < SOON);
        sleep(Duration::from_millis(5)).await;
    }
}

#[test]
fn who_is_in_both_epochs_is_met_once() {
    let validator = |n: u8, link: Option<&str>, current| RunnerValidator {
        index: u32::from(n),
        key: HexHash([n; 32].into()),
        link: link.map(str::to_owned),
        api: None,
        current,
    };
    let named = RunnerValidators {
        runner: HexAddress::default(),
        height: Uint(1),
        epoch: Uint(3),
        threshold: 2,
        validators: vec![
            validator(1, Some("a:1"), true),
            validator(2, None, true),
            validator(3, Some("c:1"), true),
            validator(1, Some("a:1"), false),
            validator(4, Some("d:1"), false),
        ],
    };
    let met: Vec<u8> = targets(&named).iter().map(|target| target.key[0]).collect();
    assert_eq!(met, [1, 3, 4], "and who has no address is not met at all");
}
