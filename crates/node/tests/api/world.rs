//! A served chain, a client of it, and the people on it.

use crate::api::chain::{Chain, calm, key};
use remuda_client::client::RetryPolicy;
use remuda_client::types::{EventBody, JobStatusView, JobView, ReceiptView};
use remuda_client::{BlockId, Client, Config};
use remuda_node::api::{App, Limits, serve};
use remuda_node::runners::{Runners, ValidatorEndpoints};
use remuda_protocol::codec::Bytes;
use remuda_protocol::crypto::{SecretKey, Signature};
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::spec::{
    DataFormat, JobKind, JobSpec, JobType, ResourceBounds, ResultSchema, Verification,
};
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Amount, B256, JobId, keccak256};
use remuda_protocol::registry::register::plain_offer;
use remuda_protocol::registry::runner::Offer;
use remuda_protocol::transaction::{Instruction, Reveal};
use remuda_protocol::verifier::check::VerifierCheck;
use remuda_protocol::verifier::commitment::{commitment, result_digest};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub const PEOPLE: [&str; 6] = ["ann", "bob", "runner 0", "runner 1", "runner 2", "runner 3"];
pub const STAKE: Amount = Amount::cby(40_000);
pub const ANSWER: &[u8] = br#"{"answer":42}"#;

pub struct World {
    pub chain: Arc<Chain>,
    pub client: Client,
    pub server: Server,
}

pub struct Server {
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    pub task: JoinHandle<()>,
}

impl Server {
    pub async fn start(chain: &Arc<Chain>, limits: Limits, at: SocketAddr) -> Self {
        Self::with_runners(chain, unserved(), limits, at).await
    }

    pub async fn with_runners(
        chain: &Arc<Chain>,
        runners: Arc<Runners>,
        limits: Limits,
        at: SocketAddr,
    ) -> Self {
        let listener = TcpListener::bind(at).await.expect("a free port");
        let address = listener.local_addr().expect("it has one");
        let app = App::new(chain.clone(), runners, limits);
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(serve(listener, app, async {
            let _ = stopped.await;
        }));
        Self { address, stop: Some(stop), task }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Asks it to stop.
    pub fn stop(&mut self) {
        drop(self.stop.take());
    }
}

/// Endpoints of validators, and no runner with a session.
pub fn unserved() -> Arc<Runners> {
    let link = Some("192.0.2.1:4000".to_owned());
    Arc::new(Runners::unserved(vec![ValidatorEndpoints { link, api: None }]))
}

pub fn any_port() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

/// A client that gives up soon.
pub fn hasty(nodes: impl IntoIterator<Item = String>) -> Client {
    let retry =
        RetryPolicy { attempts: 2, base: Duration::from_millis(10), max: Duration::from_secs(2) };
    Client::with(Config { retry, ..Config::new(nodes) }).expect("these are URLs")
}

/// No test is about allowances unless it says so.
pub fn roomy() -> Limits {
    Limits { burst: 100_000, per_second: 100_000, ..Limits::default() }
}

impl World {
    /// A chain that makes blocks by itself.
    pub async fn new() -> Self {
        let world = Self::still(calm(), roomy()).await;
        world.chain.run(Duration::from_millis(15));
        world
    }

    /// A chain that makes blocks when told.
    pub async fn still(params: ChainParams, limits: Limits) -> Self {
        let chain = Chain::start(params, &PEOPLE);
        let server = Server::start(&chain, limits, any_port()).await;
        let client = hasty([server.url()]);
        Self { chain, client, server }
    }

    pub async fn ok(&self, who: &SecretKey, instruction: Instruction) -> ReceiptView {
        let receipt = self.client.send(who, instruction).await.expect("it is taken");
        assert!(receipt.ok, "{receipt:?}");
        receipt
    }

    /// Registers some runners.
    pub async fn register(&self, count: usize) -> Vec<SecretKey> {
        let runners: Vec<SecretKey> = PEOPLE[2..].iter().take(count).map(|n| key(n)).collect();
        for runner in &runners {
            let offer: Offer = plain_offer(&[JobKind::Http]);
            self.ok(runner, Instruction::RegisterRunner { stake: STAKE, offer }).await;
        }
        runners
    }

    pub async fn submit_job(&self, spec: JobSpec) -> JobId {
        let receipt = self.ok(&key("ann"), Instruction::SubmitJob { spec }).await;
        let submitted = receipt.events.iter().find_map(|event| match event {
            EventBody::JobSubmitted { job, .. } => Some(job.0),
            _ => None,
        });
        submitted.expect("a job was submitted")
    }

    /// Waits until a job is as wanted.
    pub async fn job_when(&self, id: JobId, wanted: impl Fn(&JobView) -> bool) -> JobView {
        for _ in 0..1_000 {
            let job = self.client.job(id).await.expect("the job is there");
            if wanted(&job) {
                return job;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the job never got there");
    }

    pub async fn assigned(&self, id: JobId) -> JobView {
        self.job_when(id, |job| job.status == JobStatusView::Assigned {}).await
    }

    pub async fn height(&self) -> u64 {
        self.client.block(BlockId::Latest).await.expect("there is a block").height.0
    }
}

/// A result as a runner signs and hides it.
pub struct Sealed {
    pub commitment: B256,
    pub reveal: Reveal,
}

pub fn seal(runner: &SecretKey, job: JobId, attempt: u32, result: &[u8]) -> Sealed {
    let (chain_id, who) = (calm().chain_id, runner.address());
    let result_sig: Signature = runner.sign(&result_digest(chain_id, job, attempt, who, result));
    let salt = keccak256(who);
    let commitment = commitment(chain_id, job, attempt, who, result, &salt, &result_sig.bytes);
    let reveal = Reveal { runner: who, result: result.into(), salt, result_sig };
    Sealed { commitment, reveal }
}

/// A web request under majority vote.
pub fn vote_job() -> JobSpec {
    JobSpec {
        job_type: JobType::Http {
            method: "GET".into(),
            url: "https://example.org/price".into(),
            headers: Vec::new(),
            body: Bytes::default(),
            extract: String::new(),
        },
        bounds: ResourceBounds::default(),
        verification: Verification {
            mode: VerificationMode::MajorityVote,
            runners: 3,
            threshold: 2,
            checks: vec![VerifierCheck::MajorityVote { field: "answer".into() }],
        },
        result_schema: ResultSchema {
            max_return_bytes: 1_024,
            expected_execution_ms: 100,
            data_format: DataFormat::Json,
        },
        max_price: Amount::cby(5),
        tip: Amount::ZERO,
        timeout_blocks: 5_000,
        callback: None,
        tee_required: false,
        secrets: Vec::new(),
        required_runner_pool: None,
    }
}

/// The same for one runner, drawn at once.
pub fn single_job() -> JobSpec {
    let mut spec = vote_job();
    let mode = VerificationMode::None;
    spec.verification = Verification { mode, runners: 1, threshold: 1, checks: Vec::new() };
    spec
}
