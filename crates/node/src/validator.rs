//! One validator, put together: the engine's parts around our [application](crate::app).
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
use crate::gate::Gate;
use crate::history::History;
use crate::network::Network;
use crate::scheme::{PublicKey, Scheme, SeedElection};
use crate::seeds::Seeds;
use crate::store::{self, Attach, StoreError};
use commonware_broadcast::buffered;
use commonware_consensus::{
    Reporters,
    marshal::{
        self,
        core::{Actor as Marshal, Mailbox as MarshalMailbox},
        resolver::p2p as backfill,
        standard::{Deferred, Standard},
    },
    simplex::{self, Engine, Floor, ForwardPolicy, SkipPolicy},
    types::{Epoch, FixedEpocher, ViewDelta},
};
use commonware_cryptography::{
    Digested, Digestible as _, certificate::ConstantProvider, keccak256::Digest,
};
use commonware_glue::stateful::{
    Config as StatefulConfig, Mailbox, Stateful, SyncPlan, db::SyncEngineConfig,
};
use commonware_p2p::{Blocker, Provider, Receiver, Sender};
use commonware_parallel::Sequential;
use commonware_runtime::{Handle, Spawner, buffer::paged::CacheRef};
use commonware_storage::{Context as StorageContext, archive::prunable, translator::EightCap};
use commonware_utils::{NZDuration, NZU16, NZU64, NZUsize};
use rand_core::CryptoRng;
use std::{num::NonZeroU64, sync::Arc, time::Duration};

/// One endless epoch: heights and rounds never start anew.
const EPOCH_LENGTH: NonZeroU64 = NonZeroU64::MAX;
const EPOCH: Epoch = Epoch::zero();
/// Rounds that the engine remembers behind the newest final block.
const VIEW_RETENTION: ViewDelta = ViewDelta::new(64);
const MAILBOX: std::num::NonZeroUsize = NZUsize!(1024);

/// Channels of the network that consensus uses: votes, certificates, resolver, backfill, broadcast.
pub const CHANNELS: usize = 5;

/// What one validator needs to know.
pub struct Setup {
    /// Prefix of everything it stores.
    pub partition: String,
    /// The network that it is one of.
    pub network: Arc<Network>,
    /// Its name.
    pub public_key: PublicKey,
    /// Its voice.
    pub scheme: Scheme,
    /// How long it waits.
    pub patience: Patience,
    /// Its transactions.
    pub pool: Arc<dyn Pool>,
    /// States in memory; made by the caller, who may read them.
    pub chain: Chain,
    /// See [`Tamper`].
    pub tamper: Option<Arc<dyn Tamper>>,
}

/// How long a validator waits before it gives a round up. A dead leader costs the first, a leader
/// with a bad block the second.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For a proposal; above the block time, with a margin for the way.
    pub leader: Duration,
    /// For a certificate.
    pub certificate: Duration,
    /// Between repeated requests to give a round up.
    pub retry: Duration,
}

impl Patience {
    /// For a block time.
    pub fn for_block_time(block_time: Duration) -> Self {
        let leader = block_time + block_time.max(Duration::from_millis(750));
        Self { leader, certificate: leader + Duration::from_secs(1), retry: leader }
    }
}

/// What the outside may use.
pub struct Validator<E: CryptoRng + Spawner + StorageContext> {
    /// Ends when consensus does: a node should exit then.
    pub engine: Handle<()>,
    /// Blocks.
    pub marshal: MarshalMailbox<Scheme, Standard<Block>>,
    /// The database.
    pub state: Mailbox<E, App<E>>,
    /// Seeds and certificates.
    pub seeds: Seeds,
    /// Receipts.
    pub history: History<E>,
    /// States in memory.
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

/// Starts a validator.
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
    let [votes, certificates, resolver, backfilling, broadcast] = channels;
    let cache = CacheRef::new(NZU16!(4096), NZUsize!(2048));
    let buffer = NZUsize!(1 << 16);
    let participants = network.participants().len();

    let config = store::config(&partition, cache.clone());
    let scratch = store::config(&format!("{partition}-scratch"), cache.clone());
    let entries = network.genesis().entries().map_err(StoreError::Genesis)?;
    let commitment =
        store::genesis(context.child("genesis"), config.clone(), scratch, &entries).await?;
    let genesis = Block::genesis(network.genesis(), commitment).ok_or(StoreError::NotAValidator)?;
    let (seeds, _) = Seeds::open(context.child("seeds"), &partition, cache.clone()).await;
    let history = History::open(context.child("receipts"), &partition, cache.clone()).await;

    // Blocks: spread, kept, fetched, put in order.
    let (broadcaster, blocks_near) = buffered::Engine::new(
        context.child("broadcast"),
        buffered::Config {
            public_key: public_key.clone(),
            mailbox_size: MAILBOX,
            deque_size: 16,
            priority: true,
            codec_config: (),
            peer_provider: peers.clone(),
            strategy: Sequential,
        },
    );
    broadcaster.start(broadcast);
    let backfill = backfill::init(
        context.child("backfill"),
        backfill::Config {
            public_key,
            peer_provider: peers.clone(),
            blocker: blocker.clone(),
            mailbox_size: MAILBOX,
            fetch_timeout: NZDuration!(Duration::from_secs(2)),
            fetch_retry_delay: Duration::from_millis(100),
            priority_requests: false,
            priority_responses: false,
        },
        backfilling,
    );
    let finalizations = archive(&context, &partition, "certificates", &cache, participants).await?;
    let blocks = archive(&context, &partition, "blocks", &cache, ()).await?;
    let plan = SyncPlan::init(context.child("plan"), &partition).await;
    let first = Digested::precomputed(genesis.clone(), genesis.digest());
    let (marshal, marshal_mailbox, floor) = Marshal::<_, Standard<Block>, _, _, _, _, _>::init(
        context.child("marshal"),
        finalizations,
        blocks,
        marshal::Config {
            provider: ConstantProvider::<_, Epoch>::new(scheme.clone()),
            epocher: FixedEpocher::new(EPOCH_LENGTH),
            start: plan.marshal_start(first),
            partition_prefix: format!("{partition}-marshal"),
            mailbox_size: MAILBOX,
            view_retention: VIEW_RETENTION,
            prunable_items_per_section: NZU64!(1024),
            page_cache: cache.clone(),
            replay_buffer: buffer,
            key_write_buffer: buffer,
            value_write_buffer: buffer,
            block_codec_config: (),
            max_repair: NZUsize!(64),
            max_pending_acks: NZUsize!(16),
            strategy: Sequential,
        },
    )
    .await;

    // Execution.
    let application = App {
        genesis: genesis.clone(),
        scheme: scheme.clone(),
        chain: chain.clone(),
        seeds: seeds.clone(),
        history: history.clone(),
        pool,
        tamper,
    };
    let (stateful, state) = Stateful::new(
        context.child("stateful"),
        StatefulConfig {
            application,
            db_config: config,
            provider: (),
            marshal: (marshal_mailbox.clone(), floor),
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
    let deferred = Deferred::new(
        context.child("deferred"),
        gate,
        marshal_mailbox.clone(),
        FixedEpocher::new(EPOCH_LENGTH),
    );
    marshal.start(state.clone(), blocks_near, backfill);
    stateful.start();
    chain.wait_open().await;
    if let Some((_, base)) = chain.base() {
        seeds.carried(standing(&base).newest_seed);
    }

    // Consensus.
    let engine = Engine::new(
        context.child("engine"),
        simplex::Config {
            scheme,
            elector: SeedElection,
            blocker,
            automaton: deferred.clone(),
            relay: deferred.clone(),
            reporter: Reporters::from((deferred, seeds.clone())),
            track_historical_votes: false,
            strategy: Sequential,
            partition: format!("{partition}-simplex"),
            mailbox_size: MAILBOX,
            epoch: EPOCH,
            floor: Floor::Genesis(genesis.digest()),
            replay_buffer: buffer,
            write_buffer: buffer,
            page_cache: cache,
            leader_timeout: patience.leader,
            certification_timeout: patience.certificate,
            timeout_retry: patience.retry,
            view_retention: VIEW_RETENTION,
            skip: SkipPolicy::Disabled,
            fetch_timeout: NZDuration!(Duration::from_secs(1)),
            fetch_retry_delay: Duration::from_millis(100),
            forward: ForwardPolicy::SilentVoters,
        },
    )
    .start(votes, certificates, resolver);
    Ok(Validator { engine, marshal: marshal_mailbox, state, seeds, history, chain, genesis })
}

async fn archive<E, V>(
    context: &E,
    partition: &str,
    name: &'static str,
    cache: &CacheRef,
    codec_config: V::Cfg,
) -> Result<prunable::Archive<EightCap, E, Digest, V>, StoreError>
where
    E: Spawner + StorageContext,
    V: commonware_codec::CodecShared,
{
    let buffer = NZUsize!(1 << 16);
    let config = prunable::Config {
        translator: EightCap,
        metadata_partition: format!("{partition}-{name}-meta"),
        key_partition: format!("{partition}-{name}-key"),
        key_page_cache: cache.clone(),
        value_partition: format!("{partition}-{name}-value"),
        compression: None,
        codec_config,
        items_per_section: NZU64!(4096),
        key_write_buffer: buffer,
        value_write_buffer: buffer,
        replay_buffer: buffer,
    };
    prunable::Archive::init(context.child(name), config)
        .await
        .map_err(|e| StoreError::Database(e.to_string()))
}
