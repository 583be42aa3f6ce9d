//! What a node knows, for those who ask: the final chain, what waits, and who is there.

use crate::app::{App, Pool};
use crate::block::Block;
use crate::chain::{Chain, Executed, Sessions};
use crate::history::History;
use crate::mempool::{Budget, Limits, Mempool, Refusal};
use crate::network::Network;
use crate::scheme::Scheme;
use crate::seeds::Seeds;
use crate::validator::Validator;
use commonware_consensus::marshal::{Identifier, core::Mailbox as MarshalMailbox, standard::Standard};
use commonware_consensus::types::Height as ConsensusHeight;
use commonware_glue::stateful::Mailbox;
use commonware_runtime::Spawner;
use commonware_storage::Context as StorageContext;
use rand_core::CryptoRng;
use remuda_protocol::codec::Bytes;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::event::Receipt;
use remuda_protocol::primitives::{B256, TxHash};
use remuda_protocol::state::MemoryState;
use remuda_protocol::transaction::tx_hash;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use tokio::sync::{broadcast, mpsc};

/// Final blocks that a slow listener may be behind before it misses some.
const LISTENER_LAG: usize = 256;
/// A block is offered more than fits, since limits are more than what is used.
const OVERBOOKED: u64 = 2;

/// A final block, and how everything in it ended.
#[derive(Clone, Debug)]
pub struct Finalised {
    /// The block.
    pub block: Arc<remuda_protocol::block::Block>,
    /// Its hash.
    pub hash: B256,
    /// The receipts.
    pub receipts: Arc<Vec<Receipt>>,
}

/// The newest final block, and the state after it.
#[derive(Clone)]
pub struct Tip {
    /// The block.
    pub finalised: Arc<Finalised>,
    /// The state.
    pub state: MemoryState,
}

/// What there is once the validator runs.
struct Parts<E: CryptoRng + Spawner + StorageContext> {
    marshal: MarshalMailbox<Scheme, Standard<Block>>,
    state: Mailbox<E, App<E>>,
    history: History<E>,
    seeds: Seeds,
}

/// See the module.
pub struct Ledger<E: CryptoRng + Spawner + StorageContext> {
    network: Arc<Network>,
    chain: Chain,
    sessions: Sessions,
    mempool: Mutex<Mempool>,
    outbox: mpsc::Sender<Bytes>,
    faucet: Option<SecretKey>,
    metrics: Box<dyn Fn() -> String + Send + Sync>,
    tip: RwLock<Option<Arc<Tip>>>,
    listeners: broadcast::Sender<Arc<Finalised>>,
    parts: OnceLock<Parts<E>>,
}

impl<E: CryptoRng + Spawner + StorageContext> Ledger<E> {
    /// Of a validator that does not run yet.
    pub fn new(
        network: Arc<Network>,
        chain: Chain,
        sessions: Sessions,
        outbox: mpsc::Sender<Bytes>,
        faucet: Option<SecretKey>,
        metrics: Box<dyn Fn() -> String + Send + Sync>,
    ) -> Arc<Self> {
        Arc::new(Self {
            network,
            chain,
            sessions,
            mempool: Mutex::new(Mempool::new(Limits::default())),
            outbox,
            faucet,
            metrics,
            tip: RwLock::new(None),
            listeners: broadcast::Sender::new(LISTENER_LAG),
            parts: OnceLock::new(),
        })
    }

    /// The validator runs: everything can be answered.
    pub async fn attach(&self, validator: &Validator<E>) {
        let parts = Parts {
            marshal: validator.marshal.clone(),
            state: validator.state.clone(),
            history: validator.history.clone(),
            seeds: validator.seeds.clone(),
        };
        let _ = self.parts.set(parts);
        let Some((height, state)) = self.chain.base() else { return };
        let finalised = if height == 0 {
            let block = &validator.genesis;
            Some(Arc::new(Finalised {
                block: block.rules().clone(),
                hash: block.header().hash(),
                receipts: Arc::default(),
            }))
        } else {
            self.finalised(height).await
        };
        let Some(finalised) = finalised else { return };
        let mut tip = self.tip.write().unwrap_or_else(PoisonError::into_inner);
        let newer = |tip: &Arc<Tip>| tip.finalised.block.header.height.get() >= height;
        if !tip.as_ref().is_some_and(newer) {
            *tip = Some(Arc::new(Tip { finalised, state }));
        }
    }

    fn parts(&self) -> Option<&Parts<E>> {
        self.parts.get()
    }

    fn mempool(&self) -> MutexGuard<'_, Mempool> {
        self.mempool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The newest final block; none before the first start has got so far.
    pub fn tip(&self) -> Option<Arc<Tip>> {
        self.tip.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Its height.
    pub fn height(&self) -> u64 {
        self.tip().map_or(0, |tip| tip.finalised.block.header.height.get())
    }

    /// A final block above the genesis.
    pub async fn finalised(&self, height: u64) -> Option<Arc<Finalised>> {
        let parts = self.parts()?;
        let id = Identifier::Height(ConsensusHeight::new(height));
        let block = parts.marshal.get_block(id).await?;
        let receipts = parts.history.receipts(height).await?;
        Some(Arc::new(Finalised {
            block: block.inner().rules().clone(),
            hash: block.inner().header().hash(),
            receipts: Arc::new(receipts),
        }))
    }

    /// Lets a transaction in at this node's door, and tells the others.
    pub fn submit(&self, bytes: &[u8]) -> Result<TxHash, Refusal> {
        let hash = self.hear(bytes)?;
        // A full outbox is not the sender's fault: the transaction waits for this node's block.
        let _ = self.outbox.try_send(Bytes(bytes.to_vec()));
        Ok(hash)
    }

    /// Takes a transaction that another node let in.
    pub fn hear(&self, bytes: &[u8]) -> Result<TxHash, Refusal> {
        let tip = self.tip();
        let genesis = MemoryState::default;
        let state = tip.map_or_else(genesis, |tip| tip.state.clone());
        self.mempool().insert(bytes, &state, self.chain.params())?;
        Ok(tx_hash(bytes))
    }
}

impl<E: CryptoRng + Spawner + StorageContext> Pool for Ledger<E> {
    fn pick(&self, state: &MemoryState) -> Vec<Bytes> {
        let params = self.chain.params();
        self.mempool().pick(state, params, Budget::of_block(params).overbooked(OVERBOOKED))
    }

    fn finalised(&self, block: &Block, executed: &Executed) {
        let included = block.rules().transactions.iter().map(|bytes| tx_hash(bytes));
        self.mempool().advance(&executed.state, self.chain.params(), included);
        let finalised = Arc::new(Finalised {
            block: block.rules().clone(),
            hash: block.header().hash(),
            receipts: executed.receipts.clone(),
        });
        let tip = Tip { finalised: finalised.clone(), state: executed.state.clone() };
        *self.tip.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(tip));
        // Nobody may be listening.
        let _ = self.listeners.send(finalised);
    }
}
