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

use crate::app::{App, Pool, Tamper};
use crate::block::Block;
use crate::chain::{Chain, standing};
use crate::engine::{self, Blocks, MAILBOX, Wiring};
use crate::gate::Gate;
use crate::history::History;
use crate::network::Network;
use crate::scheme::{PublicKey, Scheme};
use crate::seeds::Seeds;
use crate::store::{self, Attach, StoreError};
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
use futures::FutureExt as _;
use rand_core::CryptoRng;
use std::sync::{Arc, OnceLock};

pub use crate::engine::{CHANNELS, Patience};

/// What one validator needs to know.
pub struct Setup {
    /// Prefix of everything it stores.
    pub partition: String,
    /// The network that it is one of.
    pub network: Arc<Network>,
    pub public_key: PublicKey,
    pub scheme: Scheme,
    pub patience: Patience,
    pub pool: Arc<dyn Pool>,
    /// States in memory; made by the caller, who may read them.
    pub chain: Chain,
    /// See [`Tamper`].
    pub tamper: Option<Arc<dyn Tamper>>,
}

/// What the outside may use.
pub struct Validator<E: CryptoRng + Spawner + StorageContext> {
    /// Ends when consensus does: a node should exit then.
    pub engine: Handle<()>,
    /// Blocks.
    pub marshal: Blocks,
    pub state: Mailbox<E, App<E>>,
    pub seeds: Seeds,
    pub history: History<E>,
    pub chain: Chain,
    /// The block of height 0.
    pub genesis: Block,
}

/// The largest message among `participants` validators.
pub fn max_message_size(participants: u32) -> u32 {
    commonware_p2p::max_message_size(&[
        simplex::max_payload_size::<Scheme, Digest>(participants),
        marshal::max_payload_size::<Standard<Block>, Scheme>(participants, &()),
    ])
}

pub async fn start<E, S, R>(
    context: E,
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
    let Setup { partition, network, public_key, scheme, patience, pool, chain, tamper } = setup;
    let cache = CacheRef::new(NZU16!(4096), NZUsize!(2048));

    let config = store::config(&partition, cache.clone());
    let scratch = store::config(&format!("{partition}-scratch"), cache.clone());
    let entries = network.genesis().entries().map_err(StoreError::Genesis)?;
    let commitment =
        store::genesis(context.child("genesis"), config.clone(), scratch, &entries).await?;
    let genesis = Block::genesis(network.genesis(), commitment).ok_or(StoreError::NotAValidator)?;
    let (seeds, _) = Seeds::open(context.child("seeds"), &partition, cache.clone()).await;
    let history = History::open(context.child("history"), &partition).await;

    let application = App {
        genesis: genesis.clone(),
        scheme: scheme.clone(),
        chain: chain.clone(),
        seeds: seeds.clone(),
        history: history.clone(),
        pool,
        filling: patience.filling,
        tamper,
    };
    let (execution, states) = (context.child("stateful"), Arc::new(OnceLock::new()));
    let built = states.clone();
    let wiring = Wiring {
        partition,
        public_key,
        scheme,
        patience,
        genesis: genesis.clone(),
        seeds: seeds.clone(),
        cache,
    };
    let (engine, marshal) =
        engine::start(context, wiring, channels, peers, blocker, |marshal, floor, plan| {
            let (stateful, state) = Stateful::new(
                execution,
                StatefulConfig {
                    application,
                    db_config: config,
                    provider: (),
                    marshal: (marshal, floor),
                    mailbox_size: MAILBOX,
                    plan,
                    resolvers: Attach(chain.clone()),
                    sync_config: SyncEngineConfig {
                        fetch_batch_size: NZU64!(1024),
                        apply_batch_size: NZU64!(1024),
                        max_outstanding_requests: NZUsize!(8),
                    },
                    prune_config: None,
                    strategy: Sequential,
                },
            );
            let gate = Gate {
                inner: state.clone(),
                seeds: seeds.clone(),
                block_time_ms: chain.params().block_time_ms,
            };
            let _ = built.set(state.clone());
            let (chain, seeds) = (chain.clone(), seeds.clone());
            let ready = async move {
                stateful.start();
                chain.wait_open().await;
                if let Some((_, base)) = chain.base() {
                    seeds.carried(standing(&base).newest_seed);
                }
            };
            (gate, state, ready.boxed())
        })
        .await?;
    let state = states.get().cloned().expect("the engine builds its application");
    Ok(Validator { engine, marshal, state, seeds, history, chain, genesis })
}
