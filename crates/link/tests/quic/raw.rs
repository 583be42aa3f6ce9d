//! Peers that speak QUIC, and beyond it what they like.

use crate::quic::{SEED, SOON, anywhere, key, settings};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Connection, Endpoint, RecvStream, SendStream, TransportConfig};
use remuda_link::frame::Frame;
use remuda_link::quic::server::Server;
use remuda_link::session::{Output, runner};
use remuda_link::wire::{FrameDecoder, JOB_LIMIT, encode};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::timeout;

const ALPN: &[u8] = b"cowboy-cip11/1";
const EXPORTER: &[u8] = b"cowboy-cip11-handshake-v1";
const NAME: &str = "validator.remuda";

/// One of the addresses of this machine; what counts by address counts each for itself.
pub(crate) fn from(last: u8) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::new(127, 0, 0, last), 0))
}

/// Believes everybody.
#[derive(Debug)]
struct Gullible(Arc<CryptoProvider>);

impl ServerCertVerifier for Gullible {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.3 only".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

/// A runner's side, with limits of its own. It never falls silent, so that idling does not end it.
pub(crate) fn config(limits: impl FnOnce(&mut TransportConfig)) -> ClientConfig {
    let provider = Arc::new(ring::default_provider());
    let mut tls = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Gullible(provider)))
        .with_no_client_auth();
    tls.alpn_protocols = vec![ALPN.to_vec()];
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).unwrap()));
    let mut transport = TransportConfig::default();
    transport.keep_alive_interval(Some(Duration::from_secs(1)));
    limits(&mut transport);
    config.transport_config(Arc::new(transport));
    config
}

/// The validator's own TLS, with something else behind it.
pub(crate) fn validator(limits: impl FnOnce(&mut TransportConfig)) -> Endpoint {
    let pkcs8 = [b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20", &SEED[..]];
    let secret = PrivatePkcs8KeyDer::from(pkcs8.concat());
    let pair = rcgen::KeyPair::from_pkcs8_der_and_sign_algo(&secret, &rcgen::PKCS_ED25519).unwrap();
    let names = rcgen::CertificateParams::new(vec![NAME.to_owned()]).unwrap();
    let certificate = names.self_signed(&pair).unwrap();
    let mut tls = rustls::ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], secret.into())
        .unwrap();
    tls.alpn_protocols = vec![ALPN.to_vec()];
    let tls = QuicServerConfig::try_from(tls).unwrap();
    let mut config = quinn::ServerConfig::with_crypto(Arc::new(tls));
    let mut transport = TransportConfig::default();
    limits(&mut transport);
    config.transport_config(Arc::new(transport));
    Endpoint::server(config, anywhere()).unwrap()
}

/// Knocks, and says nothing.
pub(crate) async fn knock(
    endpoint: &Endpoint,
    to: SocketAddr,
    config: &ClientConfig,
) -> Result<Connection, quinn::ConnectionError> {
    endpoint.connect_with(config.clone(), to, NAME).unwrap().await
}

/// What binds a session to its TLS.
pub(crate) fn exporter(connection: &Connection) -> [u8; 32] {
    let mut exporter = [0; 32];
    connection.export_keying_material(&mut exporter, EXPORTER, b"").unwrap();
    exporter
}

/// A peer with a control stream.
pub(crate) struct Peer {
    pub(crate) connection: Connection,
    pub(crate) writer: SendStream,
    reader: RecvStream,
    decoder: FrameDecoder,
    /// Every frame that it sent.
    pub(crate) said: Vec<Frame>,
    /// Dropped last: it carries the connection.
    _endpoint: Endpoint,
}

impl Peer {
    pub(crate) async fn knock(server: &Server, config: &ClientConfig) -> Self {
        let endpoint = Endpoint::client(anywhere()).unwrap();
        let connection = knock(&endpoint, server.address().unwrap(), config).await.unwrap();
        let (writer, reader) = connection.open_bi().await.unwrap();
        let (decoder, said) = (FrameDecoder::new(JOB_LIMIT), Vec::new());
        Self { connection, writer, reader, decoder, said, _endpoint: endpoint }
    }

    /// Proves to be a runner, as an honest one does.
    pub(crate) async fn open(server: &Server, config: &ClientConfig, number: usize) -> Self {
        let mut peer = Self::knock(server, config).await;
        let exporter = exporter(&peer.connection);
        let mut session = runner::Session::new(settings(number), exporter, [1; 32], 100, 0);
        while !session.open() {
            while let Some(output) = session.poll() {
                let Output::Control(frame) = output else { panic!("{output:?}") };
                peer.say(&frame).await;
            }
            session.control(peer.hear().await, 0);
        }
        while let Some(output) = session.poll() {
            if let Output::Control(ping) = output {
                peer.say(&ping).await;
            }
        }
        peer
    }

    pub(crate) async fn say(&mut self, frame: &Frame) {
        self.writer.write_all(&encode(frame)).await.unwrap();
        self.said.push(frame.clone());
    }

    pub(crate) async fn hear(&mut self) -> Frame {
        loop {
            if let Some(frame) = self.decoder.next_frame().unwrap() {
                return frame;
            }
            let mut bytes = [0; 256];
            let count = timeout(SOON, self.reader.read(&mut bytes)).await.expect("in time");
            self.decoder.push(&bytes[..count.unwrap().expect("a frame")]);
        }
    }

    /// The word with which the connection ended.
    pub(crate) async fn ended(&self, within: Duration) -> String {
        let ended = timeout(within, self.connection.closed()).await.expect("it ends in time");
        word(&ended)
    }
}

/// The word of a connection's end.
pub(crate) fn word(error: &quinn::ConnectionError) -> String {
    match error {
        quinn::ConnectionError::ApplicationClosed(close) => {
            String::from_utf8_lossy(&close.reason).into_owned()
        }
        other => other.to_string(),
    }
}

/// A Hello that claims a key.
pub(crate) fn hello(number: usize) -> Frame {
    let mut session = runner::Session::new(settings(number), [0; 32], [1; 32], 100, 0);
    let Some(Output::Control(hello)) = session.poll() else { panic!("it begins with a Hello") };
    assert!(matches!(&hello, Frame::Hello(h) if h.party_pubkey == key(number).public_key().bytes));
    hello
}

/// First datagrams of handshakes that nobody goes on with.
pub(crate) async fn beginnings(count: usize) -> Vec<Vec<u8>> {
    let sink = UdpSocket::bind(anywhere()).await.unwrap();
    let endpoint = Endpoint::client(anywhere()).unwrap();
    let (to, config) = (sink.local_addr().unwrap(), config(|_| ()));
    let (mut known, mut beginnings) = (BTreeSet::new(), Vec::new());
    let mut datagram = [0; 2_048];
    while beginnings.len() < count {
        let _connecting = endpoint.connect_with(config.clone(), to, NAME).unwrap();
        loop {
            let length = timeout(SOON, sink.recv(&mut datagram)).await.unwrap().unwrap();
            // The name that the client chose for the server; goodbyes of older ones bear theirs.
            let name = datagram[6..6 + usize::from(datagram[5])].to_vec();
            if known.insert(name) {
                beginnings.push(datagram[..length].to_vec());
                break;
            }
        }
    }
    beginnings
}
