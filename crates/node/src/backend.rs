//! What the API reads the chain through.
//!
//! Local: a change here needs no agreement among validators.
//!
//! The API does not see consensus, storage or the mempool, nor their type parameters; a node, a
//! simulation or a test gives it this one object. Everything in it is about finalised blocks.

pub use crate::chain::Tip;
pub use crate::history::Finalised;

use futures::future::BoxFuture;
use remuda_client::types::JobPlace;
use remuda_link::frame::Handover;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::error::Inadmissible;
use remuda_protocol::genesis::Genesis;
use remuda_protocol::primitives::{Address, B256, Height, JobId, Slot, TxHash};
use std::sync::Arc;
use std::time::Instant;
use thiserror::Error;
use tokio::sync::broadcast;

/// Why a transaction was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct Refusal {
    /// Stable; it goes out as it is.
    pub code: &'static str,
    /// What to do about it.
    pub message: String,
    /// The same bytes may be taken a little later.
    pub temporary: bool,
}

impl From<Inadmissible> for Refusal {
    fn from(reason: Inadmissible) -> Self {
        let temporary = reason == Inadmissible::BlockFull;
        Self { code: reason.api_code(), message: reason.to_string(), temporary }
    }
}

/// Proof that a key has a value in the state after a block, or has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateProof {
    /// The block after which it holds.
    pub height: Height,
    /// State root in that block's header.
    pub root: B256,
    /// The value; none if the key is absent.
    pub value: Option<Vec<u8>>,
    /// The proof, in the store's encoding.
    pub proof: Vec<u8>,
}

/// Why there is no proof.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProofError {
    /// This backend keeps no authenticated store.
    #[error("this node keeps no proofs")]
    Unsupported,
    /// The store is busy, or behind.
    #[error("the store cannot prove this now: {0}")]
    Unavailable(String),
}

/// What a node says about itself.
#[derive(Clone, Copy, Debug)]
pub struct NodeStatus {
    /// Peers that it is connected to.
    pub peers: u32,
    /// The view that it is in.
    pub view: u64,
    pub mempool: usize,
    /// Whether it has caught up.
    pub ready: bool,
    pub started: Instant,
}

/// Where a validator can be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidatorEndpoints {
    /// By runners: address and port.
    pub link: Option<String>,
    /// Its API, as a URL.
    pub api: Option<String>,
}

/// How far a runner is with a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobNews {
    pub job: JobId,
    /// Whose word this is. Nobody else vouches for it.
    pub runner: Address,
    /// In percent.
    pub percent: u8,
    pub detail: Option<String>,
}

/// The runners with sessions at this node, as far as the API needs them.
pub trait RunnerLinks: Send + Sync {
    /// Where a validator can be reached; empty if its operator did not say.
    fn endpoints(&self, validator: u32) -> ValidatorEndpoints;

    /// Counters in Prometheus' text form.
    fn metrics(&self) -> String;

    /// Progress that runners report, from now on.
    fn news(&self) -> broadcast::Receiver<Arc<JobNews>>;

    /// Hands a result to an aggregator. `false` if it has no session here, or none that knows the job.
    fn hand_over(&self, aggregator: &Address, handover: Handover) -> bool;
}

/// A chain, as far as the API needs it. Methods without a future answer from memory, at once.
pub trait Backend: Send + Sync + 'static {
    /// How the chain began; its parameters are in here.
    fn genesis(&self) -> &Genesis;

    /// The newest finalised block and the state after it.
    fn tip(&self) -> Arc<Tip>;

    /// A finalised block; none if it is unknown, not there yet, or no longer kept.
    fn block(&self, height: Height) -> BoxFuture<'_, Option<Arc<Finalised>>>;

    /// The height of a finalised block.
    fn height_of(&self, hash: B256) -> Option<Height>;

    /// Where a transaction is: height and place among the block's transactions.
    fn transaction(&self, hash: TxHash) -> Option<(Height, u32)>;

    /// Heights of the blocks with events about a job, ascending.
    fn job_heights(&self, job: JobId) -> Vec<Height>;

    /// Jobs, or one submitter's, newest first: up to `limit` that come after a place in this order.
    fn jobs(
        &self,
        submitter: Option<Address>,
        after: Option<JobPlace>,
        limit: usize,
    ) -> Vec<(JobPlace, JobId)>;

    /// Jobs that a runner was drawn for and that were not over when last looked at.
    fn open_jobs(&self, runner: Address) -> Vec<JobId>;

    /// Every block from now on, in order. A block is sent once [`tip`](Self::tip) and the lookups
    /// above know it.
    fn subscribe(&self) -> broadcast::Receiver<Arc<Finalised>>;

    /// Takes a signed transaction, to be put into a block.
    fn submit(&self, bytes: Vec<u8>) -> Result<TxHash, Refusal>;

    /// Whether a transaction is on its way: from [`submit`](Self::submit) until
    /// [`transaction`](Self::transaction) knows it or it is given up, blocks that are not final yet
    /// included.
    fn pending(&self, hash: TxHash) -> bool;

    /// Nonce of an account's next transaction if everything that is on its way is taken first.
    fn next_nonce(&self, address: Address) -> u64;

    /// Proves a key of the newest state that can be proven.
    fn prove(&self, key: Vec<u8>) -> BoxFuture<'_, Result<StateProof, ProofError>>;

    /// What the node says about itself.
    fn status(&self) -> NodeStatus;

    /// Metrics of consensus, storage and network, in Prometheus' text form.
    fn metrics(&self) -> String;

    /// Runners with a live session with this validator.
    fn presence_seen(&self) -> Vec<Slot>;

    /// The key that a development chain gives money away with.
    fn faucet(&self) -> Option<SecretKey>;
}
