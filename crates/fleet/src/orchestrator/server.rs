//! The accept loop: limits, TLS and graceful shutdown.

use super::app::App;
use super::config::Config;
use super::router::router;
use super::tls::{Certificate, TlsError};
use crate::broker::{self, BrokerError};
use crate::object::ObjectError;
use crate::store::StoreError;
use axum::Router;
use axum::body::Body;
use futures::FutureExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

/// Buffer of a connection, and longest head of a request.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Pause after a failed accept, which usually means a lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// First byte of TLS: a handshake record.
const TLS_HANDSHAKE: u8 = 0x16;
/// Answer to plain HTTP on a TLS socket.
const NOT_TLS: &str = "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n\
    {\"error\":{\"code\":\"TLS_REQUIRED\",\"message\":\"this address requires TLS; use an https:// URL\"}}";

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the store of objects cannot be opened: {0}")]
    Objects(ObjectError),
    #[error("the audit log cannot be written: {0}")]
    Audit(io::Error),
    #[error(
        "the socket cannot be used: {0}; another program may have the address, change `listen`"
    )]
    Socket(io::Error),
    /// The sweep or the store ended: a bug.
    #[error("an internal task ended, so leases would never expire; restart the orchestrator")]
    Broken,
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error(transparent)]
    Broker(#[from] BrokerError),
    #[error(
        "without TLS the orchestrator serves this machine only, because anyone on the network path could read tokens, leases and job variables; set a certificate and its key under [tls], or allow it with --insecure"
    )]
    Plain,
    /// No tokens, and reachable from other machines.
    #[error("without tokens it serves this machine only; listen on loopback, or set tokens")]
    Open,
}

/// Serves until `stop` resolves, then drains open requests and closes the store.
pub async fn serve(
    listener: TcpListener,
    config: Config,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    let address = listener.local_addr().map_err(ServeError::Socket)?;
    let open = config.access.open() && config.access_file.is_none();
    if open && !address.ip().is_loopback() {
        return Err(ServeError::Open);
    }
    if config.tls.is_none() && !config.insecure && !address.ip().is_loopback() {
        return Err(ServeError::Plain);
    }
    config.broker.as_ref().map_or(Ok(()), broker::Config::check)?;
    let certificate = config.tls.clone().map(Certificate::open).transpose()?;
    let app = App::open(config).await?;
    let mut beside = JoinSet::new();
    beside.spawn(app.clone().hear());
    beside.spawn(app.clone().announce());
    if let Some(certificate) = &certificate {
        beside.spawn(certificate.clone().watch());
    }
    // The orchestrator stops if one of these ends.
    let mut needed = JoinSet::new();
    needed.spawn(app.clone().sweep());
    needed.spawn(app.clone().remove_objects());
    tracing::info!(%address, tls = certificate.is_some(), "orchestrator listening");
    let mut broken = false;
    let stop = async {
        tokio::select! {
            () = stop => {}
            _ = needed.join_next() => broken = true,
        }
    };
    let tls = certificate.map(|certificate| certificate.acceptor());
    accept(listener, tls, &app, stop).await;
    // They end at their next await. Then this is the only handle of the app.
    beside.shutdown().await;
    needed.shutdown().await;
    if broken {
        return Err(ServeError::Broken);
    }
    match Arc::try_unwrap(app.0) {
        Ok(inner) => Ok(inner.store.close().await?),
        // A request outlived the drain. Everything that was answered is stored.
        Err(_) => Ok(()),
    }
}

async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    app: &App,
    stop: impl Future<Output = ()> + Send,
) {
    let config = &app.0.config;
    let service = router(app.clone());
    let places = Arc::new(Semaphore::new(config.connections_max));
    let open = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut stop = std::pin::pin!(stop.fuse());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "accept failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Over the limit: closing costs less than answering.
        let Ok(place) = places.clone().try_acquire_owned() else { continue };
        let _ = stream.set_nodelay(true);
        while connections.try_join_next().is_some() {}
        let connection = Connection {
            service: service.clone(),
            open: open.watcher(),
            patience: config.request_timeout,
        };
        let (tls, mut stopping) = (tls.clone(), app.stopping());
        connections.spawn(async move {
            match tls {
                None => connection.with(stream).await,
                // At shutdown an unfinished handshake is dropped.
                Some(tls) => {
                    let stream = tokio::select! {
                        stream = handshake(&tls, stream, connection.patience) => stream,
                        _ = stopping.wait_for(|stop| *stop) => None,
                    };
                    if let Some(stream) = stream {
                        connection.with(stream).await;
                    }
                }
            }
            drop(place);
        });
    }
    drop((listener, service));
    app.stop();
    if tokio::time::timeout(config.drain, open.shutdown()).await.is_err() {
        tracing::warn!("drain timed out, open requests dropped");
    }
    connections.shutdown().await;
}

/// `None` if the peer gave up, was too slow, or does not trust the certificate.
async fn handshake(
    tls: &TlsAcceptor,
    mut stream: TcpStream,
    patience: Duration,
) -> Option<impl AsyncRead + AsyncWrite + Unpin + Send + use<>> {
    let shaking = async {
        let mut first = [0];
        if stream.peek(&mut first).await.ok()? > 0 && first[0] != TLS_HANDSHAKE {
            stream.write_all(NOT_TLS.as_bytes()).await.ok()?;
            stream.shutdown().await.ok()?;
            return None;
        }
        tls.accept(stream).await.ok()
    };
    tokio::time::timeout(patience, shaking).await.ok()?
}

struct Connection {
    service: Router,
    open: Watcher,
    patience: Duration,
}

impl Connection {
    /// Serves requests until the connection ends.
    async fn with(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let service = self.service;
        let answer = service_fn(move |request: hyper::Request<Incoming>| {
            service.clone().oneshot(request.map(Body::new))
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.patience)
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), answer);
        // Errors of the peer are ignored.
        let _ = self.open.watch(connection).await;
    }
}
