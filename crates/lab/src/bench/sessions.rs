//! `remuda-lab bench sessions`: what it costs a validator to hold many runners, and to take them back.

use super::{Output, failed, program, progress};
use crate::percentile;
use remuda::demo::network::{Network, NetworkOptions, key};
use remuda::failure::Failure;
use remuda_client::{BlockId, Client};
use remuda_link::quic::client::Connector;
use remuda_link::session::runner::{Event, Settings};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::spec::JobKind;
use remuda_protocol::presence::subset;
use remuda_protocol::primitives::{Amount, Height};
use remuda_protocol::registry::register::plain_offer;
use remuda_protocol::transaction::Instruction;
use remuda_runner::backoff::CONNECT;
use serde_json::json;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Runners at one validator: memory of a session, and a storm in which all come back at once.
///
/// Four validators make blocks. So many runners are registered and connect to the first of them, a few
/// at a time; then all connections break, and all come back at the same moment, with the runner's own
/// backoff, while blocks go on.
///
/// Example: remuda-lab bench sessions --sessions 2000
#[derive(clap::Args)]
pub(super) struct Args {
    /// Sessions with one validator.
    #[arg(long, default_value_t = 2_000)]
    sessions: usize,
    /// How long they are held, in seconds.
    #[arg(long, default_value_t = 10)]
    hold: u64,
    #[command(flatten)]
    out: Output,
}

const BLOCK_TIME: Duration = Duration::from_millis(250);
const STAKE: Amount = Amount::cby(15_000);
/// Sessions from one address: fewer than a validator takes from one at a time.
const PER_ADDRESS: usize = 32;
/// Connections that are made at a time before the storm.
const AT_A_TIME: usize = 32;
/// Transactions in one request.
const BATCH: usize = 50;

/// A runner on its way to the validator.
#[derive(Clone)]
struct Caller {
    connector: Connector,
    to: SocketAddr,
    settings: Settings,
}

impl Caller {
    /// Connects until a session is open, and keeps it. Returns how long that took.
    async fn call(self, since: Instant) -> Result<(Duration, u32, JoinSet<()>), Failure> {
        for attempt in 0..64 {
            if let Ok(mut link) = self.connector.connect(self.to, self.settings.clone(), 0).await {
                let opened = async {
                    while let Some(event) = link.events.recv().await {
                        if event == Event::Opened {
                            return true;
                        }
                    }
                    false
                };
                if tokio::time::timeout(Duration::from_secs(15), opened).await == Ok(true) {
                    let mut kept = JoinSet::new();
                    kept.spawn(async move { while link.events.recv().await.is_some() {} });
                    return Ok((since.elapsed(), attempt, kept));
                }
            }
            tokio::time::sleep(CONNECT.jittered(attempt, rand::random())).await;
        }
        Err(failed("a runner gave up"))
    }
}

pub(super) async fn run(args: &Args) -> Result<bool, Failure> {
    // Three of four validators are a runner's; so many have the first one among theirs, and some more.
    let names: Vec<String> = (0..args.sessions * 3 / 2 + 16).map(|i| format!("s{i}")).collect();
    progress("a network of four validators");
    let options = NetworkOptions::new(program()?, BLOCK_TIME, names.clone());
    let network = Network::start(None, &options).await?;
    register(&network, &names).await?;
    let callers = callers(&network, &names, args.sessions).await?;
    if callers.len() < args.sessions {
        return Err(failed("too few runners have the first validator"));
    }
    let before = network.resident_bytes(0);
    let mut sessions = Vec::new();
    for (i, some) in callers.chunks(AT_A_TIME).enumerate() {
        progress(&format!("{} sessions", i * AT_A_TIME));
        sessions.extend(all(some).await?);
    }
    let start = Instant::now();
    let heights = watch(&network, Duration::from_secs(args.hold)).await?;
    let calm = gaps(&network.client, heights).await?;
    let held = network.resident_bytes(0);
    progress("all break off and come back");
    drop(sessions);
    let height = network.client.status().await?.height.0;
    let storm = Instant::now();
    let back = all(&callers).await?;
    let took = storm.elapsed();
    let end = network.client.status().await?.height.0;
    let stormy = gaps(&network.client, (height, end.max(height + 2))).await?;
    let mut times: Vec<Duration> = back.iter().map(|(took, _, _)| *took).collect();
    times.sort_unstable();
    let at = |percent| percentile(&times, percent).as_millis() as u64;
    let retries: u32 = back.iter().map(|(_, attempts, _)| attempts).sum();
    let stormed = network.resident_bytes(0);
    // Sessions first fill what the process had set aside; the larger figure is nearer to the truth.
    let each = held.max(stormed).saturating_sub(before) / args.sessions as u64;
    let figures = json!({
        "sessions": args.sessions,
        "resident_bytes_before": before,
        "resident_bytes_held": held,
        "resident_bytes_per_session": each,
        "resident_bytes_after_storm": stormed,
        "storm_seconds": took.as_secs_f64(),
        "storm_ms_p50": at(50),
        "storm_ms_p99": at(99),
        "storm_retries": retries,
        "block_ms_calm_mean": calm.0,
        "block_ms_calm_most": calm.1,
        "block_ms_storm_mean": stormy.0,
        "block_ms_storm_most": stormy.1,
        "held_seconds": start.elapsed().as_secs_f64() - took.as_secs_f64(),
    });
    drop(back);
    network.stop().await;
    for (name, value) in figures.as_object().into_iter().flatten() {
        args.out.line(format_args!("{name:28} {value}"));
    }
    args.out.figures(&figures)?;
    Ok(true)
}

/// Connects all of these at once.
async fn all(callers: &[Caller]) -> Result<Vec<(Duration, u32, JoinSet<()>)>, Failure> {
    let since = Instant::now();
    let calls: Vec<_> =
        callers.iter().map(|caller| tokio::spawn(caller.clone().call(since))).collect();
    let mut open = Vec::new();
    for call in calls {
        open.push(call.await.map_err(failed)??);
    }
    Ok(open)
}

async fn register(network: &Network, names: &[String]) -> Result<(), Failure> {
    let keys: Vec<SecretKey> = names.iter().map(|name| key(name)).collect();
    let status = network.client.status().await?;
    for (i, some) in keys.chunks(BATCH).enumerate() {
        progress(&format!("{} runners registered", i * BATCH));
        let mut batch = Vec::new();
        for key in some {
            let account = network.client.account(key.address()).await?;
            let quote = remuda_client::sign::Quote::new(&status, &account);
            let offer = plain_offer(&[JobKind::Http]);
            batch.push(quote.sign(key, Instruction::RegisterRunner { stake: STAKE, offer }));
        }
        network.client.submit_batch(&batch, true).await?;
    }
    Ok(())
}

/// Those who have the first validator, each with a socket that it shares with few.
async fn callers(network: &Network, names: &[String], most: usize) -> Result<Vec<Caller>, Failure> {
    let status = network.client.status().await?;
    let presence = network.client.presence(None, 1).await?;
    let validators: Vec<[u8; 32]> = presence.validators.iter().map(|it| it.key.0.0).collect();
    let me = validators[0];
    let to = network.links[0];
    let mut callers = Vec::new();
    let mut connector = None;
    for name in names {
        let key = key(name);
        if !subset(&presence.seed.0, &key.public_key().bytes, &validators).contains(&me) {
            continue;
        }
        if callers.len() == most {
            break;
        }
        if callers.len() % PER_ADDRESS == 0 {
            let [high, low] = ((callers.len() / PER_ADDRESS) as u16 + 2).to_be_bytes();
            let local = SocketAddr::from((Ipv4Addr::new(127, 1, high, low), 0));
            let opened = Connector::new(local);
            connector = Some(opened.map_err(failed)?);
        }
        let Some(connector) = connector.clone() else { continue };
        let chain_id = status.chain_id.0;
        let settings = Settings { chain_id, key, validator: me, subset_epoch: presence.epoch.0 };
        callers.push(Caller { connector, to, settings });
    }
    Ok(callers)
}

/// Heights at both ends of a while.
async fn watch(network: &Network, time: Duration) -> Result<(u64, u64), Failure> {
    let from = network.client.status().await?.height.0;
    tokio::time::sleep(time).await;
    Ok((from, network.client.status().await?.height.0.max(from + 2)))
}

/// Milliseconds between blocks: their mean, and the most.
async fn gaps(client: &Client, (from, to): (u64, u64)) -> Result<(u64, u64), Failure> {
    let mut times = Vec::new();
    for height in from..=to {
        if let Ok(block) = client.block(BlockId::Height(Height(height))).await {
            times.push(block.timestamp_ms.0);
        }
    }
    let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = gaps.iter().sum::<u64>() / gaps.len().max(1) as u64;
    Ok((mean, gaps.iter().copied().max().unwrap_or(0)))
}
