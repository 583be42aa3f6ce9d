//! A DNS server of a few records that answers over UDP and TCP, in good manner or bad.

use hickory_proto::op::{Message, MessageType, ResponseCode};
use hickory_proto::rr::rdata::{CNAME, TXT};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::JoinSet;

/// How it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// As it should.
    Honest,
    /// Not at all.
    Silent,
    /// That it cannot.
    Failing,
    /// Over UDP with forged datagrams first, that have the wrong number, the wrong question or the
    /// wrong capitals; then as it should.
    AmongForgers,
    /// Over TCP only.
    OverTcp,
    /// With all capitals of the question made small.
    Lowercase,
    /// With bytes that are no message.
    Garbled,
}

/// Records by name.
pub(crate) type Zone = Vec<(Name, RData)>;

/// A domain name.
pub(crate) fn name(text: &str) -> Name {
    Name::from_ascii(format!("{}.", text.trim_end_matches('.'))).unwrap()
}

/// A TXT record of some strings.
pub(crate) fn txt(at: &str, strings: &[&[u8]]) -> (Name, RData) {
    (name(at), RData::TXT(TXT::from_bytes(strings.to_vec())))
}

/// A CNAME record.
pub(crate) fn cname(at: &str, to: &str) -> (Name, RData) {
    (name(at), RData::CNAME(CNAME(name(to))))
}

/// A server, as long as this is kept.
pub(crate) struct Resolver {
    pub(crate) address: SocketAddr,
    _tasks: JoinSet<()>,
}

impl Resolver {
    /// On a loopback address.
    pub(crate) async fn start(ip: Ipv4Addr, manner: Manner, zone: Zone) -> Self {
        let (udp, tcp) = bind(ip).await;
        let address = udp.local_addr().unwrap();
        let zone = Arc::new(zone);
        let mut tasks = JoinSet::new();
        tasks.spawn(over_udp(udp, manner, zone.clone()));
        tasks.spawn(async move {
            let mut open = JoinSet::new();
            loop {
                let (stream, _) = tcp.accept().await.unwrap();
                open.spawn(over_tcp(stream, manner, zone.clone()));
            }
        });
        Self { address, _tasks: tasks }
    }
}

/// One port for both.
async fn bind(ip: Ipv4Addr) -> (UdpSocket, TcpListener) {
    loop {
        let udp = UdpSocket::bind((ip, 0)).await.unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()).await {
            return (udp, tcp);
        }
    }
}

async fn over_udp(socket: UdpSocket, manner: Manner, zone: Arc<Zone>) {
    let mut buffer = [0; 4_096];
    loop {
        let (length, from) = socket.recv_from(&mut buffer).await.unwrap();
        let question = Message::from_vec(&buffer[..length]).unwrap();
        let mut datagrams = vec![];
        match manner {
            Manner::Silent | Manner::OverTcp => {}
            Manner::Garbled => datagrams.push(b"garbled".to_vec()),
            Manner::AmongForgers => datagrams.extend(forged(&question)),
            Manner::Honest | Manner::Failing | Manner::Lowercase => {}
        }
        if !matches!(manner, Manner::Silent | Manner::OverTcp | Manner::Garbled) {
            let answer = answer(&question, manner, &zone);
            let room = usize::from(question.max_payload());
            let bytes = answer.to_vec().unwrap();
            let short = || answer.truncate().to_vec().unwrap();
            datagrams.push(if bytes.len() > room { short() } else { bytes });
        }
        for datagram in datagrams {
            socket.send_to(&datagram, from).await.unwrap();
        }
    }
}

async fn over_tcp(mut stream: TcpStream, manner: Manner, zone: Arc<Zone>) {
    let Ok(length) = stream.read_u16().await else {
        return;
    };
    let mut bytes = vec![0; length.into()];
    stream.read_exact(&mut bytes).await.unwrap();
    let question = Message::from_vec(&bytes).unwrap();
    let bytes = match manner {
        Manner::Silent => std::future::pending().await,
        Manner::Garbled => b"garbled".to_vec(),
        _ => answer(&question, manner, &zone).to_vec().unwrap(),
    };
    stream.write_u16(bytes.len() as u16).await.unwrap();
    stream.write_all(&bytes).await.unwrap();
}

/// What a forger sends who does not see the question but knows what it must be about: everything
/// that is claimed is true.
fn forged(question: &Message) -> Vec<Vec<u8>> {
    let asked = &question.queries[0];
    let claim = |message: &mut Message| {
        let data = match asked.query_type {
            RecordType::CNAME => RData::CNAME(CNAME(name("target.example"))),
            _ => RData::TXT(TXT::from_bytes(vec![b"expected"])),
        };
        message.add_answer(Record::from_rdata(asked.name.clone(), 60, data));
    };
    let mut wrong_number = reply(question);
    wrong_number.metadata.id ^= 1;
    let mut wrong_question = reply(question);
    wrong_question.queries[0].name = name("other.example");
    let mut wrong_capitals = reply(question);
    let swapped: String =
        asked
            .name
            .to_ascii()
            .chars()
            .map(|c| {
                if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() }
            })
            .collect();
    wrong_capitals.queries[0].name = Name::from_ascii(swapped).unwrap();
    let mut no_question = reply(question);
    no_question.queries.clear();
    let mut no_answer = reply(question);
    no_answer.metadata.message_type = MessageType::Query;
    [wrong_number, wrong_question, wrong_capitals, no_question, no_answer]
        .into_iter()
        .map(|mut message| {
            claim(&mut message);
            message.to_vec().unwrap()
        })
        .collect()
}

fn reply(question: &Message) -> Message {
    let mut reply = Message::response(question.metadata.id, question.metadata.op_code);
    reply.add_query(question.queries[0].clone());
    reply
}

/// The records of that name and type; behind a CNAME, those of the name it leads to as well, as
/// recursive resolvers do.
fn answer(question: &Message, manner: Manner, zone: &Zone) -> Message {
    let mut reply = reply(question);
    if manner == Manner::Lowercase {
        reply.queries[0].name = reply.queries[0].name.to_lowercase();
    }
    if manner == Manner::Failing {
        reply.metadata.response_code = ResponseCode::ServFail;
        return reply;
    }
    let asked = &question.queries[0];
    let mut here = asked.name.clone();
    for _ in 0..16 {
        let records: Vec<_> = zone.iter().filter(|(name, _)| *name == here).collect();
        if records.is_empty() {
            reply.metadata.response_code = ResponseCode::NXDomain;
        }
        let alias = records.iter().find_map(|(_, data)| match data {
            RData::CNAME(target) => Some(target.0.clone()),
            _ => None,
        });
        for (at, data) in records {
            if data.record_type() == asked.query_type || data.record_type() == RecordType::CNAME {
                reply.add_answer(Record::from_rdata(at.clone(), 60, data.clone()));
            }
        }
        match alias {
            Some(target) if asked.query_type != RecordType::CNAME => here = target,
            _ => break,
        }
    }
    reply
}
