//! Many strangers at once.

use crate::quic::raw::{beginnings, from};
use crate::quic::{JOB, SOON, anywhere, assignment, connect, event, key, server, settings, until};
use remuda_link::frame::AckStatus;
use remuda_link::handshakes::PENDING_MAX;
use remuda_link::quic::client::{Command, Connector, Link};
use remuda_link::quic::server::Server;
use remuda_link::session::runner;
use remuda_link::session::validator::{Event, Head, Outcome};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Handshakes up to a Hello with a key that nobody has: addresses, attempts of each at a time, and
/// one after the other.
const FORGED: (u8, usize, usize) = (8, 30, 25);
/// Handshakes of which only the first datagram comes.
const BEGUN: usize = 2_000;
/// Datagrams that are none of this.
const JUNK: usize = 2_000;
const _: () = assert!(FORGED.0 as usize * FORGED.1 * FORGED.2 + BEGUN + JUNK == 10_000);
/// The storm is over by then, on a machine that has other things to do as well.
const OVER: Duration = Duration::from_secs(120);

fn forged(to: SocketAddr, done: &Arc<AtomicUsize>) -> Vec<JoinHandle<()>> {
    let mut tasks = Vec::new();
    for address in 0..FORGED.0 {
        let connector = Connector::new(from(10 + address)).unwrap();
        for task in 0..FORGED.1 {
            let (connector, done) = (connector.clone(), done.clone());
            tasks.push(tokio::spawn(async move {
                for attempt in 0..FORGED.2 {
                    let nobody = 10_000 + (usize::from(address) * 100 + task) * 100 + attempt;
                    if let Ok(link) = connector.connect(to, settings(nobody), 100).await {
                        let Link { ended, commands: _commands, events: _events, .. } = link;
                        let _ = timeout(SOON, ended).await;
                    }
                    done.fetch_add(1, Relaxed);
                }
            }));
        }
    }
    tasks
}

async fn begun(to: SocketAddr, done: Arc<AtomicUsize>) {
    let datagrams = beginnings(BEGUN).await;
    let socket = UdpSocket::bind(from(9)).await.unwrap();
    for (number, datagram) in datagrams.iter().enumerate() {
        socket.send_to(datagram, to).await.unwrap();
        done.fetch_add(1, Relaxed);
        // As junk: cut off somewhere, or with another bit.
        let mut junk = datagram[..1 + number * 7 % datagram.len()].to_vec();
        let place = number * 13 % junk.len();
        junk[place] ^= 1 << (number % 8);
        socket.send_to(&junk, to).await.unwrap();
        done.fetch_add(1, Relaxed);
        sleep(Duration::from_millis(2)).await;
    }
}

/// Comes in as runners do: again and again, with pauses that grow.
async fn come_in(connector: &Connector, server: &Server, number: usize) -> Link {
    let mut pause = Duration::from_millis(100);
    let knock = async {
        loop {
            let to = server.address().unwrap();
            if let Ok(mut link) = connector.connect(to, settings(number), 100).await
                && link.events.recv().await == Some(runner::Event::Opened)
            {
                return link;
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(30));
        }
    };
    timeout(OVER, knock).await.expect("it comes in")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handshake_flood_keeps_nobody_out() {
    let (server, mut events) = server(3);
    let to = server.address().unwrap();
    let connector = Connector::new(anywhere()).unwrap();
    let mut resident = connect(&connector, &server, 0).await;
    until(&mut events, |(_, event)| *event == Event::Presence(true)).await;

    let done = Arc::new(AtomicUsize::new(0));
    let mut storm = forged(to, &done);
    storm.push(tokio::spawn(begun(to, done.clone())));
    let (counted, counting) = (Arc::new(AtomicUsize::new(0)), server.clone());
    let most = counted.clone();
    let count = tokio::spawn(async move {
        loop {
            most.fetch_max(counting.pending_handshakes(), Relaxed);
            sleep(Duration::from_millis(5)).await;
        }
    });
    // In the middle of it the resident hears of blocks and gets a job, and another one comes in.
    while done.load(Relaxed) < 1_000 {
        sleep(Duration::from_millis(10)).await;
    }
    let mut newcomer = come_in(&connector, &server, 1).await;
    server.head(Head { height: 101, subset_epoch: 0 });
    until(&mut resident.events, |event| *event == runner::Event::Head(101)).await;
    until(&mut newcomer.events, |event| *event == runner::Event::Head(101)).await;
    assert!(server.push(&key(0).address(), assignment()));
    until(&mut resident.events, |event| matches!(event, runner::Event::Assigned(_))).await;
    resident.commands.send(Command::Ack(JOB, AckStatus::Accepted, None)).await.unwrap();
    let accepted = Event::Outcome(JOB, Outcome::Success);
    until(&mut events, |(_, event)| *event == accepted).await;
    let still = 10_000 - done.load(Relaxed);
    assert!(still > 0, "the storm was over before anything happened");

    for task in storm {
        timeout(OVER, task).await.expect("the storm ends").unwrap();
    }
    count.abort();
    assert_eq!(done.load(Relaxed), 10_000);
    let most = counted.load(Relaxed);
    assert!(most <= PENDING_MAX, "{most} strangers at a time");
    println!("{still} attempts were still to come; at most {most} strangers at a time");

    let _last = come_in(&connector, &server, 2).await;
    assert_eq!(server.sessions(), 3);
    assert!(event_is_quiet(&mut resident).await, "the resident has lost its session");
    timeout(SOON, async {
        while server.pending_handshakes() > 0 {
            sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .expect("all strangers leave");
}

/// Whether a link is still there.
async fn event_is_quiet(link: &mut Link) -> bool {
    match timeout(Duration::from_millis(100), event(&mut link.events)).await {
        Ok(runner::Event::Goodbye(_)) => false,
        Ok(_) | Err(_) => !link.ended.is_finished(),
    }
}
