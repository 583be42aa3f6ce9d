//! A small name server for jobs to ask: one name, one TXT record, at three addresses.

use hickory_proto::op::{Message, MessageType, ResponseCode};
use hickory_proto::rr::rdata::TXT;
use hickory_proto::rr::{RData, Record, RecordType};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::UdpSocket;

/// The name that it knows.
pub(super) const NAME: &str = "ranch.example";
/// What its TXT record says.
pub(super) const TEXT: &str = "remuda-site=ranch-7";
/// Resolvers are told apart by their address, and loopback has many.
const RESOLVERS: u8 = 3;
const TTL_SECONDS: u32 = 60;
const QUESTION_MAX: usize = 1_232;

/// Servers that answer until they are dropped.
pub(super) struct Resolvers {
    pub(super) addresses: Vec<SocketAddr>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Resolvers {
    /// Starts them on free ports.
    pub(super) async fn start() -> std::io::Result<Self> {
        let (mut addresses, mut tasks) = (Vec::new(), Vec::new());
        for last in 1..=RESOLVERS {
            let socket = UdpSocket::bind((Ipv4Addr::new(127, 0, 0, last), 0)).await?;
            addresses.push(socket.local_addr()?);
            tasks.push(tokio::spawn(serve(socket)));
        }
        Ok(Self { addresses, tasks })
    }
}

impl Drop for Resolvers {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

async fn serve(socket: UdpSocket) {
    let mut buffer = [0; QUESTION_MAX];
    while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
        if let Some(answer) = answer(&buffer[..length]) {
            let _ = socket.send_to(&answer, from).await;
        }
    }
}

/// The answer to a question, if it is one.
fn answer(question: &[u8]) -> Option<Vec<u8>> {
    let question = Message::from_vec(question).ok()?;
    let query = question.queries.first()?.clone();
    // With the capitals of the question, by which askers tell answers from forgeries.
    let name = query.name().clone();
    let mut answer = Message::response(question.metadata.id, question.metadata.op_code);
    answer.metadata.message_type = MessageType::Response;
    answer.metadata.recursion_desired = true;
    answer.metadata.recursion_available = true;
    let known = query.name().to_lowercase().to_string().trim_end_matches('.') == NAME;
    answer.metadata.response_code =
        if known { ResponseCode::NoError } else { ResponseCode::NXDomain };
    if known && query.query_type() == RecordType::TXT {
        let text = RData::TXT(TXT::new(vec![TEXT.to_owned()]));
        answer.add_answer(Record::from_rdata(name, TTL_SECONDS, text));
    }
    answer.add_query(query);
    answer.to_vec().ok()
}
