//! TLS of the orchestrator's socket. The certificate is reloaded when its files change.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{self, ServerConfig};

/// Interval at which the files are checked.
const LOOK_EVERY: Duration = Duration::from_secs(10);
const FILE_BYTES_MAX: u64 = 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificate chain in PEM, the server's own first.
    pub certificate: PathBuf,
    /// Private key in PEM.
    pub key: PathBuf,
}

impl TlsFiles {
    /// Checks that key and certificate can be read and match.
    pub fn check(&self) -> Result<(), TlsError> {
        read(self).map(drop)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("{path} cannot be used: {why}", path = .path.display())]
    File { path: PathBuf, why: String },
    #[error("the key does not match the certificate, or its type is not supported: {0}")]
    Pair(rustls::Error),
}

type Modified = [Option<SystemTime>; 2];

/// The current certificate.
pub(super) struct Certificate {
    files: TlsFiles,
    known: RwLock<(Modified, Arc<CertifiedKey>)>,
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Certificate({})", self.files.certificate.display())
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.known.read().unwrap_or_else(PoisonError::into_inner).1.clone())
    }
}

impl Certificate {
    pub(super) fn open(files: TlsFiles) -> Result<Arc<Self>, TlsError> {
        let known = RwLock::new((modified(&files), Arc::new(read(&files)?)));
        Ok(Arc::new(Self { files, known }))
    }

    pub(super) fn acceptor(self: &Arc<Self>) -> TlsAcceptor {
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring has every version of TLS that is safe")
            .with_no_client_auth()
            .with_cert_resolver(self.clone());
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Arc::new(config).into()
    }

    /// Reloads the certificate when it changes. Never returns.
    pub(super) async fn watch(self: Arc<Self>) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            self.look();
        }
    }

    /// Unreadable files change nothing: they may be half written.
    fn look(&self) {
        let changed = modified(&self.files);
        if changed == self.known.read().unwrap_or_else(PoisonError::into_inner).0 {
            return;
        }
        match read(&self.files) {
            Ok(key) => {
                let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
                *known = (changed, Arc::new(key));
                tracing::info!("certificate reloaded");
            }
            Err(error) => tracing::warn!(%error, "certificate not reloaded"),
        }
    }
}

fn modified(files: &TlsFiles) -> Modified {
    [&files.certificate, &files.key]
        .map(|path| std::fs::metadata(path).and_then(|it| it.modified()).ok())
}

fn read(files: &TlsFiles) -> Result<CertifiedKey, TlsError> {
    let chain: Vec<CertificateDer<'static>> =
        bounded(&files.certificate, |path| CertificateDer::pem_file_iter(path)?.collect())?;
    let key = bounded(&files.key, |path| PrivateKeyDer::from_pem_file(path))?;
    CertifiedKey::from_der(chain, key, &ring::default_provider()).map_err(TlsError::Pair)
}

fn bounded<T>(
    path: &Path,
    read: impl FnOnce(&Path) -> Result<T, pem::Error>,
) -> Result<T, TlsError> {
    let failed = |why: String| TlsError::File { path: path.to_owned(), why };
    let io = |error: io::Error| failed(error.to_string());
    if std::fs::metadata(path).map_err(io)?.len() > FILE_BYTES_MAX {
        return Err(failed(format!("it has more than {FILE_BYTES_MAX} bytes")));
    }
    read(path).map_err(|error| match error {
        pem::Error::Io(error) => io(error),
        pem::Error::NoItemsFound => failed("it has no PEM block of the expected type".to_owned()),
        other => failed(other.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::generate_simple_self_signed;

    fn write(files: &TlsFiles) -> CertificateDer<'static> {
        let made = generate_simple_self_signed(["fleet".to_owned()]).expect("a certificate");
        std::fs::write(&files.certificate, made.cert.pem()).expect("written");
        std::fs::write(&files.key, made.signing_key.serialize_pem()).expect("written");
        made.cert.der().clone()
    }

    #[test]
    fn a_renewed_certificate_is_used_and_half_a_renewal_changes_nothing() {
        let folder = std::env::temp_dir().join(format!("fleet-tls-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let files = TlsFiles { certificate: folder.join("a.pem"), key: folder.join("a.key") };
        let first = write(&files);
        let certificate = Certificate::open(files.clone()).expect("a certificate");
        let shown = || certificate.known.read().expect("whole").1.cert[0].clone();
        assert_eq!(shown(), first);
        // The certificate came, and its key has not.
        let old_key = std::fs::read(&files.key).expect("a key");
        let second = write(&files);
        let new_key = std::fs::read(&files.key).expect("a key");
        std::fs::write(&files.key, old_key).expect("written");
        certificate.known.write().expect("whole").0 = [None; 2];
        certificate.look();
        assert_eq!(shown(), first);
        std::fs::write(&files.key, new_key).expect("written");
        certificate.look();
        assert_eq!(shown(), second);
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
