//! What a node knows, for those who ask: the final chain, what waits, and who is there.
//!
//! Local: a change here needs no agreement among validators.

use crate::api::index::Index;
use crate::app::{App, Pool};
use crate::backend::{
    Backend, Finalised, NodeStatus, ProofError, Refusal, RunnerLinks, StateProof, Tip,
};
use crate::block::{Block, to_hash};
use crate::chain::{Chain, Executed, Sessions};
use crate::gate::to_ms;
use crate::history::History;
use crate::mempool::{self, Budget, Limits, Mempool};
use crate::network::Network;
use crate::runners::Runners;
use crate::seeds::Seeds;
use crate::store;
use crate::validator::Validator;
use commonware_codec::Encode as _;
use commonware_glue::stateful::Mailbox;
use commonware_runtime::Spawner;
use commonware_storage::Context as StorageContext;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use rand_core::CryptoRng;
use remuda_client::types::JobPlace;
use remuda_protocol::chain::ChainState;
use remuda_protocol::codec::{Bytes, Decode as _};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::genesis::Genesis;
use remuda_protocol::key::ChainKey;
use remuda_protocol::primitives::{Address, B256, Height, JobId, Slot, TxHash};
use remuda_protocol::state::{MemoryState, StateKey as _};
use remuda_protocol::transaction::tx_hash;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::{Semaphore, broadcast, mpsc};

/// Final blocks that a slow listener may be behind before it misses some.
const LISTENER_LAG: usize = 256;
/// A block is offered more than fits, since limits are more than what is used.
const OVERBOOKED: u64 = 2;
/// Blocks whose transactions and jobs can be found by their names: about three months of 1 s blocks.
const INDEXED_BLOCKS: usize = 8_000_000;
/// Transactions, jobs and blocks that can be found: about 2 GiB of memory at most. Only a chain that
/// is busy for days gets here before it has so many blocks.
const INDEXED_ENTRIES: usize = 16_000_000;
/// Proofs that are made at a time. Each keeps the state's next block waiting for as long as it takes.
const PROVERS: usize = 1;
/// How often, and how soon again, a block is looked for that must be on its way.
const ATTACH_TRIES: u32 = 6_000;
const ATTACH_PAUSE: Duration = Duration::from_millis(5);
/// A node is ready if its newest block is of one of the last rounds, and not old: rounds end without
/// blocks, or not at all, where too many validators are away.
const READY_WITHIN_VIEWS: u64 = 16;
/// How old, in block times, and in milliseconds at least.
const READY_WITHIN_BLOCKS: u64 = 20;
const READY_WITHIN_MS: u64 = 10_000;
/// How old the count of peers may be.
const PEERS_COUNTED_EVERY: Duration = Duration::from_secs(1);
/// Name of the network's gauge.
const CONNECTED_METRIC: &str = "network_tracker_directory_connected{";

/// What there is once the validator runs.
struct Parts<E: CryptoRng + Spawner + StorageContext> {
    state: Mailbox<E, App<E>>,
    history: History<E>,
    seeds: Seeds,
    genesis: Arc<Finalised>,
}

pub struct Ledger<E: CryptoRng + Spawner + StorageContext> {
    network: Arc<Network>,
    chain: Chain,
    sessions: Sessions,
    mempool: Mutex<Mempool>,
    outbox: mpsc::Sender<Bytes>,
    runners: Arc<Runners>,
    faucet: Option<SecretKey>,
    metrics: Box<dyn Fn() -> String + Send + Sync>,
    started: Instant,
    /// Peers, and when they were counted.
    peers: Mutex<Option<(Instant, u32)>>,
    tip: RwLock<Option<Arc<Tip>>>,
    index: Mutex<Index>,
    listeners: broadcast::Sender<Arc<Finalised>>,
    parts: OnceLock<Parts<E>>,
    provers: Semaphore,
}

impl<E: CryptoRng + Spawner + StorageContext> Ledger<E> {
    /// Of a validator that does not run yet.
    pub fn new(
        network: Arc<Network>,
        chain: Chain,
        sessions: Sessions,
        runners: Arc<Runners>,
        outbox: mpsc::Sender<Bytes>,
        faucet: Option<SecretKey>,
        metrics: Box<dyn Fn() -> String + Send + Sync>,
    ) -> Arc<Self> {
        Arc::new(Self {
            network,
            chain,
            sessions,
            mempool: Mutex::new(Mempool::new(Limits::default())),
            runners,
            outbox,
            faucet,
            metrics,
            started: Instant::now(),
            peers: Mutex::default(),
            tip: RwLock::new(None),
            index: Mutex::new(Index::new(INDEXED_BLOCKS, INDEXED_ENTRIES)),
            listeners: broadcast::Sender::new(LISTENER_LAG),
            parts: OnceLock::new(),
            provers: Semaphore::new(PROVERS),
        })
    }

    /// The validator runs: reads what is final, so that everything can be answered.
    ///
    /// # Panics
    /// If a block that is final is not on disk.
    pub async fn attach(&self, validator: &Validator<E>) {
        let genesis = &validator.genesis;
        let genesis = Arc::new(Finalised {
            block: genesis.rules().clone(),
            hash: genesis.header().hash(),
            receipts: Arc::default(),
            bytes: 0,
        });
        let parts = Parts {
            state: validator.state.clone(),
            history: validator.history.clone(),
            seeds: validator.seeds.clone(),
            genesis: genesis.clone(),
        };
        let _ = self.parts.set(parts);
        self.index().apply(&genesis);
        let mut newest = genesis;
        // Blocks become final meanwhile: those that the index was not ready for are read here. The
        // newest one may be on its way to the disk, or to the index.
        let mut tries = 0;
        loop {
            let next = self.index().next().get();
            let (base, state) = self.chain.base().expect("the database is open");
            if next <= base {
                if let Some(block) = self.finalised(next).await {
                    self.note(&block);
                    (newest, tries) = (block, 0);
                    continue;
                }
            } else if newest.height().get() == base {
                return self.advance(Tip { finalised: newest, state });
            } else if self.newest().is_some() {
                return;
            }
            tries += 1;
            assert!(tries < ATTACH_TRIES, "final block {next} is not on disk");
            tokio::time::sleep(ATTACH_PAUSE).await;
        }
    }

    /// Takes the next block into the index. At a start blocks come from the disk and from the
    /// engine at the same time, and each is taken once, in order.
    fn note(&self, finalised: &Arc<Finalised>) {
        let mut index = self.index();
        if index.next() == finalised.height() {
            index.apply(finalised);
        }
    }

    fn advance(&self, newer: Tip) {
        let mut tip = self.tip.write().unwrap_or_else(PoisonError::into_inner);
        let height = newer.finalised.height();
        if tip.as_ref().is_none_or(|tip| tip.finalised.height() < height) {
            *tip = Some(Arc::new(newer));
        }
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn parts(&self) -> Option<&Parts<E>> {
        self.parts.get()
    }

    fn newest(&self) -> Option<Arc<Tip>> {
        self.tip.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn mempool(&self) -> MutexGuard<'_, Mempool> {
        self.mempool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Height of the newest final block.
    pub fn height(&self) -> u64 {
        self.newest().map_or(0, |tip| tip.finalised.block.header.height.get())
    }

    /// A final block.
    pub async fn finalised(&self, height: u64) -> Option<Arc<Finalised>> {
        let parts = self.parts()?;
        // Everybody who waits for a transaction asks for the block that has just become final.
        if let Some(tip) = self.newest().filter(|tip| tip.finalised.height().get() == height) {
            return Some(tip.finalised.clone());
        }
        if height == 0 {
            return Some(parts.genesis.clone());
        }
        let ((block, receipts), bytes) = parts.history.read(height).await?;
        let hash = block.header.hash();
        Some(Arc::new(Finalised {
            block: Arc::new(block),
            hash,
            receipts: Arc::new(receipts),
            bytes,
        }))
    }

    /// Lets a transaction in at this node's door, and tells the others.
    pub fn take_in(&self, bytes: &[u8]) -> Result<TxHash, mempool::Refusal> {
        let hash = self.hear(bytes)?;
        // A full outbox is not the sender's fault: the transaction waits for this node's block.
        let _ = self.outbox.try_send(Bytes(bytes.to_vec()));
        Ok(hash)
    }

    /// Takes a transaction that another node let in.
    pub fn hear(&self, bytes: &[u8]) -> Result<TxHash, mempool::Refusal> {
        let state = || self.newest().map_or_else(MemoryState::default, |tip| tip.state.clone());
        let accepted = mempool::offer(&self.mempool, bytes, state, self.chain.params())?;
        Ok(accepted.hash)
    }
}

impl<E: CryptoRng + Spawner + StorageContext> Pool for Ledger<E> {
    fn pick(&self, state: &MemoryState) -> Vec<Bytes> {
        let params = self.chain.params();
        self.mempool().pick(state, params, Budget::of_block(params).overbooked(OVERBOOKED))
    }

    /// The tip first, so that whatever the index names can be read; then the index; and the mempool
    /// is locked for all of it, so that no transaction is for a moment neither in a block nor on its way.
    fn finalised(&self, block: &Block, executed: &Executed) {
        let finalised = Arc::new(Finalised {
            block: block.rules().clone(),
            hash: block.header().hash(),
            receipts: executed.receipts.clone(),
            bytes: 0,
        });
        // Hashed before the lock is taken.
        let included: Vec<TxHash> =
            block.rules().transactions.iter().map(|bytes| tx_hash(bytes)).collect();
        let mut mempool = self.mempool();
        self.advance(Tip { finalised: finalised.clone(), state: executed.state.clone() });
        self.note(&finalised);
        mempool.advance(&executed.state, self.chain.params(), included);
        drop(mempool);
        // Nobody may be listening.
        let _ = self.listeners.send(finalised);
    }
}

impl<E: CryptoRng + Spawner + StorageContext> Backend for Ledger<E> {
    fn genesis(&self) -> &Genesis {
        self.network.genesis()
    }

    fn tip(&self) -> Arc<Tip> {
        self.newest().expect("the API starts after the validator")
    }

    fn block(&self, height: Height) -> BoxFuture<'_, Option<Arc<Finalised>>> {
        let newest = self.height();
        async move {
            // What is final a moment before it is executed here is not shown yet.
            if height.get() > newest { None } else { self.finalised(height.get()).await }
        }
        .boxed()
    }

    fn height_of(&self, hash: B256) -> Option<Height> {
        self.index().height_of(hash)
    }

    fn transaction(&self, hash: TxHash) -> Option<(Height, u32)> {
        self.index().transaction(hash)
    }

    fn job_heights(&self, job: JobId) -> Vec<Height> {
        self.index().job_heights(job)
    }

    fn jobs(
        &self,
        submitter: Option<Address>,
        after: Option<JobPlace>,
        limit: usize,
    ) -> Vec<(JobPlace, JobId)> {
        self.index().jobs(submitter, after, limit)
    }

    fn open_jobs(&self, runner: Address) -> Vec<JobId> {
        self.index().open_jobs(runner)
    }

    fn subscribe(&self) -> broadcast::Receiver<Arc<Finalised>> {
        self.listeners.subscribe()
    }

    fn submit(&self, bytes: Vec<u8>) -> Result<TxHash, Refusal> {
        self.take_in(&bytes).map_err(|refusal| Refusal {
            code: refusal.code(),
            message: refusal.to_string(),
            temporary: matches!(refusal, mempool::Refusal::PoolFull),
        })
    }

    fn pending(&self, hash: TxHash) -> bool {
        self.mempool().contains(&hash)
    }

    fn next_nonce(&self, address: Address) -> u64 {
        self.mempool().next_nonce(&address, &self.tip().state)
    }

    fn prove(&self, key: Vec<u8>) -> BoxFuture<'_, Result<StateProof, ProofError>> {
        async move { self.proof(&key).await }.boxed()
    }

    fn status(&self) -> NodeStatus {
        let tip = self.tip();
        let seeds = self.parts().map_or(0, |parts| parts.seeds.newest());
        let view = seeds + 1;
        // Rounds go on while blocks are fetched: a node that is behind has old blocks and new
        // rounds.
        let behind = view.saturating_sub(tip.finalised.block.header.round.view);
        let age_ms =
            to_ms(SystemTime::now()).saturating_sub(tip.finalised.block.header.timestamp_ms);
        let block_time_ms = self.chain.params().block_time_ms;
        let patience_ms = block_time_ms.saturating_mul(READY_WITHIN_BLOCKS).max(READY_WITHIN_MS);
        NodeStatus {
            peers: self.peers(),
            view,
            mempool: self.mempool().len(),
            ready: behind < READY_WITHIN_VIEWS && age_ms < patience_ms,
            started: self.started,
        }
    }

    fn metrics(&self) -> String {
        (self.metrics)() + &self.runners.metrics()
    }

    fn presence_seen(&self) -> Vec<Slot> {
        self.sessions.all()
    }

    fn runners(&self) -> &dyn RunnerLinks {
        &*self.runners
    }

    fn faucet(&self) -> Option<SecretKey> {
        self.faucet.clone()
    }
}

impl<E: CryptoRng + Spawner + StorageContext> Ledger<E> {
    /// Peers that this node is connected to. The metrics are a long text, and status is asked for
    /// often.
    fn peers(&self) -> u32 {
        let mut counted = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        match *counted {
            Some((at, peers)) if at.elapsed() < PEERS_COUNTED_EVERY => peers,
            _ => {
                let peers = connected(&(self.metrics)());
                *counted = Some((Instant::now(), peers));
                peers
            }
        }
    }

    /// Root, height, value and proof are of one state: they are read under one lock.
    async fn proof(&self, key: &[u8]) -> Result<StateProof, ProofError> {
        let unavailable = |e: &dyn std::fmt::Display| ProofError::Unavailable(e.to_string());
        let parts = self.parts().ok_or_else(|| unavailable(&"the node is starting"))?;
        let _prover = self.provers.acquire().await.map_err(|e| unavailable(&e))?;
        let databases = parts.state.subscribe_databases().await;
        let database = databases.read().await;
        let root = to_hash(&database.root());
        let standing = database.get(&store::place(&ChainKey {}.bytes())).await;
        let standing = standing.map_err(|e| unavailable(&e))?;
        let height = standing
            .and_then(|bytes| store::parse_entry(&bytes))
            .and_then(|(_, value)| ChainState::from_bytes(&value).ok())
            .map(|chain| chain.height)
            .ok_or_else(|| unavailable(&"the state has no chain"))?;
        let place = store::place(key);
        let value = database.get(&place).await.map_err(|e| unavailable(&e))?;
        let proof = match &value {
            Some(_) => database.key_value_proof(place).await.map(|proof| proof.encode()),
            None => database.exclusion_proof(&place).await.map(|proof| proof.encode()),
        };
        let proof = proof.map_err(|e| unavailable(&e))?.to_vec();
        let value = value.and_then(|bytes| store::parse_entry(&bytes)).map(|(_, value)| value);
        Ok(StateProof { height, root, value, proof })
    }
}

/// Peers that the network is connected to, as its metrics say: a line with a time for each.
fn connected(metrics: &str) -> u32 {
    let line = |line: &&str| line.starts_with(CONNECTED_METRIC) && !line.ends_with(" 0");
    metrics.lines().filter(line).count().try_into().unwrap_or(u32::MAX)
}
