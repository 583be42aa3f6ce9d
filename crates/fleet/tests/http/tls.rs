//! TLS: what is seen on the way, which servers are believed, and what is refused.

use super::server::{Server, folder};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair as Key};
use remuda_fleet::auth::{Access, KeyPair, Scope, Token, TokenHash};
use remuda_fleet::client::{Client, ClientError};
use remuda_fleet::http::{Endpoint, EndpointError, Trust};
use remuda_fleet::message::{LeaseGranted, LeaseRequest, Message, RunSubmission};
use remuda_fleet::orchestrator::{Config, ServeError, TlsFiles, serve};
use remuda_fleet::time::Clock;
use remuda_fleet::worker::Link;
use serde_json::json;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const SECRET: &str = "variable-of-a-job";

/// A private authority and a certificate of it for this machine, in a folder.
struct Authority {
    ca: PathBuf,
    files: TlsFiles,
    issuer: CertifiedIssuer<'static, Key>,
}

impl Authority {
    fn new(folder: &Path) -> Self {
        let mut params = CertificateParams::new(vec![]).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = Key::generate().expect("a key");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("an authority");
        let ca = folder.join("ca.pem");
        std::fs::write(&ca, issuer.pem()).expect("written");
        let files = TlsFiles { certificate: folder.join("tls.pem"), key: folder.join("tls.key") };
        let authority = Self { ca, files, issuer };
        authority.issue("127.0.0.1");
        authority
    }

    fn issue(&self, name: &str) {
        let key = Key::generate().expect("a key");
        let params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        std::fs::write(&self.files.certificate, certificate.pem()).expect("written");
        std::fs::write(&self.files.key, key.serialize_pem()).expect("written");
    }

    fn trust(&self) -> Trust {
        Trust { ca_file: Some(self.ca.clone()), insecure: false }
    }
}

fn guarded(config: &mut Config) {
    let token = |scope: Scope| {
        let name = format!("secret-{scope}");
        Token::new(&scope.to_string(), scope, TokenHash::of(&name))
    };
    config.access = Access([Scope::Submitter, Scope::Enrol].map(token).to_vec());
}

async fn over_tls() -> (Server, Authority) {
    let authority = Authority::new(&folder());
    let files = authority.files.clone();
    let server = Server::with(|config| {
        guarded(config);
        config.tls = Some(files);
        config.request_timeout = Duration::from_secs(2);
    })
    .await;
    (server, authority)
}

fn client(url: &str, trust: &Trust) -> Client {
    let token = Some("secret-submitter".to_owned());
    Client::new(Endpoint::new(url, trust).expect("an address"), token)
}

fn run() -> RunSubmission {
    let spec = json!({ "name": "a", "steps": ["true"], "env": { "PASSWORD": SECRET } });
    let run = json!({ "jobs": [{ "name": "a", "job_spec": spec }] });
    serde_json::from_value(run).expect("a run")
}

/// Everything that went through a connection, either way.
type Heard = Arc<Mutex<Vec<u8>>>;

/// Somebody on the way, with ears.
async fn eavesdropper(to: &str) -> (String, Heard) {
    let (scheme, to) = to.split_once("://").expect("a URL");
    let to: SocketAddr = to.parse().expect("an address");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let url = format!("{scheme}://{}", listener.local_addr().expect("an address"));
    let heard = Heard::default();
    let ears = heard.clone();
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let far = TcpStream::connect(to).await.expect("the orchestrator");
            let (near, far) = (near.into_split(), far.into_split());
            for (mut from, mut to) in [(near.0, far.1), (far.0, near.1)] {
                let ears = ears.clone();
                tokio::spawn(async move {
                    let mut piece = [0; 4096];
                    while let Ok(length @ 1..) = from.read(&mut piece).await {
                        ears.lock().expect("ears").extend_from_slice(&piece[..length]);
                        if to.write_all(&piece[..length]).await.is_err() {
                            return;
                        }
                    }
                });
            }
        }
    });
    (url, heard)
}

/// Submits a run and takes its job through an eavesdropper, who then knows these of the secrets.
async fn overheard(server: &Server, trust: &Trust) -> Vec<&'static str> {
    let (url, heard) = eavesdropper(&server.url).await;
    client(&url, trust).submit(&run(), None).await.expect("submitted");
    let key = Arc::new(KeyPair::generate());
    let endpoint = Endpoint::new(&url, trust).expect("an address");
    let link = Link::new(endpoint, key.clone(), Clock::default());
    link.enrol("secret-enrol").await.expect("enrolled");
    let request = LeaseRequest {
        runner_id: remuda_fleet::id::RunnerId::of(&key.id(), "1").expect("an id"),
        capabilities: BTreeSet::new(),
        max_wait_seconds: 0,
    };
    let granted = link.ask("lease", &request, Duration::ZERO).await.expect("an answer");
    assert!(matches!(granted, Message::LeaseGranted(LeaseGranted { .. })), "{granted:?}");
    let heard = String::from_utf8_lossy(&heard.lock().expect("ears")).into_owned();
    assert!(!heard.is_empty());
    ["secret-submitter", "secret-enrol", "lease_", SECRET]
        .into_iter()
        .filter(|secret| heard.contains(secret))
        .collect()
}

#[tokio::test]
async fn an_eavesdropper_learns_no_token_lease_or_variable_from_tls() {
    let plain = Server::with(guarded).await;
    let all = overheard(&plain, &Trust::default()).await;
    assert_eq!(all.len(), 4, "plain HTTP hides nothing: {all:?}");
    let (server, authority) = over_tls().await;
    assert_eq!(overheard(&server, &authority.trust()).await, Vec::<&str>::new());
    server.stop().await;
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_is_refused_and_a_private_one_can_be_named() {
    let (server, authority) = over_tls().await;
    let stranger = Authority::new(&folder());
    for trust in [Trust::default(), stranger.trust()] {
        let refused = client(&server.url, &trust).token().await.expect_err("not believed");
        assert!(refused.to_string().contains("--ca-file"), "{refused}");
    }
    client(&server.url, &authority.trust()).token().await.expect("believed");
    // A certificate is valid only for the name that it was issued for.
    let elsewhere = server.url.replace("127.0.0.1", "localhost");
    let refused = client(&elsewhere, &authority.trust()).token().await.expect_err("another name");
    assert!(refused.to_string().contains("localhost"), "{refused}");
}

#[tokio::test]
async fn plain_and_encrypted_are_told_apart_on_both_sides() {
    let (server, authority) = over_tls().await;
    let plain = server.url.replace("https", "http");
    let refused = client(&plain, &Trust::default()).token().await.expect_err("not TLS");
    assert!(matches!(&refused, ClientError::Refused { code, .. } if code == "TLS_REQUIRED"));
    assert!(refused.to_string().contains("https://"), "{refused}");
    let open = Server::open().await;
    let secure = open.url.replace("http", "https");
    let refused = client(&secure, &authority.trust()).token().await.expect_err("no TLS");
    assert!(refused.to_string().contains("http://"), "{refused}");
}

#[tokio::test]
async fn a_redirect_does_not_carry_a_token_elsewhere() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let to = elsewhere.local_addr().expect("an address");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let answering = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a request");
        let mut head = [0; 4096];
        let _ = stream.read(&mut head).await.expect("a head");
        let answer = format!(
            "HTTP/1.1 307 X\r\nlocation: http://{to}/api/v1/token\r\ncontent-length: 0\r\n\r\n"
        );
        stream.write_all(answer.as_bytes()).await.expect("sent");
    });
    let refused = client(&url, &Trust::default()).token().await.expect_err("no answer");
    assert!(matches!(refused, ClientError::Nonsense { .. }), "{refused}");
    answering.await.expect("answered");
    let asked = tokio::time::timeout(Duration::from_millis(300), elsewhere.accept()).await;
    assert!(asked.is_err(), "nobody asks there");
}

#[tokio::test]
async fn a_token_is_not_sent_in_the_clear_to_another_machine() {
    let refused = Endpoint::new("http://192.0.2.1:4400", &Trust::default());
    assert!(matches!(refused, Err(EndpointError::Plain(_))), "{refused:?}");
    let listener = TcpListener::bind("0.0.0.0:0").await.expect("a socket");
    let mut config = Config::in_folder(&folder());
    guarded(&mut config);
    let refused = serve(listener, config, std::future::pending()).await;
    assert!(matches!(refused, Err(ServeError::Plain)), "{refused:?}");
    let authority = Authority::new(&folder());
    for (tls, insecure) in [(Some(authority.files), false), (None, true)] {
        let listener = TcpListener::bind("0.0.0.0:0").await.expect("a socket");
        let mut config = Config::in_folder(&folder());
        guarded(&mut config);
        (config.tls, config.insecure) = (tls, insecure);
        serve(listener, config, std::future::ready(())).await.expect("it may");
    }
}

#[tokio::test]
async fn handshakes_that_stall_are_closed_and_keep_nobody_waiting() {
    let (server, authority) = over_tls().await;
    let address = server.url.trim_start_matches("https://");
    let mut silent = TcpStream::connect(address).await.expect("a connection");
    let mut half = TcpStream::connect(address).await.expect("a connection");
    half.write_all(&[0x16, 3, 1]).await.expect("sent");
    client(&server.url, &authority.trust()).token().await.expect("others are served");
    for stream in [&mut silent, &mut half] {
        let mut rest = Vec::new();
        let closed = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut rest));
        // A reset is an end, too.
        let _ = closed.await.expect("closed");
    }
    // One that is open then keeps nobody from an orderly end.
    let _silent = TcpStream::connect(address).await.expect("a connection");
    tokio::time::timeout(Duration::from_secs(9), server.stop()).await.expect("ended");
}

#[tokio::test]
async fn a_certificate_without_its_key_is_refused_at_the_start() {
    let authority = Authority::new(&folder());
    let other = Authority::new(&folder());
    let TlsFiles { certificate, .. } = authority.files;
    let missing = folder().join("none.pem");
    for key in [other.files.key, certificate.clone(), missing] {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
        let mut config = Config::in_folder(&folder());
        config.tls = Some(TlsFiles { certificate: certificate.clone(), key });
        let refused = serve(listener, config, std::future::pending()).await;
        assert!(matches!(refused, Err(ServeError::Tls(_))), "{refused:?}");
    }
}
