//! What a validator finalised, as seen from outside it; it outlives the validator's restarts.

use commonware_consensus::Heightable as _;
use remuda_node::app::Pool;
use remuda_node::block::Block;
use remuda_node::chain::{Chain, Tip};
use remuda_protocol::codec::Bytes;
use remuda_protocol::key::AccountKey;
use remuda_protocol::primitives::{Address, B256};
use remuda_protocol::state::{MemoryState, read};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// A final block: its hash and the root of its state.
pub(super) type Entry = (B256, B256);

#[derive(Default)]
struct Inner {
    blocks: BTreeMap<u64, Entry>,
    newest: Option<MemoryState>,
    conflicts: Vec<u64>,
    transactions: u64,
}

/// Everything that waits, for all validators, and what one of them finalised.
#[derive(Clone, Default)]
pub(super) struct Log {
    inner: Arc<Mutex<Inner>>,
    waiting: Arc<Vec<(Address, u64, Bytes)>>,
}

impl Log {
    pub(super) fn new(waiting: Arc<Vec<(Address, u64, Bytes)>>) -> Self {
        Self { inner: Arc::default(), waiting }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("one thread")
    }

    pub(super) fn height(&self) -> u64 {
        self.lock().blocks.keys().next_back().copied().unwrap_or(0)
    }

    pub(super) fn blocks(&self) -> BTreeMap<u64, Entry> {
        self.lock().blocks.clone()
    }

    /// Heights at which two different blocks were final.
    pub(super) fn conflicts(&self) -> Vec<u64> {
        self.lock().conflicts.clone()
    }

    pub(super) fn newest(&self) -> Option<MemoryState> {
        self.lock().newest.clone()
    }

    pub(super) fn transactions(&self) -> u64 {
        self.lock().transactions
    }
}

/// Transactions of a block at most.
const BATCH: usize = 40;

impl Pool for Log {
    fn pick(&self, state: &MemoryState) -> Vec<Bytes> {
        let mut next: BTreeMap<Address, u64> = BTreeMap::new();
        let mut out = Vec::new();
        for (sender, nonce, bytes) in self.waiting.iter() {
            let next = next.entry(*sender).or_insert_with(|| {
                read(state, &AccountKey { address: *sender }).map_or(0, |account| account.nonce)
            });
            if *nonce == *next {
                *next += 1;
                out.push(bytes.clone());
            }
            if out.len() == BATCH {
                break;
            }
        }
        out
    }

    fn finalised(&self, block: &Block, chain: &Chain) -> Arc<Tip> {
        let tip = chain.finalise(block);
        let header = block.header();
        let entry = (header.hash(), header.state.root);
        let mut inner = self.lock();
        let height = block.height().get();
        match inner.blocks.insert(height, entry) {
            Some(before) if before != entry => inner.conflicts.push(height),
            // After a restart the engine repeats what it is not sure to have told.
            Some(_) => {}
            None => inner.transactions += block.rules().transactions.len() as u64,
        }
        inner.newest = Some(tip.state.clone());
        tip
    }
}
