//! One validator, put together: the engine's parts around our [application](crate::app).
//!
//! Local: a change here needs no agreement among validators.
//!
//! ```text
//! network ─ votes, certificates, resolver ─→ simplex engine ─ reports ─→ deferred, seeds
//!         ─ broadcast ─→ buffer ┐               │ asks
//!         ─ backfill ─→ resolver ┴→ marshal     ▼
//!                                    │       deferred → gate → stateful → app → rules
//!                                    └─ final blocks, in order ─→ stateful → database, history
//! ```
//!
//! It is the same on a real machine and in a simulation: the runtime and the network are given.

use crate::app::{App, FaultInjection, Pool};
use crate::block::Block;
use crate::chain::{Chain, LoadTip, chain_state};
use crate::engine::{self, BlockStore, Blocks, MAILBOX, Wiring};
use crate::gate::Gate;
use crate::history::{Finalised, History};
use crate::index::{Index, Limits};
use crate::network::Network;
use crate::scheme::{PublicKey, Scheme};
use crate::seeds::Seeds;
use crate::store::{self, StoreError};
use commonware_consensus::marshal::{self, standard::Standard};
use commonware_consensus::simplex;
use commonware_cryptography::keccak256::Digest;
use commonware_glue::stateful::{
    Config as StatefulConfig, Mailbox, Stateful, db::SyncEngineConfig,
};
use commonware_p2p::{Blocker, Provider, Receiver, Sender};
use commonware_parallel::Sequential;
use commonware_runtime::{Handle, Spawner, buffer::paged::CacheRef};
use commonware_storage::Context as StorageContext;
use commonware_utils::{NZU16, NZU64, NZUsize};
use rand_core::CryptoRng;
use std::io;
use std::path::Path;
use std::sync::Arc;

pub use crate::engine::{CHANNELS, Patience};

/// What a validator has on disk, and its chain, whose state the engine loads when it is started.
pub struct State<E: Spawner + StorageContext> {
    partition: String,
    network: Arc<Network>,
    cache: CacheRef,
    /// The block of height 0.
    genesis: Block,
    seeds: Seeds,
    history: History<E>,
    pub chain: Chain,
}

/// What makes one validator differ from others of its network.
pub struct Setup {
    pub public_key: PublicKey,
    pub scheme: Scheme,
    pub patience: Patience,
    pub pool: Arc<dyn Pool>,
    pub faults: Option<Arc<dyn FaultInjection>>,
}

/// A validator that takes part in consensus.
pub struct Validator<E: CryptoRng + Spawner + StorageContext> {
    /// Ends when consensus does: a node should exit then.
    pub engine: Handle<()>,
    pub blocks: Blocks,
    pub state: Mailbox<E, App<E>>,
    pub seeds: Seeds,
    pub history: History<E>,
    /// The block of height 0.
    pub genesis: Arc<Finalised>,
}

/// The largest message among `participants` validators.
pub fn max_message_size(participants: u32) -> u32 {
    commonware_p2p::max_message_size(&[
        simplex::max_payload_size::<Scheme, Digest>(participants),
        marshal::max_payload_size::<Standard<Block>, Scheme>(participants, &()),
    ])
}

/// Opens what is on disk under `partition`, the prefix of everything that is stored.
pub async fn open_state<E>(
    context: &E,
    partition: &str,
    network: Arc<Network>,
) -> Result<State<E>, StoreError>
where
    E: Spawner + StorageContext,
{
    let cache = CacheRef::new(NZU16!(4096), NZUsize!(2048));
    let config = store::config(partition, cache.clone());
    let scratch = store::config(&format!("{partition}-scratch"), cache.clone());
    let entries = network.genesis().entries().map_err(StoreError::Genesis)?;
    let commitment = store::genesis(context.child("genesis"), config, scratch, &entries).await?;
    let genesis = Block::genesis(network.genesis(), commitment).ok_or(StoreError::NotAValidator)?;
    let (seeds, _) = Seeds::open(context.child("seeds"), partition, cache.clone()).await;
    let history = History::open(context.child("history"), partition).await;
    let chain = Chain::new(Arc::new(network.genesis().params.clone()));
    Ok(State { partition: partition.to_owned(), network, cache, genesis, seeds, history, chain })
}

impl<E: Spawner + StorageContext> State<E> {
    /// Opens the index of these blocks, and adds those that it lacks.
    pub async fn open_index(&self, directory: &Path) -> io::Result<Index> {
        let index = Index::open(directory, Limits::default())?;
        let read = index.catch_up(&self.history, &Finalised::genesis(&self.genesis)).await;
        tracing::info!(blocks = read, next = index.next().get(), "index caught up");
        Ok(index)
    }
}

/// Starts a validator on its state: first the blocks, then execution, which opens the database at one
/// of them, and the votes last. The chain has a tip when this returns.
pub async fn start_consensus<E, S, R>(
    context: &E,
    state: State<E>,
    setup: Setup,
    channels: [(S, R); CHANNELS],
    peers: impl Provider<PublicKey = PublicKey>,
    blocker: impl Blocker<PublicKey = PublicKey>,
) -> Result<Validator<E>, StoreError>
where
    E: CryptoRng + Spawner + StorageContext,
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
{
    let State { partition, network, cache, genesis, seeds, history, chain } = state;
    let Setup { public_key, scheme, patience, pool, faults } = setup;
    let (vote_channels, block_channels) = engine::split(channels);
    let wiring = Wiring {
        partition,
        public_key,
        scheme: scheme.clone(),
        patience,
        genesis: genesis.clone(),
        seeds: seeds.clone(),
        cache,
    };
    let BlockStore { marshal, mailbox: blocks, floor, plan } =
        BlockStore::open(context, &wiring).await?;

    let first = Arc::new(Finalised::genesis(&genesis));
    let (stateful, state) = Stateful::new(
        context.child("stateful"),
        StatefulConfig {
            application: App {
                genesis: genesis.clone(),
                scheme,
                chain: chain.clone(),
                seeds: seeds.clone(),
                history: history.clone(),
                pool,
                filling: patience.filling,
                faults,
            },
            db_config: store::config(&wiring.partition, wiring.cache.clone()),
            provider: (),
            marshal: (blocks.clone(), floor),
            mailbox_size: MAILBOX,
            plan,
            resolvers: LoadTip {
                chain: chain.clone(),
                history: history.clone(),
                genesis: first.clone(),
            },
            sync_config: SyncEngineConfig {
                fetch_batch_size: NZU64!(1024),
                apply_batch_size: NZU64!(1024),
                max_outstanding_requests: NZUsize!(8),
            },
            prune_config: None,
            strategy: Sequential,
        },
    );
    let reporter = state.clone();
    engine::start_blocks(
        context,
        &wiring,
        marshal,
        reporter,
        block_channels,
        peers,
        blocker.clone(),
    );
    stateful.start();
    let tip = chain.opened().await;
    seeds.carried(chain_state(&tip.state).newest_seed);

    let gate = Gate {
        inner: state.clone(),
        seeds: seeds.clone(),
        block_time_ms: network.genesis().params.block_time_ms,
    };
    let engine =
        engine::start_voting(context, wiring, gate, blocks.clone(), vote_channels, blocker);
    Ok(Validator { engine, blocks, state, seeds, history, genesis: first })
}
