//! Work that a fleet does: an orchestrator over real HTTP, with tokens, and workers that are processes where
//! they are killed or stopped.

mod away;
mod lost;
mod progress;

use crate::daemon::network::{TestNetwork, folder, settings};
use remuda_fleet::auth::{Access, KeyPair, Scope, Token, TokenHash};
use remuda_fleet::client::Client;
use remuda_fleet::http::{Endpoint, Trust};
use remuda_fleet::id::RunnerId;
use remuda_fleet::message::{
    AckLease, AckLeaseAck, Complete, CompleteAck, CompleteStatus, Heartbeat, HeartbeatAck,
    LeaseGranted, LeaseRequest, Message, Progress,
};
use remuda_fleet::orchestrator::{Config, serve};
use remuda_fleet::time::Clock;
use remuda_fleet::view::JobView;
use remuda_fleet::worker::{Link, LinkError};
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::transaction::Instruction;
use remuda_runner::daemon::{Daemon, Handle, ResultTampering};
use remuda_runner::executor::Capabilities;
use remuda_runner::fleet::tags;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

const PATIENCE: Duration = Duration::from_secs(40);

/// What is an orchestrator's.
pub(crate) struct Fleet {
    address: SocketAddr,
    place: PathBuf,
    serving: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

fn endpoint(url: &str) -> Endpoint {
    Endpoint::new(url, &Trust::default()).unwrap()
}

fn token(name: &str, scope: Scope) -> Token {
    Token::new(name, scope, TokenHash::of(name))
}

impl Fleet {
    pub(crate) async fn start(name: &str) -> Self {
        let place = PathBuf::from(folder(name));
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("submitter.token"), "submitter\n").unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut fleet = Self { address, place, serving: None };
        fleet.serve().await;
        fleet
    }

    /// Starts it, where it was before if it was.
    pub(crate) async fn serve(&mut self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        self.address = listener.local_addr().unwrap();
        let mut config = Config::in_folder(&self.place);
        config.access =
            Access(vec![token("submitter", Scope::Submitter), token("enrol", Scope::Enrol)]);
        config.sweep_every = Duration::from_millis(50);
        config.drain = Duration::from_millis(200);
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(async move {
            let stopped = async move {
                let _ = stopped.await;
            };
            serve(listener, config, stopped).await.unwrap();
        });
        self.serving = Some((stop, serving));
    }

    /// Stops it in order.
    pub(crate) async fn stop(&mut self) {
        let (stop, serving) = self.serving.take().unwrap();
        drop(stop);
        serving.await.unwrap();
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn client(&self) -> Client {
        Client::new(endpoint(&self.url()), Some("submitter".to_owned()))
    }

    /// A runner that hands its work to it.
    pub(crate) async fn runner(&self, network: &TestNetwork, number: usize, name: &str) -> Handle {
        let key = network.world().runners[number].clone();
        let token = self.place.join("submitter.token");
        let sections = format!(
            "[fleet]\norchestrator = '{}'\ntoken_file = '{}'\nhttp = true",
            self.url(),
            token.display()
        );
        let settings = settings(&folder(name), std::slice::from_ref(&network.api), &sections);
        Daemon::start_with(&settings, key, ResultTampering::none()).await.unwrap()
    }

    /// A worker that is a process.
    pub(crate) fn worker(&self, name: &str) -> Worker {
        let settings = format!(
            "orchestrator = '{}'\ntoken = 'enrol'\nfolder = '{}'\n\
             [executors.http.addresses]\nallow = ['127.0.0.0/8']\n",
            self.url(),
            self.place.join(name).display()
        );
        Worker::start(&settings)
    }

    /// Waits until it knows so many workers.
    pub(crate) async fn knows(&self, workers: usize) {
        let (client, began) = (self.client(), Instant::now());
        while client.workers().await.is_ok_and(|list| list.total < workers) {
            assert!(began.elapsed() < PATIENCE, "no {workers} workers");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The newest job, once it is as wanted.
    pub(crate) async fn job(&self, what: &str, wanted: impl Fn(&JobView) -> bool) -> JobView {
        let (client, began) = (self.client(), Instant::now());
        loop {
            assert!(began.elapsed() < PATIENCE, "waited in vain for {what}");
            if let Ok(list) = client.list(None, 1).await
                && let Some(newest) = list.runs.first()
                && let Ok(run) = client.run(&newest.run_id).await
                && wanted(&run.jobs[0])
            {
                return run.jobs[0].clone();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// A worker. Killed when this is dropped; it ends by itself if the test is.
pub(crate) struct Worker(Child);

impl Worker {
    fn start(settings: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_runner-worker"))
            .arg(settings)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line.trim(), "ready");
        Self(child)
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.0.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A worker that does only what a test says.
pub(crate) struct Puppet {
    link: Link,
    runner_id: RunnerId,
    granted: LeaseGranted,
}

impl Puppet {
    /// Waits for the next web request, and takes it.
    pub(crate) async fn begin(fleet: &Fleet) -> JoinHandle<Self> {
        let url = fleet.url();
        let puppet = tokio::spawn(async move { Self::take(&url).await });
        fleet.knows(1).await;
        puppet
    }

    async fn take(url: &str) -> Self {
        let key = Arc::new(KeyPair::generate());
        let runner_id = RunnerId::of(&key.id(), "1").unwrap();
        let link = Link::new(endpoint(url), key, Clock::default());
        link.enrol("enrol").await.unwrap();
        let web = Capabilities { http: true, ..Capabilities::default() };
        let request = LeaseRequest {
            runner_id: runner_id.clone(),
            capabilities: tags::offered(&web),
            max_wait_seconds: 30,
        };
        let wait = Duration::from_secs(30);
        let Ok(Message::LeaseGranted(granted)) = link.ask("lease", &request, wait).await else {
            panic!("no work");
        };
        let ack = AckLease {
            job_id: granted.job_id.clone(),
            lease_id: granted.lease_id.clone(),
            runner_id: runner_id.clone(),
            accepted_at: None,
        };
        link.send::<_, AckLeaseAck>("ack-lease", &ack).await.unwrap();
        Self { link, runner_id, granted }
    }

    pub(crate) async fn beat(&self, percent: u8) -> HeartbeatAck {
        let progress = Progress {
            percent: Some(percent),
            message: Some("halfway".to_owned()),
            ..Progress::default()
        };
        let beat = Heartbeat {
            lease_id: self.granted.lease_id.clone(),
            runner_id: self.runner_id.clone(),
            seq: None,
            phase: None,
            progress: Some(progress),
            log_cursor: None,
            ts: None,
        };
        self.link.send("heartbeat", &beat).await.unwrap()
    }

    /// Says that it has done it, and found this.
    pub(crate) async fn complete(&self, result: &[u8]) -> Result<CompleteAck, LinkError> {
        let output = remuda_runner::fleet::encode_result(&Ok(result.to_vec()));
        let complete = Complete {
            lease_id: self.granted.lease_id.clone(),
            runner_id: self.runner_id.clone(),
            status: CompleteStatus::Succeeded,
            exit_code: None,
            failure: None,
            timings: None,
            artifacts: vec![],
            summary: String::new(),
            output: Some(output),
        };
        self.link.send("complete", &complete).await
    }
}

/// The same work with more time for it: half a minute.
pub(crate) fn patient(mut spec: JobSpec) -> JobSpec {
    spec.timeout_blocks = 600;
    spec
}

/// How many results are on chain.
pub(crate) fn results(network: &TestNetwork) -> usize {
    network.world().count(|i| matches!(i, Instruction::SubmitResult { .. }))
}

/// Waits until the web was asked so often.
pub(crate) async fn asked(network: &TestNetwork, times: usize) {
    let began = Instant::now();
    while network.web.asked() < times {
        assert!(began.elapsed() < PATIENCE, "asked {} times, not {times}", network.web.asked());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn jobs_are_done_by_workers_of_a_configured_fleet() {
    let network = TestNetwork::build(1, 2).await;
    let fleet = Fleet::start("fleet").await;
    let _workers = [fleet.worker("a"), fleet.worker("b")];
    fleet.knows(2).await;
    let runner = fleet.runner(&network, 0, "fleet-runner").await;
    let jobs: Vec<_> = (0..6).map(|_| network.order(patient(network.single("GET")))).collect();
    for job in jobs {
        network.settled(job).await;
        let result = network.world().chain.result(job).unwrap().result;
        assert!(String::from_utf8_lossy(&result).contains("42"), "{result:?}");
    }
    assert_eq!((network.web.asked(), results(&network)), (6, 6));
    let job = fleet.job("an end", |job| job.reason.is_some()).await;
    let tags: BTreeSet<&str> = job.tags.iter().map(|tag| tag.as_str()).collect();
    assert_eq!(tags, BTreeSet::from(["remuda:http"]));
    runner.stop().await;
}
