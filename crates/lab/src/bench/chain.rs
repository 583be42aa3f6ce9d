//! `remuda-lab bench chain`: finality, throughput, memory and sizes of a network on this machine.

use super::{Output, failed, program, progress};
use crate::machine::{Application, Figures, Measure, Sizes, measure, sizes};
use remuda::demo::network::{Network, NetworkOptions, VALIDATORS, free_ports};
use remuda::failure::Failure;
use remuda_protocol::params::ChainParams;
use remuda_protocol::presence::PresencePolicy;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Finality and transactions per second of 4 validators on this machine, beside an empty application.
///
/// The same network runs three times at each block time: *hollow* (empty blocks, nothing executed:
/// the engine alone), *idle* (the chain without transactions) and *loaded* (as many payments as it
/// takes). All validators share this machine's cores. Then 4 processes make --blocks blocks as fast
/// as they can, and the memory of one is read; last come the sizes of votes and certificates.
///
/// Example: remuda-lab bench chain --seconds 10 --blocks 1000
#[derive(clap::Args)]
pub(super) struct Args {
    /// How long each network is measured.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Blocks until memory is read; 0 leaves it out.
    #[arg(long, default_value_t = 10_000)]
    blocks: u64,
    /// Block times, in milliseconds; 1 is as fast as it goes.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 250])]
    block_times: Vec<u64>,
    #[command(flatten)]
    out: Output,
}

const RUNS: [(&str, Application); 3] =
    [("hollow", Application::Hollow), ("idle", Application::Idle), ("loaded", Application::Loaded)];
/// Validators, and runners that they attest.
const SIZES: [(usize, usize); 6] =
    [(4, 0), (4, 1_000), (10, 0), (10, 1_000), (100, 0), (100, 10_000)];

pub(super) fn run(args: &Args) -> Result<bool, Failure> {
    let mut rows = Vec::new();
    for block_time_ms in &args.block_times {
        for (name, application) in RUNS {
            progress(&format!("{name} at {block_time_ms} ms"));
            let directory = format!("remuda-bench-chain-{}", std::process::id());
            let what = Measure {
                application,
                validators: VALIDATORS,
                block_time_ms: *block_time_ms,
                seconds: args.seconds,
                directory: std::env::temp_dir().join(directory),
                base_port: free_ports().ok_or_else(|| failed("no ports are free"))?,
            };
            rows.push((*block_time_ms, name, measure(&what).map_err(failed)?));
        }
    }
    let memory = match args.blocks {
        0 => None,
        blocks => Some(super::block_on(memory_after(blocks))?),
    };
    progress("sizes");
    let sizes: Vec<Sizes> = SIZES.iter().map(|(n, runners)| sizes(*n, *runners)).collect();
    print(args, &rows, memory.as_ref(), &sizes);
    args.out.figures(&to_json(args, &rows, memory, &sizes))?;
    Ok(true)
}

struct Memory {
    blocks: u64,
    seconds: f64,
    resident_bytes_at_start: u64,
    resident_bytes: u64,
}

async fn memory_after(blocks: u64) -> Result<Memory, Failure> {
    const NOBODY: [&str; 0] = [];
    let mut options = NetworkOptions::new(program()?, Duration::from_millis(1), NOBODY);
    options.logs = Some("error");
    options.params = |params| {
        *params = ChainParams { chain_id: params.chain_id, ..ChainParams::for_block_time(1) };
        params.presence_policy = PresencePolicy::Prefer as u8;
    };
    let network = Network::start(None, &options).await?;
    let (start, resident_bytes_at_start) = (Instant::now(), network.resident_bytes(0));
    loop {
        let at = network.client.status().await?.height.0;
        progress(&format!("memory: block {at} of {blocks}"));
        if at >= blocks {
            break;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let (seconds, resident_bytes) = (start.elapsed().as_secs_f64(), network.resident_bytes(0));
    network.stop().await;
    Ok(Memory { blocks, seconds, resident_bytes_at_start, resident_bytes })
}

fn to_json(
    args: &Args,
    rows: &[(u64, &str, Figures)],
    memory: Option<Memory>,
    sizes: &[Sizes],
) -> Value {
    let run = |(block_time_ms, name, figures): &(u64, &str, Figures)| {
        json!({
            "block_time_ms": block_time_ms,
            "application": name,
            "seconds": figures.seconds,
            "blocks": figures.blocks,
            "blocks_per_second": figures.blocks as f64 / figures.seconds,
            "transactions_per_second": figures.transactions as f64 / figures.seconds,
            "finality_p50_ms": figures.latency_p50_ms,
            "finality_p95_ms": figures.latency_p95_ms,
        })
    };
    let size = |sizes: &Sizes| {
        json!({
            "validators": sizes.validators,
            "runners": sizes.runners,
            "vote_bytes": sizes.vote,
            "certificate_bytes": sizes.certificate,
        })
    };
    json!({
        "bench": "chain",
        "validators": VALIDATORS,
        "cores": std::thread::available_parallelism().map_or(0, |n| n.get()),
        "seconds": args.seconds,
        "runs": rows.iter().map(run).collect::<Vec<_>>(),
        "memory": memory.map(|memory| json!({
            "blocks": memory.blocks,
            "blocks_per_second": memory.blocks as f64 / memory.seconds,
            "resident_bytes_at_start": memory.resident_bytes_at_start,
            "resident_bytes": memory.resident_bytes,
        })),
        "sizes": sizes.iter().map(size).collect::<Vec<_>>(),
    })
}

fn print(args: &Args, rows: &[(u64, &str, Figures)], memory: Option<&Memory>, sizes: &[Sizes]) {
    let out = &args.out;
    out.line(format_args!("{VALIDATORS} validators in one process, {} s each", args.seconds));
    out.line("block time  application  blocks/s  transactions/s  finality p50  p95");
    for (block_time_ms, name, figures) in rows {
        out.line(format_args!(
            "{block_time_ms:>7} ms  {name:11}  {:>8.1}  {:>14.0}  {:>9.0} ms  {:.0} ms",
            figures.blocks as f64 / figures.seconds,
            figures.transactions as f64 / figures.seconds,
            figures.latency_p50_ms,
            figures.latency_p95_ms,
        ));
    }
    if let Some(Memory { blocks, seconds, resident_bytes_at_start, resident_bytes }) = memory {
        out.line(format_args!(
            "\nmemory of one of {VALIDATORS} processes: {} MB at the start, {} MB after {blocks} \
             blocks ({:.1} blocks/s)",
            resident_bytes_at_start >> 20,
            resident_bytes >> 20,
            *blocks as f64 / seconds,
        ));
    }
    out.line("\nvalidators  runners  finalize vote  certificate");
    for Sizes { validators, runners, vote, certificate } in sizes {
        out.line(format_args!("{validators:>10}  {runners:>7}  {vote:>11} B  {certificate:>9} B"));
    }
}
