//! The engine round an application: blocks are spread, kept, fetched and put in order, and rounds
//! are voted on. Which application is given; ours is in [`validator`](crate::validator).
//!
//! Consensus: validators of one network must run the same version.

use crate::block::Block;
use crate::gate::MAX_DRIFT;
use crate::scheme::{PublicKey, Scheme, SeedElection};
use crate::seeds::Seeds;
use crate::store::StoreError;
use commonware_broadcast::buffered;
use commonware_consensus::simplex::types::Context as SimplexContext;
use commonware_consensus::{
    Application, Reporter, Reporters,
    marshal::{
        self, Update,
        core::{Actor as Marshal, Floor as MarshalFloor, Mailbox as MarshalMailbox},
        resolver::p2p as backfill,
        standard::{Deferred, Standard},
    },
    simplex::{self, Engine, Floor, ForwardPolicy, SkipPolicy},
    types::{Epoch, FixedEpocher, ViewDelta},
};
use commonware_cryptography::{
    Digested, Digestible as _, certificate::ConstantProvider, keccak256::Digest,
};
use commonware_glue::stateful::SyncPlan;
use commonware_p2p::{Blocker, Provider, Receiver, Sender};
use commonware_parallel::Sequential;
use commonware_runtime::{Handle, Spawner, buffer::paged::CacheRef};
use commonware_storage::{Context as StorageContext, archive::prunable, translator::EightCap};
use commonware_utils::{NZDuration, NZU64, NZUsize};
use futures::future::BoxFuture;
use rand_core::CryptoRng;
use std::{num::NonZeroU64, time::Duration};

/// One endless epoch: heights and rounds never start anew.
const EPOCH_LENGTH: NonZeroU64 = NonZeroU64::MAX;
const EPOCH: Epoch = Epoch::zero();
/// Rounds that the engine remembers behind the newest final block.
const VIEW_RETENTION: ViewDelta = ViewDelta::new(64);
/// Messages that wait for one of its parts.
pub(crate) const MAILBOX: std::num::NonZeroUsize = NZUsize!(1024);

/// Channels of the network that consensus uses: votes, certificates, resolver, backfill, broadcast.
pub const CHANNELS: usize = 5;

/// How long a validator waits before it gives a round up. A dead leader costs the first, a leader
/// with a bad block the second.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For a proposal; above the block time, with a margin for the way.
    pub leader: Duration,
    pub certificate: Duration,
    /// Between repeated requests to give a round up.
    pub retry: Duration,
    /// With a block that it fills itself. Others take about as long to execute it.
    pub filling: Duration,
}

impl Patience {
    /// For a block time.
    pub fn for_block_time(block_time: Duration) -> Self {
        // A leader may have to wait for a parent whose maker's clock is ahead, and to fill a block.
        let margin = block_time.max(Duration::from_secs(1));
        let leader = block_time + MAX_DRIFT + margin;
        let certificate = leader + Duration::from_secs(1);
        Self { leader, certificate, retry: leader, filling: margin / 2 }
    }
}

/// Blocks, as the engine keeps them.
pub type Blocks = MarshalMailbox<Scheme, Standard<Block>>;

/// What every application's engine needs to know.
pub struct Wiring {
    /// Prefix of everything it stores.
    pub partition: String,
    pub public_key: PublicKey,
    pub scheme: Scheme,
    pub patience: Patience,
    /// The block of height 0.
    pub genesis: Block,
    /// Where it reports seeds to.
    pub seeds: Seeds,
    /// Pages of the disk in memory.
    pub cache: CacheRef,
}

/// An application, whom to tell about final blocks, and what has to be done before the first vote.
pub type Built<A, T> = (A, T, BoxFuture<'static, ()>);

/// Starts an engine round an application, which `build` makes from where blocks are kept.
pub async fn start<E, S, R, A, T>(
    context: E,
    wiring: Wiring,
    channels: [(S, R); CHANNELS],
    peers: impl Provider<PublicKey = PublicKey>,
    blocker: impl Blocker<PublicKey = PublicKey>,
    build: impl FnOnce(Blocks, MarshalFloor, SyncPlan<E, Scheme, Standard<Block>>) -> Built<A, T>,
) -> Result<(Handle<()>, Blocks), StoreError>
where
    E: CryptoRng + Spawner + StorageContext,
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
    A: Application<
            E,
            Block = Block,
            SigningScheme = Scheme,
            Context = SimplexContext<Digest, PublicKey>,
            Input = (),
        >,
    T: Reporter<Activity = Update<Block>>,
{
    let Wiring { partition, public_key, scheme, patience, genesis, seeds, cache } = wiring;
    let [votes, certificates, resolver, backfilling, broadcast] = channels;
    let buffer = NZUsize!(1 << 16);
    let participants = scheme.participants().len();

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

    let (application, told, ready) = build(marshal_mailbox.clone(), floor, plan);
    let deferred = Deferred::new(
        context.child("deferred"),
        application,
        marshal_mailbox.clone(),
        FixedEpocher::new(EPOCH_LENGTH),
    );
    marshal.start(told, blocks_near, backfill);
    ready.await;

    // Consensus.
    let engine = Engine::new(
        context.child("engine"),
        simplex::Config {
            scheme,
            elector: SeedElection,
            blocker,
            automaton: deferred.clone(),
            relay: deferred.clone(),
            reporter: Reporters::from((deferred, seeds)),
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
    Ok((engine, marshal_mailbox))
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
        // Each section keeps files open for ever.
        items_per_section: NZU64!(1 << 16),
        key_write_buffer: buffer,
        value_write_buffer: buffer,
        replay_buffer: buffer,
    };
    prunable::Archive::init(context.child(name), config)
        .await
        .map_err(|e| StoreError::Database(e.to_string()))
}
