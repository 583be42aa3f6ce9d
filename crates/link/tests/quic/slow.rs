//! Peers that take their time.

use crate::quic::raw::{self, Peer, beginnings, config, hello, knock};
use crate::quic::{
    JOB, SOON, anywhere, assignment, connect, event, key, server, settings, until as until_event,
};
use quinn::{Endpoint, VarInt};
use remuda_link::frame::{BackpressureSignal, CloseReason};
use remuda_link::handshakes::PENDING_MAX;
use remuda_link::quic::client::Connector;
use remuda_link::session::runner;
use remuda_link::session::validator::{Assignment, Event, Head, Outcome};
use remuda_link::wire::{CONTROL_LIMIT, encode};
use remuda_protocol::primitives::B256;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::{sleep, timeout};

/// Who has not proven itself after five seconds goes, and a goodbye takes one more at most.
const CUT_OFF: Duration = Duration::from_secs(9);
/// Frames that nobody takes are held for ten seconds.
const UNREAD: Duration = Duration::from_secs(16);

/// Waits until something is so.
async fn until(what: &str, within: Duration, so: impl Fn() -> bool) {
    let wait = async {
        while !so() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(within, wait).await.unwrap_or_else(|_| panic!("{what}"));
}

#[tokio::test]
async fn a_hello_that_comes_byte_by_byte_does_not_come_in_time() {
    let (server, _events) = server(2);
    let mut slow = Peer::knock(&server, &config(|_| ())).await;
    let bytes = encode(&hello(1));
    let drip = tokio::spawn(async move {
        for byte in bytes {
            if slow.writer.write_all(&[byte]).await.is_err() {
                break;
            }
            sleep(Duration::from_millis(100)).await;
        }
        slow.ended(SOON).await
    });
    // In the meantime others come in.
    let connector = Connector::new(anywhere()).unwrap();
    let mut link = connect(&connector, &server, 0).await;
    assert_eq!(event(&mut link.events).await, runner::Event::Opened);
    assert_eq!(timeout(CUT_OFF, drip).await.unwrap().unwrap(), "silent");
    until("its place is free", SOON, || server.pending_handshakes() == 0).await;
    assert_eq!(server.sessions(), 1);
}

#[tokio::test]
async fn a_peer_without_a_hello_or_without_a_stream_is_cut_off() {
    let (server, _events) = server(1);
    let endpoint = Endpoint::client(anywhere()).unwrap();
    let to = server.address().unwrap();
    let no_stream = knock(&endpoint, to, &config(|_| ())).await.unwrap();
    let mut no_hello = Peer::knock(&server, &config(|_| ())).await;
    no_hello.writer.write_all(&[0]).await.unwrap();
    assert_eq!(no_hello.ended(CUT_OFF).await, "silent");
    timeout(CUT_OFF, no_stream.closed()).await.expect("it ends in time");
    until("their places are free", SOON, || server.pending_handshakes() == 0).await;
}

/// It claims a key of somebody else, so that the validator has something to say to it.
#[tokio::test]
async fn a_peer_that_does_not_read_the_answer_to_its_hello_is_cut_off() {
    let (server, _events) = server(1);
    let deaf = config(|limits| {
        limits.stream_receive_window(VarInt::from_u32(0));
    });
    let mut peer = Peer::knock(&server, &deaf).await;
    peer.say(&hello(0)).await;
    peer.ended(CUT_OFF).await;
    until("its place is free", SOON, || server.pending_handshakes() == 0).await;
}

#[tokio::test]
async fn a_runner_that_stops_reading_loses_its_session_and_others_do_not_wait() {
    let (server, mut events) = server(2);
    let connector = Connector::new(anywhere()).unwrap();
    let mut resident = connect(&connector, &server, 0).await;
    until_event(&mut events, |(_, event)| *event == Event::Presence(true)).await;
    let deaf = config(|limits| {
        limits.stream_receive_window(VarInt::from_u32(600));
    });
    let peer = Peer::open(&server, &deaf, 1).await;
    until_event(&mut events, |(_, event)| *event == Event::Presence(true)).await;
    // Each is a pong of more than a hundred bytes.
    for height in 101..=110 {
        server.head(Head { height, subset_epoch: 0 });
        until_event(&mut resident.events, |event| *event == runner::Event::Head(height)).await;
        sleep(Duration::from_millis(20)).await;
    }
    assert!(server.push(&key(0).address(), assignment()));
    until_event(&mut resident.events, |event| matches!(event, runner::Event::Assigned(_))).await;
    peer.ended(UNREAD).await;
    until("its session is gone", SOON, || server.sessions() == 1).await;
    let (absent, _) = until_event(&mut events, |(_, event)| *event == Event::Presence(false)).await;
    assert_eq!(absent.address, key(1).address());
}

#[tokio::test]
async fn a_runner_that_takes_no_streams_leaves_nothing_behind() {
    let (server, mut events) = server(1);
    let closed = config(|limits| {
        limits.max_concurrent_bidi_streams(VarInt::from_u32(0));
    });
    let _peer = Peer::open(&server, &closed, 0).await;
    until_event(&mut events, |(_, event)| *event == Event::Presence(true)).await;
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    assert!(server.push(&key(0).address(), assignment()));
    until("it is on its way", SOON, || tasks() > before).await;
    server.head(Head { height: 115, subset_epoch: 0 });
    let failed = |event: &Event| *event == Event::Outcome(JOB, Outcome::HardFailure);
    until_event(&mut events, |(_, event)| failed(event)).await;
    until("nobody waits for its stream", UNREAD, || tasks() <= before).await;
    assert_eq!(server.sessions(), 1);
}

#[tokio::test]
async fn a_runner_has_one_stream_and_no_other() {
    let (server, mut events) = server(1);
    let mut peer = Peer::open(&server, &config(|_| ()), 0).await;
    until_event(&mut events, |(_, event)| *event == Event::Presence(true)).await;
    let short = Duration::from_millis(300);
    assert!(timeout(short, peer.connection.open_bi()).await.is_err());
    assert!(timeout(short, peer.connection.open_uni()).await.is_err());
    assert!(peer.connection.send_datagram(vec![0; 8].into()).is_err());
    // Who ends the one to get another has left.
    peer.writer.finish().unwrap();
    assert_eq!(peer.ended(SOON).await, CloseReason::Shutdown.word());
    until("its session is gone", SOON, || server.sessions() == 0).await;
}

#[tokio::test]
async fn a_runner_that_says_too_much_loses_its_session_and_others_do_not_wait() {
    let (server, mut events) = server(2);
    let connector = Connector::new(anywhere()).unwrap();
    let mut resident = connect(&connector, &server, 0).await;
    let mut peer = Peer::open(&server, &config(|_| ()), 1).await;
    let mut load = BackpressureSignal {
        active_jobs: 0,
        max_concurrent: 4,
        accepting_new: true,
        reason: Some("x".repeat(1_000)),
    };
    for number in 0..200 {
        load.active_jobs = number;
        let bytes = encode(&load.clone().into());
        if peer.writer.write_all(&bytes).await.is_err() {
            break;
        }
    }
    assert_eq!(peer.ended(SOON).await, CloseReason::TooFast.word());
    until("its session is gone", SOON, || server.sessions() == 1).await;
    let loads = async {
        let mut loads = 0;
        while let Ok(Some((_, event))) = timeout(Duration::from_secs(1), events.recv()).await {
            if let Event::Load(load) = event {
                assert!(load.reason.unwrap().len() <= 200);
                loads += 1;
            }
        }
        loads
    };
    assert!(loads.await < 200, "the server dropped part of the flood");
    server.head(Head { height: 101, subset_epoch: 0 });
    until_event(&mut resident.events, |event| *event == runner::Event::Head(101)).await;
}

/// Frames that never become whole, on the streams of as many jobs.
#[tokio::test]
async fn half_frames_do_not_fill_a_validators_memory() {
    const JOBS: u8 = 100;
    let (server, mut events) = server(1);
    let peer = Peer::open(&server, &config(|_| ()), 0).await;
    until_event(&mut events, |(_, event)| *event == Event::Presence(true)).await;
    for number in 0..JOBS {
        let job_id = B256::repeat_byte(number);
        let job = Assignment { job_id, job_spec: vec![7; 100], ..assignment() };
        assert!(server.push(&key(0).address(), job));
    }
    let mut begun = 131_072_u32.to_be_bytes().to_vec();
    begun.resize(131_072, 0x20);
    let (begun, taken) = (Arc::<[u8]>::from(begun), Arc::new(AtomicUsize::new(0)));
    for _ in 0..JOBS {
        let (mut writer, _reader) =
            timeout(SOON, peer.connection.accept_bi()).await.unwrap().unwrap();
        let (begun, taken) = (begun.clone(), taken.clone());
        tokio::spawn(async move {
            for piece in begun.chunks(4 * 1024) {
                if writer.write_all(piece).await.is_err() {
                    return;
                }
                taken.fetch_add(piece.len(), Relaxed);
            }
            sleep(UNREAD).await;
        });
    }
    sleep(Duration::from_secs(2)).await;
    // What was read, what was sent ahead, and what has not left the sender.
    let taken = taken.load(Relaxed) >> 10;
    assert!((512..=1_024 + 512 + 1_024).contains(&taken), "{taken} KiB were taken");
    assert!(peer.connection.close_reason().is_none(), "the control stream is served meanwhile");
}

#[tokio::test]
async fn bytes_that_are_no_frames_end_a_connection() {
    let (server, _events) = server(1);
    let too_long = (CONTROL_LIMIT as u32 + 1).to_be_bytes();
    let whole = encode(&hello(0));
    for bytes in [&too_long[..], &[0, 0, 0, 0], &[0, 0, 0, 1, 0x77], &[0, 0, 0, 2, 0x01, 0xFF]] {
        let mut peer = Peer::knock(&server, &config(|_| ())).await;
        peer.writer.write_all(bytes).await.unwrap();
        assert_eq!(peer.hear().await, CloseReason::Malformed.goodbye(), "{bytes:?}");
        assert_eq!(peer.ended(SOON).await, CloseReason::Malformed.word());
    }
    let mut peer = Peer::knock(&server, &config(|_| ())).await;
    peer.writer.write_all(&whole[..whole.len() - 1]).await.unwrap();
    peer.writer.finish().unwrap();
    peer.ended(SOON).await;
    until("their places are free", SOON, || server.pending_handshakes() == 0).await;
}

/// They cost their sender one datagram each, and their address may be forged.
#[tokio::test]
async fn handshakes_that_nobody_finishes_keep_nobody_out() {
    let (server, _events) = server(1);
    let to = server.address().unwrap();
    let socket = UdpSocket::bind(raw::from(9)).await.unwrap();
    let beginnings = beginnings(300).await;
    let storm = tokio::spawn(async move {
        for beginning in beginnings.chunks(4) {
            for datagram in beginning {
                socket.send_to(datagram, to).await.unwrap();
            }
            sleep(Duration::from_millis(100)).await;
        }
    });
    until("they are there", SOON, || server.pending_handshakes() >= 30).await;
    let connector = Connector::new(anywhere()).unwrap();
    let come_in = async {
        let mut link = connect(&connector, &server, 0).await;
        assert_eq!(event(&mut link.events).await, runner::Event::Opened);
    };
    timeout(Duration::from_secs(4), come_in).await.expect("it does not wait until they have gone");
    assert!(!storm.is_finished());
    storm.abort();
}

/// They prove their address and go no further, as many as there are places.
#[tokio::test]
async fn one_address_does_not_take_the_places_of_all_others() {
    let (server, _events) = server(1);
    let to = server.address().unwrap();
    let endpoint = Endpoint::client(raw::from(9)).unwrap();
    let config = config(|_| ());
    let crowd: Vec<_> = (0..PENDING_MAX + 100)
        .map(|number| {
            let (endpoint, config) = (endpoint.clone(), config.clone());
            tokio::spawn(async move {
                // Not all at once: what a socket does not hold is lost, and comes late.
                sleep(Duration::from_millis(number as u64 * 2)).await;
                loop {
                    if let Ok(connection) = knock(&endpoint, to, &config).await {
                        connection.closed().await;
                    }
                    sleep(Duration::from_millis(100)).await;
                }
            })
        })
        .collect();
    until("all places are taken", SOON, || server.pending_handshakes() == PENDING_MAX).await;
    let connector = Connector::new(anywhere()).unwrap();
    let link = connector.connect(to, settings(0), 100).await;
    let mut link = link.expect("somebody else's place is taken");
    assert_eq!(event(&mut link.events).await, runner::Event::Opened);
    assert!(server.pending_handshakes() <= PENDING_MAX);
    for peer in crowd {
        peer.abort();
    }
}
