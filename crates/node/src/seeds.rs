//! Seeds of all rounds, and the newest finalization certificates, as the engine reports them.
//!
//! Consensus: a change here forks the chain.
//!
//! A round that ends without a block has a seed too, in its nullification. Blocks must carry every
//! seed, so none may be lost: the engine forgets old rounds, and after a drought of more than a
//! block's worth of rounds their seeds are owed for longer than it remembers. They are on disk until
//! a final block has carried them.

use crate::scheme::{Scheme, SeedPoint};
use commonware_actor::Feedback;
use commonware_codec::Encode as _;
use commonware_consensus::simplex::types::{Activity, Finalization};
use commonware_consensus::{Reporter, Viewable as _};
use commonware_cryptography::{Hasher as _, Keccak256, keccak256::Digest};
use commonware_runtime::{Handle, Spawner, buffer::paged::CacheRef};
use commonware_storage::archive::{Archive as _, Identifier, prunable};
use commonware_storage::{Context as StorageContext, translator::EightCap};
use commonware_utils::{NZU64, NZUsize, sequence::FixedBytes};
use remuda_protocol::block::SeedSignature;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, watch};

/// Certificates kept in memory: presence forgets after 15 blocks anyway.
const CERTIFICATES_KEPT: usize = 16;
/// Seeds that wait for the disk before it is told to be sure of them. Well below the rounds that
/// the engine itself remembers behind the newest final block.
const SYNC_EVERY: usize = 16;

type Archive<E> = prunable::Archive<EightCap, E, Digest, FixedBytes<48>>;

#[derive(Default)]
struct Inner {
    seeds: BTreeMap<u64, [u8; 48]>,
    certificates: BTreeMap<u64, Finalization<Scheme, Digest>>,
    /// Views up to here are on chain for good.
    carried: u64,
    nullified: u64,
}

enum Write {
    Seed(u64, [u8; 48]),
    Carried(u64),
}

#[derive(Clone)]
pub struct Seeds {
    inner: Arc<Mutex<Inner>>,
    writes: mpsc::UnboundedSender<Write>,
    newest: Arc<watch::Sender<u64>>,
}

impl Seeds {
    /// Reads what is on disk and starts to write.
    ///
    /// # Panics
    /// If the disk fails, now or later: a validator that loses seeds could halt the network.
    pub async fn open<E>(context: E, partition: &str, cache: CacheRef) -> (Self, Handle<()>)
    where
        E: Spawner + StorageContext,
    {
        let buffer = NZUsize!(1 << 14);
        let config = prunable::Config {
            translator: EightCap,
            metadata_partition: format!("{partition}-seeds-meta"),
            key_partition: format!("{partition}-seeds-key"),
            key_page_cache: cache,
            value_partition: format!("{partition}-seeds-value"),
            compression: None,
            codec_config: (),
            items_per_section: NZU64!(1024),
            key_write_buffer: buffer,
            value_write_buffer: buffer,
            replay_buffer: buffer,
        };
        let archive: Archive<E> =
            prunable::Archive::init(context.child("archive"), config).await.expect("seeds on disk");
        let mut inner = Inner::default();
        let ranges: Vec<(u64, u64)> = archive.ranges().collect();
        for view in ranges.into_iter().flat_map(|(first, last)| first..=last) {
            let seed = archive.get(Identifier::Index(view)).await.expect("seeds on disk");
            if let Some(seed) = seed {
                inner.seeds.insert(view, to_bytes(seed.as_ref()));
            }
        }
        let newest = inner.seeds.keys().next_back().copied().unwrap_or(0);
        let (writes, queue) = mpsc::unbounded_channel();
        let seeds = Self {
            inner: Arc::new(Mutex::new(inner)),
            writes,
            newest: Arc::new(watch::Sender::new(newest)),
        };
        let writer = context.child("writer").spawn(move |_| write_all(archive, queue));
        (seeds, writer)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The seeds of these views, or `None` while one is missing.
    pub fn seeds(&self, views: impl Iterator<Item = u64>) -> Option<Vec<SeedSignature>> {
        let inner = self.lock();
        views
            .map(|view| inner.seeds.get(&view).map(|bytes| SeedSignature { bytes: *bytes }))
            .collect()
    }

    /// Waits until the seeds of these views are here.
    pub async fn wait(&self, views: std::ops::Range<u64>) {
        let mut newest = self.newest.subscribe();
        while self.seeds(views.clone()).is_none() {
            // The sender lives as long as `self`.
            let _ = newest.changed().await;
        }
    }

    /// The newest certificates, newest first.
    pub fn certificates(&self) -> Vec<Finalization<Scheme, Digest>> {
        self.lock().certificates.values().rev().cloned().collect()
    }

    /// How many rounds ended without a block since the start.
    pub fn nullified(&self) -> u64 {
        self.lock().nullified
    }

    /// The newest round that has ended.
    pub fn newest(&self) -> u64 {
        *self.newest.borrow()
    }

    /// A final block has carried all seeds up to this view: they need not be kept.
    pub fn carried(&self, view: u64) {
        // Under the lock until it is sent: the disk must hear of a seed before it hears that the
        // seed is not needed.
        let mut inner = self.lock();
        inner.carried = inner.carried.max(view);
        inner.seeds = inner.seeds.split_off(&(view + 1));
        let _ = self.writes.send(Write::Carried(view));
    }

    fn insert(&self, view: u64, seed: Option<SeedPoint>) {
        // The engine reports only what it has verified.
        let Some(seed) = seed else { return };
        let bytes = to_bytes(&seed.encode());
        let mut inner = self.lock();
        if view <= inner.carried || inner.seeds.insert(view, bytes).is_some() {
            return;
        }
        let _ = self.writes.send(Write::Seed(view, bytes));
        drop(inner);
        self.newest.send_modify(|newest| *newest = view.max(*newest));
    }
}

impl Reporter for Seeds {
    type Activity = Activity<Scheme, Digest>;

    fn report(&mut self, activity: Self::Activity) -> Feedback {
        match activity {
            Activity::Notarization(notarization) => {
                self.insert(notarization.view().get(), notarization.certificate.seed());
            }
            Activity::Nullification(nullification) => {
                self.lock().nullified += 1;
                self.insert(nullification.view().get(), nullification.certificate.seed());
            }
            Activity::Finalization(finalization) => {
                let view = finalization.view().get();
                self.insert(view, finalization.certificate.seed());
                let mut inner = self.lock();
                inner.certificates.insert(view, finalization);
                while inner.certificates.len() > CERTIFICATES_KEPT {
                    inner.certificates.pop_first();
                }
            }
            _ => {}
        }
        Feedback::Ok
    }
}

async fn write_all<E>(mut archive: Archive<E>, mut queue: mpsc::UnboundedReceiver<Write>)
where
    E: Spawner + StorageContext,
{
    let mut unsynced = 0;
    while let Some(write) = queue.recv().await {
        archive = match write {
            Write::Seed(view, bytes) => {
                unsynced += 1;
                let key = Keccak256::hash(&[&view.to_be_bytes()]);
                archive.put(view, key, &FixedBytes::new(bytes)).await.expect("seeds on disk")
            }
            Write::Carried(view) => archive.prune(view).await.expect("seeds on disk"),
        };
        if unsynced >= SYNC_EVERY {
            archive = archive.sync().await.expect("seeds on disk");
            unsynced = 0;
        }
    }
}

fn to_bytes(bytes: &[u8]) -> [u8; 48] {
    let mut out = [0; 48];
    out.copy_from_slice(bytes);
    out
}
