//! A network in one process, for a while.

use super::hollow::{Hollow, Listener};
use super::load;
use super::record::{Figures, Record};
use commonware_cryptography::ChaCha20Poly1305;
use commonware_p2p::authenticated::lookup::{self, Network as Wires};
use commonware_p2p::{Address, AddressableManager as _};
use commonware_runtime::buffer::paged::CacheRef;
use commonware_runtime::{Quota, Runner as _, Spawner as _, Supervisor as _, tokio as runtime};
use commonware_stream::cups::{self, Cups};
use commonware_stream::sake::{self, Sake};
use commonware_utils::ordered::Map;
use commonware_utils::{NZU16, NZU32, NZUsize};
use remuda_node::app;
use remuda_node::block::Block;
use remuda_node::chain::{Chain, LocalPresence, Sessions, Tip};
use remuda_node::engine::{self, BlockStore, CHANNELS, Wiring};
use remuda_node::gate::to_ms;
use remuda_node::gossip::{Gossip, OUTBOX};
use remuda_node::network::{Network, Secrets};
use remuda_node::pool::Pool;
use remuda_node::scheme::{PublicKey, Scheme};
use remuda_node::seeds::Seeds;
use remuda_node::validator::{self, Patience, Setup, open_state, start_consensus};
use remuda_protocol::block::StateCommitment;
use remuda_protocol::codec::Bytes;
use remuda_protocol::params::ChainParams;
use remuda_protocol::state::MemoryState;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Application {
    /// Nothing: empty blocks.
    Hollow,
    Idle,
    /// The chain, with as many payments as it takes.
    Loaded,
}

#[derive(Clone, Debug)]
pub struct Measure {
    pub application: Application,
    pub validators: usize,
    /// Least time between blocks.
    pub block_time_ms: u64,
    /// How long to measure, after a warm-up.
    pub seconds: u64,
    /// Where to keep everything; emptied before and after.
    pub directory: PathBuf,
    /// The first of their ports.
    pub base_port: u16,
}

/// Blocks before the measurement begins.
const WARM_UP: u64 = 8;
/// How long they may take.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) type Context = runtime::Context;

/// Runs a network and measures it, as validator 0 sees it.
pub fn measure(what: &Measure) -> Result<Figures, String> {
    let _ = std::fs::remove_dir_all(&what.directory);
    let config = runtime::Config::default().with_storage_directory(what.directory.clone());
    let figures = runtime::Runner::new(config).start(|context| play(context, what.clone()));
    let _ = std::fs::remove_dir_all(&what.directory);
    figures
}

async fn play(context: Context, what: Measure) -> Result<Figures, String> {
    let (network, secrets) = deal(&what);
    let payments = match what.application {
        Application::Loaded => {
            load::payments(&network.genesis().params, 150 * what.seconds.div_ceil(8).max(1))
        }
        Application::Idle | Application::Hollow => Vec::new(),
    };
    let (mut records, mut pools) = (Vec::new(), Vec::new());
    for (i, secrets) in secrets.iter().enumerate() {
        let record = Arc::new(Record::default());
        let context = context.child("validator").with_attribute("number", i);
        let pool = boot(context, &what, &network, i, secrets, record.clone()).await?;
        records.push(record);
        pools.extend(pool);
    }
    let feeder = tokio::spawn(feed(pools, payments));
    let begun = Instant::now();
    while records[0].height() < WARM_UP {
        if begun.elapsed() > PATIENCE {
            return Err(format!("no {WARM_UP} blocks within {} s", PATIENCE.as_secs()));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (start_ms, start) = (to_ms(SystemTime::now()), Instant::now());
    tokio::time::sleep(Duration::from_secs(what.seconds)).await;
    let figures = records[0].figures(start_ms, start.elapsed().as_secs_f64());
    feeder.abort();
    let _ = context.child("stop").stop(0, Some(Duration::from_secs(1))).await;
    Ok(figures)
}

pub(super) fn deal(what: &Measure) -> (Arc<Network>, Vec<Secrets>) {
    let mut params = ChainParams::development();
    params.block_time_ms = what.block_time_ms;
    let now = to_ms(SystemTime::now());
    let (network, secrets) = crate::deal(1, what.validators, &params, now, &load::balances());
    (Arc::new(network), secrets)
}

/// Where a validator's index is.
pub(super) fn index_directory(what: &Measure, i: usize) -> PathBuf {
    what.directory.join(format!("index-{i}"))
}

/// Keeps every sender's next payments in the pools of the validators, one door after the other.
async fn feed(pools: Vec<Arc<Pool>>, payments: Vec<Vec<Vec<u8>>>) {
    let mut next = vec![0; payments.len()];
    loop {
        for (i, list) in payments.iter().enumerate() {
            let door = &pools[i % pools.len()];
            while let Some(bytes) = list.get(next[i]) {
                if door.submit_local(bytes).is_err() {
                    break;
                }
                next[i] += 1;
            }
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
        if pools.is_empty() {
            return;
        }
    }
}

/// Starts one of them; one with our application has a pool.
pub(super) async fn boot(
    context: Context,
    what: &Measure,
    network: &Arc<Network>,
    i: usize,
    secrets: &Secrets,
    record: Arc<Record>,
) -> Result<Option<Arc<Pool>>, String> {
    let address = |i: usize| SocketAddr::from(([127, 0, 0, 1], what.base_port + i as u16));
    let handshake = Cups::<_, ChaCha20Poly1305>::new(
        Sake {
            signer: secrets.identity.clone(),
            synchrony_bound: Duration::from_secs(5),
            max_handshake_age: Duration::from_secs(10),
            version: sake::Version::V1,
        },
        cups::Version::V1,
    );
    let config = lookup::Config::local(
        handshake,
        network.namespace(),
        address(i),
        what.validators.try_into().map_err(|_| "a network has validators")?,
        validator::max_message_size(what.validators as u32),
        NZUsize!(1024),
    );
    let (mut wires, mut oracle) = Wires::new(context.child("network"), config);
    let peers: Vec<(PublicKey, Address)> = network
        .participants()
        .iter()
        .enumerate()
        .map(|(j, key)| (key.clone(), address(j).into()))
        .collect();
    let peers: Map<PublicKey, Address> = Map::try_from(peers).map_err(|_| "a key twice")?;
    oracle.track(0, peers);
    let quota = || Quota::per_second(NZU32!(512));
    let channels: Vec<_> =
        (0..CHANNELS as u64).map(|channel| wires.register(channel, quota())).collect();
    let Ok(channels) = <[_; CHANNELS]>::try_from(channels) else { unreachable!("one for each") };
    let gossip = wires.register(CHANNELS as u64, quota());
    wires.start();

    let params = &network.genesis().params;
    let patience = Patience::for_block_time(Duration::from_millis(params.block_time_ms));
    let (partition, public_key) = (format!("v{i}"), secrets.public_key());
    if what.application == Application::Hollow {
        let cache = CacheRef::new(NZU16!(4096), NZUsize!(2048));
        let (seeds, _) = Seeds::open(context.child("seeds"), &partition, cache.clone()).await;
        let genesis = Block::genesis(network.genesis(), StateCommitment::default());
        let genesis = genesis.ok_or("not a validator")?;
        let chain = Chain::new(Arc::new(params.clone()));
        let scheme = sign(network, secrets, chain, i)?;
        let wiring = Wiring { partition, public_key, scheme, patience, genesis, seeds, cache };
        let (votes, blocks) = engine::split(channels);
        let store = BlockStore::open(&context, &wiring).await.map_err(|e| e.to_string())?;
        let listener = Listener(Arc::new(move |block: &Block| record.note(block)));
        let peers = oracle.clone();
        engine::start_blocks(
            &context,
            &wiring,
            store.marshal,
            listener,
            blocks,
            peers,
            oracle.clone(),
        );
        let hollow = Hollow { block_time_ms: params.block_time_ms };
        engine::start_voting(&context, wiring, hollow, store.mailbox, votes, oracle);
        return Ok(None);
    }
    let context = context.child("engine");
    let state = open_state(&context, &partition, network.clone()).await;
    let state = state.map_err(|e| e.to_string())?;
    let index = state.open_index(&index_directory(what, i)).await;
    let (outbox, mail) = tokio::sync::mpsc::channel(OUTBOX);
    let pool = Arc::new(Pool::new(state.chain.clone(), index.map_err(|e| e.to_string())?, outbox));
    let setup = Setup {
        public_key,
        scheme: sign(network, secrets, state.chain.clone(), i)?,
        patience,
        pool: Arc::new(Recorder { pool: pool.clone(), record }),
        faults: None,
    };
    start_consensus(&context, state, setup, channels, oracle.clone(), oracle)
        .await
        .map_err(|e| e.to_string())?;
    Gossip::new(pool.clone(), mail).start(context.child("gossip"), gossip);
    Ok(Some(pool))
}

fn sign(
    network: &Network,
    secrets: &Secrets,
    chain: Chain,
    validator: usize,
) -> Result<Scheme, String> {
    let sessions = Sessions::default();
    let presence = LocalPresence { chain, sessions, validator: validator as u32 };
    network.signer(secrets, Arc::new(presence)).ok_or_else(|| "not a validator".to_owned())
}

/// Notes final blocks on their way to the pool.
struct Recorder {
    pool: Arc<Pool>,
    record: Arc<Record>,
}

impl app::Pool for Recorder {
    fn pick(&self, state: &MemoryState) -> Vec<Bytes> {
        app::Pool::pick(&*self.pool, state)
    }

    fn finalised(&self, block: &Block, chain: &Chain) -> Arc<Tip> {
        self.record.note(block);
        app::Pool::finalised(&*self.pool, block, chain)
    }
}
