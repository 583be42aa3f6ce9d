//! A connection for each request: objects are few and large.

use axum::body::Body;
use futures::Stream;
use hyper::body::{Body as _, Incoming};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Bytes that are read from the disk at a time.
const PIECE_BYTES: usize = 64 * 1024;
/// The time for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time for the head of an answer, the sending of a large object included.
const SENT_TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// The same where nothing is sent, and for the whole of a short answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest page of a list.
const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The way to a store.
#[derive(Clone)]
pub(super) struct Wire {
    address: String,
    host: String,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire").field("address", &self.address).finish_non_exhaustive()
    }
}

trait Both: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Both for T {}

fn other(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}

impl Wire {
    pub(super) fn new(endpoint: &str) -> io::Result<Self> {
        let endpoint = endpoint.trim_end_matches('/');
        let (host, secure) =
            match (endpoint.strip_prefix("https://"), endpoint.strip_prefix("http://")) {
                (Some(host), _) => (host, true),
                (_, Some(host)) => (host, false),
                _ => return Err(other("its endpoint must begin with http:// or https://")),
            };
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => (name, Some(port)),
            _ => (host, None),
        };
        let port = port.unwrap_or(if secure { "443" } else { "80" });
        let tls = secure.then(|| {
            let roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
            let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
            let config = ClientConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .map_err(other)?
                .with_root_certificates(roots)
                .with_no_client_auth();
            let server = ServerName::try_from(name.to_owned()).map_err(other)?;
            Ok::<_, io::Error>((TlsConnector::from(Arc::new(config)), server))
        });
        Ok(Self { address: format!("{name}:{port}"), host: host.to_owned(), tls: tls.transpose()? })
    }

    /// As the `host` header has it.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    pub(super) async fn send(&self, request: Request<Body>) -> io::Result<Response<Incoming>> {
        let connecting = tokio::time::timeout(CONNECT_TIMEOUT, self.connect());
        let stream = connecting.await.map_err(|_| other("it does not take connections"))??;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(other)?;
        // It ends with the answer's body; what goes wrong is seen there.
        tokio::spawn(async move {
            let _ = connection.await;
        });
        let patience = if request.method() == Method::PUT { SENT_TIMEOUT } else { ANSWER_TIMEOUT };
        let answer = tokio::time::timeout(patience, sender.send_request(request));
        answer.await.map_err(|_| other("it does not answer"))?.map_err(other)
    }

    async fn connect(&self) -> io::Result<Box<dyn Both>> {
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        Ok(match &self.tls {
            Some((tls, server)) => Box::new(tls.connect(server.clone(), stream).await?),
            None => Box::new(stream),
        })
    }
}

/// A file, to be sent.
pub(in crate::object) fn file_body(file: File) -> Body {
    Body::from_stream(futures::stream::try_unfold(file, |mut file| async move {
        let mut piece = vec![0; PIECE_BYTES];
        let read = file.read(&mut piece).await?;
        piece.truncate(read);
        Ok::<_, io::Error>((read > 0).then_some((piece, file)))
    }))
}

/// A short answer.
pub(super) async fn text(body: Incoming) -> io::Result<String> {
    let bytes = axum::body::to_bytes(Body::new(body), TEXT_BYTES_MAX);
    let bytes = tokio::time::timeout(ANSWER_TIMEOUT, bytes).await;
    let bytes = bytes.map_err(|_| other("its answer does not end"))?.map_err(other)?;
    String::from_utf8(bytes.into()).map_err(other)
}

/// A body, piece by piece.
#[derive(Debug)]
pub(in crate::object) struct Bytes(Incoming);

impl Bytes {
    pub(super) fn new(body: Incoming) -> Self {
        Self(body)
    }
}

impl Stream for Bytes {
    type Item = io::Result<axum::body::Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let frame = std::task::ready!(Pin::new(&mut self.0).poll_frame(context));
            match frame {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(other(error)))),
                Some(Ok(frame)) => {
                    // Trailers are nobody's business.
                    if let Ok(data) = frame.into_data() {
                        return Poll::Ready(Some(Ok(data)));
                    }
                }
            }
        }
    }
}
