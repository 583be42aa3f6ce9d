//! Words of one session in another.

use crate::quic::raw::{Peer, config, knock, validator};
use crate::quic::{SOON, anywhere, server, settings, until};
use quinn::Endpoint;
use remuda_link::frame::{Frame, Parting};
use remuda_link::quic::client::Connector;
use remuda_link::session::validator::Event;
use tokio::time::timeout;

#[tokio::test]
async fn words_that_were_recorded_prove_nothing() {
    let (server, mut events) = server(1);
    let recorded = Peer::open(&server, &config(|_| ()), 0).await;
    until(&mut events, |(_, event)| *event == Event::Presence(true)).await;
    let mut replay = Peer::knock(&server, &config(|_| ())).await;
    replay.say(&recorded.said[0]).await;
    assert!(matches!(replay.hear().await, Frame::Hello(_)), "anybody may say who it is");
    replay.say(&recorded.said[1]).await;
    assert_eq!(replay.hear().await, Parting::BadSignature.goodbye());
    assert_eq!(replay.ended(SOON).await, Parting::BadSignature.word());
    assert!(recorded.connection.close_reason().is_none(), "the real one stays");
    assert_eq!(server.sessions(), 1);
}

// spec §9.7, §9.10
/// It even has the validator's key for TLS, so the runner cannot tell. What the runner signs holds
/// in the session that it has, and the validator has another one.
#[tokio::test]
async fn a_man_in_the_middle_gets_no_session() {
    let (server, _events) = server(1);
    let to = server.address().unwrap();
    let middle = validator(|_| ());
    let between = middle.local_addr().unwrap();
    let relay = tokio::spawn(async move {
        let with_runner = middle.accept().await.unwrap().await.unwrap();
        let (mut to_runner, mut from_runner) = with_runner.accept_bi().await.unwrap();
        let endpoint = Endpoint::client(anywhere()).unwrap();
        let with_validator = knock(&endpoint, to, &config(|_| ())).await.unwrap();
        let (mut to_validator, mut from_validator) = with_validator.open_bi().await.unwrap();
        let _ = tokio::join!(
            tokio::io::copy(&mut from_runner, &mut to_validator),
            tokio::io::copy(&mut from_validator, &mut to_runner),
        );
    });
    let connector = Connector::new(anywhere()).unwrap();
    let link = connector.connect(between, settings(0), 100).await.unwrap();
    let word = timeout(SOON, link.ended).await.expect("it ends").unwrap();
    assert_eq!(word, Parting::BadSignature.word());
    assert_eq!(server.sessions(), 0);
    relay.abort();
}
