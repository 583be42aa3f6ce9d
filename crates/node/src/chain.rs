//! States in memory: of the newest final block, and of blocks above it that were executed.
//!
//! Local: a change here needs no agreement among validators.
//!
//! States share what did not change, so one more costs what its block changed. Everything here
//! follows from the database and the blocks, and is rebuilt from them at a start.

use crate::scheme::{Bits, Sight};
use crate::store::{self, Databases, Opened};
use commonware_consensus::types::Round;
use commonware_cryptography::keccak256::Digest;
use commonware_runtime::Spawner;
use commonware_storage::Context as StorageContext;
use remuda_protocol::chain::ChainState;
use remuda_protocol::event::Receipt;
use remuda_protocol::key::ChainKey;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::Slot;
use remuda_protocol::state::{Indexed as _, MemoryState, read};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// A block that was executed here.
#[derive(Clone)]
pub struct Executed {
    /// The state after it.
    pub state: MemoryState,
    /// How everything in it ended.
    pub receipts: Arc<Vec<Receipt>>,
}

#[derive(Default)]
struct Inner {
    /// State of the newest final block; none before the database is open.
    base: Option<(u64, MemoryState)>,
    executed: BTreeMap<(u64, Digest), Executed>,
}

#[derive(Clone)]
pub struct Chain {
    params: Arc<ChainParams>,
    inner: Arc<Mutex<Inner>>,
    opened: Arc<tokio::sync::watch::Sender<bool>>,
}

impl Chain {
    pub fn new(params: Arc<ChainParams>) -> Self {
        let opened = Arc::new(tokio::sync::watch::Sender::new(false));
        Self { params, inner: Arc::default(), opened }
    }

    pub fn params(&self) -> &Arc<ChainParams> {
        &self.params
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state after a block that was executed here or is the newest final one.
    pub fn state(&self, height: u64, digest: &Digest) -> Option<MemoryState> {
        let inner = self.lock();
        let executed = inner.executed.get(&(height, *digest)).map(|executed| &executed.state);
        // The engine never asks for a competitor of a final block.
        let base = || inner.base.as_ref().filter(|(at, _)| *at == height).map(|(_, state)| state);
        executed.or_else(base).cloned()
    }

    /// Keeps the result of an execution.
    pub fn executed(&self, height: u64, digest: Digest, executed: Executed) {
        self.lock().executed.insert((height, digest), executed);
    }

    /// A block has become final: everything at or below its height goes.
    ///
    /// # Panics
    /// If it was not executed: the engine executes whatever it finalises.
    pub fn finalise(&self, height: u64, digest: &Digest) -> Executed {
        let mut inner = self.lock();
        let executed = inner.executed.remove(&(height, *digest)).expect("it was executed");
        inner.executed.retain(|(at, _), _| *at > height);
        inner.base = Some((height, executed.state.clone()));
        executed
    }

    /// The state of the newest final block.
    pub fn base(&self) -> Option<(u64, MemoryState)> {
        self.lock().base.clone()
    }

    /// How many states are held besides the base.
    pub fn pending(&self) -> usize {
        self.lock().executed.len()
    }

    /// Waits until the database is open.
    pub async fn wait_open(&self) {
        let mut opened = self.opened.subscribe();
        // The sender lives as long as `self`.
        let _ = opened.wait_for(|opened| *opened).await;
    }
}

/// Where the chain stands in a state.
pub fn standing(state: &MemoryState) -> ChainState {
    read(state, &ChainKey {}).expect("a state has a chain")
}

impl<E: Spawner + StorageContext> Opened<E> for Chain {
    async fn opened(&self, databases: Databases<E>) {
        let entries = store::load(&databases).await.unwrap_or_else(|e| panic!("{e}"));
        let state = MemoryState::new(entries, &self.params);
        let height = standing(&state).height.get();
        self.lock().base = Some((height, state));
        self.opened.send_replace(true);
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
pub struct OwnSight {
    /// States to take the list from.
    pub chain: Chain,
    pub sessions: Sessions,
    pub validator: u32,
}

impl Sight for OwnSight {
    /// By the list after the very block that is voted on. A block that was executed before a
    /// restart has none, and then nobody has a session yet either: no bits.
    fn bits(&self, block: &[u8], _: Round) -> Bits {
        let inner = self.chain.lock();
        let executed = inner.executed.iter().find(|((_, digest), _)| digest.as_ref() == block);
        let Some(subsets) = executed.map(|(_, executed)| executed.state.subsets()) else {
            return Bits::default();
        };
        drop(inner);
        Bits::new(subsets.pack(self.validator, |slot| self.sessions.has(slot)))
    }
}
