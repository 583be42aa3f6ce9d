//! A small web server that says exactly what a test wants, well or badly.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// A header's value, by its lower-case name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| &value[..])
    }
}

/// What the server does, until it closes the connection.
#[derive(Clone)]
pub(crate) enum Step {
    /// Sends bytes.
    Send(Vec<u8>),
    /// Sends bytes again and again, with a pause each time, until nobody reads them.
    Repeat(Vec<u8>, Duration),
}

/// A whole answer with a body and its length.
pub(crate) fn answer(status: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<Step> {
    let mut bytes = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        bytes.push_str(&format!("{name}: {value}\r\n"));
    }
    bytes.push_str("\r\n");
    vec![Step::Send([bytes.as_bytes(), body].concat())]
}

/// An answer of JSON.
pub(crate) fn json(body: &str) -> Vec<Step> {
    answer("200 OK", &[("content-type", "application/json")], body.as_bytes())
}

/// A redirect.
pub(crate) fn redirect(status: &str, to: &str) -> Vec<Step> {
    answer(status, &[("location", to)], b"")
}

/// A server, as long as this is kept.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Request>>>,
    connections: Arc<Mutex<usize>>,
    _tasks: JoinSet<()>,
}

type Handler = Arc<dyn Fn(&Request) -> Vec<Step> + Send + Sync>;

impl Server {
    /// On 127.0.0.1.
    pub(crate) async fn start(
        handler: impl Fn(&Request) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        Self::start_on(Ipv4Addr::LOCALHOST, None, handler).await
    }

    /// On a loopback address, with TLS if there is an acceptor.
    pub(crate) async fn start_on(
        ip: Ipv4Addr,
        tls: Option<TlsAcceptor>,
        handler: impl Fn(&Request) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(vec![]));
        let connections = Arc::new(Mutex::new(0));
        let mut tasks = JoinSet::new();
        let handler: Handler = Arc::new(handler);
        let (log, count) = (seen.clone(), connections.clone());
        tasks.spawn(async move {
            let mut open = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                *count.lock().unwrap() += 1;
                open.spawn(accept(stream, tls.clone(), handler.clone(), log.clone()));
            }
        });
        Self { address, seen, connections, _tasks: tasks }
    }

    /// Its address with a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }

    /// The connections so far.
    pub(crate) fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }
}

async fn accept(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    handler: Handler,
    log: Arc<Mutex<Vec<Request>>>,
) {
    match tls {
        None => serve(stream, handler, log).await,
        Some(tls) => {
            if let Ok(stream) = tls.accept(stream).await {
                serve(stream, handler, log).await;
            }
        }
    }
}

async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    handler: Handler,
    log: Arc<Mutex<Vec<Request>>>,
) {
    let Some(request) = read(&mut stream).await else {
        return;
    };
    let steps = handler(&request);
    log.lock().unwrap().push(request);
    for step in steps {
        match step {
            Step::Send(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Step::Repeat(bytes, pause) => {
                while stream.write_all(&bytes).await.is_ok() {
                    sleep(pause).await;
                }
            }
        }
    }
    let _ = stream.shutdown().await;
}

async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<Request> {
    let mut bytes = vec![];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let mut request = Request { method, target, headers, body: bytes.split_off(end + 4) };
    let length = request.header("content-length").map_or(0, |length| length.parse().unwrap());
    while request.body.len() < length {
        if stream.read_buf(&mut request.body).await.ok()? == 0 {
            return None;
        }
    }
    Some(request)
}
