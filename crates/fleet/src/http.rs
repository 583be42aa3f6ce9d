//! HTTP client for requests with credentials: tokens, signatures, grants.
//!
//! `https://` trusts Mozilla's certificate authorities and those of [`Trust::ca_file`]. Plain HTTP beyond
//! loopback needs [`Trust::insecure`]. Redirects and proxies of the environment are ignored: both would pass
//! the credential on.

use axum::body::Body;
use axum::http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::error::Error;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::{self, CertificateError, ClientConfig, RootCertStore};

/// Timeout of connecting, TLS included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Idle connections are closed before usual servers and proxies do so.
const IDLE_MAX: Duration = Duration::from_secs(50);
/// Largest CA file: more than Mozilla's whole list.
const CA_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Trusted servers, and whether plain connections to other machines are allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// Certificates of private authorities in PEM, trusted besides Mozilla's.
    pub ca_file: Option<PathBuf>,
    /// Allows plain connections to other machines: everybody on the network path can read and use what is
    /// sent.
    pub insecure: bool,
}

impl Trust {
    pub(crate) fn allows_plain(&self, host: &str) -> bool {
        self.insecure || is_this_machine(host)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    #[error("{0:?} is not the URL of an orchestrator; an example: https://fleet.example.com:4400")]
    Url(String),
    #[error(
        "{0} uses plain HTTP to another machine, so anyone on the network path can read tokens, leases and job variables; use https://, or allow it with --insecure (`insecure = true` in settings)"
    )]
    Plain(String),
    #[error("certificates in {path} cannot be used: {why}; name a file with certificates in PEM", path = .path.display())]
    Ca { path: PathBuf, why: String },
}

/// An orchestrator's URL with a client for it.
#[derive(Clone, Debug)]
pub struct Endpoint {
    url: String,
    http: Http,
}

impl Endpoint {
    /// Checks the URL: scheme, host and optional port.
    pub fn new(url: &str, trust: &Trust) -> Result<Self, EndpointError> {
        let url = url.trim_end_matches('/');
        let odd = url.contains(['?', '#', '@', ' ', '\\']);
        let uri = url.parse::<Uri>().ok().filter(|uri| !odd && uri.path() == "/");
        let host = uri.as_ref().and_then(|uri| Some((uri.scheme_str()?, uri.host()?)));
        match host {
            Some(("https", _)) => {}
            Some(("http", host)) if trust.allows_plain(host) => {}
            Some(("http", _)) => return Err(EndpointError::Plain(url.to_owned())),
            _ => return Err(EndpointError::Url(url.to_owned())),
        }
        Ok(Self { url: url.to_owned(), http: Http::new(trust.ca_file.as_deref())? })
    }

    /// Without a trailing slash.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn http(&self) -> &Http {
        &self.http
    }
}

/// Whether a host is this machine.
pub(crate) fn is_this_machine(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => bare.eq_ignore_ascii_case("localhost"),
    }
}

/// A client with a connection pool.
#[derive(Clone, Debug)]
pub(crate) struct Http(Arc<Client<HttpsConnector<HttpConnector>, Body>>);

impl Http {
    pub(crate) fn new(ca_file: Option<&Path>) -> Result<Self, EndpointError> {
        let tls = client_config(ca_file)?;
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE_MAX)
            .pool_timer(TokioTimer::new())
            .build(connector);
        Ok(Self(Arc::new(client)))
    }

    /// Sends a request and returns the response's head. The caller sets a timeout.
    pub(crate) async fn send(&self, request: Request<Body>) -> Result<Response<Body>, String> {
        let answer = self.exchange(request).await.map_err(|error| reason(&error))?;
        Ok(answer.map(Body::new))
    }

    /// The same with the original error.
    pub(crate) async fn exchange(
        &self,
        request: Request<Body>,
    ) -> Result<Response<Incoming>, legacy::Error> {
        self.0.request(request).await
    }
}

/// Streams a file from its position.
pub(crate) fn file_body(file: File) -> Body {
    Body::from_stream(futures::stream::try_unfold(file, |mut file| async move {
        let mut chunk = vec![0; 64 * 1024];
        let read = file.read(&mut chunk).await?;
        chunk.truncate(read);
        Ok::<_, std::io::Error>((read > 0).then_some((chunk, file)))
    }))
}

/// TLS client configuration: Mozilla's authorities and those in a file.
pub(crate) fn client_config(ca_file: Option<&Path>) -> Result<ClientConfig, EndpointError> {
    let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    if let Some(path) = ca_file {
        add(path, &mut roots).map_err(|why| EndpointError::Ca { path: path.to_owned(), why })?;
    }
    Ok(ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring has every version of TLS that is safe")
        .with_root_certificates(roots)
        .with_no_client_auth())
}

fn add(path: &Path, roots: &mut RootCertStore) -> Result<(), String> {
    let bytes = std::fs::metadata(path).map_err(|error| error.to_string())?.len();
    if bytes > CA_BYTES_MAX {
        return Err(format!("the file has {bytes} bytes, the limit is {CA_BYTES_MAX}"));
    }
    let found = CertificateDer::pem_file_iter(path).map_err(unreadable)?;
    let mut count = 0;
    for certificate in found {
        let certificate = certificate.map_err(unreadable)?;
        roots.add(certificate).map_err(|error| error.to_string())?;
        count += 1;
    }
    if count == 0 {
        return Err("the file contains no certificate".to_owned());
    }
    Ok(())
}

fn unreadable(error: pem::Error) -> String {
    match error {
        pem::Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}

/// The root cause, with advice where it is known.
pub(crate) fn reason(error: &(dyn Error + 'static)) -> String {
    let mut deepest = error;
    loop {
        if let Some(tls) = tls_error(deepest) {
            return explain(tls);
        }
        match deepest.source() {
            Some(source) => deepest = source,
            None => return deepest.to_string(),
        }
    }
}

/// An `io::Error`'s inner error is not its source, and may be nested.
pub(crate) fn tls_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    match error.downcast_ref::<std::io::Error>() {
        Some(outer) => tls_error(outer.get_ref()?),
        None => error.downcast_ref(),
    }
}

fn explain(error: &rustls::Error) -> String {
    match error {
        // BadSignature: a regenerated private authority has the same name and another key.
        rustls::Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => {
            "no trusted authority issued its certificate; for a private authority, --ca-file (`ca_file` in settings) must name the certificate of that authority".to_owned()
        }
        rustls::Error::InvalidMessage(_) => {
            "it does not speak TLS; for plain HTTP, use an http:// URL".to_owned()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(url: &str, insecure: bool) -> Result<Endpoint, EndpointError> {
        Endpoint::new(url, &Trust { insecure, ..Trust::default() })
    }

    #[tokio::test]
    async fn plain_http_leaves_this_machine_only_when_allowed() {
        for near in
            ["http://127.0.0.1:1/", "http://localhost:1", "http://[::1]:1", "http://127.9.9.9"]
        {
            assert!(endpoint(near, false).is_ok(), "{near}");
        }
        for far in [
            "http://10.0.0.1:1",
            "http://fleet:4400",
            "http://[fe80::1]",
            "http://localhost.example.com",
        ] {
            let refused = endpoint(far, false).expect_err(far);
            assert!(refused.to_string().contains("--insecure"), "{refused}");
            assert!(endpoint(far, true).is_ok(), "{far}");
            assert!(endpoint(&far.replace("http", "https"), false).is_ok(), "{far}");
        }
    }

    #[tokio::test]
    async fn an_endpoint_is_a_scheme_and_a_host() {
        assert_eq!(endpoint("https://a:1/", false).expect("a URL").url(), "https://a:1");
        for wrong in [
            "ftp://a",
            "a:1",
            "https://",
            "https://a/b",
            "https://u@a",
            "https://a b",
            "https://a/?b",
            "",
        ] {
            assert!(matches!(endpoint(wrong, true), Err(EndpointError::Url(_))), "{wrong}");
        }
    }

    #[test]
    fn a_file_without_certificates_is_no_authority() {
        for path in ["/dev/null", "/nonexistent/ca.pem"] {
            let trust = Trust { ca_file: Some(path.into()), insecure: false };
            let refused = Endpoint::new("https://a", &trust).expect_err(path);
            assert!(matches!(refused, EndpointError::Ca { .. }), "{refused}");
        }
    }
}
