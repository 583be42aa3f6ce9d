//! DNS checks against Knot DNS.

use crate::parts::job::{job, text, work};
use crate::parts::support::{Folder, Running, own_address, part};
use remuda_protocol::dispatcher::spec::{DataFormat, JobType};
use remuda_protocol::verifier::check::VerifierCheck;
use remuda_runner::executor::ExecuteError;
use remuda_runner::executor::dns::{DNS_VERIFIER_EXECUTOR_HASH, Dns, DnsConfig};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::process::Command;
use std::time::Duration;

/// The names that every zone has.
const HEAD: &str = "$ORIGIN example.\n$TTL 60\n@ SOA ns hostmaster 1 60 60 60 60\n@ NS ns\n\
                    ns A 127.0.0.1\n";

/// A running knotd.
struct Knot {
    /// Ended before its folder goes.
    _running: Running,
    _folder: Folder,
    addresses: Vec<SocketAddr>,
}

impl Knot {
    /// Serves a zone at some addresses.
    fn start(name: &str, listeners: usize, records: &str) -> Self {
        let folder = Folder::new(name);
        let addresses: Vec<_> = (0..listeners).map(|_| free_address()).collect();
        let listen: Vec<_> =
            addresses.iter().map(|at| format!("{}@{}", at.ip(), at.port())).collect();
        folder.write("example.zone", &format!("{HEAD}{records}"));
        let (listen, path) = (listen.join(", "), folder.path().display());
        let config = format!(
            "server:\n  listen: [ {listen} ]\n  rundir: {path}\n  udp-workers: 1\n  \
             tcp-workers: 1\n  background-workers: 1\n\
             database:\n  storage: {path}/db\n\
             log:\n  - target: stdout\n    any: info\n\
             zone:\n  - domain: example\n    file: {path}/example.zone\n"
        );
        let mut knotd = Command::new(part("knot").join("bin/knotd"));
        knotd.arg("-c").arg(folder.write("knot.conf", &config));
        let mut running = Running::start(&folder, "knotd", &knotd);
        running.until(|| addresses.iter().all(|at| serves_example(*at)).then_some(()));
        Self { _running: running, _folder: folder, addresses }
    }
}

/// Whether a server answers with the authority over its zone, which it has once the zone is loaded.
fn serves_example(at: SocketAddr) -> bool {
    const QUESTION: &[u8] = b"\x07\x07\0\0\0\x01\0\0\0\0\0\0\x07example\0\0\x06\0\x01";
    let mut answer = [0; 512];
    let mut asked = || -> std::io::Result<usize> {
        let socket = UdpSocket::bind((own_address(), 0))?;
        socket.set_read_timeout(Some(Duration::from_millis(500)))?;
        socket.send_to(QUESTION, at)?;
        socket.recv(&mut answer)
    };
    let length = asked().unwrap_or(0);
    // An answer, authoritative, without an error, with one record.
    let authoritative = answer[2] & 0x84 == 0x84 && answer[3] & 0x0f == 0;
    length > QUESTION.len() && authoritative && answer[6..8] == [0, 1]
}

/// An address where nobody listens.
fn free_address() -> SocketAddr {
    let ip = own_address();
    let address = TcpListener::bind((ip, 0)).unwrap().local_addr().unwrap();
    UdpSocket::bind(address).unwrap();
    address
}

/// Asks at some addresses, and waits however long it takes.
fn asking(addresses: impl IntoIterator<Item = SocketAddr>) -> Dns {
    let resolvers = addresses.into_iter().map(|address| address.to_string()).collect();
    Dns::new(&DnsConfig { resolvers, answer_ms: 30_000 }).unwrap()
}

async fn verify(dns: &Dns, check: &VerifierCheck) -> Result<Vec<u8>, ExecuteError> {
    let job_type =
        JobType::Custom { executor_hash: DNS_VERIFIER_EXECUTOR_HASH, params: Vec::new().into() };
    let mut spec = job(job_type, DataFormat::Json);
    spec.verification.checks = vec![check.clone()];
    let mut work = work(&spec);
    work.time_limit = Duration::from_secs(200);
    dns.execute(&work).await
}

/// Asserts what comes of some checks, each with one resolver at least.
async fn assert_checks(dns: &Dns, cases: &[(VerifierCheck, bool)]) {
    for (check, holds) in cases {
        let result = text(verify(dns, check).await);
        assert!(result.ends_with(&format!(r#""passed":{holds}}}"#)), "{check:?} {result}");
    }
}

fn txt_of(fqdn: &str, expected: &str, min_resolvers: u32) -> VerifierCheck {
    let (fqdn, expected_value) = (fqdn.into(), expected.into());
    VerifierCheck::DnsTxtRecordMatch { fqdn, expected_value, min_resolvers }
}

fn txt(fqdn: &str, expected: &str) -> VerifierCheck {
    txt_of(fqdn, expected, 1)
}

fn cname(fqdn: &str, expected: &str) -> VerifierCheck {
    let (fqdn, expected_target) = (fqdn.into(), expected.into());
    VerifierCheck::DnsCnameMatch { fqdn, expected_target, min_resolvers: 1 }
}

#[tokio::test]
async fn texts_match_as_a_whole() {
    let records = "t TXT \"exp\" \"ected\"\nt TXT \"other\"\nq TXT \"say \\\"hi\\\"; \\195\\169\"\n\
                   alias CNAME t\naddress A 127.0.0.1\na.deep TXT \"expected\"\n*.wild TXT \"any\"\n";
    let knot = Knot::start("texts", 1, records);
    let cases = [
        (txt("t.example", "expected"), true),
        (txt("T.EXAMPLE.", "other"), true),
        (txt("t.example", "exp"), false),
        (txt("q.example", "say \"hi\"; é"), true),
        (txt("alias.example", "expected"), true),
        (txt("x.wild.example", "any"), true),
        // A name that does not exist; names that do, and have no text.
        (txt("none.example", "expected"), false),
        (txt("address.example", "expected"), false),
        (txt("deep.example", "expected"), false),
    ];
    assert_checks(&asking(knot.addresses.clone()), &cases).await;
}

#[tokio::test]
async fn a_text_that_fits_no_datagram_comes_over_tcp() {
    let long: String = (0..20).map(|_| format!(" \"{}\"", "x".repeat(255))).collect();
    let knot = Knot::start("long", 1, &format!("long TXT{long}\n"));
    let cases = [
        (txt("long.example", &"x".repeat(5_100)), true),
        (txt("long.example", &"x".repeat(5_099)), false),
    ];
    assert_checks(&asking(knot.addresses.clone()), &cases).await;
}

#[tokio::test]
async fn chains_of_names_are_followed_to_their_end() {
    let steps: String = (0..9).map(|i| format!("h{i} CNAME h{}\n", i + 1)).collect();
    let records = format!(
        "a CNAME b\nb CNAME c\nc A 127.0.0.1\nloop CNAME pool\npool CNAME loop\nself CNAME self\n\
         dangling CNAME gone\nold DNAME new\nx.new A 127.0.0.1\n{steps}h9 A 127.0.0.1\n"
    );
    let knot = Knot::start("chains", 1, &records);
    let cases = [
        (cname("a.example", "c.example"), true),
        (cname("A.Example", "C.EXAMPLE."), true),
        (cname("a.example", "b.example"), false),
        (cname("c.example", "c.example"), false),
        (cname("none.example", "c.example"), false),
        (cname("dangling.example", "gone.example"), true),
        (cname("x.old.example", "x.new.example"), true),
        // Eight hops are followed, and nine are not.
        (cname("h1.example", "h9.example"), true),
        (cname("h0.example", "h9.example"), false),
        (cname("loop.example", "pool.example"), false),
        (cname("loop.example", "loop.example"), false),
        (cname("self.example", "self.example"), false),
        (txt("loop.example", "expected"), false),
    ];
    assert_checks(&asking(knot.addresses.clone()), &cases).await;
}

#[tokio::test]
async fn more_than_half_of_those_that_answer_decide() {
    let told = Knot::start("told", 3, "t TXT \"expected\"\n");
    let untold = Knot::start("untold", 3, "t TXT \"other\"\n");
    let down = free_address();
    // How many have the record, how many have another, and what comes of it.
    for (with, without, passed) in
        [(3, 2, true), (2, 3, false), (2, 2, false), (1, 0, true), (2, 1, true), (0, 1, false)]
    {
        let answering = told.addresses[..with].iter().chain(&untold.addresses[..without]);
        let answering: Vec<_> = answering.copied().collect();
        let least = (with + without) as u32;
        // Who is down has no say, for or against.
        let dns = asking(answering.iter().copied().chain([down]));
        let result = text(verify(&dns, &txt_of("t.example", "expected", least)).await);
        let case = format!("{with} of {least}: {result}");
        assert!(result.ends_with(&format!(r#""passed":{passed}}}"#)), "{case}");
        assert_eq!(result.matches(r#""confirmed":true"#).count(), with, "{case}");
        assert_eq!(result.matches(r#""confirmed":false"#).count(), without, "{case}");
        assert!(answering.iter().all(|address| result.contains(&address.to_string())), "{case}");

        let result = verify(&dns, &txt_of("t.example", "expected", least + 1)).await;
        let Err(ExecuteError::Unreachable(reason)) = result else { panic!("{result:?}") };
        assert!(reason.contains(&down.to_string()), "{reason}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_serve_a_name_says_nothing_of_it() {
    let knot = Knot::start("refuses", 1, "out CNAME www.elsewhere.\n");
    let dns = asking(knot.addresses.clone());
    for check in [
        txt("www.elsewhere", "expected"),
        cname("www.elsewhere", "c.example"),
        // Where the chain leads it would not say.
        cname("out.example", "www.elsewhere"),
    ] {
        let result = verify(&dns, &check).await;
        let Err(ExecuteError::Unreachable(reason)) = result else { panic!("{check:?} {result:?}") };
        assert!(reason.contains("Refused"), "{reason}");
    }
}
