//! One HTTP/1.1 exchange over a new connection, to an address that was checked.
//!
//! The name is looked up once, each address is checked, and one that passed is connected to by
//! number, which rules out DNS rebinding. There is no proxy, no cookie, no decompression, no
//! redirect and no retry here, and no connection is reused. The caller enforces time limits:
//! dropping the future closes the connection.

use super::address::{AddressRefusal, AddressRules};
use super::near;
use super::resolve::Resolve;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::header::{CONNECTION, HOST, HeaderMap, HeaderValue};
use hyper::{Method, Request, StatusCode, client::conn::http1};
use hyper_util::rt::TokioIo;
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use rustls::{ClientConfig, RootCertStore};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use url::{Host, Url};

/// The error for a name without an address.
pub(super) const NOT_FOUND: &str = "cannot look up";

/// Addresses of one name that are tried; a name may have hundreds.
const ADDRESSES_MAX: usize = 4;
/// Header lines of an answer.
const HEADERS_MAX: usize = 128;
/// Bytes of an answer's head, at least hyper's 8 KiB.
const HEAD_BYTES_MAX: usize = 32 * 1024;
/// How long one address may take to answer, TLS included.
const CONNECT: Duration = Duration::from_secs(10);

#[derive(Clone)]
pub(super) struct Transport {
    rules: AddressRules,
    resolver: Arc<dyn Resolve>,
    tls: TlsConnector,
}

pub(super) struct Outgoing<'a> {
    pub method: &'a Method,
    /// Where to. Its fragment stays here.
    pub url: &'a Url,
    /// Header lines, without `host` and those that belong to the connection.
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// What is answered. The body is still on its way.
pub(super) struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    body: Incoming,
    /// Keeps the connection going, and ends it when this is dropped.
    _connection: JoinSet<()>,
}

/// A certificate authority that cannot be used.
#[derive(Debug, Error)]
#[error("{path}: {reason}")]
pub struct CaError {
    path: PathBuf,
    reason: String,
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub(super) enum TransportError {
    /// Not an address that can be asked.
    #[error("{0}")]
    BadUrl(&'static str),
    /// The rules forbid every address of it.
    #[error(transparent)]
    Refused(#[from] AddressRefusal),
    #[error("{0}")]
    NotConnected(String),
    /// It broke off after the request, or a part of it, had left.
    #[error("{0}")]
    Broken(String),
    /// An answer, but no proper HTTP.
    #[error("{0}")]
    NotHttp(String),
    /// The body has more bytes than are wanted.
    #[error("more than {0} bytes")]
    TooLarge(usize),
}

impl Transport {
    /// With an operator's rules; `ca_file` names certificates to trust besides the public ones.
    pub(super) fn new(
        rules: AddressRules,
        resolver: Arc<dyn Resolve>,
        ca_file: Option<&Path>,
    ) -> Result<Self, CaError> {
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        if let Some(path) = ca_file {
            add_roots(&mut roots, path)
                .map_err(|reason| CaError { path: path.to_owned(), reason })?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring has the default versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { rules, resolver, tls: TlsConnector::from(Arc::new(config)) })
    }

    /// Sends a request and waits for the head of its answer.
    pub(super) async fn send(&self, outgoing: Outgoing<'_>) -> Result<Answer, TransportError> {
        let url = outgoing.url;
        let secure = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(TransportError::BadUrl("only http and https can be asked")),
        };
        let host = url.host().ok_or(TransportError::BadUrl("there is no host"))?;
        let port = url.port_or_known_default().expect("both schemes have a port");
        let request = request(outgoing)?;
        let mut last = None;
        for address in self.addresses(&host).await? {
            let address = SocketAddr::new(address, port);
            match timeout(CONNECT, self.connect(address, &host, secure)).await {
                Ok(Ok(stream)) => return exchange(stream, request).await,
                Ok(Err(error)) => last = Some(format!("{address}: {error}")),
                Err(_) => last = Some(format!("{address} did not answer within {CONNECT:?}")),
            }
        }
        let nowhere = || format!("{NOT_FOUND} {host}: it has no address");
        Err(TransportError::NotConnected(last.unwrap_or_else(nowhere)))
    }

    /// The addresses of a host that may be connected to.
    async fn addresses(&self, host: &Host<&str>) -> Result<Vec<IpAddr>, TransportError> {
        let mut found = match host {
            Host::Ipv4(address) => vec![IpAddr::V4(*address)],
            Host::Ipv6(address) => vec![IpAddr::V6(*address)],
            Host::Domain(name) => self.resolver.resolve(name).await.map_err(|error| {
                TransportError::NotConnected(format!("{NOT_FOUND} {name}: {error}"))
            })?,
        };
        let mut refusal = None;
        let check = |address: IpAddr| match self.rules.check(address) {
            // The operator may name any address.
            Ok(()) if !self.rules.names(address) => near::check(address),
            end => end,
        };
        found.retain(|address| match check(*address) {
            Ok(()) => true,
            Err(error) => {
                refusal = Some(error);
                false
            }
        });
        found.truncate(ADDRESSES_MAX);
        match refusal {
            Some(refusal) if found.is_empty() => Err(refusal.into()),
            _ => Ok(found),
        }
    }

    async fn connect(
        &self,
        address: SocketAddr,
        host: &Host<&str>,
        secure: bool,
    ) -> io::Result<Box<dyn Stream>> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        if !secure {
            return Ok(Box::new(stream));
        }
        let name = match host {
            Host::Domain(name) => {
                // Certificates are for names without their last dot.
                let name = name.strip_suffix('.').unwrap_or(name);
                ServerName::try_from(name.to_owned()).map_err(io::Error::other)?
            }
            Host::Ipv4(address) => ServerName::from(IpAddr::V4(*address)),
            Host::Ipv6(address) => ServerName::from(IpAddr::V6(*address)),
        };
        Ok(Box::new(self.tls.connect(name, stream).await?))
    }
}

/// A connection, with TLS or without.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

fn add_roots(roots: &mut RootCertStore, path: &Path) -> Result<(), String> {
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| error.to_string())?;
    let before = roots.len();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    if roots.len() == before { Err("no certificate in it".into()) } else { Ok(()) }
}

/// The request with path and query only, and with the headers of the connection.
fn request(outgoing: Outgoing<'_>) -> Result<Request<Full<Bytes>>, TransportError> {
    let unusable = || TransportError::BadUrl("it cannot be written into a request");
    let url = outgoing.url;
    let target = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let host = match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (Some(host), None) => host.to_owned(),
        (None, _) => return Err(unusable()),
    };
    let mut request = Request::builder()
        .method(outgoing.method)
        .uri(target)
        .body(Full::new(outgoing.body))
        .map_err(|_| unusable())?;
    *request.headers_mut() = outgoing.headers;
    let host = HeaderValue::try_from(host).map_err(|_| unusable())?;
    request.headers_mut().insert(HOST, host);
    request.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    Ok(request)
}

async fn exchange(
    stream: Box<dyn Stream>,
    request: Request<Full<Bytes>>,
) -> Result<Answer, TransportError> {
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| TransportError::NotConnected(error.to_string()))?;
    let mut driver = JoinSet::new();
    driver.spawn(async move {
        // Errors reach the caller through the response.
        let _ = connection.await;
    });
    let answer = sender.send_request(request).await.map_err(broken)?;
    let (head, body) = answer.into_parts();
    Ok(Answer { status: head.status, headers: head.headers, body, _connection: driver })
}

fn broken(error: hyper::Error) -> TransportError {
    if error.is_parse_too_large() {
        TransportError::NotHttp("its head is too large".into())
    } else if error.is_parse() {
        TransportError::NotHttp(error.to_string())
    } else {
        TransportError::Broken(error.to_string())
    }
}

impl Answer {
    /// The next piece of the body.
    pub(super) async fn piece(&mut self) -> Result<Option<Bytes>, TransportError> {
        while let Some(frame) = self.body.frame().await {
            // Trailers are ignored.
            if let Ok(data) = frame.map_err(broken)?.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// The whole body, if it has at most `limit` bytes. A body that announces more is not read.
    pub(super) async fn body(&mut self, limit: usize) -> Result<Vec<u8>, TransportError> {
        self.body_told(limit, |_| {}).await
    }

    /// The announced length of the body.
    pub(super) fn announced(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    /// The same, reporting the number of bytes read.
    pub(super) async fn body_told(
        &mut self,
        limit: usize,
        mut told: impl FnMut(usize),
    ) -> Result<Vec<u8>, TransportError> {
        if self.body.size_hint().lower() > limit as u64 {
            return Err(TransportError::TooLarge(limit));
        }
        let mut body = Vec::new();
        while let Some(piece) = self.piece().await? {
            if piece.len() > limit - body.len() {
                return Err(TransportError::TooLarge(limit));
            }
            body.extend_from_slice(&piece);
            told(body.len());
        }
        Ok(body)
    }
}
