//! The API's [`Backend`] over a running validator.
//!
//! Local: a change here needs no agreement among validators.

use crate::backend::{Backend, NodeStatus, ProofError, Refusal, StateProof};
use crate::block::to_hash;
use crate::chain::{Sessions, Tip};
use crate::gate::to_ms;
use crate::history::{Finalised, History};
use crate::mempool;
use crate::network::Network;
use crate::pool::Pool;
use crate::scheme::PublicKey;
use crate::seeds::Seeds;
use crate::store::{self, Databases};
use crate::validator::Validator;
use commonware_codec::Encode as _;
use commonware_p2p::authenticated::lookup;
use commonware_p2p::{CheckedSender as _, LimitedSender as _, Recipients};
use commonware_runtime::{Clock, Spawner};
use commonware_storage::Context as StorageContext;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use rand_core::CryptoRng;
use remuda_client::types::JobPlace;
use remuda_protocol::chain::ChainState;
use remuda_protocol::codec::Decode as _;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::genesis::Genesis;
use remuda_protocol::key::ChainKey;
use remuda_protocol::primitives::{Address, B256, Height, JobId, Slot, TxHash};
use remuda_protocol::state::StateKey as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::{Semaphore, broadcast};

/// Proofs that are made at a time. Each keeps the state's next block waiting for as long as it takes.
const PROVERS: usize = 1;
/// A node is ready if its newest block is of one of the last rounds, and not old: rounds end without
/// blocks, or not at all, where too many validators are away.
const READY_WITHIN_VIEWS: u64 = 16;
/// How old, in block times, and in milliseconds at least.
const READY_WITHIN_BLOCKS: u64 = 20;
const READY_WITHIN_MS: u64 = 10_000;
/// Oldest count of peers that is given out.
const PEERS_COUNTED_EVERY: Duration = Duration::from_secs(1);
/// Counts connected peers. A channel's sender knows them, and nothing is ever sent on this one: asking
/// spends its quota.
pub struct PeerCount<E: Clock> {
    channel: lookup::Sender<PublicKey, E>,
    counted: Option<(Instant, u32)>,
}

impl<E: Clock> PeerCount<E> {
    /// On a channel of its own, with a quota of more than one message per second.
    pub fn new(channel: lookup::Sender<PublicKey, E>) -> Self {
        Self { channel, counted: None }
    }

    fn get(&mut self) -> u32 {
        match self.counted {
            Some((at, peers)) if at.elapsed() < PEERS_COUNTED_EVERY => peers,
            _ => {
                let connected = self.channel.check(Recipients::All);
                let peers = connected.map_or(0, |peers| peers.recipients().len() as u32);
                self.counted = Some((Instant::now(), peers));
                peers
            }
        }
    }
}

/// What a node knows, for its API and its runners. All of it is about finalised blocks.
pub struct NodeView<E: CryptoRng + Spawner + StorageContext> {
    network: Arc<Network>,
    pool: Arc<Pool>,
    /// The block of height 0.
    genesis: Arc<Finalised>,
    history: History<E>,
    seeds: Seeds,
    databases: Databases<E>,
    sessions: Sessions,
    faucet: Option<SecretKey>,
    /// For the runtime's metrics.
    context: E,
    peers: Mutex<PeerCount<E>>,
    started: Instant,
    provers: Semaphore,
}

impl<E: CryptoRng + Spawner + StorageContext> NodeView<E> {
    /// Of a validator that runs.
    pub async fn new(
        network: Arc<Network>,
        pool: Arc<Pool>,
        validator: &Validator<E>,
        sessions: Sessions,
        faucet: Option<SecretKey>,
        context: E,
        peers: PeerCount<E>,
    ) -> Self {
        Self {
            network,
            pool,
            genesis: validator.genesis.clone(),
            history: validator.history.clone(),
            seeds: validator.seeds.clone(),
            databases: validator.state.subscribe_databases().await,
            sessions,
            faucet,
            context,
            peers: Mutex::new(peers),
            started: Instant::now(),
            provers: Semaphore::new(PROVERS),
        }
    }

    /// A final block; the history has all of them but the first.
    async fn finalised(&self, height: Height) -> Option<Arc<Finalised>> {
        let tip = self.tip();
        match tip.finalised.height() {
            // Everybody who waits for a transaction asks for the block that has just become final.
            newest if newest == height => Some(tip.finalised.clone()),
            // After a crash the history may be ahead of the state.
            newest if newest < height => None,
            _ if height == Height::ZERO => Some(self.genesis.clone()),
            _ => self.history.finalised(height.get()).await,
        }
    }

    /// The index may be ahead of the state, as the history: what it names there is not shown yet.
    fn is_final(&self, height: Height) -> bool {
        height <= self.tip().finalised.height()
    }
}

impl<E: CryptoRng + Spawner + StorageContext> Backend for NodeView<E> {
    fn genesis(&self) -> &Genesis {
        self.network.genesis()
    }

    fn tip(&self) -> Arc<Tip> {
        self.pool.chain().tip()
    }

    fn block(&self, height: Height) -> BoxFuture<'_, Option<Arc<Finalised>>> {
        self.finalised(height).boxed()
    }

    fn height_of(&self, hash: B256) -> Option<Height> {
        self.pool.index().height_of(hash).filter(|height| self.is_final(*height))
    }

    fn transaction(&self, hash: TxHash) -> Option<(Height, u32)> {
        self.pool.index().transaction(hash).filter(|(height, _)| self.is_final(*height))
    }

    fn job_heights(&self, job: JobId) -> Vec<Height> {
        let newest = self.tip().finalised.height();
        let mut heights = self.pool.index().job_heights(job);
        heights.retain(|height| *height <= newest);
        heights
    }

    fn jobs(
        &self,
        submitter: Option<Address>,
        after: Option<JobPlace>,
        limit: usize,
    ) -> Vec<(JobPlace, JobId)> {
        let newest = self.tip().finalised.height().get();
        let end = JobPlace { height: newest + 1, index: 0 };
        let after = after.map_or(end, |after| after.min(end));
        self.pool.index().jobs(submitter, Some(after), limit)
    }

    fn open_jobs(&self, runner: Address) -> Vec<JobId> {
        self.pool.open_jobs(runner)
    }

    fn subscribe(&self) -> broadcast::Receiver<Arc<Finalised>> {
        self.pool.subscribe()
    }

    fn submit(&self, bytes: Vec<u8>) -> Result<TxHash, Refusal> {
        self.pool.submit_local(&bytes).map_err(|refusal| Refusal {
            code: refusal.code(),
            message: refusal.to_string(),
            temporary: matches!(refusal, mempool::Refusal::PoolFull),
        })
    }

    fn pending(&self, hash: TxHash) -> bool {
        self.pool.mempool().contains(&hash)
    }

    fn next_nonce(&self, address: Address) -> u64 {
        self.pool.mempool().next_nonce(&address, &self.tip().state)
    }

    fn prove(&self, key: Vec<u8>) -> BoxFuture<'_, Result<StateProof, ProofError>> {
        async move { self.proof(&key).await }.boxed()
    }

    fn status(&self) -> NodeStatus {
        let tip = self.tip();
        let view = self.seeds.newest() + 1;
        // Rounds go on while blocks are fetched: a node that is behind has old blocks and new
        // rounds.
        let behind = view.saturating_sub(tip.finalised.block.header.round.view);
        let age_ms =
            to_ms(SystemTime::now()).saturating_sub(tip.finalised.block.header.timestamp_ms);
        let block_time_ms = self.pool.chain().params().block_time_ms;
        let patience_ms = block_time_ms.saturating_mul(READY_WITHIN_BLOCKS).max(READY_WITHIN_MS);
        NodeStatus {
            peers: self.peers.lock().unwrap_or_else(PoisonError::into_inner).get(),
            view,
            mempool: self.pool.mempool().len(),
            ready: behind < READY_WITHIN_VIEWS && age_ms < patience_ms,
            started: self.started,
        }
    }

    fn metrics(&self) -> String {
        self.context.encode()
    }

    fn presence_seen(&self) -> Vec<Slot> {
        self.sessions.all()
    }

    fn faucet(&self) -> Option<SecretKey> {
        self.faucet.clone()
    }
}

impl<E: CryptoRng + Spawner + StorageContext> NodeView<E> {
    /// Root, height, value and proof are of one state: they are read under one lock.
    async fn proof(&self, key: &[u8]) -> Result<StateProof, ProofError> {
        let unavailable = |e: &dyn std::fmt::Display| ProofError::Unavailable(e.to_string());
        let _prover = self.provers.acquire().await.map_err(|e| unavailable(&e))?;
        let database = self.databases.read().await;
        let root = to_hash(&database.root());
        let chain = database.get(&store::hashed_key(&ChainKey {}.bytes())).await;
        let chain = chain.map_err(|e| unavailable(&e))?;
        let height = chain
            .and_then(|bytes| store::parse_entry(&bytes))
            .and_then(|(_, value)| ChainState::from_bytes(&value).ok())
            .map(|chain| chain.height)
            .ok_or_else(|| unavailable(&"the state has no chain"))?;
        let hashed = store::hashed_key(key);
        let value = database.get(&hashed).await.map_err(|e| unavailable(&e))?;
        let proof = match &value {
            Some(_) => database.key_value_proof(hashed).await.map(|proof| proof.encode()),
            None => database.exclusion_proof(&hashed).await.map(|proof| proof.encode()),
        };
        let proof = proof.map_err(|e| unavailable(&e))?.to_vec();
        let value = value.and_then(|bytes| store::parse_entry(&bytes)).map(|(_, value)| value);
        Ok(StateProof { height, root, value, proof })
    }
}
