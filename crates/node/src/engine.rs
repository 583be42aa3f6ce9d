//! The engine round an application: blocks are spread, kept, fetched and put in order, and rounds
//! are voted on. Which application is given; ours is in [`validator`](crate::validator).
//!
//! Consensus: a change here forks the chain. Validators of one network must run the same
//! version.

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
    simplex::{self, Engine, Floor, ForwardPolicy, SkipPolicy, types::Finalization},
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
use rand_core::CryptoRng;
use std::{num::NonZeroU64, sync::Arc, time::Duration};

/// A single endless epoch: heights and rounds never restart.
const EPOCH_LENGTH: NonZeroU64 = NonZeroU64::MAX;
const EPOCH: Epoch = Epoch::zero();
/// Rounds that the engine remembers behind the newest final block.
const VIEW_RETENTION: ViewDelta = ViewDelta::new(64);
/// Messages that wait for one of its parts.
pub(crate) const MAILBOX: std::num::NonZeroUsize = NZUsize!(1024);

/// Bytes of a file that are read or written together.
const BUFFER: std::num::NonZeroUsize = NZUsize!(1 << 16);

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

pub type MarshalActor<E> = Marshal<
    E,
    Standard<Block>,
    ConstantProvider<Scheme, Epoch>,
    Archive<E, Finalization<Scheme, Digest>>,
    Archive<E, Arc<Block>>,
    FixedEpocher,
    Sequential,
>;

/// Blocks on disk, open and at rest. The application is made with it, then [`start_blocks`] is called.
pub struct BlockStore<E: CryptoRng + Spawner + StorageContext> {
    pub marshal: MarshalActor<E>,
    /// Asks for blocks, once they are started.
    pub mailbox: Blocks,
    pub floor: MarshalFloor,
    pub plan: SyncPlan<E, Scheme, Standard<Block>>,
}

impl<E: CryptoRng + Spawner + StorageContext> BlockStore<E> {
    pub async fn open(context: &E, wiring: &Wiring) -> Result<Self, StoreError> {
        let Wiring { partition, scheme, genesis, cache, .. } = wiring;
        let participants = scheme.participants().len();
        let finalizations =
            archive(context, partition, "certificates", cache, participants).await?;
        let blocks = archive(context, partition, "blocks", cache, ()).await?;
        let plan = SyncPlan::init(context.child("plan"), partition).await;
        let first = Digested::precomputed(genesis.clone(), genesis.digest());
        let (marshal, mailbox, floor) = Marshal::init(
            context.child("marshal"),
            finalizations,
            blocks,
            marshal::Config {
                provider: ConstantProvider::new(scheme.clone()),
                epocher: FixedEpocher::new(EPOCH_LENGTH),
                start: plan.marshal_start(first),
                partition_prefix: format!("{partition}-marshal"),
                mailbox_size: MAILBOX,
                view_retention: VIEW_RETENTION,
                prunable_items_per_section: NZU64!(1024),
                page_cache: cache.clone(),
                replay_buffer: BUFFER,
                key_write_buffer: BUFFER,
                value_write_buffer: BUFFER,
                block_codec_config: (),
                max_repair: NZUsize!(64),
                max_pending_acks: NZUsize!(16),
                strategy: Sequential,
            },
        )
        .await;
        Ok(Self { marshal, mailbox, floor, plan })
    }
}

/// Spreads and fetches blocks, and reports final ones in order.
pub fn start_blocks<E, S, R>(
    context: &E,
    wiring: &Wiring,
    marshal: MarshalActor<E>,
    reporter: impl Reporter<Activity = Update<Block>>,
    BlockChannels { backfill, broadcast }: BlockChannels<S, R>,
    peers: impl Provider<PublicKey = PublicKey>,
    blocker: impl Blocker<PublicKey = PublicKey>,
) where
    E: CryptoRng + Spawner + StorageContext,
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
{
    let (broadcaster, blocks_near) = buffered::Engine::new(
        context.child("broadcast"),
        buffered::Config {
            public_key: wiring.public_key.clone(),
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
            public_key: wiring.public_key.clone(),
            peer_provider: peers,
            blocker,
            mailbox_size: MAILBOX,
            fetch_timeout: NZDuration!(Duration::from_secs(2)),
            fetch_retry_delay: Duration::from_millis(100),
            priority_requests: false,
            priority_responses: false,
        },
        backfill,
    );
    marshal.start(reporter, blocks_near, backfill);
}

pub struct BlockChannels<S, R> {
    backfill: (S, R),
    broadcast: (S, R),
}

pub struct VoteChannels<S, R> {
    votes: (S, R),
    certificates: (S, R),
    resolver: (S, R),
}

/// Takes the network's channels apart, which are in the order of [`CHANNELS`].
pub fn split<S, R>(channels: [(S, R); CHANNELS]) -> (VoteChannels<S, R>, BlockChannels<S, R>) {
    let [votes, certificates, resolver, backfill, broadcast] = channels;
    (VoteChannels { votes, certificates, resolver }, BlockChannels { backfill, broadcast })
}

/// Takes part in consensus on an application's blocks, whose store runs. The handle ends when
/// consensus does.
pub fn start_voting<E, S, R, A>(
    context: &E,
    wiring: Wiring,
    application: A,
    blocks: Blocks,
    VoteChannels { votes, certificates, resolver }: VoteChannels<S, R>,
    blocker: impl Blocker<PublicKey = PublicKey>,
) -> Handle<()>
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
{
    let Wiring { partition, scheme, patience, genesis, seeds, cache, .. } = wiring;
    let epocher = FixedEpocher::new(EPOCH_LENGTH);
    let deferred = Deferred::new(context.child("deferred"), application, blocks, epocher);
    Engine::new(
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
            replay_buffer: BUFFER,
            write_buffer: BUFFER,
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
    .start(votes, certificates, resolver)
}

pub type Archive<E, V> = prunable::Archive<EightCap, E, Digest, V>;

async fn archive<E, V>(
    context: &E,
    partition: &str,
    name: &'static str,
    cache: &CacheRef,
    codec_config: V::Cfg,
) -> Result<Archive<E, V>, StoreError>
where
    E: Spawner + StorageContext,
    V: commonware_codec::CodecShared,
{
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
        key_write_buffer: BUFFER,
        value_write_buffer: BUFFER,
        replay_buffer: BUFFER,
    };
    Archive::init(context.child(name), config)
        .await
        .map_err(|e| StoreError::Database(e.to_string()))
}
