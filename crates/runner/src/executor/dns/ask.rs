//! One question to one resolver: over UDP, twice; over TCP, if the answer is long or none came.
//!
//! An off-path attacker can forge datagrams, so an answer counts only if it comes from the resolver's
//! address, to the query's random port, with its random id and its random letter case.

use hickory_proto::op::{Edns, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{Name, Record, RecordType};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use thiserror::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

/// A datagram that passes everywhere unfragmented; longer answers come over TCP.
const DATAGRAM_BYTES_MAX: u16 = 1_232;
/// Datagrams before TCP is tried.
const DATAGRAMS: usize = 2;

/// Why a resolver gave no records.
#[derive(Debug, Error)]
pub(super) enum NoAnswer {
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    #[error("{0}")]
    Broken(#[from] io::Error),
    #[error("answer to another question")]
    Unrelated,
    #[error("response code {0}")]
    ErrorCode(ResponseCode),
}

/// The records that a resolver gives for a name; none if there are none.
pub(super) async fn ask(
    resolver: SocketAddr,
    name: &Name,
    record_type: RecordType,
    patience: Duration,
) -> Result<Vec<Record>, NoAnswer> {
    for _ in 0..DATAGRAMS {
        let question = question(name, record_type);
        match timeout(patience, over_udp(resolver, &question)).await {
            Ok(Ok(answer)) if !answer.metadata.truncation => return records(answer),
            // Too long for a datagram, or no such service here.
            Ok(_) => break,
            Err(_) => {}
        }
    }
    let question = question(name, record_type);
    let answer = timeout(patience, over_tcp(resolver, &question)).await;
    records(answer.map_err(|_| NoAnswer::TimedOut(patience))??)
}

fn question(name: &Name, record_type: RecordType) -> Message {
    let mut name = name.clone();
    name.randomize_label_case();
    let mut message = Message::query();
    message.metadata.recursion_desired = true;
    message.add_query(Query::query(name, record_type));
    let mut edns = Edns::new();
    edns.set_max_payload(DATAGRAM_BYTES_MAX);
    message.set_edns(edns);
    message
}

fn records(answer: Message) -> Result<Vec<Record>, NoAnswer> {
    match answer.metadata.response_code {
        // The chain up to a name that does not exist is an answer too.
        ResponseCode::NoError | ResponseCode::NXDomain => Ok(answer.answers),
        other => Err(NoAnswer::ErrorCode(other)),
    }
}

async fn over_udp(resolver: SocketAddr, question: &Message) -> Result<Message, NoAnswer> {
    let any: IpAddr = match resolver {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).await?;
    // From now on only datagrams from there arrive.
    socket.connect(resolver).await?;
    socket.send(&encode(question)?).await?;
    let mut buffer = [0; DATAGRAM_BYTES_MAX as usize];
    loop {
        let length = socket.recv(&mut buffer).await?;
        // What does not fit may be a forger's: the true answer may still come.
        match read(&buffer[..length], question) {
            Some(answer) if same_capitals(&answer, question) => return Ok(answer),
            _ => {}
        }
    }
}

async fn over_tcp(resolver: SocketAddr, question: &Message) -> Result<Message, NoAnswer> {
    let mut stream = TcpStream::connect(resolver).await?;
    let bytes = encode(question)?;
    let length = u16::try_from(bytes.len()).map_err(io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes()[..], &bytes].concat()).await?;
    let length = stream.read_u16().await?;
    let mut bytes = vec![0; length.into()];
    stream.read_exact(&mut bytes).await?;
    read(&bytes, question).filter(|answer| !answer.metadata.truncation).ok_or(NoAnswer::Unrelated)
}

fn encode(message: &Message) -> io::Result<Vec<u8>> {
    message.to_vec().map_err(io::Error::other)
}

/// Whether an answer preserves the question's letter case. If not, the query is repeated over TCP, which
/// an off-path attacker cannot forge.
fn same_capitals(answer: &Message, question: &Message) -> bool {
    answer.queries[0].name.eq_case(&question.queries[0].name)
}

/// The answer to a question, if it is one.
fn read(bytes: &[u8], question: &Message) -> Option<Message> {
    let answer = Message::from_vec(bytes).ok()?;
    let ([asked], [repeated]) = (&question.queries[..], &answer.queries[..]) else {
        return None;
    };
    let fits = answer.metadata.id == question.metadata.id
        && answer.metadata.message_type == MessageType::Response
        && answer.metadata.op_code == OpCode::Query
        && repeated.name == asked.name
        && repeated.query_type == asked.query_type
        && repeated.query_class == asked.query_class;
    fits.then_some(answer)
}
