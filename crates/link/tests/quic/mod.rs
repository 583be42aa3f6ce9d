//! Real sockets on this machine.

mod busy;
mod hostile;
mod middle;
mod raw;
mod slow;
mod storm;

use remuda_link::frame::{AckStatus, Parting};
use remuda_link::quic::client::{Command, ConnectError, Connector, Link};
use remuda_link::quic::server::{Registry, Server};
use remuda_link::session::runner;
use remuda_link::session::validator::{Assignment, Event, Head, Outcome, Place, Settings};
use remuda_link::sign::Identity;
use remuda_protocol::crypto::{PublicKey, SecretKey};
use remuda_protocol::primitives::{B256, Slot};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

const SEED: [u8; 32] = [5; 32];
const JOB: B256 = B256::repeat_byte(9);
const SOON: Duration = Duration::from_secs(10);

fn anywhere() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

/// Everybody whose key was made from a small number is registered, but one is in jail and one
/// belongs to other validators.
struct Numbered(Vec<PublicKey>);

const JAILED: usize = 1_000;
const ELSEWHERE: usize = 1_001;

impl Registry for Numbered {
    fn place(&self, key: &PublicKey) -> Result<Place, Parting> {
        for (number, parting) in [(JAILED, Parting::Jailed), (ELSEWHERE, Parting::WrongSubset)] {
            if *key == crate::quic::key(number).public_key() {
                return Err(parting);
            }
        }
        let slot = self.0.iter().position(|known| known == key).ok_or(Parting::NotRegistered)?;
        let address = key.address().ok_or(Parting::NotRegistered)?;
        Ok(Place { address, slot: Slot(slot as u32) })
    }
}

fn key(number: usize) -> SecretKey {
    SecretKey::from_label(&format!("runner {number}"))
}

fn server(runners: usize) -> (Server, mpsc::Receiver<(Place, Event)>) {
    let identity = Identity::from_seed(&SEED).unwrap();
    let settings = Settings {
        chain_id: 7,
        me: identity.key(),
        signer: Arc::new(identity),
        presence_timeout: 15,
        ack_timeout: 15,
        transaction_bytes_max: 131_072,
    };
    let (events_in, events) = mpsc::channel(1_024);
    let known = Numbered((0..runners).map(|number| key(number).public_key()).collect());
    let head = Head { height: 100, subset_epoch: 0 };
    let server = Server::start(anywhere(), &SEED, settings, head, Arc::new(known), events_in);
    (server.unwrap(), events)
}

fn settings(number: usize) -> runner::Settings {
    let validator = Identity::from_seed(&SEED).unwrap().key();
    runner::Settings { chain_id: 7, key: key(number), validator, subset_epoch: 0 }
}

async fn connect(connector: &Connector, server: &Server, number: usize) -> Link {
    let to = server.address().unwrap();
    connector.connect(to, settings(number), 100).await.unwrap()
}

async fn event<E>(events: &mut mpsc::Receiver<E>) -> E {
    timeout(SOON, events.recv()).await.expect("an event in time").expect("an event")
}

async fn until<E>(events: &mut mpsc::Receiver<E>, wanted: impl Fn(&E) -> bool) -> E {
    loop {
        let event = event(events).await;
        if wanted(&event) {
            return event;
        }
    }
}

fn assignment() -> Assignment {
    Assignment {
        job_id: JOB,
        attempt: 1,
        job_spec: vec![7; 100_000],
        block_height: 100,
        deadline_block: 160,
    }
}

#[tokio::test]
async fn a_job_goes_to_a_runner_and_its_transaction_comes_back() {
    let (server, mut events) = server(1);
    let connector = Connector::new(anywhere()).unwrap();
    let mut link = connect(&connector, &server, 0).await;
    assert_eq!(event(&mut link.events).await, runner::Event::Opened);
    until(&mut events, |(_, event)| *event == Event::Presence(true)).await;
    server.head(Head { height: 101, subset_epoch: 0 });
    assert_eq!(event(&mut link.events).await, runner::Event::Head(101));
    let runner = key(0).address();
    assert!(server.push(&runner, assignment()));
    let assigned = event(&mut link.events).await;
    assert!(matches!(assigned, runner::Event::Assigned(a) if a.job_spec.len() == 100_000));
    link.commands.send(Command::Ack(JOB, AckStatus::Accepted, None)).await.unwrap();
    link.commands.send(Command::Progress(JOB, 50, None)).await.unwrap();
    link.commands.send(Command::Result(JOB, b"signed".to_vec())).await.unwrap();
    let is_outcome = |(_, event): &(Place, Event)| matches!(event, Event::Outcome(..));
    let (_, outcome) = until(&mut events, is_outcome).await;
    assert_eq!(outcome, Event::Outcome(JOB, Outcome::Success));
    let is_transaction = |(_, event): &(Place, Event)| matches!(event, Event::Transaction(..));
    let (_, transaction) = until(&mut events, is_transaction).await;
    assert_eq!(transaction, Event::Transaction(JOB, b"signed".to_vec()));
    link.commands.send(Command::Close).await.unwrap();
    until(&mut events, |(_, event)| *event == Event::Presence(false)).await;
}

// spec §9.7
#[tokio::test]
async fn a_runner_that_moves_keeps_its_session() {
    let (server, mut events) = server(1);
    let connector = Connector::new(anywhere()).unwrap();
    let mut link = connect(&connector, &server, 0).await;
    assert_eq!(event(&mut link.events).await, runner::Event::Opened);
    until(&mut events, |(_, event)| *event == Event::Presence(true)).await;
    connector.rebind(anywhere()).unwrap();
    link.commands.send(Command::Learn(101)).await.unwrap();
    server.head(Head { height: 102, subset_epoch: 0 });
    until(&mut link.events, |event| *event == runner::Event::Head(102)).await;
    assert!(server.push(&key(0).address(), assignment()));
    until(&mut link.events, |event| matches!(event, runner::Event::Assigned(_))).await;
    assert_eq!(server.sessions(), 1);
}

// spec §9.7, §9.10
#[tokio::test]
async fn strangers_and_other_validators_are_told_why() {
    let (server, _events) = server(1);
    let connector = Connector::new(anywhere()).unwrap();
    for (number, word) in [(1, "not_registered"), (JAILED, "jailed"), (ELSEWHERE, "wrong_subset")] {
        let link = connect(&connector, &server, number).await;
        assert_eq!(timeout(SOON, link.ended).await.unwrap().unwrap(), word);
    }
    assert_eq!(server.sessions(), 0);
    let mut wrong = settings(0);
    wrong.validator = Identity::from_seed(&[6; 32]).unwrap().key();
    let refused = connector.connect(server.address().unwrap(), wrong, 100).await;
    assert!(matches!(refused, Err(ConnectError::Unreachable(..))), "another key answers there");
}

#[tokio::test]
async fn the_newest_session_of_a_runner_counts() {
    let (server, mut events) = server(1);
    let connector = Connector::new(anywhere()).unwrap();
    let older = connect(&connector, &server, 0).await;
    until(&mut events, |(_, event)| *event == Event::Presence(true)).await;
    let mut newer = connect(&connector, &server, 0).await;
    assert_eq!(timeout(SOON, older.ended).await.unwrap().unwrap(), "replaced");
    assert_eq!(event(&mut newer.events).await, runner::Event::Opened);
    // The older one's end comes late, and must not make the newer one absent.
    until(&mut events, |(_, event)| *event == Event::Presence(false)).await;
    until(&mut events, |(_, event)| *event == Event::Presence(true)).await;
    let more = timeout(Duration::from_millis(300), events.recv()).await;
    assert!(more.is_err(), "{more:?}");
    assert_eq!(server.sessions(), 1);
    assert!(server.push(&key(0).address(), assignment()));
    until(&mut newer.events, |event| matches!(event, runner::Event::Assigned(_))).await;
}

#[tokio::test]
async fn a_server_that_stops_says_so() {
    let (server, mut events) = server(1);
    let connector = Connector::new(anywhere()).unwrap();
    let link = connect(&connector, &server, 0).await;
    until(&mut events, |(_, event)| *event == Event::Presence(true)).await;
    server.stop().await;
    assert_eq!(timeout(SOON, link.ended).await.unwrap().unwrap(), "shutdown");
}
