//! Jobs and servers that mean harm.

use crate::executors::eth::{send, sending};
use crate::executors::http::open;
use crate::executors::job::{assert_timed_out, get, request, text, work};
use crate::executors::llm::{asking, hello};
use crate::executors::server::{Server, Step, answer, json, redirect};
use futures::future::BoxFuture;
use remuda_protocol::dispatcher::spec::DataFormat;
use remuda_runner::executor::ExecuteError;
use remuda_runner::executor::address::AddressRules;
use remuda_runner::executor::http::{Http, HttpConfig};
use remuda_runner::executor::resolve::Resolve;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const VICTIM: Ipv4Addr = Ipv4Addr::LOCALHOST;
/// Where the attacker's server is; the rules of some tests allow it, and nothing else.
const ATTACKER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// DNS in an attacker's hand: one answer after the other, the last one for good.
struct Script {
    answers: Mutex<Vec<Vec<IpAddr>>>,
    asked: AtomicUsize,
}

impl Script {
    fn new(answers: &[&[&str]]) -> Arc<Self> {
        let read = |answer: &&[&str]| answer.iter().map(|text| text.parse().unwrap()).collect();
        let answers = Mutex::new(answers.iter().rev().map(read).collect());
        Arc::new(Self { answers, asked: AtomicUsize::new(0) })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Resolve for Script {
    fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.len() > 1 { answers.pop().unwrap() } else { answers[0].clone() };
        Box::pin(async move { Ok(answer) })
    }
}

/// An executor with the rules of an operator who wrote none.
fn closed() -> Http {
    Http::new(&HttpConfig::default()).unwrap()
}

/// An executor that reaches the attacker's server only.
fn reaching_attacker(script: Arc<Script>) -> Http {
    let addresses = AddressRules { allow: vec![IpAddr::V4(ATTACKER).into()], deny: vec![] };
    Http::with_resolver(&HttpConfig { addresses, ..Default::default() }, script).unwrap()
}

/// What may not be reached is told as what is not there.
fn assert_not_allowed(result: Result<Vec<u8>, ExecuteError>, what: &str) {
    let told = Err(ExecuteError::Unreachable("cannot look up that name".to_owned()));
    assert_eq!(result, told, "{what}");
}

#[tokio::test]
async fn no_spelling_of_an_inner_address_is_reached() {
    let server = Server::start(|_| json("1")).await;
    let port = server.address.port();
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0x7f.1",
        "127.0.0.1.",
        "0",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "169.254.169.254",
        "[fd00:ec2::254]",
        "10.0.0.1",
        "%31%32%37.0.0.1",
        "①②⑦.0.0.1",
    ] {
        let spec = get(&format!("http://{host}:{port}/latest/meta-data"));
        assert_not_allowed(closed().execute(&work(&spec)).await, host);
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_name_of_an_inner_address_is_not_reached() {
    let server = Server::start(|_| json("1")).await;
    let url = format!("http://innocent.example:{}/", server.address.port());
    for answers in [&["127.0.0.1"][..], &["::1", "10.0.0.1", "::ffff:127.0.0.1"]] {
        let config = HttpConfig::default();
        let http = Http::with_resolver(&config, Script::new(&[answers])).unwrap();
        assert_not_allowed(http.execute(&work(&get(&url))).await, &answers.join(" "));
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn of_several_addresses_only_the_allowed_are_tried() {
    let victim = Server::start_on(VICTIM, None, |_| json("1")).await;
    let script = Script::new(&[&["127.0.0.1", "127.0.0.2"]]);
    let url = format!("http://mixed.example:{}/", victim.address.port());
    // Nobody listens at the attacker's address with this port.
    let result = reaching_attacker(script).execute(&work(&get(&url))).await;
    assert!(matches!(result, Err(ExecuteError::Unreachable(_))), "{result:?}");
    assert_eq!(victim.connections(), 0);
}

#[tokio::test]
async fn a_redirect_to_an_inner_address_is_not_followed() {
    let victim = Server::start_on(VICTIM, None, |_| json("\"secret\"")).await;
    let port = victim.address.port();
    for to in [
        format!("http://127.0.0.1:{port}/"),
        format!("//127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        "http://169.254.169.254/latest/meta-data/".into(),
    ] {
        let target = to.clone();
        let attacker =
            Server::start_on(ATTACKER, None, move |_| redirect("302 Found", &target)).await;
        let script = Script::new(&[&["127.0.0.1"]]);
        let spec = get(&attacker.url("/"));
        assert_not_allowed(reaching_attacker(script).execute(&work(&spec)).await, &to);
    }
    assert_eq!(victim.connections(), 0);
}

#[tokio::test]
async fn a_redirect_leads_to_no_other_scheme() {
    for to in
        ["file:///etc/passwd", "ftp://127.0.0.2/", "gopher://127.0.0.2/", "http://", "//u:p@h/"]
    {
        let attacker = Server::start_on(ATTACKER, None, |_| redirect("302 Found", to)).await;
        let spec = get(&attacker.url("/"));
        let result = reaching_attacker(Script::new(&[&["127.0.0.2"]])).execute(&work(&spec)).await;
        assert!(matches!(result, Err(ExecuteError::BadAnswer(_))), "{to}: {result:?}");
    }
}

#[tokio::test]
async fn dns_that_changes_its_mind_gains_nothing() {
    let victim = Server::start_on(VICTIM, None, |_| json("\"secret\"")).await;
    let port = victim.address.port();
    // One request asks DNS once: what is checked is what is connected to.
    let script = Script::new(&[&["127.0.0.2"], &["127.0.0.1"]]);
    let spec = get(&format!("http://rebind.example:{port}/"));
    let result = reaching_attacker(script.clone()).execute(&work(&spec)).await;
    assert!(matches!(result, Err(ExecuteError::Unreachable(_))), "{result:?}");
    assert_eq!((script.asked(), victim.connections()), (1, 0));

    // A redirect and a retry ask again, and check again.
    let attacker = Server::start_on(ATTACKER, None, move |_| {
        redirect("302 Found", &format!("http://rebind.example:{port}/"))
    })
    .await;
    let script = Script::new(&[&["127.0.0.2"], &["127.0.0.1"]]);
    let spec = get(&format!("http://rebind.example:{}/", attacker.address.port()));
    assert_not_allowed(reaching_attacker(script.clone()).execute(&work(&spec)).await, "redirect");
    assert_eq!((script.asked(), attacker.connections(), victim.connections()), (2, 1, 0));

    let script = Script::new(&[&["127.0.0.2"], &["127.0.0.1"]]);
    let mut spec = get(&format!("http://rebind.example:{port}/"));
    spec.bounds.max_retries = 1;
    assert_not_allowed(reaching_attacker(script.clone()).execute(&work(&spec)).await, "retry");
    assert_eq!((script.asked(), victim.connections()), (2, 0));
}

#[tokio::test]
async fn credentials_stay_with_their_host() {
    let other = Server::start_on(VICTIM, None, |_| json("1")).await;
    let to = other.url("/");
    let first =
        Server::start_on(ATTACKER, None, move |_| redirect("307 Temporary Redirect", &to)).await;
    let headers = [("Authorization", "Bearer x"), ("Cookie", "a=b"), ("X-Other", "kept")];
    let spec = request("GET", &first.url("/"), &headers, b"", "");
    open().execute(&work(&spec)).await.unwrap();
    assert_eq!(first.seen()[0].header("authorization"), Some("Bearer x"));
    let seen = &other.seen()[0];
    assert_eq!((seen.header("authorization"), seen.header("cookie")), (None, None));
    assert_eq!(seen.header("x-other"), Some("kept"));
}

#[tokio::test]
async fn redirects_end() {
    let server = Server::start(|request| {
        let left: u32 = request.target[1..].parse().unwrap();
        match left {
            0 => json("1"),
            _ => redirect("302 Found", &format!("/{}", left - 1)),
        }
    })
    .await;
    assert!(open().execute(&work(&get(&server.url("/5")))).await.is_ok());
    let result = open().execute(&work(&get(&server.url("/6")))).await;
    assert!(matches!(result, Err(ExecuteError::BadAnswer(_))), "{result:?}");
    assert_eq!(server.connections(), 12);

    let circle = Server::start(|_| redirect("301 Moved", "/")).await;
    let result = open().execute(&work(&get(&circle.url("/")))).await;
    assert!(matches!(result, Err(ExecuteError::BadAnswer(_))), "{result:?}");
    assert_eq!(circle.connections(), 6);
}

#[tokio::test]
async fn a_server_that_does_not_come_to_an_end_is_left_in_time() {
    let slow = Duration::from_millis(20);
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n".to_vec();
    let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    let cases = [
        ("silent", vec![Step::Repeat(vec![], slow)]),
        ("dribbling head", vec![Step::Repeat(b"H".to_vec(), Duration::from_secs(60))]),
        ("only 100s", vec![Step::Repeat(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec(), slow)]),
        ("dribbling body", vec![Step::Send(head), Step::Repeat(b"x".to_vec(), slow)]),
        (
            "the size of a chunk",
            vec![Step::Send(chunked.clone()), Step::Repeat(vec![b'0'; 1_000], slow)],
        ),
        ("dribbling chunks", vec![Step::Send(chunked), Step::Repeat(b"1\r\nx\r\n".to_vec(), slow)]),
    ];
    for (what, steps) in cases {
        let server = Server::start(move |_| steps.clone()).await;
        let spec = get(&server.url("/"));
        let mut work = work(&spec);
        work.time_limit = Duration::from_millis(300);
        let began = Instant::now();
        let result = open().execute(&work).await;
        println!("{what}");
        assert_timed_out(result, work.time_limit, began);
    }
}

#[tokio::test]
async fn a_redirect_or_a_retry_starts_no_new_clock() {
    let server = Server::start(|request| match &request.target[..] {
        "/busy" => answer("503 Busy", &[], b""),
        _ => vec![Step::Repeat(vec![], Duration::from_millis(10))],
    })
    .await;
    let mut spec = get(&server.url("/busy"));
    spec.bounds.max_retries = 10;
    let mut work = work(&spec);
    work.time_limit = Duration::from_millis(500);
    let began = Instant::now();
    let result = open().execute(&work).await;
    assert_timed_out(result, work.time_limit, began);
}

#[tokio::test]
async fn a_huge_head_is_not_read() {
    let line = format!("x-long: {}\r\n", "a".repeat(1_000));
    let many = "x: y\r\n".repeat(1_000);
    let head = b"HTTP/1.1 200 OK\r\n".to_vec();
    let cases = [
        vec![Step::Send(head.clone()), Step::Repeat(line.into_bytes(), Duration::ZERO)],
        vec![Step::Send(head.clone()), Step::Repeat(vec![b'a'; 1_000], Duration::ZERO)],
        vec![Step::Send(head), Step::Send(many.into_bytes()), Step::Send(b"\r\n".to_vec())],
    ];
    for steps in cases {
        let server = Server::start(move |_| steps.clone()).await;
        let result = open().execute(&work(&get(&server.url("/")))).await;
        assert!(matches!(result, Err(ExecuteError::BadAnswer(_))), "{result:?}");
    }
}

#[tokio::test]
async fn what_is_around_the_chunks_has_an_end() {
    let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    for (what, around) in [("extension", "1;"), ("trailer", "0\r\nx: ")] {
        let start = [head.clone(), around.as_bytes().to_vec()].concat();
        let steps = vec![Step::Send(start), Step::Repeat(vec![b'a'; 1_000], Duration::ZERO)];
        let server = Server::start(move |_| steps.clone()).await;
        let result = open().execute(&work(&get(&server.url("/")))).await;
        let left = matches!(result, Err(ExecuteError::Unreachable(_) | ExecuteError::BadAnswer(_)));
        assert!(left, "{what}: {result:?}");
    }
}

#[tokio::test]
async fn a_job_with_little_memory_reads_little_json() {
    let server = Server::start(|_| json(&"[{\"\":0}]".repeat(2_000))).await;
    let mut spec = get(&server.url("/"));
    spec.bounds.max_memory_mb = 1;
    let result = open().execute(&work(&spec)).await;
    assert_eq!(result, Err(ExecuteError::TooLarge { limit: 8_192 }));
}

#[tokio::test]
async fn a_huge_body_is_not_read() {
    let announced = b"HTTP/1.1 200 OK\r\ncontent-length: 1099511627776\r\n\r\n".to_vec();
    let endless = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    let chunk = [b"1000\r\n".to_vec(), vec![b'x'; 4096], b"\r\n".to_vec()].concat();
    let cases = [
        vec![Step::Send(announced)],
        vec![Step::Send(endless), Step::Repeat(vec![b'x'; 4096], Duration::ZERO)],
        vec![Step::Send(chunked), Step::Repeat(chunk, Duration::ZERO)],
    ];
    for steps in cases {
        let server = Server::start(move |_| steps.clone()).await;
        let mut spec = get(&server.url("/"));
        let result = open().execute(&work(&spec)).await;
        assert_eq!(result, Err(ExecuteError::TooLarge { limit: 1024 * 1024 }));
        spec.result_schema.data_format = DataFormat::Bytes;
        spec.result_schema.max_return_bytes = 1_000;
        let result = open().execute(&work(&spec)).await;
        assert_eq!(result, Err(ExecuteError::TooLarge { limit: 1_000 }));
    }
}

#[tokio::test]
async fn the_limits_of_a_result_are_exact() {
    let server = Server::start(|request| {
        answer("200 OK", &[], &vec![b'x'; request.target[1..].parse().unwrap()])
    })
    .await;
    for (format, around) in [(DataFormat::Text, 0), (DataFormat::Json, 44)] {
        for (length, fits) in [(1_000 - around, true), (1_001 - around, false)] {
            let mut spec = get(&server.url(&format!("/{length}")));
            spec.result_schema.data_format = format;
            spec.result_schema.max_return_bytes = 1_000;
            let result = open().execute(&work(&spec)).await;
            match fits {
                true => assert_eq!(text(result).len(), 1_000, "{format:?}"),
                false => assert_eq!(result, Err(ExecuteError::TooLarge { limit: 1_000 })),
            }
        }
    }
}

#[tokio::test]
async fn nothing_is_decompressed() {
    // 1 GiB of zeros would be about this; whatever it is, it stays what it is.
    let bomb = vec![0x1f; 2_000];
    let sent = bomb.clone();
    let server =
        Server::start(move |_| answer("200 OK", &[("content-encoding", "gzip")], &sent)).await;
    let mut spec = get(&server.url("/"));
    let result = open().execute(&work(&spec)).await;
    assert!(matches!(result, Err(ExecuteError::BadAnswer(_))), "{result:?}");
    spec.result_schema.data_format = DataFormat::Bytes;
    assert_eq!(open().execute(&work(&spec)).await, Ok(bomb));
}

#[tokio::test]
async fn json_that_the_chain_would_refuse_is_useless() {
    for body in [r#"{"a":1,"a":2}"#, "1e30", "0.0000000001", r#""\ud800""#, "", "[1"] {
        let server = Server::start(move |_| json(body)).await;
        let result = open().execute(&work(&get(&server.url("/")))).await;
        assert!(matches!(result, Err(ExecuteError::BadAnswer(_))), "{body}: {result:?}");
    }
}

/// DNS that knows one name, of an inner address, and no other.
#[derive(Default)]
struct Inner(AtomicUsize);

impl Resolve for Inner {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let found = match name {
            "vault.example" => Ok(vec!["10.3.4.5".parse().unwrap()]),
            "public.example" => Ok(vec![IpAddr::V4(ATTACKER)]),
            _ => Err(io::Error::other("no such name")),
        };
        Box::pin(async move { found })
    }
}

#[tokio::test]
async fn which_inner_names_there_are_is_not_told() {
    let attacker = Server::start_on(ATTACKER, None, |request| {
        redirect("307 Temporary Redirect", &format!("http://{}/", &request.target[1..]))
    })
    .await;
    let port = attacker.address.port();
    let mut told = Vec::new();
    for name in ["vault.example", "missing.example"] {
        let addresses = AddressRules { allow: vec![IpAddr::V4(ATTACKER).into()], deny: vec![] };
        let config = HttpConfig { addresses, ..Default::default() };
        let mut outcomes = Vec::new();
        for (method, url) in [
            ("GET", format!("http://{name}/")),
            ("POST", format!("http://{name}/")),
            ("GET", format!("http://public.example:{port}/{name}")),
            ("POST", format!("http://public.example:{port}/{name}")),
        ] {
            let dns = Arc::new(Inner::default());
            let http = Http::with_resolver(&config, dns.clone()).unwrap();
            let mut spec = request(method, &url, &[], b"", "");
            spec.bounds.max_retries = 1;
            let outcome = http.execute(&work(&spec)).await.unwrap_err();
            outcomes.push((outcome, dns.0.load(Ordering::Relaxed)));
        }
        told.push(outcomes);
    }
    assert_eq!(told[0], told[1], "neither by words nor by how often it is tried");
    assert_eq!(told[0][0].1, 2, "it is tried again: {told:?}");
}

/// Where an operator's server leads, nobody has looked at the rules.
#[tokio::test]
async fn a_redirect_of_an_operators_server_is_not_followed() {
    let victim = Server::start_on(VICTIM, None, |_| json("\"secret\"")).await;
    for status in ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let to = victim.url("/");
        let server = Server::start(move |_| redirect(status, &to)).await;
        let told = asking(server.url(""), None).execute(&work(&hello(DataFormat::Text))).await;
        assert!(matches!(told, Err(ExecuteError::Backend(_))), "{status}: {told:?}");
        let told = sending(server.url("/")).execute(&work(&send(DataFormat::Json))).await;
        assert!(matches!(told, Err(ExecuteError::Backend(_))), "{status}: {told:?}");
    }
    assert_eq!(victim.connections(), 0);
}
