//! Work that is announced by a broker: the same jobs as without one, and what happens when the broker
//! loses, repeats or makes up what it says, or is not there.

mod history;
#[path = "../worker/jobs.rs"]
mod jobs;
mod seed;
use crate::http::server;

use crate::parts::peer::{Fleet, PATIENCE, Peer, job, mark};
use crate::parts::support::{Folder, Running, own_address, part};
use async_nats::jetstream::stream::Stream;
use futures::TryStreamExt;
use remuda_fleet::broker::{Announcement, BrokerError, Config, Hints, Publisher};
use remuda_fleet::http::Trust;
use remuda_fleet::id::{CancelToken, RunnerId};
use remuda_fleet::message::{CancelReason, CancelRequested, LeaseGranted, decode};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::any::Any;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A broker that can be killed, and started again with or without its disk.
struct Broker {
    running: Option<Running>,
    folder: Folder,
    address: String,
    disks: u32,
    /// Its certificate, which is its own authority, if it speaks TLS.
    certificate: Option<PathBuf>,
}

impl Broker {
    fn start() -> Self {
        Self::with(false)
    }

    fn with(tls: bool) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let folder = Folder::new(&format!("nats-{}", NEXT.fetch_add(1, Ordering::Relaxed)));
        let address = own_address().to_string();
        let mut broker = Self { running: None, folder, address, disks: 0, certificate: None };
        if tls {
            let made = rcgen::generate_simple_self_signed([broker.address.clone()]).expect("made");
            broker.folder.write("tls.key", &made.signing_key.serialize_pem());
            broker.certificate = Some(broker.folder.write("tls.pem", &made.cert.pem()));
        }
        broker.restart(true);
        broker
    }

    fn url(&self) -> String {
        format!("nats://{}:4222", self.address)
    }

    fn config(&self) -> Config {
        Config { look_again: Duration::from_millis(500), ..Config::new(&self.url()) }
    }

    fn kill(&mut self) {
        self.running = None;
    }

    fn restart(&mut self, empty: bool) {
        self.disks += u32::from(empty);
        let disk = self.folder.path().join(format!("disk{}", self.disks));
        let mut nats = Command::new(part("nats").join("bin/nats-server"));
        nats.args(["-a", &self.address, "-p", "4222", "-js", "-sd"]).arg(disk);
        if let Some(certificate) = &self.certificate {
            nats.args(["--user", "fleet", "--pass", "p@ss"])
                .arg("--tls")
                .arg("--tlscert")
                .arg(certificate);
            nats.arg("--tlskey").arg(certificate.with_file_name("tls.key"));
        }
        let mut running = Running::start(&self.folder, "nats", &nats);
        running.until(|| greets(&format!("{}:4222", self.address)));
        self.running = Some(running);
    }

    async fn hints(&self) -> Stream {
        hints(&self.url()).await
    }

    /// Subjects that runners listen on, once there are so many.
    async fn pools(&self, count: usize) -> Vec<String> {
        let (stream, began) = (self.hints().await, Instant::now());
        loop {
            let pools: Vec<_> = stream.consumers().try_collect().await.expect("consumers");
            if pools.len() >= count {
                return pools.into_iter().map(|pool| pool.config.filter_subject).collect();
            }
            assert!(began.elapsed() < PATIENCE, "{pools:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Whether the broker accepts connections and announces JetStream.
fn greets(address: &str) -> Option<()> {
    let stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let mut greeting = String::new();
    BufReader::new(stream).read_line(&mut greeting).ok()?;
    let facts: Value = serde_json::from_str(greeting.strip_prefix("INFO ")?).ok()?;
    (facts["jetstream"] == true).then_some(())
}

/// What a broker keeps of hints, once it does.
async fn hints(url: &str) -> Stream {
    let client = async_nats::connect(url).await.expect("a connection");
    let context = async_nats::jetstream::new(client);
    let began = Instant::now();
    loop {
        match context.get_stream("remuda_hints").await {
            Ok(stream) => return stream,
            Err(error) => assert!(began.elapsed() < PATIENCE, "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Each test of [`jobs`] has a broker of its own.
fn broker() -> Option<(Config, Box<dyn Any + Send>)> {
    let broker = Broker::start();
    Some((broker.config(), Box::new(broker)))
}

fn fleet(broker: &Broker, ttl: u32) -> Fleet {
    Fleet::start(json!({ "lease_ttl_seconds": ttl, "broker": broker.url() }))
}

fn worker(fleet: &Fleet, broker: &Broker, name: &str) -> Peer {
    fleet.worker_with(name, json!({ "broker": broker.url() }))
}

/// A step that says how often it ran.
fn counted(counts: &std::path::Path, rest: &str) -> String {
    format!("echo x >> {}/$REMUDA_JOB_ID; {rest}", counts.display())
}

/// Every job of a run ended well, under its first lease, and ran once.
fn ran_once(view: &Value, counts: &std::path::Path) {
    assert_eq!(view["status"], "SUCCEEDED", "{view}");
    for job in view["jobs"].as_array().expect("jobs") {
        let id = job["job_id"].as_str().expect("an id");
        let times = std::fs::read_to_string(counts.join(id)).expect("it ran").lines().count();
        assert_eq!((times as u64, job["fence"].as_u64()), (1, Some(1)), "each ran once: {job}");
    }
}

/// Nobody asks the orchestrator while it waits: only a hint can be so fast.
#[tokio::test]
async fn a_runner_that_waits_hears_of_work_from_the_broker() {
    let broker = Broker::start();
    let server = server::Server::with(|config| {
        // Nor does the orchestrator look at its rows again.
        config.broker = Some(Config { look_again: Duration::from_secs(3_600), ..broker.config() });
    })
    .await;
    let _worker = jobs::Worker::start(&server, |config| {
        config.broker = Some(broker.config());
        config.wait_seconds = 600;
    });
    broker.pools(1).await;
    // The first question is over by then, whatever it was answered.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let run = server.submit().await;
    let began = Instant::now();
    loop {
        let (_, view) = server.get(&format!("/runs/{run}")).await;
        if view["status"] == "SUCCEEDED" {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{view}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The next heartbeat would be too late: the deadline is three seconds, the interval twenty.
#[tokio::test]
async fn a_cancellation_reaches_a_runner_before_its_next_heartbeat() {
    let broker = Broker::start();
    let fleet = fleet(&broker, 60);
    let _worker = worker(&fleet, &broker, "worker");
    let run = fleet.submit(vec![job("a", &format!("echo begun; sleep {}", mark(4)))]).await;
    fleet.begun(&run).await;
    fleet.post(&format!("/runs/{run}/cancel"), json!({})).await;
    let view = fleet.ended(&run).await;
    let job = &view["jobs"][0];
    assert_eq!((&job["state"], &job["reason"]), (&json!("CANCELED"), &json!("CANCEL_ACKED")));
}

#[tokio::test]
async fn a_runner_stops_for_nobody_who_does_not_show_its_token() {
    let broker = Broker::start();
    let granted = json!({ "type": "LeaseGranted", "job_id": "job_1", "run_id": "run_1",
        "lease_id": "lease_1", "attempt": 1, "fence": 1, "lease_ttl_seconds": 60,
        "heartbeat_interval_seconds": 20, "max_runtime_seconds": 60, "cancel_token": "cancel_1",
        "job_spec": { "name": "a", "steps": ["true"] } });
    let granted: LeaseGranted = decode(granted.to_string().as_bytes()).expect("a grant");
    let runner = RunnerId::new("runner_1").expect("an id");
    let hints = Hints::open(&broker.config(), &BTreeSet::new()).await.expect("a broker");
    let mut cancels = hints.cancels(&runner).await.expect("a subscription");
    let (publisher, run) = Publisher::new(broker.config(), async || vec![]);
    let publishing = tokio::spawn(run);
    let cancel = |token: Option<&str>, seconds| CancelRequested {
        lease_id: granted.lease_id.clone(),
        job_id: granted.job_id.clone(),
        reason: CancelReason::RunCanceled,
        deadline_seconds: seconds,
        ts: None,
        cancel_token: token.map(|token| CancelToken::new(token).expect("a token")),
    };
    for (token, seconds) in [(None, 1), (Some("cancel_2"), 2), (Some("cancel_1"), 3)] {
        publisher.publish(Announcement::Cancel(runner.clone(), cancel(token, seconds)));
    }
    let heard = tokio::time::timeout(PATIENCE, cancels.next(&granted)).await.expect("in time");
    assert_eq!(heard.map(|cancel| cancel.deadline_seconds), Some(3));
    publishing.abort();
}

/// The seed's request to stop has no token: a runner whose grant has none accepts it.
#[tokio::test]
async fn a_runner_whose_grant_has_no_token_stops_for_the_seeds_request() {
    let broker = Broker::start();
    let granted = decode(include_bytes!("../seed/LeaseGranted.json")).expect("a grant");
    let granted = LeaseGranted { cancel_token: None, ..granted };
    let cancel: CancelRequested =
        decode(include_bytes!("../seed/CancelRequested.json")).expect("a request");
    let runner = RunnerId::new("runner_1").expect("an id");
    let hints = Hints::open(&broker.config(), &BTreeSet::new()).await.expect("a broker");
    let mut cancels = hints.cancels(&runner).await.expect("a subscription");
    let (publisher, run) = Publisher::new(broker.config(), async || vec![]);
    let publishing = tokio::spawn(run);
    publisher.publish(Announcement::Cancel(runner.clone(), cancel.clone()));
    let heard = tokio::time::timeout(PATIENCE, cancels.next(&granted)).await.expect("in time");
    assert_eq!(heard, Some(cancel));
    publishing.abort();
}

/// Fault 15: the broker repeats what it said, and makes things up.
#[tokio::test]
async fn hints_that_are_repeated_or_false_start_nothing_twice() {
    let broker = Broker::start();
    let fleet = fleet(&broker, 5);
    let _workers: Vec<_> = (0..3).map(|n| worker(&fleet, &broker, &format!("worker{n}"))).collect();
    let pool = broker.pools(1).await.remove(0);
    let client = async_nats::connect(broker.url()).await.expect("a connection");
    let context = async_nats::jetstream::new(client);
    let counts = fleet.folder.0.join("counts");
    std::fs::create_dir(&counts).expect("a folder");
    let step = counted(&counts, "sleep 0.05");
    let run = fleet.submit((0..30).map(|n| job(&format!("j{n}"), &step)).collect()).await;
    let hints = fleet.run(&run).await.expect("a run");
    for job in hints["jobs"].as_array().expect("jobs").iter().cycle().take(90) {
        let hint = json!({ "job_id": job["job_id"] }).to_string();
        context.publish(pool.clone(), hint.into()).await.expect("sent").await.expect("kept");
    }
    context.publish(pool.clone(), "no hint".into()).await.expect("sent").await.expect("kept");
    ran_once(&fleet.ended(&run).await, &counts);
    let next = fleet.submit(vec![job("last", &step)]).await;
    ran_once(&fleet.ended(&next).await, &counts);
}

/// Fault 15: the broker loses what it said that it has. Nobody else comes to look: the orchestrator
/// publishes again from its rows.
#[tokio::test]
async fn hints_that_are_lost_are_published_again() {
    let broker = Broker::start();
    let fleet = fleet(&broker, 5);
    let _worker = worker(&fleet, &broker, "worker");
    broker.pools(1).await;
    let counts = fleet.folder.0.join("counts");
    std::fs::create_dir(&counts).expect("a folder");
    let stream = broker.hints().await;
    let step = counted(&counts, "sleep 0.3");
    let run = fleet.submit((0..6).map(|n| job(&format!("j{n}"), &step)).collect()).await;
    for _ in 0..20 {
        stream.purge().await.expect("purged");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    ran_once(&fleet.ended(&run).await, &counts);
}

/// Fault 15: the broker is killed, and comes back without its disk.
#[tokio::test]
async fn a_broker_that_was_away_and_forgot_everything_costs_no_job() {
    let mut broker = Broker::start();
    let fleet = fleet(&broker, 5);
    let _workers: Vec<_> = (0..2).map(|n| worker(&fleet, &broker, &format!("worker{n}"))).collect();
    broker.pools(1).await;
    let counts = fleet.folder.0.join("counts");
    std::fs::create_dir(&counts).expect("a folder");
    let step = counted(&counts, "sleep 0.2");
    let run = |count: u32| (0..count).map(|n| job(&format!("j{n}"), &step)).collect();
    let before = fleet.submit(run(20)).await;
    fleet.until(&before, |view| view["open"].as_u64() < Some(18)).await;
    broker.kill();
    // Who is away is not needed.
    let during = fleet.submit(run(6)).await;
    ran_once(&fleet.ended(&before).await, &counts);
    ran_once(&fleet.ended(&during).await, &counts);
    broker.restart(true);
    let after = fleet.submit(run(10)).await;
    ran_once(&fleet.ended(&after).await, &counts);
    // And it is of use again.
    broker.pools(1).await;
    let last = fleet.submit(run(4)).await;
    ran_once(&fleet.ended(&last).await, &counts);
}

/// Chances that come from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// Real processes, and at every turn something happens to one of them: workers are killed, suspended
/// and resumed, the broker forgets or goes away, the orchestrator is killed, runs are canceled. In the
/// end every job has ended, once, and what had ended stayed as it was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_happens_every_job_ends_once_and_stays_as_it_ended() {
    let seed = std::env::var("REMUDA_SEED").map_or(15, |seed| seed.parse().expect("a number"));
    println!("again with REMUDA_SEED={seed}");
    let mut dice = Dice(seed);
    let mut broker = Broker::start();
    let settings = json!({ "lease_ttl_seconds": 2, "losses_max": 50, "broker": broker.url() });
    let mut fleet = Fleet::start(settings);
    let mut workers: Vec<Option<Peer>> =
        (0..3).map(|n| Some(worker(&fleet, &broker, &format!("worker{n}")))).collect();
    let (mut runs, mut seen) = (Vec::new(), std::collections::BTreeMap::<String, Value>::new());
    for turn in 0..24 {
        match dice.roll(8) {
            0 | 1 => {
                let pause = dice.roll(20) as f64 / 20.0;
                let step = format!("echo begun; sleep {pause}; exit $((RANDOM_CODE))");
                let jobs = (0..=dice.roll(6)).map(|n| {
                    let code = u64::from(dice.roll(5) == 0);
                    json!({ "name": format!("j{n}"), "retry": { "max_attempts": 2, "backoff_seconds": 1 },
                        "job_spec": { "name": "j", "steps": [step.clone()], "env": { "RANDOM_CODE": code.to_string() } } })
                });
                runs.push(fleet.submit(jobs.collect()).await);
            }
            2 => {
                let n = dice.roll(3) as usize;
                workers[n].take().into_iter().for_each(Peer::kill);
                workers[n] = Some(worker(&fleet, &broker, &format!("worker{n}-{turn}")));
            }
            3 => {
                let n = dice.roll(3) as usize;
                let peer = workers[n].as_ref().expect("a worker");
                peer.signal(Signal::STOP);
                tokio::time::sleep(Duration::from_millis(dice.roll(3_000))).await;
                peer.signal(Signal::CONT);
            }
            4 => {
                broker.kill();
                tokio::time::sleep(Duration::from_millis(dice.roll(1_000))).await;
                broker.restart(dice.roll(2) == 0);
            }
            5 => {
                fleet.kill();
                tokio::time::sleep(Duration::from_millis(dice.roll(1_000))).await;
                fleet.restart();
            }
            6 if !runs.is_empty() => {
                let run = &runs[dice.roll(runs.len() as u64) as usize];
                fleet.post(&format!("/runs/{run}/cancel"), json!({})).await;
            }
            _ => tokio::time::sleep(Duration::from_millis(dice.roll(500))).await,
        }
        for run in &runs {
            let view = fleet.run(run).await.unwrap_or(Value::Null);
            for job in view["jobs"].as_array().into_iter().flatten() {
                unchanged(&mut seen, job);
            }
        }
    }
    for run in &runs {
        let view = fleet.ended(run).await;
        for job in view["jobs"].as_array().expect("jobs") {
            unchanged(&mut seen, job);
        }
    }
}

/// How a job ended is what it ended as.
fn unchanged(seen: &mut std::collections::BTreeMap<String, Value>, job: &Value) {
    if job["reason"].is_null() {
        return;
    }
    let id = job["job_id"].as_str().expect("an id").to_owned();
    let end = json!([
        job["state"],
        job["reason"],
        job["attempt"],
        job["fence"],
        job["exit_code"],
        job["summary"]
    ]);
    let first = seen.entry(id).or_insert_with(|| end.clone());
    assert_eq!(*first, end, "what has ended never changes: {job}");
}

#[tokio::test]
async fn a_broker_on_another_machine_is_reached_by_tls_and_its_certificate_is_verified() {
    let far = Config::new("nats://192.0.2.1:4222");
    assert_eq!(far.check(), Err(BrokerError::Plain("192.0.2.1".to_owned())));
    let trust = Trust { insecure: true, ..Trust::default() };
    Config { trust, ..far }.check().expect("the operator allows it");
    Config::new("tls://192.0.2.1:4222").check().expect("it is encrypted");

    let broker = Broker::with(true);
    let url = broker.url().replace("nats://", "tls://fleet:p%40ss@");
    let trust = Trust { ca_file: broker.certificate.clone(), insecure: false };
    let trusting = Config { trust, ..Config::new(&url) };
    let (_publisher, run) = Publisher::new(trusting.clone(), async || vec![]);
    let publishing = tokio::spawn(run);
    let mut hints = Hints::open(&trusting, &BTreeSet::new()).await.expect("a URL");
    let began = Instant::now();
    // The stream is the publisher's to make.
    while let Err(error) = hints.now().await {
        assert!(began.elapsed() < PATIENCE, "{error}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    publishing.abort();
    let mut stranger = Hints::open(&Config::new(&url), &BTreeSet::new()).await.expect("a URL");
    assert!(stranger.now().await.is_err(), "its certificate is issued by an unknown authority");
}
