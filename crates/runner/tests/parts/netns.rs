//! Addresses that are public in form and yet near: on a network of the test's own, which goes with it.

use crate::namespace::run_in;
use crate::parts::job::{get, text, work};
use crate::parts::support::part;
use remuda_runner::executor::ExecuteError;
use remuda_runner::executor::address::AddressRules;
use remuda_runner::executor::http::{Http, HttpConfig};
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Two addresses of this machine on the public internet, and a neighbour on its IPv6 link.
const OWN_V4: &str = "93.184.216.34";
const OWN_V6: &str = "2606:2800:220:1::5";
const NEIGHBOUR: &str = "2606:2800:220:1::99";
/// One that the machine gets later.
const LATER: &str = "93.184.216.35";

/// Runs a test in a network of its own.
fn alone(test: &str, body: impl Future<Output = ()>) {
    run_in("--net", &format!("parts::netns::{test}"), async {
        ip("link set lo up");
        ip(&format!("addr add {OWN_V4}/24 dev lo"));
        ip(&format!("-6 addr add {OWN_V6}/64 dev lo nodad"));
        body.await;
    });
}

fn ip(words: &str) {
    let done = Command::new(part("netns").join("bin/ip")).args(words.split(' ')).status();
    assert!(done.unwrap().success(), "ip {words}");
}

/// A server that gives away a secret, or leads to another address; and how many have come.
fn server(at: &str, location: Option<String>) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((at.parse::<IpAddr>().unwrap(), 0)).unwrap();
    let (address, visits) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let counted = visits.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = stream.read(&mut [0; 4_096]);
            let head = match &location {
                Some(location) => format!("302 Found\r\nlocation: {location}"),
                None => "200 OK".to_owned(),
            };
            let length = "content-type: text/plain\r\ncontent-length: 6";
            let _ = write!(stream, "HTTP/1.1 {head}\r\n{length}\r\n\r\nsecret");
        }
    });
    (address, visits)
}

fn with(allow: &[&str]) -> Http {
    let allow = allow.iter().map(|net| net.parse().unwrap()).collect();
    let addresses = AddressRules { allow, ..Default::default() };
    Http::new(&HttpConfig { addresses, ..Default::default() }).unwrap()
}

async fn ask(http: &Http, url: &str) -> Result<Vec<u8>, ExecuteError> {
    http.execute(&work(&get(url))).await
}

#[track_caller]
fn assert_refused(result: Result<Vec<u8>, ExecuteError>, what: &str) {
    let told = Err(ExecuteError::Unreachable("cannot look up that name".to_owned()));
    assert_eq!(result, told, "{what}");
}

#[test]
fn public_addresses_of_this_machine_and_its_links_are_not_reached() {
    alone("public_addresses_of_this_machine_and_its_links_are_not_reached", async {
        let servers = [server(OWN_V4, None), server(OWN_V6, None)];
        for (address, visits) in &servers {
            assert_refused(ask(&with(&[]), &format!("http://{address}/")).await, "its own");
            assert_eq!(visits.load(Ordering::SeqCst), 0, "{address}");
        }
        assert_refused(ask(&with(&[]), &format!("http://[{NEIGHBOUR}]/")).await, "a neighbour");

        ip(&format!("addr add {LATER}/32 dev lo"));
        let (later, visits) = server(LATER, None);
        assert_refused(ask(&with(&[]), &format!("http://{later}/")).await, "a new one");
        assert_eq!(
            visits.load(Ordering::SeqCst),
            0,
            "interface addresses are read at each request"
        );

        let (secret, visits) = &servers[0];
        let (door, _) = server("127.0.0.1", Some(format!("http://{secret}/")));
        let led = ask(&with(&["127.0.0.1/32"]), &format!("http://{door}/")).await;
        assert_refused(led, "a redirect");
        assert_eq!(visits.load(Ordering::SeqCst), 0);
        let named = with(&["93.184.216.34/32"]);
        let answer = text(ask(&named, &format!("http://{secret}/")).await);
        assert!(answer.contains("secret"), "what the operator names is reached: {answer}");
    });
}
