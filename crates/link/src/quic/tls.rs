//! TLS as SPEC §13 requires: version 1.3, self-signed certificates, validators pinned by key. TLS does not
//! authenticate the runner; the session does.

use crate::handshakes::PENDING_MAX;
use crate::session::JOBS_MAX;
use crate::sign::ValidatorKey;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{IdleTimeout, TransportConfig, VarInt};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

const ALPN: &[u8] = b"cowboy-cip11/1";
pub(super) const EXPORTER: &[u8] = b"cowboy-cip11-handshake-v1";
/// Required by TLS, and ignored.
pub(super) const SERVER_NAME: &str = "validator.remuda";
/// Prefix of an Ed25519 key in PKCS #8.
const PKCS8: [u8; 16] = *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
/// Prefix of an Ed25519 key in a certificate.
const SPKI: [u8; 12] = *b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";

/// Silence after which a connection is dead.
pub const IDLE: Duration = Duration::from_secs(20);
pub const KEEP_ALIVE: Duration = Duration::from_secs(6);
/// Receive windows in bytes. Transactions have at most 128 KiB, assignments 2 MiB.
const VALIDATOR_WINDOW: u32 = 512 * 1024;
const RUNNER_WINDOW: u32 = 8 * 1024 * 1024;
/// Twice the open jobs, because finished streams take a while to close.
const JOB_STREAMS: u32 = 2 * JOBS_MAX as u32;

#[derive(Debug, Error)]
pub enum TlsError {
    #[error("cannot create a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    #[error("cannot set up TLS: {0}")]
    Rustls(#[from] rustls::Error),
    #[error("cannot set up TLS for QUIC: {0}")]
    Quic(#[from] quinn::crypto::rustls::NoInitialCipherSuite),
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

pub(super) fn server(seed: &[u8; 32]) -> Result<quinn::ServerConfig, TlsError> {
    let key = PrivatePkcs8KeyDer::from([PKCS8.as_slice(), seed].concat());
    let pair = rcgen::KeyPair::from_pkcs8_der_and_sign_algo(&key, &rcgen::PKCS_ED25519)?;
    let params = rcgen::CertificateParams::new(vec![SERVER_NAME.to_owned()])?;
    let certificate = params.self_signed(&pair)?;
    let mut tls = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key))?;
    tls.alpn_protocols = vec![ALPN.to_vec()];
    // No early data and no resumption: every session runs a full handshake.
    tls.max_early_data_size = 0;
    tls.send_tls13_tickets = 0;
    let mut config = quinn::ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    let mut transport = transport(VALIDATOR_WINDOW);
    // The control stream only.
    transport.max_concurrent_bidi_streams(VarInt::from_u32(1));
    config.transport_config(Arc::new(transport));
    config.migration(true);
    // Connections are accepted at once; these bound what piles up before that.
    config.max_incoming(2 * PENDING_MAX);
    config.incoming_buffer_size(64 * 1024).incoming_buffer_size_total(8 * 1024 * 1024);
    Ok(config)
}

/// For a connection to this validator.
pub(super) fn client(validator: ValidatorKey) -> Result<quinn::ClientConfig, TlsError> {
    let provider = provider();
    let pinned = Pinned { validator, algorithms: provider.signature_verification_algorithms };
    let mut tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pinned))
        .with_no_client_auth();
    tls.alpn_protocols = vec![ALPN.to_vec()];
    tls.resumption = rustls::client::Resumption::disabled();
    let mut config = quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    let mut transport = transport(RUNNER_WINDOW);
    transport.max_concurrent_bidi_streams(VarInt::from_u32(JOB_STREAMS));
    transport.keep_alive_interval(Some(KEEP_ALIVE));
    config.transport_config(Arc::new(transport));
    Ok(config)
}

fn transport(window: u32) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport.max_concurrent_uni_streams(VarInt::from_u32(0));
    transport.datagram_receive_buffer_size(None);
    transport.max_idle_timeout(Some(IdleTimeout::try_from(IDLE).expect("20 s fit")));
    transport.receive_window(VarInt::from_u32(window));
    transport.stream_receive_window(VarInt::from_u32(window.min(2 * 1024 * 1024)));
    transport
}

/// Accepts only certificates with the validator's key.
#[derive(Debug)]
struct Pinned {
    validator: ValidatorKey,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Pinned {
    /// Compares the key. `verify_tls13_signature` proves that the peer holds it. Names, dates and issuers
    /// are ignored.
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let parsed = rustls::server::ParsedCertificate::try_from(certificate)?;
        let info = parsed.subject_public_key_info();
        if info.as_ref() == [SPKI.as_slice(), &self.validator].concat() {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(rustls::Error::General("the certificate has another validator's key".to_owned()))
        }
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("TLS 1.2 is not supported".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}
