//! States in memory: of the newest final block, and of blocks above it that were executed. Owner of the
//! final state.
//!
//! Local: a change here needs no agreement among validators.
//!
//! States share what did not change, so one more costs what its block changed. Everything here
//! follows from the database and the blocks, and is rebuilt from them at a start.

use crate::history::{Finalised, History};
use crate::scheme::{Bits, PresenceSource};
use crate::store::{self, Database, Databases, Family};
use bytes::Bytes;
use commonware_consensus::Heightable as _;
use commonware_consensus::types::Round;
use commonware_cryptography::{Digestible as _, keccak256::Digest};
use commonware_glue::stateful::db::AttachableResolver;
use commonware_runtime::Spawner;
use commonware_storage::Context as StorageContext;
use commonware_storage::qmdb::any::ordered::variable::Operation;
use commonware_storage::qmdb::sync::{Request, Source, source};
use remuda_protocol::chain::ChainState;
use remuda_protocol::event::Receipt;
use remuda_protocol::key::ChainKey;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::Slot;
use remuda_protocol::state::{Indexed as _, MemoryState, read};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use thiserror::Error;
use tokio::sync::watch;

/// A block that was executed here.
#[derive(Clone)]
pub struct Executed {
    pub state: MemoryState,
    /// How everything in it ended.
    pub receipts: Arc<Vec<Receipt>>,
}

/// A consistent snapshot: the newest finalised block and the state after it. Both share what they
/// hold, so a copy is cheap.
#[derive(Clone, Debug)]
pub struct Tip {
    pub finalised: Arc<Finalised>,
    pub state: MemoryState,
}

type ExecutedBlocks = BTreeMap<(u64, Digest), Executed>;

/// The owner of the final state; copies are handles.
#[derive(Clone)]
pub struct Chain {
    params: Arc<ChainParams>,
    executed: Arc<Mutex<ExecutedBlocks>>,
    /// None until the engine has opened the database. Nobody else can open it: the engine decides by
    /// what it finds on disk at which block. It executes nothing before this is set.
    tip: Arc<watch::Sender<Option<Arc<Tip>>>>,
}

impl Chain {
    pub fn new(params: Arc<ChainParams>) -> Self {
        Self { params, executed: Arc::default(), tip: Arc::new(watch::Sender::new(None)) }
    }

    pub fn params(&self) -> &Arc<ChainParams> {
        &self.params
    }

    fn lock(&self) -> MutexGuard<'_, ExecutedBlocks> {
        self.executed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state after a block that was executed here or is the newest final one.
    pub fn state(&self, height: u64, digest: &Digest) -> Option<MemoryState> {
        let executed = self.lock();
        if let Some(executed) = executed.get(&(height, *digest)) {
            return Some(executed.state.clone());
        }
        let tip = self.tip.borrow();
        // The engine never asks for a competitor of a final block.
        tip.as_ref()
            .filter(|tip| tip.finalised.height().get() == height)
            .map(|tip| tip.state.clone())
    }

    /// Keeps the result of an execution.
    pub fn executed(&self, height: u64, digest: Digest, executed: Executed) {
        self.lock().insert((height, digest), executed);
    }

    /// A block that was executed here and is not final yet.
    pub fn pending(&self, height: u64, digest: &Digest) -> Option<Executed> {
        self.lock().get(&(height, *digest)).cloned()
    }

    /// A block has become final: everything else at or below its height goes.
    ///
    /// # Panics
    /// If it was not executed: the engine executes whatever it finalises.
    pub fn finalise(&self, block: &crate::block::Block) -> Arc<Tip> {
        let (height, digest) = (block.height().get(), block.digest());
        let mut pending = self.lock();
        let Executed { state, receipts } =
            pending.remove(&(height, digest)).expect("it was executed");
        pending.retain(|(at, _), _| *at > height);
        let finalised = Arc::new(Finalised::new(block.rules().clone(), receipts, 0));
        let tip = Arc::new(Tip { finalised, state });
        self.tip.send_replace(Some(tip.clone()));
        tip
    }

    /// The newest final block and its state.
    ///
    /// # Panics
    /// Before the database is open.
    pub fn tip(&self) -> Arc<Tip> {
        self.tip.borrow().clone().expect("the database is open")
    }

    /// The tip that the engine starts from, once it has opened the database.
    pub async fn opened(&self) -> Arc<Tip> {
        let mut tip = self.tip.subscribe();
        // The sender lives as long as `self`.
        let _ = tip.wait_for(Option::is_some).await;
        self.tip()
    }
}

/// Height, round and seeds of the block that a state is after.
pub fn chain_state(state: &MemoryState) -> ChainState {
    read(state, &ChainKey {}).expect("a state has a chain")
}

/// Gets the database from the engine when it is open, before anything is executed on it, and reads the
/// final state from it.
pub struct LoadTip<E: Spawner + StorageContext> {
    pub chain: Chain,
    /// It has every block that the database has.
    pub history: History<E>,
    pub genesis: Arc<Finalised>,
}

impl<E: Spawner + StorageContext> Clone for LoadTip<E> {
    fn clone(&self) -> Self {
        Self {
            chain: self.chain.clone(),
            history: self.history.clone(),
            genesis: self.genesis.clone(),
        }
    }
}

impl<E: Spawner + StorageContext> AttachableResolver<Database<E>> for LoadTip<E> {
    async fn attach_database(&self, databases: Databases<E>) {
        let entries = store::load(&databases).await.unwrap_or_else(|e| panic!("{e}"));
        let state = MemoryState::new(entries, &self.chain.params);
        let finalised = match chain_state(&state).height.get() {
            0 => self.genesis.clone(),
            height => {
                let block = self.history.finalised(height).await;
                block.unwrap_or_else(|| panic!("final block {height} is not on disk"))
            }
        };
        self.chain.tip.send_replace(Some(Arc::new(Tip { finalised, state })));
    }
}

/// Nodes catch up from blocks: the engine's transfer of states takes values of one size only.
#[derive(Debug, Error)]
#[error("states are not transferred; nodes catch up from blocks")]
pub struct NoTransfer;

impl<E: Spawner + StorageContext> Source for LoadTip<E> {
    type Family = Family;
    type Digest = Digest;
    type Op = Operation<Family, Digest, Bytes>;
    type Error = NoTransfer;

    async fn serve(&self, _: Request<Family>) -> source::Result<Self> {
        Err(NoTransfer)
    }
}

/// Which runners have a session with this validator.
#[derive(Clone, Default)]
pub struct Sessions(Arc<RwLock<BTreeSet<Slot>>>);

impl Sessions {
    /// A session begins or ends.
    pub fn set(&self, slot: Slot, live: bool) {
        let mut slots = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if live {
            slots.insert(slot)
        } else {
            slots.remove(&slot)
        };
    }

    /// Whether a runner has one.
    pub fn has(&self, slot: Slot) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(&slot)
    }

    pub fn all(&self) -> Vec<Slot> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }
}

/// Packs this validator's sessions for its votes.
pub struct LocalPresence {
    /// States to take the list from.
    pub chain: Chain,
    pub sessions: Sessions,
    pub validator: u32,
}

impl PresenceSource for LocalPresence {
    /// By the list after the very block that is voted on. A block that was executed before a
    /// restart has none, and then nobody has a session yet either: no bits.
    fn bits(&self, block: &[u8], _: Round) -> Bits {
        let pending = self.chain.lock();
        let executed = pending.iter().find(|((_, digest), _)| digest.as_ref() == block);
        let Some(subsets) = executed.map(|(_, executed)| executed.state.subsets()) else {
            return Bits::default();
        };
        drop(pending);
        Bits::new(subsets.pack(self.validator, |slot| self.sessions.has(slot)))
    }
}
