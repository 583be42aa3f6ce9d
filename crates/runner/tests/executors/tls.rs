//! Web requests over TLS: whom they trust, and that they do not fall back.

use crate::executors::file::TestFile;
use crate::executors::job::{get, text, work};
use crate::executors::server::{Server, Step, json, redirect};
use data_encoding::BASE64;
use futures::future::BoxFuture;
use rcgen::{CertificateParams, KeyPair};
use remuda_runner::executor::ExecuteError;
use remuda_runner::executor::address::AddressRules;
use remuda_runner::executor::http::{Http, HttpConfig};
use remuda_runner::executor::resolve::Resolve;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// Every name is this machine.
struct Here;

impl Resolve for Here {
    fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async { Ok(vec![Ipv4Addr::LOCALHOST.into()]) })
    }
}

/// A server for `web.example`, and the file with its certificate.
async fn start(
    name: &str,
    handler: impl Fn() -> Vec<Step> + Send + Sync + 'static,
) -> (Server, TestFile) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["web.example".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap().der().clone();
    let text = BASE64.encode(&certificate);
    let pem = format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n");
    let file = TestFile::new(name, &pem);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let server = Server::start_on(Ipv4Addr::LOCALHOST, Some(acceptor), move |_| handler()).await;
    (server, file)
}

fn trusting(ca_file: Option<&Path>) -> Http {
    let addresses = AddressRules { allow: vec!["127.0.0.0/8".parse().unwrap()], deny: vec![] };
    let config =
        HttpConfig { addresses, ca_file: ca_file.map(Path::to_owned), ..Default::default() };
    Http::with_resolver(&config, Arc::new(Here)).unwrap()
}

#[tokio::test]
async fn only_the_right_name_with_a_trusted_certificate_is_talked_to() {
    let (server, pem) = start("names", || json("1")).await;
    let port = server.address.port();
    let right = get(&format!("https://web.example:{port}/"));
    let result = trusting(Some(&pem.0)).execute(&work(&right)).await;
    assert!(text(result).starts_with(r#"{"body":1,"#));
    assert_eq!(server.seen().len(), 1);

    for (spec, ca_file) in [
        (&right, None),
        (&get(&format!("https://other.example:{port}/")), Some(&pem.0)),
        (&get(&format!("https://127.0.0.1:{port}/")), Some(&pem.0)),
    ] {
        let result = trusting(ca_file.map(|path| &**path)).execute(&work(spec)).await;
        assert!(matches!(result, Err(ExecuteError::Unreachable(_))), "{result:?}");
    }
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn https_does_not_become_http() {
    let plain = Server::start(|_| json("1")).await;
    let to = plain.url("/").replace("127.0.0.1", "web.example");
    let (server, pem) = start("downgrade", move || redirect("302 Found", &to)).await;
    let spec = get(&format!("https://web.example:{}/", server.address.port()));
    let result = trusting(Some(&pem.0)).execute(&work(&spec)).await;
    assert!(matches!(result, Err(ExecuteError::BadAnswer(_))), "{result:?}");
    assert_eq!(plain.connections(), 0);
}

#[test]
fn a_file_without_certificates_is_an_error() {
    let config = HttpConfig { ca_file: Some("/nonexistent.pem".into()), ..Default::default() };
    assert!(Http::new(&config).is_err());
}
