//! Final blocks and their receipts, on disk, for requests to the node.
//!
//! Local: a change here needs no agreement among validators.
//!
//! The engine's own archive serves consensus, one request after the other. Requests for old blocks read this store
//! instead, so they cannot delay consensus: it has its own page cache, and its lock is fair, so a new final block
//! waits for one read at most. Receipts are stored because they could otherwise only be computed by executing
//! everything from the genesis. The engine acknowledges a block after this store has it and repeats blocks that were
//! not acknowledged, so there are no gaps.

use crate::block::Block;
use bytes::Bytes;
use commonware_codec::RangeCfg;
use commonware_cryptography::{Digestible as _, keccak256::Digest};
use commonware_runtime::{Spawner, buffer::paged::CacheRef};
use commonware_storage::archive::{Archive as _, Identifier, prunable};
use commonware_storage::{Context as StorageContext, translator::EightCap};
use commonware_utils::{NZU16, NZU64, NZUsize};
use remuda_protocol::block::Block as Rules;
use remuda_protocol::codec::{Decode, Encode as _};
use remuda_protocol::event::{Cause, Receipt};
use remuda_protocol::primitives::{B256, Height, TxHash};
use std::sync::Arc;
use tokio::sync::{Mutex, Semaphore};

/// Bytes of a block and its receipts at most: above anything that a block can cause.
const ENTRY_BYTES_MAX: usize = 80 << 20;
/// Reads at a time: as many as a block that becomes final has to wait for.
const READERS: usize = 1;

/// A finalised block and how everything in it ended.
#[derive(Clone, Debug)]
pub struct Finalised {
    /// The block. At height 0 it is empty: nobody proposed the genesis.
    pub block: Arc<Rules>,
    /// Its name: the header's hash, and the genesis hash at height 0.
    pub hash: B256,
    /// The receipts of its opening, its transactions and its closing.
    pub receipts: Arc<Vec<Receipt>>,
    /// Bytes that were read from disk for it; none if it was in memory.
    pub bytes: u64,
}

impl Finalised {
    pub fn new(block: Arc<Rules>, receipts: Arc<Vec<Receipt>>, bytes: u64) -> Self {
        Self { hash: block.header.hash(), block, receipts, bytes }
    }

    /// The block of height 0, which has no receipts.
    pub fn genesis(block: &Block) -> Self {
        Self::new(block.rules().clone(), Arc::default(), 0)
    }

    pub fn height(&self) -> Height {
        self.block.header.height
    }

    /// How a transaction of this block ended.
    pub fn receipt_of(&self, transaction: TxHash) -> Option<&Receipt> {
        let caused = |receipt: &&Receipt| matches!(receipt.cause, Cause::Transaction { hash } if hash == transaction);
        self.receipts.iter().find(caused)
    }
}

type Archive<E> = prunable::Archive<EightCap, E, Digest, Bytes>;

pub struct History<E: Spawner + StorageContext> {
    archive: Arc<Mutex<Option<Archive<E>>>>,
    readers: Arc<Semaphore>,
}

impl<E: Spawner + StorageContext> Clone for History<E> {
    fn clone(&self) -> Self {
        Self { archive: self.archive.clone(), readers: self.readers.clone() }
    }
}

impl<E: Spawner + StorageContext> History<E> {
    /// Opens what is on disk.
    ///
    /// # Panics
    /// If the disk fails, here and in all that follows.
    pub async fn open(context: E, partition: &str) -> Self {
        let cache = CacheRef::new(NZU16!(4096), NZUsize!(512));
        let buffer = NZUsize!(1 << 16);
        let config = prunable::Config {
            translator: EightCap,
            metadata_partition: format!("{partition}-history-meta"),
            key_partition: format!("{partition}-history-key"),
            key_page_cache: cache,
            value_partition: format!("{partition}-history-value"),
            compression: None,
            codec_config: RangeCfg::new(0..=ENTRY_BYTES_MAX),
            // Each section keeps files open for ever.
            items_per_section: NZU64!(1 << 16),
            key_write_buffer: buffer,
            value_write_buffer: buffer,
            replay_buffer: buffer,
        };
        let archive: Archive<E> =
            prunable::Archive::init(context, config).await.expect("history on disk");
        let readers = Arc::new(Semaphore::new(READERS));
        Self { archive: Arc::new(Mutex::new(Some(archive))), readers }
    }

    /// Keeps a final block and its receipts, for good once this returns. Again is as good as once.
    pub async fn record(&self, height: u64, block: &Block, receipts: &[Receipt]) {
        let mut bytes = Vec::new();
        block.rules().encode(&mut bytes);
        receipts.to_vec().encode(&mut bytes);
        let mut guard = self.archive.lock().await;
        // Taken, and put back after: a write that fails or is cut off loses the archive.
        let archive = guard.take().expect("history on disk");
        let archive = archive.put_sync(height, block.digest(), &Bytes::from(bytes)).await;
        *guard = Some(archive.expect("history on disk"));
    }

    /// Height of the newest block in it; 0 if there is none.
    pub async fn newest(&self) -> u64 {
        let guard = self.archive.lock().await;
        guard.as_ref().expect("history on disk").last_index().unwrap_or(0)
    }

    /// A final block and its receipts.
    pub async fn finalised(&self, height: u64) -> Option<Arc<Finalised>> {
        let reader = self.readers.acquire().await.expect("it is never closed");
        let guard = self.archive.lock().await;
        let archive = guard.as_ref().expect("history on disk");
        let bytes = archive.get(Identifier::Index(height)).await.expect("history on disk")?;
        drop((guard, reader));
        let (block, receipts): (Rules, Vec<Receipt>) =
            Decode::from_bytes(&bytes).expect("history on disk is an encoding");
        let read = bytes.len() as u64;
        Some(Arc::new(Finalised::new(Arc::new(block), Arc::new(receipts), read)))
    }
}
