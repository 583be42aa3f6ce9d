//! A node as a process: real network, real disk, and a clean stop.
//!
//! Local: a change here needs no agreement among validators.

use crate::backend::Backend as _;
use crate::chain::{LocalPresence, Sessions};
use crate::config::{FileError, GenesisFile, Peer, Settings, read_secret};
use crate::gossip::{self, Gossip};
use crate::network::{Network, NetworkError, Secrets};
use crate::node_view::{NodeView, PeerCount};
use crate::pool::Pool;
use crate::runners::{LinkServerConfig, Runners, ValidatorEndpoints};
use crate::scheme::PublicKey;
use crate::store::StoreError;
use crate::validator::{self, CHANNELS, Patience, Setup, open_state, start_consensus};
use alloy_primitives::hex;
use commonware_codec::DecodeExt as _;
use commonware_cryptography::ChaCha20Poly1305;
use commonware_p2p::{
    Address, AddressableManager as _,
    authenticated::lookup::{self, Network as Wires},
};
use commonware_runtime::{
    Handle, Quota, Runner as _, Spawner as _, Supervisor as _, tokio as runtime,
};
use commonware_stream::{
    cups::{self, Cups},
    sake::{self, Sake},
};
use commonware_utils::{NZU32, NZUsize, ordered::Map};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::primitives::B256;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// Messages of one peer per second, on each channel: votes, certificates, resolver, backfill, blocks,
/// gossip, [`PeerCount`]. The network sets aside room for as many of every peer, and each may be as large as a
/// block.
const QUOTAS: [NonZeroU32; CHANNELS + 2] =
    [NZU32!(256), NZU32!(256), NZU32!(128), NZU32!(128), NZU32!(32), NZU32!(64), NZU32!(4)];
/// Files that a node may have open at least: one for each round since the newest final block, and
/// some more for connections and the chain.
const OPEN_FILES_MIN: u64 = 4096;
/// How long tasks may take to end.
const STOP: Duration = Duration::from_secs(2);

/// Why a node does not run.
#[derive(Debug, Error)]
pub enum NodeError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Settings(String),
    /// Another chain is in the data directory.
    #[error(
        "{} holds the chain {found}, and the genesis is that of {expected}; \
         use another data directory, or remove this one to start from genesis",
        path.display()
    )]
    OtherChain { path: PathBuf, found: String, expected: B256 },
    #[error("the API cannot listen on {address}: {error}; is another node running there?")]
    Api { address: std::net::SocketAddr, error: std::io::Error },
    #[error(
        "cannot listen for other validators on {address}: {error}; is another node running there?"
    )]
    Listen { address: std::net::SocketAddr, error: std::io::Error },
    #[error(transparent)]
    Link(#[from] remuda_link::quic::server::ServerError),
    /// A part of the node ended.
    #[error("{0} has stopped; see the log")]
    Stopped(&'static str),
    #[error(
        "this process may have {0} files open, and a node needs {OPEN_FILES_MIN}; \
         raise the limit, for example with: ulimit -n {OPEN_FILES_MIN}"
    )]
    OpenFiles(u64),
}

/// Stack of each thread: the same on every machine, whatever its `ulimit -s`, and far more than executing a
/// block needs. How deep actors' code may nest is bounded by rules; should one of these be too generous, all
/// nodes find out alike.
const STACK_BYTES: usize = 16 << 20;

/// Runs a validator until it is told to stop. Blocks.
pub fn run(settings: Settings) -> Result<(), NodeError> {
    // As many as the system allows; what the system does not tell is taken to be enough.
    let files = rlimit::increase_nofile_limit(u64::MAX).unwrap_or(OPEN_FILES_MIN);
    if files < OPEN_FILES_MIN {
        return Err(NodeError::OpenFiles(files));
    }
    let network = Arc::new(Network::new(GenesisFile::read(&settings.genesis)?)?);
    let secrets = Secrets::from_bytes(&read_secret(&settings.key)?).ok_or_else(|| {
        let reason = "not the secrets of a validator; take the file that init wrote".into();
        FileError::Malformed { path: settings.key.clone(), reason }
    })?;
    settings.check_key(secrets.public_key().as_ref())?;
    let faucet = settings.faucet.as_ref().map(|path| read_faucet(path)).transpose()?;
    // The network layer would panic later, in a task of its own.
    let address = settings.listen;
    drop(
        std::net::TcpListener::bind(address)
            .map_err(|error| NodeError::Listen { address, error })?,
    );
    claim_data(&settings, network.genesis().hash())?;
    let peers = peers(&settings, &network)?;
    let config = runtime::Config::default()
        .with_storage_directory(settings.data.clone())
        .with_worker_threads(2)
        .with_thread_stack_size(STACK_BYTES);
    runtime::Runner::new(config)
        .start(|context| start(context, settings, network, secrets, faucet, peers))
}

async fn start(
    context: runtime::Context,
    settings: Settings,
    network: Arc<Network>,
    secrets: Secrets,
    faucet: Option<SecretKey>,
    peers: Map<PublicKey, Address>,
) -> Result<(), NodeError> {
    let failed = |error| NodeError::Api { address: settings.api, error };
    let listener = std::net::TcpListener::bind(settings.api).map_err(failed)?;
    // Before the state: after a crash it may take a peer's blocks to open it.
    let (wires, channels, gossip_channel, peer_count, oracle) =
        connect(&context, &settings, &network, &secrets, peers);

    let state = open_state(&context.child("validator"), "chain", network.clone()).await?;
    let directory = settings.data.join("index");
    let index = state.open_index(&directory).await;
    let index = index.map_err(|error| FileError::Io { path: directory, error })?;

    let (outbox, mail) = tokio::sync::mpsc::channel(gossip::OUTBOX);
    let pool = Arc::new(Pool::new(state.chain.clone(), index, outbox));
    let sessions = Sessions::default();
    let validator = network.index(&secrets.public_key()).ok_or(StoreError::NotAValidator)?;
    let presence =
        LocalPresence { chain: state.chain.clone(), sessions: sessions.clone(), validator };
    let block_time = Duration::from_millis(network.genesis().params.block_time_ms);
    let setup = Setup {
        public_key: secrets.public_key(),
        scheme: network.signer(&secrets, Arc::new(presence)).ok_or(StoreError::NotAValidator)?,
        patience: Patience::for_block_time(block_time),
        pool: pool.clone(),
        faults: None,
    };
    let consensus = context.child("validator");
    let running =
        start_consensus(&consensus, state, setup, channels, oracle.clone(), oracle).await?;
    let gossip = Gossip::new(pool.clone(), mail).start(context.child("gossip"), gossip_channel);

    let view = NodeView::new(
        network.clone(),
        pool,
        &running,
        sessions.clone(),
        faucet,
        context.child("metrics"),
        peer_count,
    )
    .await;
    let link = LinkServerConfig {
        listen: settings.link.unwrap_or(settings.listen),
        seed: secrets.seed(),
        validator,
        sessions,
    };
    let (view, tasks) = (Arc::new(view), [running.engine, gossip, wires]);
    serve(context, listener, view, endpoints(&settings, &network), link, tasks).await
}

/// Serves runners and the API until the node is told to stop, or a part of it ends.
async fn serve(
    context: runtime::Context,
    listener: std::net::TcpListener,
    view: Arc<NodeView<runtime::Context>>,
    endpoints: Vec<ValidatorEndpoints>,
    link: LinkServerConfig,
    [mut engine, mut gossip, wires]: [Handle<()>; 3],
) -> Result<(), NodeError> {
    let address = listener.local_addr();
    let failed = |error| match address {
        Ok(address) => NodeError::Api { address, error },
        Err(_) => NodeError::Stopped("the API"),
    };
    let listen = link.listen;
    let height = view.tip().finalised.height().get();
    let (runners, mut pushing) = Runners::serve(view.clone(), endpoints, link)?;
    let app = crate::api::App::new(view, runners.clone(), crate::api::Limits::default());
    let mut api = crate::api::thread::answer(listener, app).map_err(failed)?;
    tracing::info!(api = ?address, link = %listen, height, "node started");
    let result = tokio::select! {
        () = told_to_stop() => Ok(()),
        _ = &mut engine => Err(NodeError::Stopped("consensus")),
        _ = &mut gossip => Err(NodeError::Stopped("gossip")),
        () = api.ended() => Err(NodeError::Stopped("the API")),
        _ = &mut pushing => Err(NodeError::Stopped("the link to runners")),
    };
    // In order: runners go elsewhere, nobody asks any more, then nobody votes any more, then the rest.
    runners.stop().await;
    pushing.abort();
    api.stop();
    // What has not ended by then ends with the process.
    let _ = tokio::time::timeout(STOP, api.ended()).await;
    engine.abort();
    gossip.abort();
    wires.abort();
    let _ = context.child("stop").stop(0, Some(STOP)).await;
    result
}

type Channel = (lookup::Sender<PublicKey, runtime::Context>, lookup::Receiver<PublicKey>);
type Wired = (
    Handle<()>,
    [Channel; CHANNELS],
    Channel,
    PeerCount<runtime::Context>,
    lookup::Oracle<PublicKey>,
);

/// Connects to the other validators: the task, the channels of consensus and of gossip, the count of
/// connections.
fn connect(
    context: &runtime::Context,
    settings: &Settings,
    network: &Network,
    secrets: &Secrets,
    peers: Map<PublicKey, Address>,
) -> Wired {
    let handshake = Cups::<_, ChaCha20Poly1305>::new(
        Sake {
            signer: secrets.identity.clone(),
            synchrony_bound: Duration::from_secs(5),
            max_handshake_age: Duration::from_secs(10),
            version: sake::Version::V1,
        },
        cups::Version::V1,
    );
    // Quick to come back: `recommended` waits a minute before it connects again, and lets only one
    // peer of an address in every five seconds.
    let participants = network.participants().len();
    let mut config = lookup::Config::local(
        handshake,
        network.namespace(),
        settings.listen,
        participants.try_into().expect("a network has validators"),
        validator::max_message_size(participants as u32),
        NZUsize!(1024),
    );
    // The set never changes.
    config.tracked_peer_sets = NZUsize!(1);
    let (mut wires, mut oracle) = Wires::new(context.child("network"), config);
    oracle.track(0, peers);
    let mut channels: Vec<_> = (0..)
        .zip(QUOTAS)
        .map(|(channel, quota)| wires.register(channel, Quota::per_second(quota)))
        .collect();
    let (count, _) = channels.pop().expect("the last one");
    let gossip = channels.pop().expect("the last but one");
    let Ok(channels) = <[_; CHANNELS]>::try_from(channels) else { unreachable!("one for each") };
    (wires.start(), channels, gossip, PeerCount::new(count), oracle)
}

/// Ctrl-C, or the signal that service managers send.
async fn told_to_stop() {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
        .expect("signals can be listened to");
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
    tracing::info!("node stopping");
}

fn read_faucet(path: &std::path::Path) -> Result<SecretKey, FileError> {
    let bytes = read_secret(path)?;
    let key = <[u8; 32]>::try_from(&bytes[..]).ok().and_then(|bytes| SecretKey::from_bytes(&bytes));
    key.ok_or_else(|| FileError::Malformed {
        path: path.to_owned(),
        reason: "not a secp256k1 key".into(),
    })
}

/// Marks an empty data directory as this chain's; refuses another's.
fn claim_data(settings: &Settings, genesis: B256) -> Result<(), NodeError> {
    let failed = |error| FileError::Io { path: settings.data.clone(), error };
    std::fs::create_dir_all(&settings.data).map_err(failed)?;
    let mark = settings.data.join("genesis-hash");
    match std::fs::read_to_string(&mark) {
        Ok(found) if found.trim() == genesis.to_string() => Ok(()),
        Ok(found) => Err(NodeError::OtherChain {
            path: settings.data.clone(),
            found: found.trim().to_owned(),
            expected: genesis,
        }),
        Err(_) => Ok(std::fs::write(&mark, format!("{genesis}\n")).map_err(failed)?),
    }
}

/// Where validators are for runners, by number.
fn endpoints(settings: &Settings, network: &Network) -> Vec<ValidatorEndpoints> {
    let known = |key: &PublicKey| {
        let is_it = |peer: &&Peer| hex::decode(&peer.key).is_ok_and(|bytes| bytes == key.as_ref());
        settings.peers.iter().find(is_it)
    };
    let endpoints = |peer: &Peer| ValidatorEndpoints {
        link: Some(peer.link.unwrap_or(peer.address).to_string()),
        api: peer.api.clone(),
    };
    network.participants().iter().map(|key| known(key).map(endpoints).unwrap_or_default()).collect()
}

/// Everybody in the genesis, with an address.
fn peers(settings: &Settings, network: &Network) -> Result<Map<PublicKey, Address>, NodeError> {
    let mut peers = Vec::new();
    for peer in &settings.peers {
        let key = hex::decode(&peer.key)
            .ok()
            .and_then(|bytes| PublicKey::decode(bytes::Bytes::from(bytes)).ok());
        let key = key.filter(|key| network.index(key).is_some()).ok_or_else(|| {
            NodeError::Settings(format!("{} is not a validator of the genesis", peer.key))
        })?;
        peers.push((key, Address::from(peer.address)));
    }
    if peers.len() != network.participants().len() {
        return Err(NodeError::Settings(format!(
            "the settings name {} peers; the genesis has {} validators",
            peers.len(),
            network.participants().len()
        )));
    }
    Map::try_from(peers)
        .map_err(|_| NodeError::Settings("the settings name a peer twice".to_owned()))
}
