//! What the runner asks of nodes.

use super::sender::Facts;
use remuda_client::client::RetryPolicy;
use remuda_client::sign::Signed;
use remuda_client::types::{
    HandoverPost, JobHistory, ProgressView, RunnerValidators, RunnerView, TransactionStatus, code,
};
use remuda_client::{Client, ClientError, Config};
use remuda_protocol::codec::Decode;
use remuda_protocol::dispatcher::job::Job;
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::fees::Basefees;
use remuda_protocol::key::{JobKey, JobSpecKey};
use remuda_protocol::primitives::{Address, JobId, TxHash};
use remuda_protocol::state::StateKey;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Patience with one answer: the next block asks again anyway.
const PATIENCE: Duration = Duration::from_secs(5);

/// A node and its chain, and the runner's account.
#[derive(Clone, Debug)]
pub(crate) struct Pulse {
    pub(crate) facts: Facts,
    pub(crate) block_time: Duration,
    pub(crate) policy: String,
    pub(crate) balance: u128,
}

/// A job in the state.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) height: u64,
    pub(crate) job: Option<Job>,
    /// Only if it was asked for.
    pub(crate) spec: Option<JobSpec>,
}

/// Jobs that a runner sits on, each with the selection that drew it.
#[derive(Debug)]
pub(crate) enum Polled {
    Jobs(Vec<(JobId, u32)>),
    /// Nobody is served by polling on this chain any more.
    Over,
}

/// Clients of the operator's nodes, one each.
#[derive(Clone)]
pub(crate) struct Nodes {
    clients: Arc<Vec<Client>>,
    first: Arc<AtomicUsize>,
}

fn config(node: &str) -> Config {
    let mut config = Config::new([node]);
    config.connect_timeout = Duration::from_secs(2);
    config.timeout = PATIENCE;
    config.retry = RetryPolicy { attempts: 0, ..RetryPolicy::default() };
    config
}

impl Nodes {
    pub(crate) fn new(nodes: &[String]) -> Result<Self, ClientError> {
        let clients: Result<Vec<_>, _> =
            nodes.iter().map(|node| Client::with(config(node))).collect();
        Ok(Self { clients: Arc::new(clients?), first: Arc::default() })
    }

    pub(crate) fn count(&self) -> usize {
        self.clients.len()
    }

    /// The node that is asked first is another one from now on.
    pub(crate) fn turn(&self) {
        self.first.fetch_add(1, Ordering::Relaxed);
    }

    /// Asks one node after the other until one answers; whoever does not is asked last from now on.
    async fn ask<T, F>(&self, call: impl Fn(Client) -> F) -> Result<T, ClientError>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        self.ask_from(self.first.load(Ordering::Relaxed), call).await
    }

    async fn ask_from<T, F>(
        &self,
        first: usize,
        call: impl Fn(Client) -> F,
    ) -> Result<T, ClientError>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        let count = self.clients.len();
        let mut tried = 0;
        loop {
            let node = first.wrapping_add(tried) % count;
            tried += 1;
            match call(self.clients[node].clone()).await {
                Err(error) if unhelpful(&error) && tried < count => {
                    if self.first.load(Ordering::Relaxed) % count == node {
                        self.turn();
                    }
                }
                answer => return answer,
            }
        }
    }

    pub(crate) async fn pulse(&self, me: Address) -> Result<Pulse, ClientError> {
        self.ask(|client| async move {
            let (status, account) = tokio::try_join!(client.status(), client.account(me))?;
            let basefees =
                Basefees { cycle: status.basefees.cycle.0, cell: status.basefees.cell.0 };
            let facts = Facts {
                // The nonce counts, so it is the account's.
                height: account.height.0,
                chain_id: status.chain_id.0,
                nonce: account.nonce.0,
                next_nonce: account.next_nonce.0,
                basefees,
            };
            Ok(Pulse {
                facts,
                block_time: Duration::from_millis(status.block_time_ms.0),
                policy: status.policy,
                balance: account.balance.0,
            })
        })
        .await
    }

    /// A job, and its specification if that is wanted. If there is another one, it is not the node
    /// of the validator whose word is to be checked that is asked; `turn` picks among those.
    pub(crate) async fn reading(
        &self,
        job: JobId,
        with_spec: bool,
        avoid: Option<&str>,
        turn: usize,
    ) -> Result<Reading, ClientError> {
        let first = self.other_than(avoid, self.first.load(Ordering::Relaxed).wrapping_add(turn));
        self.ask_from(first, |client| async move {
            let (height, found) = value(&client, &JobKey { job }).await?;
            let spec = match with_spec {
                true => value(&client, &JobSpecKey { job }).await?.1,
                false => None,
            };
            Ok(Reading { height, job: found, spec })
        })
        .await
    }

    fn other_than(&self, avoid: Option<&str>, first: usize) -> usize {
        let count = self.clients.len();
        let avoid = avoid.map(|avoid| avoid.trim_end_matches('/'));
        let is_other = |node: &usize| {
            avoid.is_none_or(|avoid| self.clients[node % count].nodes() != [avoid.to_owned()])
        };
        (0..count).map(|i| first.wrapping_add(i)).find(is_other).unwrap_or(first)
    }

    pub(crate) async fn poll(&self, me: Address) -> Result<Polled, ClientError> {
        let answer = self.ask(|client| async move { client.runner_jobs(me).await }).await;
        let jobs = match answer {
            Err(error) if error.code() == Some(code::SUNSET) => return Ok(Polled::Over),
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
            Some((job.id.0, mine.attempt))
        });
        Ok(Polled::Jobs(seats.collect()))
    }

    pub(crate) async fn runner(&self, runner: Address) -> Result<RunnerView, ClientError> {
        self.ask(|client| async move { client.runner(runner).await }).await
    }

    pub(crate) async fn validators(
        &self,
        runner: Address,
    ) -> Result<RunnerValidators, ClientError> {
        self.ask(|client| async move { client.runner_validators(runner).await }).await
    }

    pub(crate) async fn history(&self, job: JobId) -> Result<JobHistory, ClientError> {
        self.ask(|client| async move { client.job_history(job).await }).await
    }

    pub(crate) async fn look_up(&self, hash: TxHash) -> Result<TransactionStatus, ClientError> {
        self.ask(|client| async move { Ok(client.transaction_status(hash).await?.status) }).await
    }

    /// Hands a transaction in at one node.
    pub(crate) async fn submit(&self, signed: &Signed, node: usize) -> Result<(), ClientError> {
        self.clients[node % self.clients.len()].submit(signed).await.map(drop)
    }

    /// Gives a result to a validator of its aggregator. Whether that has a session with it.
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
