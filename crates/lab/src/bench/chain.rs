//! `remuda-lab bench chain`: finality, throughput, memory and sizes of a network on this machine.

use super::progress;
use crate::machine::{Application, Figures, Measure, Sizes, measure, sizes};
use remuda::exit_with_parent;
use remuda_client::Client;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
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
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const VALIDATORS: usize = 4;
const RUNS: [(&str, Application); 3] =
    [("hollow", Application::Hollow), ("idle", Application::Idle), ("loaded", Application::Loaded)];
/// Validators, and runners that they attest.
const SIZES: [(usize, usize); 6] =
    [(4, 0), (4, 1_000), (10, 0), (10, 1_000), (100, 0), (100, 10_000)];

/// Runs the benchmark.
pub(super) fn main(args: &Args) -> ExitCode {
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("remuda-lab bench chain: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), String> {
    let mut rows = Vec::new();
    for block_time_ms in &args.block_times {
        for (name, application) in RUNS {
            progress(&format!("{name} at {block_time_ms} ms"));
            let what = Measure {
                application,
                validators: VALIDATORS,
                block_time_ms: *block_time_ms,
                seconds: args.seconds,
                directory: scratch("measure"),
                base_port: free_ports(VALIDATORS as u16)?,
            };
            rows.push((*block_time_ms, name, measure(&what)?));
        }
    }
    let memory = if args.blocks == 0 { None } else { Some(memory_after(args.blocks)?) };
    progress("sizes");
    let sizes: Vec<Sizes> = SIZES.iter().map(|(n, runners)| sizes(*n, *runners)).collect();
    progress("");
    if args.json {
        println!("{}", to_json(args, &rows, memory, &sizes));
    } else {
        print_tables(args, &rows, memory, &sizes);
    }
    Ok(())
}

fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("remuda-bench-{name}-{}", std::process::id()))
}

/// A port from which on `n` ports, and `n` from 100 above it on, seem to be free.
fn free_ports(n: u16) -> Result<u16, String> {
    for _ in 0..100 {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
        let base = listener.local_addr().map_err(|e| e.to_string())?.port();
        let free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
        if base < 60_000 && (1..n).chain(100..100 + n).all(|i| free(base + i)) {
            return Ok(base);
        }
    }
    Err("there are no free ports".to_owned())
}

/// Memory of one process.
struct Memory {
    blocks: u64,
    seconds: f64,
    resident_bytes_at_start: u64,
    resident_bytes: u64,
}

/// Kills what it started.
struct Processes {
    children: Vec<Child>,
    directory: PathBuf,
}

impl Drop for Processes {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn memory_after(blocks: u64) -> Result<Memory, String> {
    let directory = scratch("memory");
    let _ = std::fs::remove_dir_all(&directory);
    let port = free_ports(VALIDATORS as u16)?;
    let program = super::program().map_err(|e| e.to_string())?;
    let made = Command::new(&program)
        .args(["node", "init", "--block-time", "1ms", "--base-port", &port.to_string()])
        .arg(&directory)
        .output()
        .map_err(|e| e.to_string())?;
    if !made.status.success() {
        return Err(String::from_utf8_lossy(&made.stderr).into_owned());
    }
    let mut processes = Processes { children: Vec::new(), directory: directory.clone() };
    for i in 0..VALIDATORS {
        let child = start(&program, &directory.join(format!("validator-{i}")))?;
        processes.children.push(child);
    }
    let pid = processes.children[0].id();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| e.to_string())?;
    runtime.block_on(async {
        let client = Client::new(format!("http://127.0.0.1:{}", port + 100));
        let client = client.map_err(|e| e.to_string())?;
        let height = async || client.status().await.map_or(0, |status| status.height.0);
        let begun = Instant::now();
        while height().await < 1 {
            if begun.elapsed() > Duration::from_secs(60) {
                return Err("no block within a minute".to_owned());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let (start, resident_bytes_at_start) = (Instant::now(), resident(pid)?);
        loop {
            let at = height().await;
            progress(&format!("memory: block {at} of {blocks}"));
            if at >= blocks {
                break;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        let seconds = start.elapsed().as_secs_f64();
        Ok(Memory { blocks, seconds, resident_bytes_at_start, resident_bytes: resident(pid)? })
    })
}

fn start(program: &Path, directory: &Path) -> Result<Child, String> {
    let child = Command::new(program)
        .args(["node", "run", exit_with_parent::FLAG])
        .arg(directory)
        .env("RUST_LOG", "error")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    child.map_err(|e| format!("cannot start a validator: {e}"))
}

/// Resident bytes of a process, as the system says.
fn resident(pid: u32) -> Result<u64, String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status"))
        .map_err(|e| format!("a validator has ended: {e}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.map(|kb| kb * 1024).ok_or_else(|| "no VmRSS".to_owned())
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

fn print_tables(
    args: &Args,
    rows: &[(u64, &str, Figures)],
    memory: Option<Memory>,
    sizes: &[Sizes],
) {
    println!("{VALIDATORS} validators in one process, {} s each", args.seconds);
    println!("block time  application  blocks/s  transactions/s  finality p50  p95");
    for (block_time_ms, name, figures) in rows {
        println!(
            "{block_time_ms:>7} ms  {name:11}  {:>8.1}  {:>14.0}  {:>9.0} ms  {:.0} ms",
            figures.blocks as f64 / figures.seconds,
            figures.transactions as f64 / figures.seconds,
            figures.latency_p50_ms,
            figures.latency_p95_ms,
        );
    }
    if let Some(memory) = memory {
        println!(
            "\nmemory of one of {VALIDATORS} processes: {} MB at the start, {} MB after {} blocks \
             ({:.1} blocks/s)",
            memory.resident_bytes_at_start >> 20,
            memory.resident_bytes >> 20,
            memory.blocks,
            memory.blocks as f64 / memory.seconds,
        );
    }
    println!("\nvalidators  runners  finalize vote  certificate");
    for size in sizes {
        println!(
            "{:>10}  {:>7}  {:>11} B  {:>9} B",
            size.validators, size.runners, size.vote, size.certificate
        );
    }
}
