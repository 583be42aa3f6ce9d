//! The node's mempool and index, which move on together with the chain.
//!
//! Local: a change here needs no agreement among validators.

use crate::app;
use crate::block::Block;
use crate::chain::{Chain, Tip};
use crate::history::Finalised;
use crate::index::{Index, OpenJobs};
use crate::mempool::{self, Budget, Limits, Mempool, Refusal};
use remuda_protocol::codec::Bytes;
use remuda_protocol::primitives::{Address, JobId, TxHash};
use remuda_protocol::state::MemoryState;
use remuda_protocol::transaction::tx_hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{broadcast, mpsc};

/// Final blocks that a slow listener may be behind before it misses some.
const LISTENER_LAG: usize = 256;
/// A block is offered more than fits, since limits are more than what is used.
const PICK_OVERCOMMIT: u64 = 2;

pub struct Pool {
    chain: Chain,
    mempool: Mutex<Mempool>,
    index: Index,
    /// Worked out from the tip when it is first asked for.
    open_jobs: Mutex<Option<OpenJobs>>,
    /// Transactions that other nodes are told of.
    outbox: mpsc::Sender<Bytes>,
    listeners: broadcast::Sender<Arc<Finalised>>,
}

impl Pool {
    /// With an index that has caught up with the history.
    pub fn new(chain: Chain, index: Index, outbox: mpsc::Sender<Bytes>) -> Self {
        Self {
            chain,
            mempool: Mutex::new(Mempool::new(Limits::default())),
            index,
            open_jobs: Mutex::default(),
            outbox,
            listeners: broadcast::Sender::new(LISTENER_LAG),
        }
    }

    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    pub fn index(&self) -> &Index {
        &self.index
    }

    pub fn mempool(&self) -> MutexGuard<'_, Mempool> {
        self.mempool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every final block from now on, after the tip and the index know it.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<Finalised>> {
        self.listeners.subscribe()
    }

    pub fn open_jobs(&self, runner: Address) -> Vec<JobId> {
        let mut open_jobs = self.open_jobs.lock().unwrap_or_else(PoisonError::into_inner);
        open_jobs.get_or_insert_with(|| OpenJobs::of(&self.chain.tip().state)).of_runner(runner)
    }

    /// Takes a transaction that was submitted to this node, and tells the others.
    pub fn submit_local(&self, bytes: &[u8]) -> Result<TxHash, Refusal> {
        let hash = self.submit_gossiped(bytes)?;
        // A full outbox is not the sender's fault: the transaction waits for this node's block.
        let _ = self.outbox.try_send(Bytes(bytes.to_vec()));
        Ok(hash)
    }

    /// Takes a transaction that another node has taken.
    pub fn submit_gossiped(&self, bytes: &[u8]) -> Result<TxHash, Refusal> {
        let state = || self.chain.tip().state.clone();
        Ok(mempool::offer(&self.mempool, bytes, state, self.chain.params())?.hash)
    }
}

impl app::Pool for Pool {
    fn pick(&self, state: &MemoryState) -> Vec<Bytes> {
        let params = self.chain.params();
        self.mempool().pick(state, params, Budget::of_block(params).overbooked(PICK_OVERCOMMIT))
    }

    /// The tip first, so that whatever the index names can be read; then the index; and the mempool
    /// is locked for all of it, so that no transaction is for a moment neither in a block nor on its way.
    fn finalised(&self, block: &Block, chain: &Chain) -> Arc<Tip> {
        // Hashed before the lock is taken.
        let included: Vec<TxHash> =
            block.rules().transactions.iter().map(|bytes| tx_hash(bytes)).collect();
        let mut mempool = self.mempool();
        let tip = chain.finalise(block);
        self.index.apply(&tip.finalised);
        if let Some(jobs) = &mut *self.open_jobs.lock().unwrap_or_else(PoisonError::into_inner) {
            jobs.apply(&tip.finalised, &tip.state);
        }
        mempool.advance(&tip.state, self.chain.params(), included);
        drop(mempool);
        // Nobody may be listening.
        let _ = self.listeners.send(tip.finalised.clone());
        tip
    }
}
