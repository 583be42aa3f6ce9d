//! Validators that mean harm to a runner.

use crate::quic::raw::{exporter, validator as validator_endpoint};
use crate::quic::{SEED, SOON, anywhere, event, key, settings, until};
use quinn::{Connection, Endpoint, RecvStream, SendStream, VarInt};
use remuda_link::frame::{CloseReason, Frame, Handover};
use remuda_link::quic::client::{Command, Connector, Link};
use remuda_link::session::validator::{Admittance, Assignment, Head, Place, Session, Settings};
use remuda_link::session::{Output, runner};
use remuda_link::sign::Identity;
use remuda_link::wire::{CONTROL_LIMIT, FrameDecoder, JOB_LIMIT, encode};
use remuda_protocol::crypto::PublicKey;
use remuda_protocol::primitives::{B256, JobId, Slot};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tokio::time::timeout;

const A: JobId = B256::repeat_byte(0xA);
const B: JobId = B256::repeat_byte(0xB);

/// Takes everybody in.
struct Open;

impl Admittance for Open {
    fn admit_source(&mut self, _: u64, _: IpAddr) -> Result<(), CloseReason> {
        Ok(())
    }

    fn place(&self, key: &PublicKey) -> Result<Place, CloseReason> {
        Ok(Place { address: key.address().unwrap(), slot: Slot(0) })
    }

    fn admit_session(&mut self, _: u64, _: Place) -> Result<(), CloseReason> {
        Ok(())
    }
}

/// The validator's end of a session that began honestly.
struct Liar {
    session: Session,
    connection: Connection,
    _control: (SendStream, RecvStream),
    _endpoint: Endpoint,
}

/// Both ends. Streams of the liar take so many bytes that it does not read.
async fn meet(window: u32) -> (Liar, Link) {
    let endpoint = validator_endpoint(|limits| {
        limits.stream_receive_window(VarInt::from_u32(window));
    });
    let to = endpoint.local_addr().unwrap();
    let liar = tokio::spawn(greet(endpoint));
    let connector = Connector::new(anywhere()).unwrap();
    let mut link = connector.connect(to, settings(0), 100).await.unwrap();
    assert_eq!(event(&mut link.events).await, runner::Event::Opened);
    (timeout(SOON, liar).await.unwrap().unwrap(), link)
}

async fn greet(endpoint: Endpoint) -> Liar {
    let connection = endpoint.accept().await.unwrap().await.unwrap();
    let (mut writer, mut reader) = connection.accept_bi().await.unwrap();
    let identity = Identity::from_seed(&SEED).unwrap();
    let settings = Settings {
        chain_id: 7,
        me: identity.key(),
        signer: Arc::new(identity),
        presence_timeout: 15,
        ack_timeout: 15,
        transaction_bytes_max: 131_072,
    };
    let (source, head) = (anywhere().ip(), Head { height: 100, subset_epoch: 0 });
    let settings = Arc::new(settings);
    let mut session = Session::new(settings, source, exporter(&connection), [2; 32], head, 0);
    let mut decoder = FrameDecoder::new(CONTROL_LIMIT);
    while session.place().is_none() {
        let chunk = reader.read_chunk(1_000, true).await.unwrap().expect("more of a Hello");
        decoder.push(&chunk.bytes);
        while let Some(frame) = decoder.next_frame().unwrap() {
            session.control(frame, 0, &mut Open);
        }
        while let Some(output) = session.poll() {
            if let Output::Control(frame) = output {
                writer.write_all(&encode(&frame)).await.unwrap();
            }
        }
    }
    Liar { session, connection, _control: (writer, reader), _endpoint: endpoint }
}

impl Liar {
    async fn push(&mut self, job_id: JobId) -> (SendStream, RecvStream) {
        let assignment = Assignment {
            job_id,
            attempt: 0,
            job_spec: b"spec".to_vec(),
            block_height: 100,
            deadline_block: 160,
        };
        assert!(self.session.push(assignment));
        let Some(Output::OpenJob(_, frame)) = self.session.poll() else { panic!("a push") };
        let (mut writer, reader) = self.connection.open_bi().await.unwrap();
        writer.write_all(&encode(&frame)).await.unwrap();
        (writer, reader)
    }
}

/// One stream that nobody reads, and another that says a lot.
#[tokio::test]
async fn validator_that_never_reads_does_not_block_the_runner() {
    let (mut liar, mut link) = meet(2_000).await;
    let _unread = liar.push(A).await;
    let (mut loud, _reader) = liar.push(B).await;
    for _ in 0..2 {
        until(&mut link.events, |event| matches!(event, runner::Event::Assigned(_))).await;
    }
    let Link { commands, mut events, ended, .. } = link;
    let runner = key(0).address().into_array();
    let handover = Handover { job_id: B, runner, sealed: vec![0; 100], runner_signed: [0; 65] };
    let handover = encode(&Frame::Handover(handover));
    let talk = tokio::spawn(async move {
        for _ in 0..400 {
            loud.write_all(&handover).await.expect("it is read");
        }
        loud
    });
    let work = async {
        let detail = Some("x".repeat(200));
        for _ in 0..5_000 {
            let progress = Command::Progress(A, 50, detail.clone());
            commands.send(progress).await.expect("the session goes on");
        }
    };
    let listen = async {
        for _ in 0..400 {
            until(&mut events, |event| matches!(event, runner::Event::Handover(_))).await;
        }
    };
    timeout(SOON, async { tokio::join!(work, listen) }).await.expect("nobody waits");
    assert!(!ended.is_finished(), "what is not read is not said");
    talk.abort();
}

#[tokio::test]
async fn validator_that_opens_silent_streams_is_disconnected() {
    let (liar, link) = meet(2_000).await;
    let (mut writer, _reader) = liar.connection.open_bi().await.unwrap();
    writer.write_all(&[0]).await.unwrap();
    let Link { commands: _commands, events: _events, ended, .. } = link;
    let word = timeout(SOON * 2, ended).await.expect("the session ends").unwrap();
    assert_eq!(word, CloseReason::Malformed.word());
}

/// Frames that never become whole, on as many streams as there may be.
#[tokio::test]
async fn partial_frames_do_not_exhaust_the_runners_memory() {
    let (liar, link) = meet(2_000).await;
    let taken = Arc::new(AtomicUsize::new(0));
    let mut begun = (JOB_LIMIT as u32).to_be_bytes().to_vec();
    begun.resize(JOB_LIMIT, 0x20);
    let begun: Arc<[u8]> = begun.into();
    for _ in 0..100 {
        let (connection, taken, begun) = (liar.connection.clone(), taken.clone(), begun.clone());
        tokio::spawn(async move {
            let (mut writer, _reader) = connection.open_bi().await.unwrap();
            for piece in begun.chunks(16 * 1024) {
                if writer.write_all(piece).await.is_err() {
                    return;
                }
                taken.fetch_add(piece.len(), Relaxed);
            }
            connection.closed().await;
        });
    }
    let Link { commands: _commands, events: _events, ended, .. } = link;
    let word = timeout(SOON * 3, ended).await.expect("the session ends").unwrap();
    assert_eq!(word, CloseReason::Malformed.word());
    // What was read, what was sent ahead, and what has not left the sender.
    let taken = taken.load(Relaxed) >> 20;
    assert!(taken <= 64 + 8 + 16, "{taken} MiB were taken");
}
