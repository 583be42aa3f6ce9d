//! The same against a name server that others wrote, if it is installed.

use crate::job::{job, text, work};
use remuda_protocol::dispatcher::spec::{DataFormat, JobType};
use remuda_protocol::verifier::check::VerifierCheck;
use remuda_runner::executor::dns::{DNS_VERIFIER_EXECUTOR_HASH, Dns, DnsConfig};
use std::net::{TcpStream, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A running knotd and its folder.
struct Knot {
    process: Child,
    folder: PathBuf,
    address: String,
}

impl Drop for Knot {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Knot {
    /// Starts it with a zone, if it is installed.
    fn start(zone: &str) -> Option<Self> {
        let folder = std::env::temp_dir().join(format!("remuda-knot-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let path = folder.display();
        let config = format!(
            "server:\n  listen: 127.0.0.1@{port}\n  rundir: {path}\n\
             database:\n  storage: {path}/db\n\
             log:\n  - target: stderr\n    any: warning\n\
             zone:\n  - domain: example\n    file: {path}/example.zone\n"
        );
        std::fs::write(folder.join("knot.conf"), config).unwrap();
        std::fs::write(folder.join("example.zone"), zone).unwrap();
        let process = Command::new("knotd")
            .arg("-c")
            .arg(folder.join("knot.conf"))
            .stdin(Stdio::null())
            .spawn();
        let Ok(process) = process else {
            let _ = std::fs::remove_dir_all(&folder);
            return None;
        };
        let knot = Self { process, folder, address: format!("127.0.0.1:{port}") };
        for _ in 0..100 {
            if TcpStream::connect(&knot.address).is_ok() {
                return Some(knot);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("knotd does not listen at {}", knot.address);
    }
}

#[tokio::test]
#[ignore = "needs knotd, which the set-up does not install yet (Debian: knot)"]
async fn knot_is_understood() {
    let long: String = (0..20).map(|_| format!(" \"{}\"", "x".repeat(255))).collect();
    let zone = format!(
        "$ORIGIN example.\n$TTL 60\n@ SOA ns hostmaster 1 60 60 60 60\n@ NS ns\nns A 127.0.0.1\n\
         t TXT \"exp\" \"ected\"\nt TXT \"other\"\nlong TXT{long}\n\
         a CNAME b\nb CNAME c\nc A 127.0.0.1\nl CNAME m\nm CNAME l\n"
    );
    let knot = Knot::start(&zone).expect("knotd is installed (Debian: knot)");
    let config = DnsConfig { resolvers: vec![knot.address.clone()], ..Default::default() };
    let dns = Dns::new(&config).unwrap();
    let txt = |fqdn: &str, expected: &str| VerifierCheck::DnsTxtRecordMatch {
        fqdn: fqdn.into(),
        expected_value: expected.into(),
        min_resolvers: 1,
    };
    let cname = |fqdn: &str, expected: &str| VerifierCheck::DnsCnameMatch {
        fqdn: fqdn.into(),
        expected_target: expected.into(),
        min_resolvers: 1,
    };
    let cases = [
        (txt("t.example", "expected"), true),
        (txt("T.EXAMPLE.", "other"), true),
        (txt("t.example", "exp"), false),
        (txt("long.example", &"x".repeat(5_100)), true),
        (txt("none.example", "expected"), false),
        (cname("a.example", "c.example"), true),
        (cname("a.example", "b.example"), false),
        (cname("l.example", "m.example"), false),
        (cname("none.example", "c.example"), false),
    ];
    for (check, holds) in cases {
        let job_type = JobType::Custom {
            executor_hash: DNS_VERIFIER_EXECUTOR_HASH,
            params: Vec::new().into(),
        };
        let mut spec = job(job_type, DataFormat::Json);
        spec.verification.checks = vec![check.clone()];
        let result = text(dns.execute(&work(&spec)).await);
        assert!(result.ends_with(&format!(r#""passed":{holds}}}"#)), "{check:?} {result}");
    }
}
