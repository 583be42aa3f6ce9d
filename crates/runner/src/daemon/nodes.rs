//! What the runner asks of nodes.

use super::genesis::{Genesis, GenesisError};
use super::outbox::AccountSnapshot;
use super::pins::{is_pinned, pinned};
use remuda_client::client::RetryPolicy;
use remuda_client::sign::Signed;
use remuda_client::types::{
    HandoverPost, JobHistory, ProgressView, RunnerValidators, RunnerView, TransactionStatus, code,
};
use remuda_client::{Client, ClientError, Config};
use remuda_protocol::codec::Decode;
use remuda_protocol::dispatcher::job::Job;
use remuda_protocol::dispatcher::spec::{JobSpec, JobType};
use remuda_protocol::fees::Basefees;
use remuda_protocol::key::{JobKey, JobSpecKey};
use remuda_protocol::primitives::{Address, B256, JobId, TxHash};
use remuda_protocol::state::StateKey;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use thiserror::Error;
use tracing::error;

/// Per request. The next block asks again anyway.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the chain of a node is trusted.
const TRUSTED: Duration = Duration::from_secs(10);

#[derive(Debug, Error)]
pub(crate) enum AskError {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    Chain(#[from] GenesisError),
}

impl AskError {
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Client(error) if error.is_not_found())
    }

    /// The code of a refusal.
    pub(crate) fn refusal(&self) -> Option<&str> {
        match self {
            Self::Client(error @ ClientError::Refused { .. }) => {
                Some(error.code().unwrap_or_default())
            }
            _ => None,
        }
    }

    /// Whether another node may do better.
    fn unhelpful(&self) -> bool {
        match self {
            Self::Client(error) => unhelpful(error),
            Self::Chain(_) => true,
        }
    }
}

/// The chain as a node sees it, and the runner's account.
#[derive(Clone, Debug)]
pub(crate) struct ChainStatus {
    pub(crate) account: AccountSnapshot,
    pub(crate) block_time: Duration,
    pub(crate) policy: String,
    /// Problems with nodes of another chain.
    pub(crate) wrong_chain_nodes: Vec<String>,
}

/// A job in the state at `height`.
#[derive(Clone, Debug)]
pub(crate) struct JobSnapshot {
    pub(crate) height: u64,
    pub(crate) job: Option<Job>,
    /// Only on request.
    pub(crate) spec: Option<JobSpec>,
    /// Governance vouches for the program; only with the specification.
    pub(crate) pinned: bool,
}

/// A job that the runner is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    pub(crate) job: JobId,
    /// The selection that drew it.
    pub(crate) attempt: u32,
    /// Committed, but not revealed yet.
    pub(crate) committed: bool,
}

/// The jobs that the runner is drawn for.
#[derive(Debug)]
pub(crate) enum AssignedJobs {
    Jobs(Vec<Seat>),
    /// The chain has ended polling.
    PollingOver,
}

/// One of the operator's nodes.
struct Node {
    url: String,
    client: Client,
    /// When it was last looked at, and what is wrong with its chain.
    looked: Mutex<Option<(Instant, Option<String>)>>,
    looking: AtomicBool,
}

impl Node {
    /// Records the node's chain.
    fn judge(&self, genesis: &Genesis, theirs: B256) -> Result<(), AskError> {
        let judged = genesis.check(&self.url, theirs);
        let wrong = judged.as_ref().err().map(GenesisError::to_string);
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let known = looked.replace((Instant::now(), wrong.clone())).and_then(|(_, wrong)| wrong);
        if let Some(why) = wrong.filter(|why| known.as_ref() != Some(why)) {
            error!(reason = why, "node on another chain, not used");
        }
        Ok(judged?)
    }

    fn wrong(&self) -> Option<String> {
        let looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        looked.as_ref().and_then(|(_, wrong)| wrong.clone())
    }

    /// The chain of the node was not checked for some time.
    fn stale(&self) -> bool {
        let looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        looked.as_ref().is_none_or(|(at, wrong)| wrong.is_some() || at.elapsed() >= TRUSTED)
    }

    /// Asks it which chain it is of, unless it was asked a moment ago.
    async fn vet(&self, genesis: &Genesis) -> Result<(), AskError> {
        if self.stale() {
            self.judge(genesis, self.client.status().await?.genesis_hash.0)?;
        }
        Ok(())
    }
}

/// The operator's nodes. Those of another chain are not asked.
#[derive(Clone)]
pub(crate) struct Nodes {
    all: Arc<Vec<Arc<Node>>>,
    genesis: Genesis,
    first: Arc<AtomicUsize>,
}

fn config(node: &str) -> Config {
    let mut config = Config::new([node]);
    config.connect_timeout = Duration::from_secs(2);
    config.timeout = REQUEST_TIMEOUT;
    config.retry = RetryPolicy { attempts: 0, ..RetryPolicy::default() };
    config
}

impl Nodes {
    pub(crate) fn new(nodes: &[String], genesis: Genesis) -> Result<Self, ClientError> {
        let node = |url: &String| {
            let client = Client::with(config(url))?;
            Ok(Arc::new(Node {
                url: url.clone(),
                client,
                looked: Mutex::new(None),
                looking: AtomicBool::new(false),
            }))
        };
        let all: Result<Vec<_>, ClientError> = nodes.iter().map(node).collect();
        Ok(Self { all: Arc::new(all?), genesis, first: Arc::default() })
    }

    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    /// The node that is asked first is another one from now on.
    pub(crate) fn turn(&self) {
        self.first.fetch_add(1, Ordering::Relaxed);
    }

    /// Asks one node after the other until one answers. A node without an answer is asked last from now on.
    async fn ask<T, F>(&self, call: impl Fn(Client) -> F) -> Result<T, AskError>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        self.ask_from(self.first.load(Ordering::Relaxed), call).await
    }

    async fn ask_from<T, F>(&self, first: usize, call: impl Fn(Client) -> F) -> Result<T, AskError>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        self.try_from(first, |node| {
            let (asked, genesis) = (call(node.client.clone()), self.genesis.clone());
            async move {
                node.vet(&genesis).await?;
                Ok(asked.await?)
            }
        })
        .await
    }

    async fn try_from<T, F>(
        &self,
        first: usize,
        call: impl Fn(Arc<Node>) -> F,
    ) -> Result<T, AskError>
    where
        F: Future<Output = Result<T, AskError>>,
    {
        let count = self.all.len();
        let mut tried = 0;
        loop {
            let node = first.wrapping_add(tried) % count;
            tried += 1;
            match call(Arc::clone(&self.all[node])).await {
                Err(error) if error.unhelpful() && tried < count => {
                    if self.first.load(Ordering::Relaxed) % count == node {
                        self.turn();
                    }
                }
                answer => return answer,
            }
        }
    }

    pub(crate) async fn pulse(&self, me: Address) -> Result<ChainStatus, AskError> {
        let first = self.first.load(Ordering::Relaxed);
        let (status, account) = self
            .try_from(first, |node| async move {
                let asked = tokio::try_join!(node.client.status(), node.client.account(me))?;
                node.judge(&self.genesis, asked.0.genesis_hash.0)?;
                Ok(asked)
            })
            .await?;
        self.look_around();
        let basefees = Basefees { cycle: status.basefees.cycle.0, cell: status.basefees.cell.0 };
        let account = AccountSnapshot {
            // The nonce counts, so it is the account's.
            height: account.height.0,
            chain_id: status.chain_id.0,
            nonce: account.nonce.0,
            next_nonce: account.next_nonce.0,
            basefees,
            balance: account.balance.0,
        };
        Ok(ChainStatus {
            account,
            block_time: Duration::from_millis(status.block_time_ms.0),
            policy: status.policy,
            wrong_chain_nodes: self.all.iter().filter_map(|node| node.wrong()).collect(),
        })
    }

    /// Checks the chain of nodes that are not in use, in the background, so that a wrong one is known before it is
    /// needed. One check per node at a time.
    fn look_around(&self) {
        for node in self.all.iter().filter(|node| node.stale()) {
            if node.looking.swap(true, Ordering::Relaxed) {
                continue;
            }
            let (node, genesis) = (Arc::clone(node), self.genesis.clone());
            tokio::spawn(async move {
                let _ = node.vet(&genesis).await;
                node.looking.store(false, Ordering::Relaxed);
            });
        }
    }

    /// A job, and on request its specification. Avoids the node of the validator whose claim is checked, if there
    /// is another one; `turn` picks among the others.
    pub(crate) async fn reading(
        &self,
        job: JobId,
        with_spec: bool,
        avoid: Option<&str>,
        turn: usize,
    ) -> Result<JobSnapshot, AskError> {
        let first = self.other_than(avoid, self.first.load(Ordering::Relaxed).wrapping_add(turn));
        self.ask_from(first, |client| async move {
            let (height, found) = value(&client, &JobKey { job }).await?;
            let spec = match with_spec {
                true => value(&client, &JobSpecKey { job }).await?.1,
                false => None,
            };
            let program = spec.as_ref().and_then(|spec: &JobSpec| match &spec.job_type {
                JobType::Custom { executor_hash, .. } => Some(*executor_hash),
                _ => None,
            });
            let pinned = match program {
                Some(hash) => is_pinned(&client, hash).await?,
                None => false,
            };
            Ok(JobSnapshot { height, job: found, spec, pinned })
        })
        .await
    }

    fn other_than(&self, avoid: Option<&str>, first: usize) -> usize {
        let count = self.all.len();
        let avoid = avoid.map(|avoid| avoid.trim_end_matches('/'));
        let is_other = |node: &usize| {
            avoid.is_none_or(|avoid| self.all[node % count].client.nodes() != [avoid.to_owned()])
        };
        (0..count).map(|i| first.wrapping_add(i)).find(is_other).unwrap_or(first)
    }

    pub(crate) async fn poll(&self, me: Address) -> Result<AssignedJobs, AskError> {
        let answer = self.ask(|client| async move { client.runner_jobs(me).await }).await;
        let jobs = match answer {
            Err(error) if error.refusal() == Some(code::SUNSET) => {
                return Ok(AssignedJobs::PollingOver);
            }
            // An unregistered runner has no seats.
            Err(error) if error.is_not_found() => return Ok(AssignedJobs::Jobs(Vec::new())),
            answer => answer?.jobs,
        };
        let seats = jobs.into_iter().filter_map(|job| {
            let open = |progress: &ProgressView| {
                !matches!(
                    progress,
                    ProgressView::Crashed {} | ProgressView::TimedOut {} | ProgressView::Slashed {}
                )
            };
            let mine = job.seats.iter().find(|seat| seat.runner.0 == me && open(&seat.progress))?;
            let committed = matches!(mine.progress, ProgressView::Committed { .. });
            Some(Seat { job: job.id.0, attempt: mine.attempt, committed })
        });
        Ok(AssignedJobs::Jobs(seats.collect()))
    }

    pub(crate) async fn runner(&self, runner: Address) -> Result<RunnerView, AskError> {
        self.ask(|client| async move { client.runner(runner).await }).await
    }

    pub(crate) async fn pinned(&self, programs: &[B256]) -> Result<Vec<B256>, AskError> {
        self.ask(|client| async move { pinned(&client, programs).await }).await
    }

    pub(crate) async fn validators(&self, runner: Address) -> Result<RunnerValidators, AskError> {
        self.ask(|client| async move { client.runner_validators(runner).await }).await
    }

    pub(crate) async fn history(&self, job: JobId) -> Result<JobHistory, AskError> {
        self.ask(|client| async move { client.job_history(job).await }).await
    }

    pub(crate) async fn look_up(&self, hash: TxHash) -> Result<TransactionStatus, AskError> {
        self.ask(|client| async move { Ok(client.transaction_status(hash).await?.status) }).await
    }

    /// Submits a transaction to one node.
    pub(crate) async fn submit(&self, signed: &Signed, node: usize) -> Result<(), AskError> {
        let node = &self.all[node % self.all.len()];
        node.vet(&self.genesis).await?;
        Ok(node.client.submit(signed).await.map(drop)?)
    }

    /// Gives a result to a validator of the aggregator. Returns whether it has a session with the aggregator.
    pub(crate) async fn hand_over(
        api: &str,
        job: JobId,
        post: &HandoverPost,
    ) -> Result<bool, ClientError> {
        let client = Client::with(config(api))?;
        Ok(client.post_handover(job, post).await?.connected)
    }
}

/// Whether another node may do better.
fn unhelpful(error: &ClientError) -> bool {
    error.is_absence()
        || matches!(error, ClientError::Unexpected(_))
        || matches!(error, ClientError::Refused { status, .. } if *status == 429 || *status >= 500)
}

async fn value<K: StateKey>(
    client: &Client,
    key: &K,
) -> Result<(u64, Option<K::Value>), ClientError> {
    let proof = client.proof(key).await?;
    let unreadable = |error| ClientError::Unexpected(format!("a value of the state; {error}"));
    let value = proof.value.map(|bytes| K::Value::from_bytes(&bytes.0));
    Ok((proof.height.0, value.transpose().map_err(unreadable)?))
}
