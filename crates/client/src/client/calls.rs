//! One method per endpoint.

use super::{Call, Client, ClientError, Events, Repeat};
use crate::sign::{Quote, Signed};
use crate::types::{
    AccountView, ActorLogs, ActorState, ActorView, BlockView, EntitlementView, EntitlementsView,
    FaucetRequest, FaucetResponse, HandedOver, HandoverPost, HealthView, HexAddress, HexBytes,
    HexHash, JobHistory, JobPlace, JobReceipt, JobView, JobsPage, ParamsView, PoolView,
    PresenceView, ProofView, ReceiptView, RunnerJobs, RunnerPost, RunnerPosted, RunnerValidators,
    RunnerView, RunnersPage, StatusView, SubmitRequest, SubmitResponse, SubmitStatus, Submitted,
    TimerView, TimersView, TransactionStatus, TransactionStatusView, TransactionView,
};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::primitives::{Address, B256, Height, JobId, TxHash};
use remuda_protocol::state::StateKey;
use remuda_protocol::transaction::Instruction;
use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockId {
    /// The newest that is finalised.
    Latest,
    /// By height.
    Height(Height),
    Hash(B256),
}

impl core::fmt::Display for BlockId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Latest => f.write_str("latest"),
            Self::Height(height) => height.fmt(f),
            Self::Hash(hash) => HexHash(*hash).fmt(f),
        }
    }
}

/// Which events of each block are wanted. Everything, if nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    pub job: Option<JobId>,
    pub runner: Option<Address>,
    /// Kinds: `job`, `runner`, `money`.
    pub kinds: Vec<String>,
}

impl EventFilter {
    /// The path that asks for these, from a height on if one is given.
    pub(super) fn path(&self, from: Option<u64>) -> String {
        let mut parts = Vec::new();
        parts.extend(from.map(|from| format!("from={from}")));
        parts.extend(self.job.map(|job| format!("job={}", HexHash(job))));
        parts.extend(self.runner.map(|runner| format!("runner={}", HexAddress(runner))));
        if !self.kinds.is_empty() {
            // Names that a node does not know are its business; here they must only fit a URL.
            let plain = |kind: &String| kind.chars().all(|c| c.is_ascii_alphanumeric());
            let kinds: Vec<&str> =
                self.kinds.iter().filter(|kind| plain(kind)).map(String::as_str).collect();
            parts.push(format!("kinds={}", kinds.join(",")));
        }
        if parts.is_empty() { "/events".to_owned() } else { format!("/events?{}", parts.join("&")) }
    }
}

/// What an answer may take beyond the time that the node was asked to wait.
const WAIT_MARGIN: Duration = Duration::from_secs(5);

/// Calls that only read: a method, its path and its answer.
macro_rules! getters {
    ($(
        $(#[$about:meta])*
        $name:ident($($arg:ident: $ty:ty $(as $hex:ident)?)?) $path:literal -> $view:ty;
    )*) => {
        impl Client {$(
            $(#[$about])*
            pub async fn $name(&self $(, $arg: $ty)?) -> Result<$view, ClientError> {
                $($( let $arg = $hex($arg); )?)?
                self.get(format!($path)).await
            }
        )*}
    };
}

getters! {
    /// Where the node and its chain stand.
    status() "/status" -> StatusView;
    /// Whether a node is alive.
    health() "/health" -> HealthView;
    /// Whether a node has caught up.
    ready() "/ready" -> HealthView;
    /// A block with the hashes of its transactions.
    block(id: BlockId) "/block/{id}" -> BlockView;
    /// A block with everything in it.
    full_block(id: BlockId) "/block/{id}?full=true" -> BlockView;
    /// A transaction that is in a block.
    transaction(hash: TxHash as HexHash) "/transaction/{hash}" -> TransactionView;
    receipt(hash: TxHash as HexHash) "/transaction/{hash}/receipt" -> ReceiptView;
    account(address: Address as HexAddress) "/account/{address}" -> AccountView;
    actor(actor: Address as HexAddress) "/actor/{actor}" -> ActorView;
    /// A right that somebody has.
    entitlement(entitlement: B256 as HexHash) "/entitlement/{entitlement}" -> EntitlementView;
    /// What an address may do.
    entitlements(address: Address as HexAddress) "/account/{address}/entitlements" -> EntitlementsView;
    /// The timer lane: what it asks, who waits, and the limits on timers.
    timers() "/timers" -> TimersView;
    /// A timer that has not ended.
    timer(timer: B256 as HexHash) "/timer/{timer}" -> TimerView;
    runner(address: Address as HexAddress) "/runner/{address}" -> RunnerView;
    /// Jobs that a runner sits on.
    runner_jobs(address: Address as HexAddress) "/runner/{address}/jobs" -> RunnerJobs;
    /// Validators that a runner keeps sessions with.
    runner_validators(address: Address as HexAddress) "/runner/{address}/validators" -> RunnerValidators;
    job(job: JobId as HexHash) "/job/{job}" -> JobView;
    /// Everything that happened to a job.
    job_history(job: JobId as HexHash) "/job/{job}/history" -> JobHistory;
    /// A job, its history and a proof of its record.
    job_receipt(job: JobId as HexHash) "/job/{job}/receipt" -> JobReceipt;
    params() "/params" -> ParamsView;
    openapi() "/openapi.json" -> serde_json::Value;
}

impl Client {
    /// Where a transaction is, as far as a node knows.
    pub async fn transaction_status(
        &self,
        hash: TxHash,
    ) -> Result<TransactionStatusView, ClientError> {
        self.get(format!("/transaction/{}/status", HexHash(hash))).await
    }

    /// Waits until a transaction is in a finalised block. Another client may have submitted it, so a
    /// caller can resume waiting after it lost its connection. A node that does not know the
    /// transaction or does not answer is polled until patience ends: gossip may still deliver the
    /// transaction, and the node may recover.
    pub async fn await_receipt(
        &self,
        hash: TxHash,
        patience: Duration,
    ) -> Result<ReceiptView, ClientError> {
        let started = Instant::now();
        loop {
            // No more than the call itself has time for.
            let left = patience.saturating_sub(started.elapsed());
            let left = left.min(self.config.wait_timeout / 2);
            let path =
                format!("/transaction/{}/status?wait_ms={}", HexHash(hash), left.as_millis());
            let within = left + WAIT_MARGIN;
            let asked = tokio::time::timeout(within, self.get_within(path, within)).await;
            let over = started.elapsed() >= patience;
            let found: TransactionStatusView = match asked {
                Err(_) if over => return Err(ClientError::NotIncluded(HexHash(hash))),
                Err(_) => continue,
                Ok(Err(error)) if error.is_absence() && !over => {
                    tokio::time::sleep(self.config.retry.base).await;
                    continue;
                }
                Ok(answer) => answer?,
            };
            if found.hash.0 != hash {
                return Err(ClientError::Unexpected("the same hash".to_owned()));
            }
            match found.status {
                TransactionStatus::Included { receipt: Some(receipt), .. } => return Ok(*receipt),
                TransactionStatus::Included { .. } => {
                    return Err(ClientError::Unexpected("a receipt with the block".to_owned()));
                }
                TransactionStatus::Pending {} | TransactionStatus::Unknown {} => {}
            }
            if over {
                return Err(ClientError::NotIncluded(HexHash(hash)));
            }
            // A node may have less patience than was asked for, or none.
            tokio::time::sleep(self.config.retry.base).await;
        }
    }

    /// Some of what an actor keeps under a prefix, beyond a key.
    pub async fn actor_state(
        &self,
        actor: Address,
        prefix: &HexBytes,
        after: Option<&HexBytes>,
    ) -> Result<ActorState, ClientError> {
        let after = after.map_or(String::new(), |after| format!("&after={after}"));
        self.get(format!("/actor/{}/state?prefix={prefix}{after}", HexAddress(actor))).await
    }

    /// What an actor said and what became of calls to it, in some blocks below a height.
    pub async fn actor_logs(
        &self,
        actor: Address,
        before: Option<u64>,
    ) -> Result<ActorLogs, ClientError> {
        let before = before.map_or(String::new(), |before| format!("?before={before}"));
        self.get(format!("/actor/{}/logs{before}", HexAddress(actor))).await
    }

    /// A pool of runners, and some of its memberships from a place on.
    pub async fn pool(&self, name: &[u8], after: u32) -> Result<PoolView, ClientError> {
        self.get(format!("/pool/{}?after={after}", HexBytes(name.to_vec()))).await
    }

    /// Some of all runners: those after an address, so many at most.
    pub async fn runners(
        &self,
        after: Option<Address>,
        limit: u32,
    ) -> Result<RunnersPage, ClientError> {
        let after = after.map_or(String::new(), |after| format!("&after={}", HexAddress(after)));
        self.get(format!("/runners?limit={limit}{after}")).await
    }

    /// Some of all jobs, or of one submitter's, newest first: those after a place, so many at most.
    pub async fn jobs(
        &self,
        submitter: Option<Address>,
        after: Option<JobPlace>,
        limit: u32,
    ) -> Result<JobsPage, ClientError> {
        let submitter = submitter.map(|address| format!("&submitter={}", HexAddress(address)));
        let after = after.map(|after| format!("&after={after}"));
        let (submitter, after) = (submitter.unwrap_or_default(), after.unwrap_or_default());
        self.get(format!("/jobs?limit={limit}{submitter}{after}")).await
    }

    /// Who attests whom: rows after a slot, so many at most.
    pub async fn presence(
        &self,
        after: Option<u32>,
        limit: u32,
    ) -> Result<PresenceView, ClientError> {
        let after = after.map_or(String::new(), |after| format!("&after={after}"));
        self.get(format!("/presence?limit={limit}{after}")).await
    }

    /// Proof of a state entry, or of its absence.
    pub async fn proof(&self, key: &impl StateKey) -> Result<ProofView, ClientError> {
        self.get(format!("/proof/{}", HexBytes(key.bytes()))).await
    }

    /// Blocks as they are finalised, from the one after `last` on; from now on if there is none.
    pub fn events(&self, filter: &EventFilter, last: Option<Height>) -> Events {
        Events::follow(self.clone(), filter, last.map(|last| last.get().saturating_add(1)))
    }

    /// Blocks from a height on, the genesis with height 0 included.
    pub fn events_from(&self, filter: &EventFilter, first: Height) -> Events {
        Events::follow(self.clone(), filter, Some(first.get()))
    }

    /// What a transaction of this account needs to know.
    pub async fn quote(&self, address: Address) -> Result<Quote, ClientError> {
        let (status, account) = (self.status().await?, self.account(address).await?);
        Ok(Quote::new(&status, &account))
    }

    /// Signs an instruction with the account's next nonce and current fees.
    pub async fn sign(
        &self,
        key: &SecretKey,
        instruction: Instruction,
    ) -> Result<Signed, ClientError> {
        Ok(self.quote(key.address()).await?.sign(key, instruction))
    }

    /// Hands a signed transaction in.
    pub async fn submit(&self, signed: &Signed) -> Result<Submitted, ClientError> {
        self.submit_one(signed, false).await
    }

    /// Hands a signed transaction in and waits until it is in a finalised block.
    pub async fn submit_and_wait(&self, signed: &Signed) -> Result<ReceiptView, ClientError> {
        let submitted = self.submit_one(signed, true).await?;
        submitted.receipt.ok_or(ClientError::NotIncluded(submitted.hash))
    }

    /// Signs, hands in and waits.
    pub async fn send(
        &self,
        key: &SecretKey,
        instruction: Instruction,
    ) -> Result<ReceiptView, ClientError> {
        let signed = self.sign(key, instruction).await?;
        self.submit_and_wait(&signed).await
    }

    /// Hands several transactions in; each has its own answer.
    pub async fn submit_batch(
        &self,
        batch: &[Signed],
        wait: bool,
    ) -> Result<Vec<Submitted>, ClientError> {
        let transactions = batch.iter().map(|signed| HexBytes(signed.bytes.clone())).collect();
        let request =
            SubmitRequest { transactions: Some(transactions), wait, ..SubmitRequest::default() };
        let answer: SubmitResponse = self.post_submit(&request).await?;
        if answer.results.len() != batch.len() {
            return Err(ClientError::Unexpected("an answer for each transaction".to_owned()));
        }
        Ok(answer.results)
    }

    async fn submit_one(&self, signed: &Signed, wait: bool) -> Result<Submitted, ClientError> {
        let transaction = Some(HexBytes(signed.bytes.clone()));
        let request = SubmitRequest { transaction, wait, ..SubmitRequest::default() };
        let answer = self.post_submit(&request).await?;
        let [submitted] = <[Submitted; 1]>::try_from(answer.results)
            .map_err(|_| ClientError::Unexpected("one result".to_owned()))?;
        if submitted.hash.0 != signed.hash {
            return Err(ClientError::Unexpected("the same hash".to_owned()));
        }
        match (submitted.status, submitted.error) {
            (SubmitStatus::Refused | SubmitStatus::Dropped, Some(error)) => {
                Err(ClientError::Refused { status: 422, error, retry_after: None })
            }
            (_, error) => Ok(Submitted { error, ..submitted }),
        }
    }

    async fn post_submit(&self, request: &SubmitRequest) -> Result<SubmitResponse, ClientError> {
        // The same bytes are the same transaction however often they arrive.
        self.post("/submit".to_owned(), request, Repeat::Always, request.wait).await
    }

    /// Posts a result, commit or reveal to a runner's own endpoint.
    pub async fn post_job_result(
        &self,
        runner: Address,
        post: &RunnerPost,
    ) -> Result<RunnerPosted, ClientError> {
        let path = format!("/runner/{}/job_result", HexAddress(runner));
        self.post(path, post, Repeat::Always, false).await
    }

    /// Posts a heartbeat to a runner's own endpoint.
    pub async fn post_heartbeat(
        &self,
        runner: Address,
        post: &RunnerPost,
    ) -> Result<RunnerPosted, ClientError> {
        let path = format!("/runner/{}/heartbeat", HexAddress(runner));
        self.post(path, post, Repeat::Always, false).await
    }

    /// Gives a job's aggregator a result, through a validator that it may have a session with.
    pub async fn post_handover(
        &self,
        job: JobId,
        post: &HandoverPost,
    ) -> Result<HandedOver, ClientError> {
        let path = format!("/job/{}/handover", HexHash(job));
        self.post(path, post, Repeat::Always, false).await
    }

    /// Asks a development chain for money.
    pub async fn faucet(&self, address: Address) -> Result<FaucetResponse, ClientError> {
        let request = FaucetRequest { address: HexAddress(address) };
        self.post("/faucet".to_owned(), &request, Repeat::IfNotTaken, false).await
    }

    async fn post<T: DeserializeOwned>(
        &self,
        path: String,
        body: &impl Serialize,
        repeat: Repeat,
        waits: bool,
    ) -> Result<T, ClientError> {
        let body = serde_json::to_value(body)
            .map_err(|error| ClientError::Unexpected(error.to_string()))?;
        let timeout = if waits { self.config.wait_timeout } else { self.config.timeout };
        self.call(Call { method: Method::POST, path, body: Some(body), repeat, timeout }).await
    }
}
