//! How every final block ended: its receipts, on disk.
//!
//! Blocks themselves are in the engine's archive. Receipts follow from blocks, but only by executing
//! everything from the genesis; so they are kept. The engine acknowledges a block after this has it,
//! and repeats what was not acknowledged, so there are no holes.

use bytes::Bytes;
use commonware_codec::RangeCfg;
use commonware_cryptography::keccak256::Digest;
use commonware_runtime::{Spawner, buffer::paged::CacheRef};
use commonware_storage::archive::{Archive as _, Identifier, prunable};
use commonware_storage::{Context as StorageContext, translator::EightCap};
use commonware_utils::{NZU64, NZUsize};
use futures::lock::Mutex as AsyncMutex;
use remuda_protocol::codec::{Decode as _, Encode as _};
use remuda_protocol::event::Receipt;
use std::sync::Arc;

/// Bytes of a block's receipts at most: above anything that a block can cause.
const RECEIPTS_BYTES_MAX: usize = 64 << 20;

type Archive<E> = prunable::Archive<EightCap, E, Digest, Bytes>;

/// See the module.
pub struct History<E: Spawner + StorageContext> {
    archive: Arc<AsyncMutex<Option<Archive<E>>>>,
}

impl<E: Spawner + StorageContext> Clone for History<E> {
    fn clone(&self) -> Self {
        Self { archive: self.archive.clone() }
    }
}

impl<E: Spawner + StorageContext> History<E> {
    /// Opens what is on disk.
    ///
    /// # Panics
    /// If the disk fails, here and in all that follows.
    pub async fn open(context: E, partition: &str, cache: CacheRef) -> Self {
        let buffer = NZUsize!(1 << 16);
        let config = prunable::Config {
            translator: EightCap,
            metadata_partition: format!("{partition}-receipts-meta"),
            key_partition: format!("{partition}-receipts-key"),
            key_page_cache: cache,
            value_partition: format!("{partition}-receipts-value"),
            compression: None,
            codec_config: RangeCfg::new(0..=RECEIPTS_BYTES_MAX),
            // Each section keeps files open for ever.
            items_per_section: NZU64!(1 << 16),
            key_write_buffer: buffer,
            value_write_buffer: buffer,
            replay_buffer: buffer,
        };
        let archive: Archive<E> =
            prunable::Archive::init(context, config).await.expect("receipts on disk");
        Self { archive: Arc::new(AsyncMutex::new(Some(archive))) }
    }

    /// Keeps a final block's receipts, for good once this returns. Again is as good as once.
    pub async fn record(&self, height: u64, block: Digest, receipts: &[Receipt]) {
        let mut bytes = Vec::new();
        receipts.to_vec().encode(&mut bytes);
        let mut guard = self.archive.lock().await;
        // Taken, and put back after: a write that fails or is cut off loses the archive.
        let archive = guard.take().expect("receipts on disk");
        let archive = archive.put_sync(height, block, &Bytes::from(bytes)).await;
        *guard = Some(archive.expect("receipts on disk"));
    }

    /// The receipts of a final block.
    pub async fn receipts(&self, height: u64) -> Option<Vec<Receipt>> {
        let guard = self.archive.lock().await;
        let archive = guard.as_ref().expect("receipts on disk");
        let bytes = archive.get(Identifier::Index(height)).await.expect("receipts on disk")?;
        Some(Vec::<Receipt>::from_bytes(&bytes).expect("receipts on disk are an encoding"))
    }
}
